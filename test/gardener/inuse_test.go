// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/api"
	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/client/core/informers/externalversions"
	"github.com/gardener/gardener/plugin/pkg/global/resourcereferencemanager"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/gardenerrules/inuse"
	"github.com/capkit/capkit/pkg/gardenerrules/releases"
)

var (
	vocabulary = []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "hypervisor", Values: []string{"kvm", "baremetal"}},
	}
	numbers = []string{"1.0.0", "1.1.0", "1.2.0"}
)

// inUse is a profile before and after an update, with its users.
type inUse struct {
	old, updated       *v1beta1.CloudProfile
	child, childBefore *v1beta1.NamespacedCloudProfile
	shoots             []*v1beta1.Shoot
	// ofChild has the indices of the Shoots that use the child.
	ofChild []int
}

func drawInUse(t *rapid.T) *inUse {
	u := &inUse{childBefore: drawChild(t), child: drawChild(t)}
	for _, p := range []**v1beta1.CloudProfile{&u.old, &u.updated} {
		*p = &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "parent"}}
		drawSpec(t, &(*p).Spec)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "shoots") {
		s := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-x", Name: fmt.Sprint("shoot-", i)}}
		s.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "parent"}
		if rapid.Bool().Draw(t, "through the child") {
			s.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "child"}
			u.ofChild = append(u.ofChild, i)
		}
		s.Spec.Kubernetes.Version = rapid.SampledFrom(numbers).Draw(t, "kubernetes")
		for k := range rapid.IntRange(1, 2).Draw(t, "pools") {
			version := rapid.SampledFrom(numbers).Draw(t, "version")
			worker := v1beta1.Worker{Name: fmt.Sprint("pool-", k), Minimum: int32(rapid.IntRange(0, 3).Draw(t, "minimum"))}
			worker.Machine.Image = &v1beta1.ShootMachineImage{Name: drawName(t), Version: &version}
			s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, worker)
		}
		u.shoots = append(u.shoots, s)
	}
	return u
}

func drawName(t *rapid.T) string { return rapid.SampledFrom([]string{"gl", "other"}).Draw(t, "image") }

// drawSome draws versions, some of which have expired.
func drawSome(t *rapid.T) []v1beta1.ExpirableVersion {
	var some []v1beta1.ExpirableVersion
	for _, v := range rapid.SliceOfNDistinct(rapid.SampledFrom(numbers), 0, 3, rapid.ID[string]).Draw(t, "numbers") {
		version := v1beta1.ExpirableVersion{Version: v}
		if rapid.IntRange(0, 2).Draw(t, "expired") == 0 {
			at := metav1.NewTime(time.Now().Add(-time.Hour))
			version.ExpirationDate = &at //nolint:staticcheck // as people write it
		}
		some = append(some, version)
	}
	return some
}

func drawImages(t *rapid.T) []v1beta1.MachineImage {
	var images []v1beta1.MachineImage
	for _, name := range []string{"gl", "other"} {
		if rapid.IntRange(0, 2).Draw(t, "has "+name) == 0 {
			continue
		}
		image := v1beta1.MachineImage{Name: name}
		for _, v := range drawSome(t) {
			version := v1beta1.MachineImageVersion{ExpirableVersion: v}
			if rapid.Bool().Draw(t, "flavor") {
				c := v1beta1.Capabilities{"architecture": {"amd64"}}
				if rapid.Bool().Draw(t, "hypervisor") {
					c["hypervisor"] = v1beta1.CapabilityValues{rapid.SampledFrom(vocabulary[1].Values).Draw(t, "value")}
				}
				version.CapabilityFlavors = []v1beta1.MachineImageFlavor{{Capabilities: c}}
			}
			image.Versions = append(image.Versions, version)
		}
		images = append(images, image)
	}
	return images
}

func drawLimits(t *rapid.T) *v1beta1.Limits {
	if rapid.Bool().Draw(t, "no limit") {
		return nil
	}
	return &v1beta1.Limits{MaxNodesTotal: new(int32(rapid.IntRange(1, 4).Draw(t, "limit")))}
}

func drawSpec(t *rapid.T, spec *v1beta1.CloudProfileSpec) {
	spec.Kubernetes.Versions, spec.MachineImages, spec.Limits = drawSome(t), drawImages(t), drawLimits(t)
	for _, d := range vocabulary[:rapid.IntRange(0, 2).Draw(t, "capabilities")] {
		values := rapid.SliceOfNDistinct(rapid.SampledFrom(d.Values), 1, 2, rapid.ID[string]).Draw(t, "values")
		spec.MachineCapabilities = append(spec.MachineCapabilities, v1beta1.CapabilityDefinition{Name: d.Name, Values: values})
	}
}

func drawChild(t *rapid.T) *v1beta1.NamespacedCloudProfile {
	child := &v1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-x", Name: "child"}}
	child.Spec.Parent = v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "parent"}
	child.Spec.MachineImages, child.Spec.Limits = drawImages(t), drawLimits(t)
	if rapid.Bool().Draw(t, "kubernetes") {
		child.Spec.Kubernetes = &v1beta1.KubernetesSettings{Versions: drawSome(t)}
	}
	if rapid.Bool().Draw(t, "machine type") {
		child.Spec.MachineTypes = []v1beta1.MachineType{{Name: "own", Capabilities: v1beta1.Capabilities{"hypervisor": {"baremetal"}}}}
	}
	return child
}

// gardener returns the objections of Gardener's admission plugin to an update, in keywords.
func (u *inUse) gardener(t *rapid.T, updated, old, internal, internalOld runtime.Object, kind, resource string) []string {
	for _, o := range [][2]runtime.Object{{updated, internal}, {old, internalOld}} {
		if err := api.Scheme.Convert(o[0].DeepCopyObject(), o[1], nil); err != nil {
			t.Fatal(err)
		}
	}
	plugin, err := resourcereferencemanager.New()
	if err != nil {
		t.Fatal(err)
	}
	informers := externalversions.NewSharedInformerFactory(nil, 0)
	plugin.SetCoreInformerFactory(informers)
	plugin.AssignReadyFunc(func() bool { return true })
	err = informers.Core().V1beta1().CloudProfiles().Informer().GetIndexer().Add(u.old)
	if kind == "CloudProfile" && err == nil {
		err = informers.Core().V1beta1().NamespacedCloudProfiles().Informer().GetIndexer().Add(u.childBefore)
	}
	for _, s := range u.shoots {
		if err == nil {
			err = informers.Core().V1beta1().Shoots().Informer().GetIndexer().Add(s)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	err = plugin.Validate(context.Background(), admission.NewAttributesRecord(internal, internalOld,
		core.Kind(kind).WithVersion("version"), "garden-x", "name", core.Resource(resource).WithVersion("version"), "",
		admission.Update, &metav1.UpdateOptions{}, false, nil), nil)
	if err == nil {
		return nil
	}
	var said []string
	for _, line := range strings.Split(err.Error(), "\n")[1:] {
		if line = strings.TrimSpace(line); line != "" {
			said = append(said, shortened(t, line))
		}
	}
	slices.Sort(said)
	return said
}

// sentences are the messages of the plugin.
var sentences = []struct {
	words   string
	pattern *regexp.Regexp
}{
	{"kubernetes $1 $2", regexp.MustCompile(`delete Kubernetes version "(.*?)" .* in use by shoot '(.*)'`)},
	{"image $1 $2 $3 $4", regexp.MustCompile(`delete Machine image version '(.*?)/(.*?)' .* by shoot '(.*)' by worker "(.*)"`)},
	{"limit $1", regexp.MustCompile(`worker pools of shoot "(.*)" must not exceed`)},
	{"kubernetes $1 child", regexp.MustCompile(`delete Kubernetes version "(.*?)" .* by NamespacedCloudProfile`)},
	{"image $1 gone child", regexp.MustCompile(`delete MachineImage "(.*?)" .* by NamespacedCloudProfile`)},
	{"image $1 added child", regexp.MustCompile(`add MachineImage "(.*?)" `)},
	{"image $1 $2 child", regexp.MustCompile(`delete MachineImage version '(.*?)/(.*?)' .* by NamespacedCloudProfile`)},
	{"capability $1 $2 child", regexp.MustCompile(`delete MachineCapability "(.*?)" with values \[(.*?)\]`)},
}

func shortened(t *rapid.T, line string) string {
	for _, s := range sentences {
		if m := s.pattern.FindStringSubmatchIndex(line); m != nil {
			return string(s.pattern.ExpandString(nil, s.words, line, m))
		}
	}
	t.Fatalf("what does the plugin say? %s", line)
	return ""
}

// inFewWords returns uses in the same keywords.
func inFewWords(uses []inuse.Use, shoots []*v1beta1.Shoot) []string {
	var said []string
	for _, use := range uses {
		switch {
		case use.Kind == inuse.ImageRemoved:
			said = append(said, fmt.Sprintf("image %s gone child", use.Image.Name))
		case use.Kind == inuse.ImageAdded:
			said = append(said, fmt.Sprintf("image %s added child", use.Image.Name))
		case use.Kind == inuse.CapabilityRemoved:
			said = append(said, fmt.Sprintf("capability %s %s child", use.Capability, strings.Join(use.Values, " ")))
		case use.Kind == inuse.KubernetesRemoved && use.Child >= 0:
			said = append(said, fmt.Sprintf("kubernetes %s child", use.Kubernetes))
		case use.Kind == inuse.VersionRemoved && use.Child >= 0:
			said = append(said, fmt.Sprintf("image %s %s child", use.Image.Name, use.Image.Version))
		case use.Kind == inuse.VersionRemoved:
			for _, at := range use.Pools {
				shoot := shoots[at.Shoot]
				said = append(said, fmt.Sprintf("image %s %s %s %s", use.Image.Name, use.Image.Version, nameOf(shoot), shoot.Spec.Provider.Workers[at.Worker].Name))
			}
		default:
			what := "limit "
			if use.Kind == inuse.KubernetesRemoved {
				what = "kubernetes " + use.Kubernetes + " "
			}
			for _, at := range use.Pools {
				if at.Worker == 0 {
					said = append(said, what+nameOf(shoots[at.Shoot]))
				}
			}
		}
	}
	slices.Sort(said)
	return said
}

func nameOf(shoot *v1beta1.Shoot) string { return shoot.Namespace + "/" + shoot.Name }

// The refused updates are those that Gardener's own plugin refuses. Each check looks at several updates, because some cases are rare.
func TestInUseIsWhatGardenerRefuses(t *testing.T) {
	seen := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			u := drawInUse(t)
			want := u.gardener(t, u.updated, u.old, &core.CloudProfile{}, &core.CloudProfile{}, "CloudProfile", "cloudprofiles")
			uses := inuse.Of(releases.Newest, &u.updated.Spec, &u.old.Spec, []*v1beta1.NamespacedCloudProfile{u.childBefore}, u.shoots)
			got := inFewWords(uses, u.shoots)
			sameWords(t, want, got, seen)
		}
	})
	for _, words := range []string{"kubernetes", "kubernetes child", "image", "image child", "limit", "capability child"} {
		if !seen[words] {
			t.Errorf("never seen: %s", words)
		}
	}
}

func TestInUseOfNamespacedIsWhatGardenerRefuses(t *testing.T) {
	seen := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			u := drawInUse(t)
			var users []*v1beta1.Shoot
			for _, i := range u.ofChild {
				users = append(users, u.shoots[i])
			}
			want := u.gardener(t, u.child, u.childBefore, &core.NamespacedCloudProfile{}, &core.NamespacedCloudProfile{},
				"NamespacedCloudProfile", "namespacedcloudprofiles")
			uses := inuse.OfNamespaced(&u.child.Spec, &u.childBefore.Spec, &u.old.Spec, users)
			sameWords(t, want, inFewWords(uses, users), seen)
		}
	})
	for _, words := range []string{"kubernetes", "image", "limit"} {
		if !seen[words] {
			t.Errorf("never seen: %s", words)
		}
	}
}

// sameWords requires equal keywords on both sides, and records them.
func sameWords(t *rapid.T, want, got []string, seen map[string]bool) {
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-Gardener +ours: %s", diff)
	}
	for _, words := range got {
		name, _, _ := strings.Cut(words, " ")
		if strings.HasSuffix(words, " child") {
			name += " child"
		}
		seen[name] = true
	}
}
