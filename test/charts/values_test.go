// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	yamlv3 "go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/local"
	provider "github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/garden/charts"
)

// folder writes a chart of a component into a folder, for Helm's linter.
func folder(c components.Component, kind chart.Kind) string {
	GinkgoHelper()
	files, err := charts.Files(c, kind)
	Expect(err).NotTo(HaveOccurred())
	top := filepath.Join(GinkgoT().TempDir(), string(kind))
	for _, file := range files {
		path := filepath.Join(top, file.Name)
		Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		Expect(os.WriteFile(path, file.Data, 0o600)).To(Succeed())
	}
	return top
}

// properties returns the properties in the schema of a chart.
func properties(c components.Component, kind chart.Kind) map[string]any {
	GinkgoHelper()
	return decode[map[string]any](read(folder(c, kind), "values.schema.json"))["properties"].(map[string]any)
}

var _ = Describe("The values of", func() {
	wrong := decode[map[string][]struct {
		What   string
		Values map[string]any
		Says   string
	}](read("testdata/wrong-values.yaml"))

	for kind, full := range map[chart.Kind]string{charts.Runtime: "full", charts.Application: "account"} {
		Describe("the "+string(kind)+" chart", func() {
			DescribeTable("please Helm's linter", func(c components.Component) {
				valid := values(full)
				if !c.Credentials {
					delete(valid, "disabledWebhooks") // one of them is about credentials
				}
				if !c.WorkerSettings {
					delete(valid, "workerController")
				}
				for _, v := range []map[string]any{nil, valid} {
					Expect(lint.RunAll(folder(c, kind), v, runtimeNamespace).Messages).NotTo(
						ContainElement(HaveField("Severity", BeNumerically(">", support.InfoSev))),
					)
				}
			}, each())

			for _, w := range wrong[string(kind)] {
				It("are refused: "+w.What, func() {
					_, err := charts.Render(openstack, kind, runtimeNamespace, w.Values)
					Expect(err).To(MatchError(ContainSubstring(w.Says)))
				})
			}

			It("have a comment, or are in what has one", func() {
				var document yamlv3.Node
				Expect(yamlv3.Unmarshal(read(folder(openstack, kind), "values.yaml"), &document)).To(Succeed())
				Expect(unexplained(document.Content[0], "")).To(BeEmpty())
			})
		})
	}

	DescribeTable("the runtime chart name the webhooks that there are, as those that can be disabled", func(c components.Component) {
		known, _, err := unstructured.NestedStringSlice(properties(c, charts.Runtime), "disabledWebhooks", "items", "enum")
		Expect(err).NotTo(HaveOccurred())
		names := func(webhooks []webhookcmd.NameToFactory) sets.Set[string] {
			found := sets.New("*")
			for _, webhook := range webhooks {
				found.Insert(webhook.Name)
			}
			return found
		}
		// Only component.credentials decides which webhooks there are.
		all, without := names(admission.Switches(provider.Provider{})), names(admission.Switches(local.Provider{}))
		Expect(known).To(Equal(sets.List(all)))
		for name := range all {
			_, err := charts.Render(c, charts.Runtime, runtimeNamespace, map[string]any{"disabledWebhooks": []any{name}})
			if c.Credentials || without.Has(name) {
				Expect(err).NotTo(HaveOccurred())
			} else {
				Expect(err).To(MatchError(ContainSubstring("there is no " + name + " without component.credentials")))
			}
		}
	}, each())

	DescribeTable("the runtime chart tell of a worker controller those programs that ask about it", func(c components.Component) {
		_, err := charts.Render(c, charts.Runtime, runtimeNamespace, map[string]any{"workerController": true})
		for _, cloud := range clouds.All() {
			if cloud.Type() != c.Type {
				continue
			}
			if admission.NewCommand(cloud).Flag("worker-controller") != nil {
				Expect(err).NotTo(HaveOccurred())
			} else {
				Expect(err).To(MatchError(ContainSubstring("workerController: no setting of worker pools of " + c.Title + " depends on it; leave it out")))
			}
		}
	}, each())

	It("both charts are the same, since gardener-operator renders both with the same", func() {
		names := func(kind chart.Kind) []string { return slices.Sorted(maps.Keys(properties(openstack, kind))) }
		Expect(names(charts.Application)).To(Equal(names(charts.Runtime)))
	})

	It("the runtime chart each change what is rendered", func() {
		full := values("full")
		// testdata/values.txtar has all of them, but full.yaml omits one of the two ways to reach the garden.
		missing := slices.DeleteFunc(lacks(full, decode[map[string]any](read(folder(openstack, charts.Runtime), "values.yaml")), ""),
			func(path string) bool { return path == ".kubeconfig" })
		Expect(missing).To(BeEmpty())
		// Values that others depend on are always set.
		rendered := func(path []string, value any) []*unstructured.Unstructured {
			base := values("virtual-garden")
			set(base, path, value)
			return render(charts.Runtime, runtimeNamespace, base)
		}
		plain := rendered([]string{"gardener", "virtualCluster", "enabled"}, true)
		changes := func(path []string, value any) {
			Expect(reflect.DeepEqual(plain, rendered(path, value))).To(BeFalse(), "%s: %v changes nothing", path, value)
		}
		leaves(full, nil, func(path []string, value any) {
			switch name := strings.Join(path, "."); {
			case path[0] == "component": // others depend on it, see below
			case name == "webhookConfig.tlsCipherSuites": // only with another tlsMinVersion, see flags_test.go
			case name == "vpa.enabled", name == "networkPolicy.enabled", name == "gardener.virtualCluster.enabled":
				changes(path, false)
			case path[0] == "projectedKubeconfig":
				changes(path[:1], full[path[0]])
			default:
				changes(path, value)
			}
		})
		changes([]string{"kubeconfig"}, "x")

		component := func(key string, value any) []*unstructured.Unstructured {
			return render(charts.Runtime, runtimeNamespace, map[string]any{
				"monitoring": map[string]any{"enabled": true}, "component": map[string]any{key: value},
			})
		}
		for key, value := range map[string]any{"type": "acme", "title": "Acme", "beside": true, "described": true} {
			Expect(reflect.DeepEqual(component("type", "openstack"), component(key, value))).To(BeFalse(), "component.%s changes nothing", key)
		}
		// test/charts/described_test.go tests component.description. component.credentials decides which webhooks can be disabled, and the
		// rights in the other chart. component.workerSettings decides whether workerController may be set.
	})
})

// unexplained returns the values in a mapping that have no comment, neither their own nor one of a parent.
func unexplained(mapping *yamlv3.Node, path string) (found []string) {
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		switch at := path + "." + key.Value; {
		case key.HeadComment != "":
		case value.Kind == yamlv3.MappingNode && len(value.Content) > 0:
			found = append(found, unexplained(value, at)...)
		default:
			found = append(found, at)
		}
	}
	return found
}

// lacks returns the paths in values that are missing in full.
func lacks(full, values map[string]any, path string) (found []string) {
	for key, value := range values {
		at := path + "." + key
		inFull, ok := full[key]
		if !ok {
			found = append(found, at)
		}
		if nested, ok := value.(map[string]any); ok {
			within, _ := inFull.(map[string]any)
			found = append(found, lacks(within, nested, at)...)
		}
	}
	return found
}

// leaves visits the values that are not mappings.
func leaves(values map[string]any, path []string, visit func(path []string, value any)) {
	for key, value := range values {
		at := append(slices.Clone(path), key)
		if nested, ok := value.(map[string]any); ok {
			leaves(nested, at, visit)
		} else {
			visit(at, value)
		}
	}
}

func set(values map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		nested, ok := values[key].(map[string]any)
		if !ok {
			nested = map[string]any{}
			values[key] = nested
		}
		values = nested
	}
	values[path[len(path)-1]] = value
}
