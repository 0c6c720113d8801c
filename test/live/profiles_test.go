// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/garden"
)

// Profiles whose versions are written as text, and Shoots that use them.

// release is an image version or Kubernetes version, written as VERSION or VERSION:MARK,MARK.
type release struct {
	version string
	marks   []string
}

// releases parses versions separated by blanks. The marks are
//
//   - preview, supported, deprecated: its classification
//   - expired: it has an expiration date
//   - asia: it has images in asia only
//   - amd, arm, bare: its flavors for amd64, arm64 and bare metal; the default is amd
//   - gvisor: it has this container runtime
//   - kubelet...: the rest of the mark is its kubelet constraint
func releases(text string) (all []release) {
	for _, word := range strings.Fields(text) {
		version, marks, _ := strings.Cut(word, ":")
		all = append(all, release{version, strings.Split(marks, ",")})
	}
	return all
}

func (r release) is(mark string) bool { return slices.Contains(r.marks, mark) }

// expirable returns the version with its classification, and with the expiration date at if it is marked as expired.
func (r release) expirable(at time.Time) v1beta1.ExpirableVersion {
	v := v1beta1.ExpirableVersion{Version: r.version}
	for _, c := range []v1beta1.VersionClassification{"preview", "supported", "deprecated"} {
		if r.is(string(c)) {
			v.Classification = &c //nolint:staticcheck // as people write it
		}
	}
	if r.is("expired") {
		v.ExpirationDate = &metav1.Time{Time: at} //nolint:staticcheck // as people write it
	}
	return v
}

// flavors returns the flavors of an image version.
func (r release) flavors() (all []v1beta1.Capabilities) {
	for _, flavor := range []struct {
		mark         string
		capabilities v1beta1.Capabilities
	}{
		{"amd", v1beta1.Capabilities{"architecture": {"amd64"}}},
		{"arm", v1beta1.Capabilities{"architecture": {"arm64"}}},
		{"bare", v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"baremetal"}}},
	} {
		if r.is(flavor.mark) {
			all = append(all, flavor.capabilities)
		}
	}
	if len(all) == 0 {
		return []v1beta1.Capabilities{{"architecture": {"amd64"}}}
	}
	return all
}

// image returns an image version in core and in the provider config. If legacy is set, it is in the format without capabilities.
func (r release) image(at time.Time, legacy bool) (v1beta1.MachineImageVersion, map[string]any) {
	cri := v1beta1.CRI{Name: v1beta1.CRINameContainerD}
	if r.is("gvisor") {
		cri.ContainerRuntimes = []v1beta1.ContainerRuntime{{Type: "gvisor"}}
	}
	core := v1beta1.MachineImageVersion{ExpirableVersion: r.expirable(at), CRI: []v1beta1.CRI{cri}}
	for _, mark := range r.marks {
		if constraint, found := strings.CutPrefix(mark, "kubelet"); found {
			core.KubeletVersionConstraint = &constraint
		}
	}
	var flavors, all []any
	for _, flavor := range r.flavors() {
		architecture := flavor["architecture"][0]
		var regions []any
		for _, region := range []string{"europe", "asia"} {
			if region == "europe" && r.is("asia") {
				continue
			}
			id := strings.Join(slices.Concat([]string{region, r.version}, flavor["architecture"], flavor["hypervisor"]), "-")
			entry := map[string]any{"name": region, "id": id}
			regions = append(regions, entry)
			if !slices.Contains(core.Architectures, architecture) {
				all = append(all, map[string]any{"name": region, "id": entry["id"], "architecture": architecture})
			}
		}
		flavors = append(flavors, map[string]any{"capabilities": flavor, "regions": regions})
		core.CapabilityFlavors = append(core.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: flavor})
		if !slices.Contains(core.Architectures, architecture) {
			core.Architectures = append(core.Architectures, architecture)
		}
	}
	if legacy {
		core.CapabilityFlavors = nil
		return core, map[string]any{"version": r.version, "regions": all}
	}
	core.Architectures = nil
	return core, map[string]any{"version": r.version, "capabilityFlavors": flavors}
}

// offer is the contents of a profile, in order.
type offer struct {
	kubernetes string
	images     []offeredImage
	// legacy selects the format without capabilities.
	legacy bool
}

type offeredImage struct {
	name     string
	strategy v1beta1.MachineImageUpdateStrategy
	versions string
}

// offering returns the example CloudProfile with an offer, under another name. Its expiring versions expire at the given time.
func offering(name string, o offer, at time.Time) *v1beta1.CloudProfile {
	GinkgoHelper()
	profile := &v1beta1.CloudProfile{}
	readExample("cloudprofile.yaml", profile)
	profile.Name = name
	spec := &profile.Spec
	spec.Kubernetes.Versions, spec.MachineImages = nil, nil
	for _, r := range releases(o.kubernetes) {
		spec.Kubernetes.Versions = append(spec.Kubernetes.Versions, r.expirable(at))
	}
	var configs []any
	for _, image := range o.images {
		core, versions := v1beta1.MachineImage{Name: image.name, UpdateStrategy: &image.strategy}, []any(nil)
		for _, r := range releases(image.versions) {
			version, config := r.image(at, o.legacy)
			core.Versions, versions = append(core.Versions, version), append(versions, config)
		}
		spec.MachineImages = append(spec.MachineImages, core)
		configs = append(configs, map[string]any{"name": image.name, "versions": versions})
	}
	if o.legacy {
		spec.MachineCapabilities = nil
		for i := range spec.MachineTypes {
			machineType := &spec.MachineTypes[i]
			machineType.Architecture, machineType.Capabilities = &machineType.Capabilities["architecture"][0], nil
		}
	}
	var config map[string]any
	Expect(json.Unmarshal(spec.ProviderConfig.Raw, &config)).To(Succeed())
	config["machineImages"] = configs
	var err error
	spec.ProviderConfig.Raw, err = json.Marshal(config)
	Expect(err).NotTo(HaveOccurred())
	return profile
}

// readExample decodes the first document of an example.
func readExample(file string, into any) {
	GinkgoHelper()
	text, err := os.ReadFile(root + "/example/" + file)
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(text, into)).To(Succeed())
}

// shootOf returns the example Shoot under another name, for a profile, with only its first worker pool. Gardener maintains
// it only on request.
func shootOf(name, profile string) *v1beta1.Shoot {
	GinkgoHelper()
	s := &v1beta1.Shoot{}
	readExample("shoot.yaml", s)
	s.Name, s.Spec.CloudProfile.Name = name, profile
	s.Spec.Provider.Workers = s.Spec.Provider.Workers[:1]
	s.Spec.Maintenance = &v1beta1.Maintenance{TimeWindow: garden.LaterToday()}
	return s
}

// written writes objects into a manifest without the server's fields, and returns its path.
func written(objects ...client.Object) string {
	GinkgoHelper()
	var texts []string
	for _, object := range objects {
		object = object.DeepCopyObject().(client.Object)
		object.SetManagedFields(nil)
		kinds, _, err := g.Client().Scheme().ObjectKinds(object)
		Expect(err).NotTo(HaveOccurred())
		object.GetObjectKind().SetGroupVersionKind(kinds[0])
		text, err := yaml.Marshal(object)
		Expect(err).NotTo(HaveOccurred())
		texts = append(texts, string(text))
	}
	path := filepath.Join(GinkgoT().TempDir(), "objects.yaml")
	Expect(os.WriteFile(path, []byte(strings.Join(texts, "---\n")), 0o600)).To(Succeed())
	return path
}

// create creates an object that is deleted at the end of the spec.
func create(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(g.Client().Create(ctx, object)).To(Succeed())
	DeferCleanup(destroy, object)
}

// change reads an object, changes it and writes it, and retries on conflicts.
func change[P client.Object](ctx context.Context, object P, change func(P)) error {
	GinkgoHelper()
	for {
		Expect(g.Client().Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		change(object)
		if err := g.Client().Update(ctx, object); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// destroy deletes an object like its owner. A Shoot has no infrastructure, so its finalizers are removed.
func destroy(ctx context.Context, object client.Object) {
	GinkgoHelper()
	s, isShoot := object.(*v1beta1.Shoot)
	if isShoot {
		Expect(change(ctx, s, func(s *v1beta1.Shoot) {
			s.Annotations = map[string]string{"confirmation.gardener.cloud/deletion": "true"}
		})).To(Succeed())
	}
	Expect(g.Client().Delete(ctx, object)).To(Succeed())
	Eventually(ctx, func() error {
		err := g.Client().Get(ctx, client.ObjectKeyFromObject(object), object)
		if err == nil && isShoot {
			object.SetFinalizers(nil)
			err = g.Client().Update(ctx, object)
		}
		return err
	}).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
}
