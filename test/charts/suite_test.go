// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package charts tests the charts, and the manifests that register them, on a real API server: as Helm, gardener-operator
// and gardenlet render them.
package charts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/garden/extension"
)

// g is the garden of all tests here: runtime cluster and virtual garden in one.
var g *garden.Garden

// The namespaces that charts are installed in: by gardener-operator, in the virtual garden, and by gardenlet.
const (
	runtimeNamespace   = "garden"
	extensionNamespace = "extension-admission-openstack"
	seedNamespace      = "extension-admission-openstack-x7k2p"
	// restrictedNamespace takes only pods that keep to the strictest of Kubernetes' standards.
	restrictedNamespace = "restricted"
)

func TestMain(m *testing.M) { garden.Main(m, run) }

func run(m *testing.M) (status int, err error) {
	ctx := context.Background()
	if g, err = garden.Start(ctx, garden.Options{}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	if err := prepare(ctx); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// prepare creates what a runtime cluster has: the kinds that are not built in, as Gardener has them, and namespaces.
func prepare(ctx context.Context) error {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gardener/gardener").Output()
	if err != nil {
		return fmt.Errorf("go list -m github.com/gardener/gardener: %w", err)
	}
	example := filepath.Join(strings.TrimSpace(string(module)), "example")
	_, err = envtest.InstallCRDs(g.RESTConfig(), envtest.CRDInstallOptions{ErrorIfPathMissing: true, Paths: []string{
		filepath.Join(example, "operator", "10-crd-operator.gardener.cloud_extensions.yaml"),
		filepath.Join(example, "operator", "10-crd-monitoring.coreos.com_prometheusrules.yaml"),
		filepath.Join(example, "operator", "10-crd-monitoring.coreos.com_servicemonitors.yaml"),
		filepath.Join(example, "resource-manager", "10-crd-resources.gardener.cloud_managedresources.yaml"),
		filepath.Join(example, "seed-crds", "10-crd-autoscaling.k8s.io_verticalpodautoscalers.yaml"),
	}})
	if err != nil {
		return err
	}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: extensionNamespace}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: seedNamespace}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: restrictedNamespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
		}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: extension.Name, Namespace: restrictedNamespace}},
	} {
		if err := g.Client().Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// apply applies objects as Helm does, and fails if the API server finds anything in them that it does not know.
func apply(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	if len(objects) == 0 {
		t.Error("nothing to apply")
	}
	// What is applied on the server side is always validated strictly.
	for _, object := range objects {
		configuration := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		if err := g.Client().Apply(t.Context(), configuration, client.FieldOwner("test"), client.ForceOwnership); err != nil {
			t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

// render renders a chart as Helm does.
func render(t *testing.T, chart, namespace string, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	objects, err := charts.Render(chart, "admission-openstack", namespace, values)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// read returns what is in a YAML file.
func read(t *testing.T, path string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.UnmarshalStrict(content, &values); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return values
}

// find returns the only object of a kind.
func find(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	var found *unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == kind {
			if found != nil {
				t.Fatalf("more than one %s", kind)
			}
			found = object
		}
	}
	if found == nil {
		t.Fatalf("no %s", kind)
	}
	return found
}
