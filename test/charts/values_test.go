// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/garden/charts"
)

// account is what the application chart requires.
var account = map[string]any{"gardener": map[string]any{"virtualCluster": map[string]any{"serviceAccount": map[string]any{
	"name": "extension-admission-admission-openstack", "namespace": "kube-system",
}}}}

func folder(t *testing.T, chart string) string {
	t.Helper()
	folder, err := charts.Folder(chart)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestLint(t *testing.T) {
	for chart, values := range map[string]map[string]any{charts.Runtime: read(t, "testdata/full.yaml"), charts.Application: account} {
		for _, v := range []map[string]any{nil, values} {
			for _, message := range lint.RunAll(folder(t, chart), v, runtimeNamespace).Messages {
				if message.Severity > support.InfoSev {
					t.Errorf("%s: %v", chart, message)
				}
			}
		}
	}
}

func TestWrongValues(t *testing.T) {
	for name, test := range map[string]struct{ chart, values, want string }{
		"typo":                   {charts.Runtime, `{"replicacount": 2}`, "replicacount"},
		"typo within":            {charts.Runtime, `{"image": {"repo": "x"}}`, "repo"},
		"typo, application":      {charts.Application, `{"replicacount": 2}`, "replicacount"},
		"no pods":                {charts.Runtime, `{"replicaCount": 0}`, "replicaCount"},
		"port":                   {charts.Runtime, `{"webhookConfig": {"serverPort": 70000}}`, "serverPort"},
		"port as a string":       {charts.Runtime, `{"metricsPort": "8080"}`, "metricsPort"},
		"level":                  {charts.Runtime, `{"logLevel": "trace"}`, "logLevel"},
		"pull policy":            {charts.Runtime, `{"image": {"pullPolicy": "Sometimes"}}`, "pullPolicy"},
		"update mode":            {charts.Runtime, `{"vpa": {"updatePolicy": {"updateMode": "Auto"}}}`, "updateMode"},
		"quantity":               {charts.Runtime, `{"resources": {"requests": {"memory": "much"}}}`, "memory"},
		"resource":               {charts.Runtime, `{"resources": {"requests": {"mem": "1Gi"}}}`, "mem"},
		"half a kubeconfig":      {charts.Runtime, `{"projectedKubeconfig": {"baseMountPath": "/x"}}`, "genericKubeconfigSecretName"},
		"two kubeconfigs":        {charts.Runtime, `{"gardener": {"virtualCluster": {"enabled": true}}, "kubeconfig": "x", "projectedKubeconfig": {"baseMountPath": "/x", "genericKubeconfigSecretName": "a", "tokenSecretName": "b"}}`, "exclude each other"},
		"kubeconfig for nothing": {charts.Runtime, `{"kubeconfig": "x"}`, "set gardener.virtualCluster.enabled"},
		"no such webhook":        {charts.Runtime, `{"disabledWebhooks": ["validate-shot"]}`, "'validate-shoot'"},
		"no ServiceAccount":      {charts.Application, `{}`, "gardener.virtualCluster.serviceAccount.name is required"},
		"no namespace of it":     {charts.Application, `{"gardener": {"virtualCluster": {"serviceAccount": {"name": "x"}}}}`, "gardener.virtualCluster.serviceAccount.namespace is required"},
	} {
		t.Run(name, func(t *testing.T) {
			var values map[string]any
			if err := json.Unmarshal([]byte(test.values), &values); err != nil {
				t.Fatal(err)
			}
			_, err := charts.Render(test.chart, "admission-openstack", runtimeNamespace, values)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

// TestWebhooks: those that can be disabled are those that there are.
func TestWebhooks(t *testing.T) {
	schema := read(t, filepath.Join(folder(t, charts.Runtime), "values.schema.json"))
	known, found, err := unstructured.NestedStringSlice(schema, "properties", "disabledWebhooks", "items", "enum")
	if !found || err != nil {
		t.Fatal(found, err)
	}
	want := []string{"*"}
	for _, webhook := range admission.Switches(openstack.Provider{}) {
		want = append(want, webhook.Name)
	}
	slices.Sort(want)
	if !slices.Equal(known, want) {
		t.Errorf("the schema has %v, the component %v", known, want)
	}
}

// TestSharedValues: gardener-operator renders both charts with the same values, so the application chart must know what the
// other one has.
func TestSharedValues(t *testing.T) {
	names := func(chart string) []string {
		schema := read(t, filepath.Join(folder(t, chart), "values.schema.json"))
		return slices.Sorted(maps.Keys(schema["properties"].(map[string]any)))
	}
	if runtime, application := names(charts.Runtime), names(charts.Application); !slices.Equal(runtime, application) {
		t.Errorf("the schemas do not have the same values: %v, %v", runtime, application)
	}
}

// TestEveryValueIsExplained: a value, or what it is in, has a comment in values.yaml.
func TestEveryValueIsExplained(t *testing.T) {
	for _, chart := range []string{charts.Runtime, charts.Application} {
		content, err := os.ReadFile(filepath.Join(folder(t, chart), "values.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var document yamlv3.Node
		if err := yamlv3.Unmarshal(content, &document); err != nil {
			t.Fatal(err)
		}
		unexplained(document.Content[0], "", func(path string) { t.Errorf("%s: %s has no comment", chart, path) })
	}
}

// unexplained reports the values in a mapping that neither have a comment nor are in one that has.
func unexplained(mapping *yamlv3.Node, path string, report func(path string)) {
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		switch at := path + "." + key.Value; {
		case key.HeadComment != "":
		case value.Kind == yamlv3.MappingNode && len(value.Content) > 0:
			unexplained(value, at, report)
		default:
			report(at)
		}
	}
}

// TestEveryValueHasAnEffect: each value of testdata/full.yaml, which has them all, changes what is rendered.
func TestEveryValueHasAnEffect(t *testing.T) {
	full := read(t, "testdata/full.yaml")
	complete(t, read(t, filepath.Join(folder(t, charts.Runtime), "values.yaml")), full, "")
	// What others depend on is always set.
	base := func() map[string]any {
		return map[string]any{"gardener": map[string]any{"virtualCluster": map[string]any{"enabled": true}}}
	}
	plain := render(t, charts.Runtime, runtimeNamespace, base())
	leaves(full, nil, func(path []string, value any) {
		name := strings.Join(path, ".")
		switch {
		case name == "vpa.enabled":
			value = false
		case name == "gardener.virtualCluster.enabled":
			value = false
		case path[0] == "projectedKubeconfig":
			path, value = path[:1], full["projectedKubeconfig"]
		}
		values := base()
		set(values, path, value)
		if reflect.DeepEqual(plain, render(t, charts.Runtime, runtimeNamespace, values)) {
			t.Errorf("%s: %v changes nothing", name, value)
		}
	})
	if reflect.DeepEqual(plain, render(t, charts.Runtime, runtimeNamespace, map[string]any{"gardener": base()["gardener"], "kubeconfig": "x"})) {
		t.Error("kubeconfig changes nothing")
	}
}

// complete fails if something that is in values is not in full. One of the two ways to reach the garden is left out there.
func complete(t *testing.T, values, full map[string]any, path string) {
	t.Helper()
	for key, value := range values {
		inFull, ok := full[key]
		if !ok && path+key != "kubeconfig" {
			t.Errorf("testdata/full.yaml lacks %s%s", path, key)
		}
		if nested, ok := value.(map[string]any); ok {
			within, _ := inFull.(map[string]any)
			complete(t, nested, within, path+key+".")
		}
	}
}

// leaves visits the values that are no mappings.
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

// TestFlags: the component understands what the Deployment starts it with, and the files that it is told about are mounted.
func TestFlags(t *testing.T) {
	for name, values := range map[string]map[string]any{"default": nil, "full": read(t, "testdata/full.yaml")} {
		t.Run(name, func(t *testing.T) {
			container := containerOf(t, find(t, render(t, charts.Runtime, runtimeNamespace, values), "Deployment"))
			if err := admission.NewCommand(openstack.Provider{}).ParseFlags(container.Args); err != nil {
				t.Error(err)
			}
			paths := map[string]bool{}
			for _, mount := range container.VolumeMounts {
				paths[mount.MountPath] = true
			}
			for _, arg := range container.Args {
				if path, ok := strings.CutPrefix(arg, "--webhook-config-cert-dir="); ok && !paths[path] {
					t.Errorf("%s is not mounted", path)
				}
			}
			for _, env := range container.Env {
				if env.Name == "GARDEN_KUBECONFIG" && !paths[filepath.Dir(env.Value)] {
					t.Errorf("%s is not mounted", env.Value)
				}
			}
		})
	}
}
