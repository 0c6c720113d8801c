// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// manifest writes an object into its own file, and returns the file's path.
func manifest(object *unstructured.Unstructured) string {
	GinkgoHelper()
	text, err := yaml.Marshal(object.Object)
	Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(GinkgoT().TempDir(), object.GetName()+".yaml")
	Expect(os.WriteFile(path, text, 0o600)).To(Succeed())
	return path
}

// virtual returns OpenStack's profile without the bare metal flavor of its first image version, in core and in the provider config.
func virtual() (changed *unstructured.Unstructured) {
	GinkgoHelper()
	for _, s := range all {
		if s.Component.Type == "openstack" {
			changed = s.Profile.DeepCopy()
		}
	}
	for _, fields := range [][]string{{"spec", "machineImages"}, {"spec", "providerConfig", "machineImages"}} {
		images, _, err := unstructured.NestedSlice(changed.Object, fields...)
		Expect(err).NotTo(HaveOccurred())
		version := images[0].(map[string]any)["versions"].([]any)[0].(map[string]any)
		flavors := version["capabilityFlavors"].([]any)
		Expect(flavors[1]).To(HaveText("baremetal"))
		version["capabilityFlavors"] = append(flavors[:1:1], flavors[2:]...)
		Expect(unstructured.SetNestedSlice(changed.Object, images, fields...)).To(Succeed())
	}
	return changed
}

// HaveText matches values whose printed form contains a text.
func HaveText(text string) OmegaMatcher {
	return WithTransform(func(v any) string { return fmt.Sprint(v) }, ContainSubstring(text))
}

// pageData has the compared data of a report page.
type pageData struct {
	Profiles    []struct{ Name string }
	Findings    []any
	Maintenance []struct{ Count int }
}

// dataOf returns the data embedded in a page.
func dataOf(page string) (data pageData) {
	GinkgoHelper()
	_, text, found := strings.Cut(page, `id="data">`)
	Expect(found).To(BeTrue(), page)
	text, _, _ = strings.Cut(text, "</script>")
	zipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	Expect(err).NotTo(HaveOccurred())
	Expect(json.NewDecoder(zipped).Decode(&data)).To(Succeed())
	return data
}

var _ = Describe("On a garden", func() {
	It("lint finds nothing wrong in what the API server has", func() {
		a := admin("lint", "-A", "-o", "json")
		everything = true
		Expect(a.status).To(Equal(0), a.stdout+a.stderr)
		var report struct{ Summary struct{ Objects int } }
		Expect(json.Unmarshal([]byte(a.stdout), &report)).To(Succeed())
		Expect(report.Summary.Objects).To(Equal(3 * len(all)))
	})

	It("select, explain and maintenance say of the cluster what they say of the manifests", func() {
		var files []string
		for _, s := range all {
			for _, object := range []*unstructured.Unstructured{s.Profile, s.Shoot} {
				files = append(files, manifest(object))
			}
		}
		for _, command := range []string{"select", "maintenance"} {
			live, offline := admin(command, "-A"), capkit(append([]string{command}, files...))
			Expect(live.status).To(Equal(0), live.stderr)
			Expect(strings.Split(live.stdout, "\n")).To(ConsistOf(strings.Split(offline.stdout, "\n")), command)
		}
		one := admin("explain", "-n", "garden-demo", "-o", "json")
		Expect(one.status).To(Equal(0), one.stderr)
		Expect(one.stdout).To(ContainSubstring(`"vocabulary"`))
		for _, s := range all {
			Expect(one.stdout).To(ContainSubstring("garden-demo/" + s.Shoot.GetName()))
		}
	})

	It("a file stands for the object of its name, and changes nothing", func() {
		file := manifest(virtual())
		a := admin("select", "-A", file)
		Expect(a.status).To(Equal(1), a.stderr)
		Expect(a.stdout).To(ContainSubstring("garden-demo/shop, worker pool db: gardenlinux@1877.5.0 on bare_8_16 in europe: no image"))
		Expect(a.stdout).To(ContainSubstring("garden-demo/shop, worker pool web: gardenlinux@1877.5.0 on medium_4_8 in europe boots"))
		a = admin("lint", "-A", file)
		Expect(a.status).To(Equal(1), a.stderr)
		Expect(a.stdout).To(MatchRegexp(`(?m)^<cluster>: error: worker pool db: no image fits .* \[no-image-fits\]\n    Shoot garden-demo/shop: `))
		Expect(admin("select", "-A").status).To(Equal(0))
	})

	It("report says of a file and the cluster what lint, maintenance and select say", func() {
		file := manifest(virtual())
		lint, report := admin("lint", "-A", "-o", "json", file), admin("report", "-A", file)
		Expect(report.status).To(Equal(lint.status), report.stderr)
		var found struct{ Findings []any }
		Expect(json.Unmarshal([]byte(lint.stdout), &found)).To(Succeed())
		page := dataOf(report.stdout)
		Expect(page.Findings).To(Equal(found.Findings))
		Expect(page.Findings).To(ContainElement(HaveKeyWithValue("rule", "no-image-fits")))

		var maintained struct{ Pools []any }
		Expect(json.Unmarshal([]byte(admin("maintenance", "-A", "-o", "json", file).stdout), &maintained)).To(Succeed())
		pools := 0
		for _, p := range page.Maintenance {
			pools += p.Count
		}
		Expect(pools).To(Equal(len(maintained.Pools)))

		cells := admin("report", "-A", "-o", "json", file)
		Expect(cells.status).To(Equal(lint.status), cells.stderr)
		Expect(cells.stderr).To(ContainSubstring("[no-image-fits]"))
		var answer struct {
			Profiles []struct {
				Name  string
				Cells []struct{ Image, Version, MachineType, Region, Error string }
			}
		}
		Expect(json.Unmarshal([]byte(cells.stdout), &answer)).To(Succeed())
		Expect(answer.Profiles).To(HaveLen(2 * len(all)))
		Expect(page.Profiles).To(HaveLen(2 * len(all)))
		without := 0 // the cells of the file's profile without an image
		for i, p := range answer.Profiles {
			Expect(p.Name).To(Equal(page.Profiles[i].Name))
			for _, c := range p.Cells {
				if p.Name == "openstack" && c.Image+"@"+c.Version+" "+c.MachineType == "gardenlinux@1877.5.0 bare_8_16" {
					Expect(c.Error).To(ContainSubstring("no image"))
					without++
				}
			}
		}
		Expect(without).To(BeNumerically(">", 0))
	})

	It("a Shoot in a file finds its profile in the cluster, and nothing else is asked about", func() {
		shoot := all[len(all)-1].Shoot.DeepCopy()
		shoot.SetName("other")
		unstructured.RemoveNestedField(shoot.Object, "metadata", "namespace")
		a := admin("select", "-o", "json", manifest(shoot))
		Expect(a.status).To(Equal(0), a.stderr)
		var answer struct{ Pools []struct{ Shoot string } }
		Expect(json.Unmarshal([]byte(a.stdout), &answer)).To(Succeed())
		Expect(answer.Pools).NotTo(BeEmpty())
		for _, pool := range answer.Pools {
			Expect(pool.Shoot).To(Equal("default/other"))
		}
		a = admin("lint", manifest(shoot))
		Expect(a.stderr).To(ContainSubstring("1 object checked: no errors, no warnings"), a.stdout)
		a = admin("render", "-n", "garden-demo", "--profile", all[0].Namespaced.GetName())
		Expect(a.status).To(Equal(0), a.stderr)
	})

	It("Shoots of other providers are answered for by core, and their profiles are a warning", func() {
		a := capkit([]string{"select", "-A", "--kubeconfig", g.Kubeconfig()}, "openstack")
		Expect(a.status).To(Equal(0), a.stderr)
		Expect(a.stderr).To(ContainSubstring("note: provider aws is unknown to this command, and its provider config is not read: " +
			"answers are based on core alone\n"))
		Expect(a.stdout).To(ContainSubstring(" boots by core alone\n"))
		a = capkit([]string{"lint", "-A", "--kubeconfig", g.Kubeconfig()}, "openstack")
		Expect(a.status).To(Equal(0), a.stdout)
		Expect(a.stdout).To(ContainSubstring("<cluster>: warning: the provider config was not checked: this command knows openstack, not aws; " +
			"describe it with --provider-file, or ignore this warning [provider-unknown]"))
	})

	It("nothing in a namespace is an error", func() {
		a := admin("lint", "-n", "garden-elsewhere")
		Expect(a.status).To(Equal(2))
		Expect(a.stderr).To(ContainSubstring("no CloudProfile, NamespacedCloudProfile or Shoot among the inputs"))
		Expect(admin("lint", "-n", "garden-elsewhere", "--allow-empty").status).To(Equal(0))
	})
})

var _ = Describe("The rights that the docs list", func() {
	resources := []string{"cloudprofiles", "namespacedcloudprofiles", "shoots"}
	list := func(resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{"core.gardener.cloud"}, Resources: resources, Verbs: []string{"list"}}
	}

	It("are enough, and each is named if it is missing", func(ctx SpecContext) {
		enough := capkit([]string{"lint", "-A", "--kubeconfig", account(ctx, "enough", "", list(resources...))})
		Expect(enough.status).To(Equal(0), enough.stderr)
		for i, missing := range resources {
			others := append(append([]string{}, resources[:i]...), resources[i+1:]...)
			a := capkit([]string{"lint", "-A", "--kubeconfig", account(ctx, "without-"+missing, "", list(others...))})
			Expect(a.status).To(Equal(2))
			Expect(a.stdout).To(BeEmpty())
			Expect(a.stderr).To(HavePrefix("capkit: the right to list " + missing + ".core.gardener.cloud, "))
			Expect(strings.Count(a.stderr, "\n")).To(Equal(1), a.stderr)
		}
		none := capkit([]string{"select", "-A", "--kubeconfig", account(ctx, "without", "")})
		Expect(strings.Count(none.stderr, "the right to list ")).To(Equal(3), none.stderr)
	})

	It("may be those of a namespace", func(ctx SpecContext) {
		path := account(ctx, "member", "garden-demo", list(resources[1:]...))
		Expect(g.Client().Create(ctx, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "profiles"}, Rules: []rbacv1.PolicyRule{list("cloudprofiles")},
		})).To(Succeed())
		Expect(g.Client().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "profiles"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "profiles"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "member", Namespace: "garden-demo"}},
		})).To(Succeed())
		waitForRights(ctx, "member", "", list("cloudprofiles"))
		a := capkit([]string{"maintenance", "-n", "garden-demo", "--kubeconfig", path})
		Expect(a.status).To(Equal(0), a.stderr)
		a = capkit([]string{"maintenance", "-A", "--kubeconfig", path})
		Expect(a.status).To(Equal(2))
		Expect(a.stderr).To(ContainSubstring("or name one namespace"))
	})

	It("are of no use with a token that is not accepted", func() {
		a := capkit([]string{"lint", "-A", "--kubeconfig", kubeconfig("swordfish")})
		Expect(a.status).To(Equal(2))
		Expect(a.stderr).To(ContainSubstring("does not accept the credentials, which may have expired"))
		Expect(a.stderr).NotTo(ContainSubstring("swordfish"))
	})
})

// everything is set once a spec has made the command read all resources.
var everything bool

// According to the audit log of kube-apiserver, the command only lists objects.
var _ = AfterSuite(func() {
	if g == nil {
		return
	}
	file, err := os.Open(g.AuditLog())
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	verbs := map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb      string
			UserAgent string
			ObjectRef struct{ APIGroup, Resource, Subresource string }
		}
		Expect(json.Unmarshal(lines.Bytes(), &event)).To(Succeed())
		if strings.HasPrefix(event.UserAgent, "capkit/") {
			ref := event.ObjectRef
			verbs[strings.TrimSuffix(event.Verb+" "+ref.APIGroup+"/"+ref.Resource+"/"+ref.Subresource, "/")]++
		}
	}
	Expect(lines.Err()).NotTo(HaveOccurred())
	if everything { // otherwise it depends on the selected specs
		Expect(verbs).To(HaveLen(5))
	}
	for _, resource := range []string{"cloudprofiles", "namespacedcloudprofiles", "shoots"} {
		delete(verbs, "list core.gardener.cloud/"+resource)
	}
	delete(verbs, "list admissionregistration.k8s.io/mutatingwebhookconfigurations")
	delete(verbs, "get /configmaps") // gardener-info
	Expect(verbs).To(BeEmpty())
})
