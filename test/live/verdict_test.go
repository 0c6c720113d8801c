// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/test/fixtures"
)

// tree is an object in JSON's types.
type tree = map[string]any

// treeOf reads an example object.
func treeOf(file string) tree {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(root, "example", file))
	Expect(err).NotTo(HaveOccurred())
	object := tree{}
	Expect(yaml.Unmarshal(text, &object)).To(Succeed())
	return object
}

// copied returns a deep copy.
func copied(value any) any {
	GinkgoHelper()
	text, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	var again any
	Expect(json.Unmarshal(text, &again)).To(Succeed())
	return again
}

// place is a value in a tree, with its path and the functions to replace or remove it.
type place struct {
	path   string
	value  any
	put    func(any)
	remove func()
}

// places returns all values below the spec and metadata of an object in a stable order, except those that lint cannot know
// without a garden.
func places(object tree) (all []place) {
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case tree:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				p := path + "." + key
				all = append(all, place{
					p, v[key], func(n any) { v[key] = n }, func() { delete(v, key) },
				})
				walk(p, v[key])
			}
		case []any:
			for i := range v {
				p := fmt.Sprintf("%s[%d]", path, i)
				all = append(all, place{p, v[i], func(n any) { v[i] = n }, func() { v[i] = nil }})
				walk(p, v[i])
			}
		}
	}
	walk("spec", object["spec"])
	metadata := object["metadata"].(tree)
	all = append(all, place{"metadata.name", metadata["name"], func(n any) { metadata["name"] = n }, func() {}})
	return slices.DeleteFunc(all, func(p place) bool { return notKnown.MatchString(p.path) })
}

// notKnown matches paths that lint cannot know without a garden, or that others validate.
var notKnown = regexp.MustCompile(`^spec\.(credentialsBindingName|secretBindingName|seedName|exposureClassName|resources|tolerations|networking\.type|` +
	`provider\.(infrastructureConfig|controlPlaneConfig)|provider\.workers\[\d+\]\.providerConfig|providerConfig)\b`)

// mutate changes one value in an object, and returns a description.
func mutate(r *rand.Rand, object tree) string {
	all := places(object)
	p := all[r.IntN(len(all))]
	var value any
	switch v := p.value.(type) {
	case string:
		other, _ := all[r.IntN(len(all))].value.(string)
		value = pick(r, "", "x", "a b", v+"x", strings.ToUpper(v), "1", "1.33", "10.250.0.0/20", "1Gi", other, other, other)
	case float64:
		value = pick(r, -1.0, 0.0, 1.0, 100000.0, v+1)
	case bool:
		value = !v
	case []any:
		switch {
		case len(v) > 0 && r.IntN(3) > 0:
			value = append(slices.Clone(v), copied(v[r.IntN(len(v))]))
		default:
			value = []any{}
		}
	case tree:
		value = copied(v)
		if r.IntN(2) == 0 {
			value.(tree)["unknown"] = "x"
		} else {
			value = tree{}
		}
	}
	if r.IntN(4) == 0 || value == nil {
		p.remove()
		return "without " + p.path
	}
	p.put(value)
	return fmt.Sprintf("%s: %v", p.path, value)
}

// verdicts compares the API server's answers with lint's findings. The name of an object is its number.
type verdicts struct {
	accepted, refused int
	silent, alone     []string // refused without a finding, found without a refusal
	elsewhere         []string // no field in common
	unknown           map[string]int
}

// others matches refusals that depend on the garden instead of the inputs.
var others = regexp.MustCompile(`already exists|not found|uses non-registered|not supported in this Gardener installation`)

// mentioned matches the paths in a message.
var mentioned = regexp.MustCompile(`(?:spec|metadata|status)(?:\.[A-Za-z]\w*|\[[^\]]*\])+`)

// index matches an index or key in a path.
var index = regexp.MustCompile(`\[[^\]]*\]`)

// machine matches the paths of a worker pool's machine type, architecture and image, which must fit together.
var machine = regexp.MustCompile(`^(spec\.provider\.workers\[\d+\]\.machine)\..*`)

func (v *verdicts) compare(what string, err error, found []fixtures.Finding) {
	ours := slices.DeleteFunc(slices.Clone(found), func(f fixtures.Finding) bool { return f.Severity != finding.SeverityError || f.ByGardener() })
	found = slices.DeleteFunc(found, func(f fixtures.Finding) bool { return !f.ByGardener() })
	var status *apierrors.StatusError
	switch {
	case err == nil && len(found) == 0:
		v.accepted++
		return
	case err == nil:
		v.alone = append(v.alone, fmt.Sprintf("%s\n    lint: %v", what, found))
		return
	case !errors.As(err, &status):
		Expect(err).NotTo(HaveOccurred())
	}
	v.refused++
	if found = append(found, ours...); len(found) == 0 { // capkit's own findings are more precise
		if others.MatchString(err.Error()) {
			v.unknown[others.FindString(err.Error())]++
			return
		}
		v.silent = append(v.silent, fmt.Sprintf("%s\n    API: %v", what, err))
		return
	}
	said := mentioned.FindAllString(err.Error(), -1)
	if strings.Contains(err.Error(), "operatingsystemconfig.extensions.gardener.cloud/") { // a label that a plugin derives from an image
		said = append(said, "spec.provider.workers")
	}
	if strings.Contains(err.Error(), "invalid semantic version") { // the message has no path
		said = append(said, "spec.kubernetes.version")
	}
	if strings.Contains(err.Error(), "provider.extensions.gardener.cloud/") { // a label derived from the type of a profile
		said = append(said, "spec.type")
	}
	if details := status.ErrStatus.Details; details != nil {
		for _, cause := range details.Causes {
			said = append(said, cause.Field)
		}
	}
	related := func(f fixtures.Finding) bool {
		at := index.ReplaceAllString(f.Field, "")
		if strings.HasPrefix(at, "spec.machineCapabilities") && strings.Contains(err.Error(), "apabilit") {
			return true // the API server reports only consequences of a mistake in the vocabulary
		}
		return slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, at) || strings.HasPrefix(at, s) })
	}
	for i := range said {
		said[i] = strings.Replace(said[i], "status.cloudProfileSpec.", "spec.", 1) // the result of a NamespacedCloudProfile
	}
	for i := range said { // errors of the decoder have no indices
		said[i] = index.ReplaceAllString(machine.ReplaceAllString(said[i], "$1"), "")
	}
	if len(said) > 0 && !slices.ContainsFunc(found, related) && !others.MatchString(err.Error()) {
		v.elsewhere = append(v.elsewhere, fmt.Sprintf("%s\n    API: %v\n    lint: %v", what, err, found))
	}
}

// lintOf returns lint's findings about each object by number, which is in an annotation.
func lintOf(objects []tree, beside ...string) map[int][]fixtures.Finding {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "objects.yaml")
	var texts []string
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		Expect(err).NotTo(HaveOccurred())
		texts = append(texts, string(text))
	}
	starts := make([]int, 0, len(texts)) // the first line of each object
	line := 1
	for _, text := range texts {
		starts = append(starts, line)
		line += strings.Count(text, "\n") + 1
	}
	Expect(os.WriteFile(path, []byte(strings.Join(texts, "---\n")), 0o600)).To(Succeed())
	a := capkit(append([]string{"lint", "-o", "json", path}, beside...))
	var said report.Report
	Expect(json.Unmarshal([]byte(a.stdout), &said)).To(Succeed(), a.stderr)
	found := map[int][]fixtures.Finding{}
	for _, f := range said.Findings {
		if f.File != path {
			continue
		}
		i, exact := slices.BinarySearch(starts, f.Line)
		if !exact {
			i--
		}
		found[i] = append(found[i], fixtures.Finding{Severity: f.Severity, Rule: f.Rule, Type: f.Type, Field: f.Field, Message: f.Message})
	}
	return found
}

// judged creates objects as a dry run, and compares the answers with lint.
func judged(ctx SpecContext, objects []tree, what []string, beside ...string) *verdicts {
	GinkgoHelper()
	v := &verdicts{unknown: map[string]int{}}
	found := lintOf(objects, beside...)
	for i, object := range objects {
		err := g.Client().Create(ctx, &unstructured.Unstructured{Object: copied(object).(tree)},
			client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
		v.compare(strconv.Itoa(i)+" "+what[i], err, found[i])
	}
	AddReportEntry(fmt.Sprintf("%d objects: %d accepted, %d refused, of these because of what is in the garden: %v; "+
		"refused without a finding: %d, found without a refusal: %d, other fields: %d",
		len(objects), v.accepted, v.refused, v.unknown, len(v.silent), len(v.alone), len(v.elsewhere)))
	return v
}

func (v *verdicts) expectNone() {
	GinkgoHelper()
	var all []string
	for title, list := range map[string][]string{"refused without a finding": v.silent, "found without a refusal": v.alone, "other fields": v.elsewhere} {
		for _, difference := range list {
			all = append(all, title+": "+difference)
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		Fail(strings.Join(all[:min(len(all), 60)], "\n"))
	}
}

// drawnShoot makes a random change of a Shoot that its profile or Gardener's admission checks, and returns a description.
func drawnShoot(r *rand.Rand, shoot tree) string {
	spec := shoot["spec"].(tree)
	workers := spec["provider"].(tree)["workers"].([]any)
	worker := pick(r, workers...).(tree)
	set := func(in tree, path string, value any) string {
		keys := strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			if in[key] == nil {
				in[key] = tree{}
			}
			in = in[key].(tree)
		}
		in[keys[len(keys)-1]] = value
		return fmt.Sprintf("%s: %v", path, value)
	}
	pool := func(path string, value any) string { return fmt.Sprint(worker["name"], " ") + set(worker, path, value) }
	image := tree{"name": "gardenlinux"}
	return pick(r,
		func() string { return set(spec, "region", pick(r, "europe", "asia", "mars")) },
		func() string {
			return set(spec, "kubernetes.version", pick(r, "1.33.2", "1.33.1", "1.34.1", "1.33", "1.34", "1", "1.35.0"))
		},
		func() string {
			return set(spec, "networking.pods", pick(r, "10.250.0.0/20", "100.96.0.0/11", "fd00::/48"))
		},
		func() string { return set(spec, "networking.services", pick(r, "10.250.0.0/20", "100.64.0.0/13")) },
		func() string { return set(spec, "provider.type", pick(r, "openstack", "aws")) },
		func() string { return set(spec, "controlPlane.zones", []any{pick(r, "europe-1a", "mars-1")}) },
		func() string {
			return set(spec, "accessRestrictions", []any{tree{"name": pick(r, "eu-only", "us-only")}})
		},
		func() string { return set(spec, "hibernation.enabled", true) },
		func() string {
			return set(spec, "kubernetes.kubeAPIServer.serviceAccountConfig.issuer", "https://issuer.example.com")
		},
		func() string {
			return set(shoot["metadata"].(tree), "annotations", tree{"authentication.gardener.cloud/issuer": "managed"})
		},
		func() string {
			return set(shoot["metadata"].(tree), "annotations", tree{"migration.shoot.gardener.cloud/live-migrate": "true"})
		},
		func() string { return set(spec, "cloudProfileName", pick(r, "verdict", "openstack")) },
		func() string {
			return pool("machine.type", pick(r, "medium_4_8", "medium_4_8_arm", "unusable", "nowhere", "scarce", "unknown", "small_disk"))
		},
		func() string { return pool("machine.architecture", pick(r, "amd64", "arm64", "s390x")) },
		func() string { return pool("machine.image", nil) },
		func() string { return pool("machine.image", image) },
		func() string {
			image["version"] = pick(r, "1877.5.0", "1592.9.0", "1500.1.0", "1600.1.0", "1700.1.0", "1800.1.0", "1877", "1", "1877.9.9")
			return pool("machine.image", image)
		},
		func() string {
			return pool("zones", pick(r, []any{"europe-1a"}, []any{"europe-1b"}, []any{"europe-1b", "europe-1a"}, []any{"asia-1a"}, []any{}))
		},
		func() string {
			return pool("volume.type", pick(r, "default", "storage_premium_perf0", "worn", "scarce_disk", "unknown"))
		},
		func() string { return pool("volume.size", pick(r, "1Gi", "30Gi", "100Gi")) },
		func() string { return pool("volume.type", nil) },
		func() string {
			return pool("cri", tree{"name": pick(r, "containerd", "docker"), "containerRuntimes": []any{tree{"type": pick(r, "gvisor", "kata")}}})
		},
		func() string {
			return pool("kubernetes.version", pick(r, "1.33.2", "1.33.1", "1.32.9", "1.33", "1.34.1"))
		},
		func() string {
			return pool("kubernetes.kubelet.kubeReserved", tree{"cpu": pick(r, "100m", "8"), "memory": pick(r, "1Gi", "9Gi")})
		},
		func() string {
			return pool("minimum", pick(r, 1.0, 3.0, 30.0)) + pool("maximum", pick(r, 3.0, 40.0))
		},
		func() string {
			return pool("updateStrategy", pick(r, "AutoRollingUpdate", "AutoInPlaceUpdate", "ManualInPlaceUpdate"))
		},
		func() string { return pool("name", pick(r, "ledger", "web", "a-name-that-is-too-long")) },
	)()
}

// offersMore adds entries to a profile that Gardener's admission of Shoots checks. Expired entries expire at the given time.
func offersMore(profile tree, at time.Time) {
	spec, expires := profile["spec"].(tree), at.UTC().Format(time.RFC3339)
	machineType := func(name string, more tree) {
		made := tree{"name": name, "cpu": "4", "gpu": "0", "memory": "8Gi", "capabilities": tree{"architecture": []any{"amd64"}}}
		maps.Copy(made, more)
		spec["machineTypes"] = append(spec["machineTypes"].([]any), made)
	}
	machineType("unusable", tree{"usable": false})
	machineType("nowhere", nil)
	machineType("scarce", nil)
	machineType("small_disk", tree{"storage": tree{"class": "standard", "type": "default", "minSize": "50Gi"}})
	europe := spec["regions"].([]any)[0].(tree)
	europe["accessRestrictions"] = []any{tree{"name": "eu-only"}}
	for i, zone := range europe["zones"].([]any) {
		zone := zone.(tree)
		zone["unavailableMachineTypes"] = []any{"nowhere"}
		if i == 1 {
			zone["unavailableMachineTypes"] = []any{"nowhere", "scarce"}
			zone["unavailableVolumeTypes"] = []any{"scarce_disk"}
		}
	}
	spec["volumeTypes"] = append(spec["volumeTypes"].([]any), tree{"name": "worn", "class": "standard", "usable": false},
		tree{"name": "scarce_disk", "class": "standard"})
	spec["volumeTypes"].([]any)[0].(tree)["minSize"] = "10Gi"
	spec["limits"] = tree{"maxNodesTotal": 50.0}
	kubernetes := spec["kubernetes"].(tree)
	kubernetes["versions"] = append(kubernetes["versions"].([]any),
		tree{"version": "1.33.1", "classification": "deprecated", "expirationDate": expires}, tree{"version": "1.34.1", "classification": "preview"})
	image := spec["machineImages"].([]any)[0].(tree)
	config := spec["providerConfig"].(tree)["machineImages"].([]any)[0].(tree)
	version := func(name string, more tree) {
		made, mapped := copied(image["versions"].([]any)[0]).(tree), copied(config["versions"].([]any)[0]).(tree)
		made["version"], mapped["version"] = name, name
		maps.Copy(made, more)
		image["versions"], config["versions"] = append(image["versions"].([]any), made), append(config["versions"].([]any), mapped)
	}
	version("1500.1.0", tree{"classification": "deprecated", "expirationDate": expires})
	version("1600.1.0", tree{"kubeletVersionConstraint": "< 1.33"})
	version("1700.1.0", tree{"cri": []any{tree{"name": "containerd", "containerRuntimes": []any{tree{"type": "gvisor"}}}}})
	version("1800.1.0", tree{"inPlaceUpdates": tree{"supported": true, "minVersionForUpdate": "1700.1.0"}})
}

// file writes an object into its own file without the server's fields, and returns the file's path.
func file(object *unstructured.Unstructured) string {
	GinkgoHelper()
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	text, err := yaml.Marshal(object.Object)
	Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(GinkgoT().TempDir(), "object.yaml")
	Expect(os.WriteFile(path, text, 0o600)).To(Succeed())
	return path
}

// drawn is the number of random CloudProfiles. There are five times as many Shoots, and half as many NamespacedCloudProfiles.
var drawn = 200

var _ = Describe("Without capkit's webhooks", func() {
	It("lint says of Shoots what the API server says", func(ctx SpecContext) {
		r := rand.New(rand.NewPCG(31, 1))
		profile := &unstructured.Unstructured{Object: treeOf("cloudprofile-full.yaml")}
		profile.SetName("verdict")
		offersMore(profile.Object, time.Now().Add(time.Hour)) // expired versions would be left out on creation
		create(ctx, profile)
		expired := &unstructured.Unstructured{Object: treeOf("cloudprofile-full.yaml")}
		offersMore(expired.Object, time.Now().Add(-time.Hour))
		Expect(change(ctx, profile, func(p *unstructured.Unstructured) { p.Object["spec"] = expired.Object["spec"] })).To(Succeed())
		base := treeOf("shoot-full.yaml")
		base["metadata"].(tree)["namespace"] = "garden-demo"
		base["spec"].(tree)["cloudProfile"].(tree)["name"] = "verdict"
		var objects []tree
		var what []string
		names := map[string]bool{}
		for i := range 5 * drawn {
			shoot := copied(base).(tree)
			metadata := shoot["metadata"].(tree)
			metadata["name"] = fmt.Sprint("v", i)
			var done []string
			for range pick(r, 1, 1, 2, 3) {
				done = append(done, drawnShoot(r, shoot))
			}
			if r.IntN(3) == 0 {
				done = append(done, mutate(r, shoot))
			}
			if name := fmt.Sprint(metadata["name"]); names[name] {
				metadata["name"] = fmt.Sprint("v", i)
			}
			names[fmt.Sprint(metadata["name"])] = true
			objects, what = append(objects, shoot), append(what, strings.Join(done, "; "))
		}
		Eventually(ctx, func() error { // once the API server has seen the expirations
			shoot := copied(base).(tree)
			shoot["spec"].(tree)["kubernetes"].(tree)["version"] = "1.33.1"
			return g.Client().Create(ctx, &unstructured.Unstructured{Object: shoot}, client.DryRunAll)
		}).WithTimeout(time.Minute).Should(MatchError(ContainSubstring("1.33.1")))
		judged(ctx, objects, what, file(profile)).expectNone()
	})

	It("lint says of CloudProfiles what the API server says", func(ctx SpecContext) {
		r := rand.New(rand.NewPCG(31, 2))
		var objects []tree
		var what []string
		bases := []tree{treeOf("cloudprofile-full.yaml"), treeOf("cloudprofile-full.yaml"), treeOf("cloudprofile.yaml"), treeOf("cloudprofile-legacy.yaml"),
			treeOf("aws/cloudprofile.yaml"), treeOf("azure/cloudprofile.yaml"), treeOf("gcp/cloudprofile.yaml"), treeOf("alicloud/cloudprofile.yaml")}
		offersMore(bases[1], time.Now().Add(time.Hour))
		for i := range drawn {
			profile := copied(pick(r, bases...)).(tree)
			profile["metadata"].(tree)["name"] = fmt.Sprint("v", i)
			var done []string
			for range pick(r, 1, 1, 1, 2) {
				done = append(done, mutate(r, profile))
			}
			profile["metadata"].(tree)["name"] = fmt.Sprint("v", i)
			objects, what = append(objects, profile), append(what, strings.Join(done, "; "))
		}
		judged(ctx, objects, what, "--webhook=false").expectNone()
	})

	It("lint says of NamespacedCloudProfiles what the API server says", func(ctx SpecContext) {
		r := rand.New(rand.NewPCG(31, 3))
		parent := &unstructured.Unstructured{Object: treeOf("cloudprofile.yaml")}
		parent.SetName("verdict-parent")
		create(ctx, parent)
		base := treeOf("namespacedcloudprofile.yaml")
		base["metadata"] = tree{"name": "verdict", "namespace": "garden-demo"}
		base["spec"].(tree)["parent"].(tree)["name"] = "verdict-parent"
		var objects []tree
		var what []string
		for i := range drawn / 2 {
			profile := copied(base).(tree)
			var done []string
			for range pick(r, 1, 1, 1, 2) {
				done = append(done, mutate(r, profile))
			}
			profile["metadata"].(tree)["name"] = fmt.Sprint("v", i)
			objects, what = append(objects, profile), append(what, strings.Join(done, "; "))
		}
		Eventually(ctx, func() error {
			return g.Client().Create(ctx, &unstructured.Unstructured{Object: copied(base).(tree)}, client.DryRunAll)
		}).WithTimeout(time.Minute).Should(Succeed())
		judged(ctx, objects, what, "--webhook=false", file(parent)).expectNone()
	})
})
