// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
)

// ClassOf reads the labels that ClassLabels writes.
func TestLabelsBothWays(t *testing.T) {
	for _, image := range []extensionsv1alpha1.MachineImage{
		{Name: "gl", Version: "1.2.3"}, {Name: "gl", Version: "1.2.3-rc.1+build.5"}, {},
	} {
		class := classNamed("c", "t-1", kit.ClassLabels(image))
		if class.Labels["gardener.cloud/purpose"] != "machineclass" {
			t.Errorf("%v: Gardener does not find it by %v", image, class.Labels)
		}
		if strings.Contains(class.Labels["operatingSystemVersion"], "+") {
			t.Errorf("%v: no API server takes %v", image, class.Labels)
		}
		want := worker.Class[template]{Name: "c", Image: image.Name, Version: image.Version, Reference: template{ID: "t-1"}}
		if diff := cmp.Diff(want, kit.ClassOf(class, templateOf(class))); diff != "" {
			t.Errorf("%v: %s", image, diff)
		}
	}
	for _, half := range []extensionsv1alpha1.MachineImage{{Name: "gl"}, {Version: "1"}} {
		if labels := kit.ClassLabels(half); len(labels) != 1 {
			t.Errorf("%v: %v", half, labels)
		}
	}
}

// Existing classes take precedence over remembered ones, and are sorted by name.
func TestClasses(t *testing.T) {
	there := map[string]*machinev1alpha1.MachineClass{
		"b": classNamed("b", "new", nil), "a": classNamed("a", "t-1", nil), "c": {},
	}
	there["c"].Name = "c"
	remembered := []worker.Class[template]{{Name: "z", Reference: template{"t-9"}}, {Name: "b", Reference: template{"old"}}, {Name: "y"}}
	want := []worker.Class[template]{
		{Name: "a", Reference: template{"t-1"}}, {Name: "b", Reference: template{"new"}}, {Name: "c"},
		{Name: "z", Reference: template{"t-9"}}, {Name: "y"},
	}
	if diff := cmp.Diff(want, kit.Classes(there, remembered, templateOf)); diff != "" {
		t.Error(diff)
	}
}

// A pool gets exactly its own classes, regardless of the names of other pools and Shoots.
func TestClassesOf(t *testing.T) {
	var classes []worker.Class[template]
	for _, name := range []string{
		"shoot--p--s-web-z1-0a1b2", "shoot--p--s-web-z12-fffff", "shoot--p--s-web-z1-0a1b3", // the pool's own
		"shoot--p--s-web-z1-0a1b2-z1-0a1b2", "shoot--p--s-web-2-z1-0a1b2", "shoot--p--s2-web-z1-0a1b2", "shoot--p--s-we-z1-0a1b2",
		"shoot--p--s-web-z1-0a1b", "shoot--p--s-web-z1-0a1b2c", "shoot--p--s-web-z1-0A1B2", "shoot--p--s-web-0a1b2", "web-z1-0a1b2", "",
	} {
		classes = append(classes, worker.Class[template]{Name: name})
	}
	if diff := cmp.Diff(classes[:3], kit.ClassesOf(technicalID, "web", classes)); diff != "" {
		t.Error(diff)
	}
	for zone := range 11 {
		name := kit.ClassName(kit.DeploymentName(technicalID, "web", zone), "01234")
		if len(kit.ClassesOf(technicalID, "web", []worker.Class[template]{{Name: name}})) != 1 {
			t.Errorf("%s is not found", name)
		}
	}
}

func TestSecretOf(t *testing.T) {
	class := classNamed("c", "t-1", nil)
	secret := kit.SecretOf(class, []byte("data"))
	if secret.Name != "c" || secret.Namespace != namespace || secret.Type != corev1.SecretTypeOpaque ||
		string(secret.Data["userData"]) != "data" || secret.Labels["gardener.cloud/purpose"] != "machineclass" {
		t.Errorf("%v", secret)
	}
}

// Numbers that are distributed over zones add up, and labels can be added.
func TestDeploymentOf(t *testing.T) {
	pool := &extensionsv1alpha1.WorkerPool{
		Name: "web", Minimum: 4, Maximum: 8, MaxSurge: intstr.FromInt32(2), MaxUnavailable: intstr.FromInt32(1),
		Zones: []string{"a", "b", "c"}, Labels: map[string]string{"k": "v"},
	}
	var minimum, maximum, surge int32
	for zone := range pool.Zones {
		d := kit.DeploymentOf(pool, "deployment", "class", zone)
		if d.Name != "deployment" || d.ClassName != "class" || d.SecretName != "class" || d.PoolName != "web" {
			t.Errorf("%v", d)
		}
		if d.Strategy.Type != machinev1alpha1.RollingUpdateMachineDeploymentStrategyType || d.Strategy.InPlaceUpdate != nil {
			t.Errorf("%v", d.Strategy)
		}
		minimum, maximum, surge = minimum+d.Minimum, maximum+d.Maximum, surge+d.Strategy.RollingUpdate.MaxSurge.IntVal
		d.Labels["zone"] = pool.Zones[zone]
	}
	if minimum != 4 || maximum != 8 || surge != 2 || len(pool.Labels) != 1 {
		t.Errorf("%d to %d, %d at once, labels %v", minimum, maximum, surge, pool.Labels)
	}
	pool.Zones = nil
	if d := kit.DeploymentOf(pool, "deployment", "class", 0); d.Minimum != 4 || d.Maximum != 8 {
		t.Errorf("without zones: %v", d)
	}
	for strategy, want := range map[v1beta1.MachineUpdateStrategy]machinev1alpha1.OrchestrationType{
		"AutoInPlaceUpdate": machinev1alpha1.OrchestrationTypeAuto, "ManualInPlaceUpdate": machinev1alpha1.OrchestrationTypeManual,
	} {
		pool := &extensionsv1alpha1.WorkerPool{Zones: []string{"a"}, UpdateStrategy: &strategy}
		d := kit.DeploymentOf(pool, "deployment", "class", 0)
		if d.Strategy.RollingUpdate != nil || d.Strategy.InPlaceUpdate == nil || d.Strategy.InPlaceUpdate.OrchestrationType != want {
			t.Errorf("%s: %v", strategy, d.Strategy)
		}
		if d.Labels == nil {
			t.Error("no label can be added")
		}
	}
}
