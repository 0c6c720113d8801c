// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/worker/kit/command"
	"github.com/capkit/capkit/test/authors/acme"
	"github.com/capkit/capkit/test/garden/charts"
)

// acmeNamespace is the namespace of acme's components. They belong to an extension without capkit's own components.
const acmeNamespace = "acme"

// edited copies a chart and replaces lines of its files, like an extension author with an editor.
func edited(source string, files map[string][]string) string {
	GinkgoHelper()
	copied := filepath.Join(GinkgoT().TempDir(), "copied")
	Expect(os.CopyFS(copied, os.DirFS(filepath.Join(root, "charts", source)))).To(Succeed())
	for file, lines := range files {
		text := string(read(copied, file))
		for i := 0; i < len(lines); i += 2 {
			Expect(strings.Count(text, lines[i]+"\n")).To(Equal(1), "%s: %s", file, lines[i])
			text = strings.Replace(text, lines[i]+"\n", lines[i+1]+"\n", 1)
		}
		Expect(os.WriteFile(filepath.Join(copied, file), []byte(text), 0o600)).To(Succeed())
	}
	return copied
}

// renderCopy renders a copy of a chart, and requires that it contains nothing of the original cloud.
func renderCopy(copied, release string, values map[string]any) []*unstructured.Unstructured {
	GinkgoHelper()
	rendered, err := charts.RenderFolder(copied, release, acmeNamespace, values)
	Expect(err).NotTo(HaveOccurred())
	for _, object := range rendered {
		text, err := object.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).NotTo(MatchRegexp("(?i:openstack)|PROVIDER_|COMPONENT_"), object.GetKind())
	}
	return rendered
}

var _ = Describe("An author who copies", func() {
	BeforeEach(func(ctx SpecContext) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: acmeNamespace}}
		Expect(client.IgnoreAlreadyExists(g.Client().Create(ctx, namespace))).To(Succeed())
	})

	It("the charts of the admission component, and changes a few lines, has those of another cloud", func(ctx SpecContext) {
		component := []string{"  type: openstack", "  type: acme", "  title: OpenStack", "  title: Acme"}
		inRuntime := renderCopy(edited("admission/runtime", map[string][]string{
			"Chart.yaml": {"name: admission-openstack-runtime", "name: admission-acme-runtime"},
			"values.yaml": append([]string{
				"  repository: registry.example.com/capkit/gardener-extension-admission-openstack",
				"  repository: registry.example.com/acme/gardener-extension-admission-acme",
			}, component...),
		}), "admission-acme", map[string]any{"monitoring": map[string]any{"enabled": true}})
		inGarden := renderCopy(edited("admission/application", map[string][]string{
			"Chart.yaml":  {"name: admission-openstack-application", "name: admission-acme-application"},
			"values.yaml": component,
		}), "admission-acme", map[string]any{"gardener": map[string]any{"virtualCluster": map[string]any{
			"serviceAccount": map[string]any{"name": "acme", "namespace": "kube-system"},
		}}})
		apply(ctx, inRuntime)
		apply(ctx, inGarden)

		cmd := admission.NewCommand(acme.Provider{})
		_, container := podOf(inRuntime)
		Expect(cmd.ParseFlags(container.Args)).To(Succeed())
		Expect(container.Name).To(Equal(cmd.Name()))
		Expect(container.Image).To(HavePrefix("registry.example.com/acme/" + cmd.Name() + ":v"))
		role := &rbacv1.ClusterRole{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(find(inGarden, "ClusterRole").Object, role)).To(Succeed())
		Expect(role.Rules).To(ContainElements(admission.Rights(acme.Provider{})))
		Expect(role.Rules).To(ContainElement(HaveField("ResourceNames", ConsistOf(cmd.Name()))), "its own webhook configurations")
	})

	It("them for a component beside the one that the extension has, or that checks no credentials, has that", func() {
		values := map[string]any{
			"component": map[string]any{"type": "acme", "title": "Acme", "beside": true, "credentials": false},
			"image":     map[string]any{"repository": "registry.example.com/acme/admission"},
		}
		rendered := renderCopy(filepath.Join(root, "charts/admission/runtime"), "a", values)
		Expect(find(rendered, "Deployment").GetName()).To(Equal(admission.NewCommandBeside(acme.Provider{}).Name()))
		values["gardener"] = map[string]any{"virtualCluster": map[string]any{"serviceAccount": map[string]any{"name": "x", "namespace": "y"}}}
		role, err := find(renderCopy(filepath.Join(root, "charts/admission/application"), "a", values), "ClusterRole").MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(string(role)).NotTo(ContainSubstring("secret"))
	})

	It("the chart of the worker controller has that of another cloud", func(ctx SpecContext) {
		rendered := renderCopy(edited("gardener-extension-provider-openstack", map[string][]string{
			"Chart.yaml": {"name: provider-openstack-worker", "name: provider-acme-worker"},
			"values.yaml": {
				"  name: provider-openstack-worker", "  name: provider-acme-worker",
				"  repository: registry.example.com/capkit/gardener-extension-provider-openstack",
				"  repository: registry.example.com/acme/gardener-extension-provider-acme",
			},
		}), "provider-acme-worker", map[string]any{"monitoring": map[string]any{"enabled": true}})
		apply(ctx, rendered)
		cmd := command.New(command.Controller{
			Program: "gardener-extension-provider-acme", Component: "provider-acme-worker", Type: "acme",
			Add: func(context.Context, manager.Manager, command.Options) error { return nil },
		})
		_, container := podOf(rendered)
		Expect(cmd.ParseFlags(container.Args)).To(Succeed())
		role := &rbacv1.Role{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(find(rendered, "Role").Object, role)).To(Succeed())
		Expect(role.Rules).To(ContainElement(HaveField("ResourceNames", ConsistOf(cmd.Flag("leader-election-id").DefValue))))
	})
})
