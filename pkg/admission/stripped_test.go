// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// offered is a CloudProfile with version 1.0.0, which gets 2.0.0 later. Maintenance chooses 2.0.0 for pools with a matching machine type,
// container runtime and kubelet, unless they are updated in place. It boots in asia only.
const offered = `
metadata: {name: offered, uid: offered, resourceVersion: "1"}
spec:
  type: openstack
  regions: [{name: europe}, {name: asia}]
  machineCapabilities: [{name: architecture, values: [amd64, arm64]}]
  machineTypes: [{name: small, capabilities: {architecture: [amd64]}}, {name: large, capabilities: {architecture: [arm64]}}]
  kubernetes: {versions: [{version: 1.32.0}, {version: 1.33.0}]}
  machineImages:
  - name: gl
    updateStrategy: major
    versions:
    - version: 1.0.0
      cri: [{name: containerd, containerRuntimes: [{type: gvisor}, {type: kata}]}]
      capabilityFlavors: [{architecture: [amd64]}, {architecture: [arm64]}]
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    keystoneURL: https://keystone.example.com/v3/
    constraints: {floatingPools: [{name: public}], loadBalancerProviders: [{name: haproxy}]}
    machineImages:
    - name: gl
      versions:
      - version: 1.0.0
        capabilityFlavors:
        - {capabilities: {architecture: [amd64]}, regions: [{name: europe, id: a}, {name: asia, id: b}]}
        - {capabilities: {architecture: [arm64]}, regions: [{name: europe, id: c}, {name: asia, id: d}]}
`

const furtherVersion = `
version: 2.0.0
cri: [{name: containerd, containerRuntimes: [{type: gvisor}]}]
kubeletVersionConstraint: ">= 1.33"
capabilityFlavors: [{architecture: [amd64]}]
`

const furtherFlavors = `[{"op": "add", "path": "/machineImages/0/versions/-", "value": {"version": "2.0.0", "capabilityFlavors": [
	{"capabilities": {"architecture": ["amd64"]}, "regions": [{"name": "asia", "id": "e"}]}]}}]`

// offers returns the CloudProfile before and after it gets version 2.0.0.
func offers(t *testing.T) (before, after *v1beta1.CloudProfile) {
	t.Helper()
	before = &v1beta1.CloudProfile{}
	further := v1beta1.MachineImageVersion{}
	if err := yaml.UnmarshalStrict([]byte(offered), before); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(furtherVersion), &further); err != nil {
		t.Fatal(err)
	}
	after = before.DeepCopy()
	after.ResourceVersion = "2"
	after.Spec.MachineImages[0].Versions = append(after.Spec.MachineImages[0].Versions, further)
	patchConfig(t, after.Spec.ProviderConfig, furtherFlavors)
	return before, after
}

// fillShoots returns a filler for Shoots of the CloudProfile. It sets every field, and varies the fields that affect an answer.
func fillShoots() *randfill.Filler {
	oneOf := func(c randfill.Continue, texts ...string) string { return texts[c.Intn(len(texts))] }
	return randfill.NewWithSeed(1).NilChance(0).NumElements(1, 2).Funcs(
		func(s *v1beta1.Shoot, c randfill.Continue) {
			c.FillNoCustom(s)
			s.APIVersion, s.Kind = v1beta1.SchemeGroupVersion.String(), "Shoot"
			s.Namespace, s.DeletionTimestamp = oneOf(c, "a", "b"), nil
			if c.Intn(4) == 0 {
				s.DeletionTimestamp = ptr.To(metav1.Unix(1, 0))
			}
			if c.Bool() {
				s.Spec.CloudProfile = nil
			}
			s.Spec.CloudProfileName, s.Spec.Region = ptr.To("offered"), oneOf(c, "europe", "asia")
			for i := range s.Spec.Provider.Workers {
				worker := &s.Spec.Provider.Workers[i]
				if worker.Name = fmt.Sprint("pool-", i); c.Bool() {
					worker.CRI = nil
				}
				if c.Bool() {
					worker.Kubernetes = nil
				}
			}
		},
		func(r *v1beta1.CloudProfileReference, c randfill.Continue) {
			*r = v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "offered"}
			if c.Bool() {
				*r = v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "child"}
			}
		},
		func(k *v1beta1.Kubernetes, c randfill.Continue) {
			c.FillNoCustom(k)
			k.Version = oneOf(c, "1.32.0", "1.33.0", "1.33.0")
		},
		func(k *v1beta1.WorkerKubernetes, c randfill.Continue) {
			c.FillNoCustom(k)
			k.Version = ptr.To(oneOf(c, "1.32.0", "1.33.0", "1.33.0"))
		},
		func(m *v1beta1.Machine, c randfill.Continue) {
			c.FillNoCustom(m)
			m.Type, m.Architecture = oneOf(c, "small", "small", "small", "large"), ptr.To(oneOf(c, "amd64", "amd64", "amd64", "arm64"))
			m.Image.Name, m.Image.Version = "gl", ptr.To("1.0.0")
		},
		func(u *v1beta1.MachineUpdateStrategy, c randfill.Continue) {
			*u = v1beta1.MachineUpdateStrategy(oneOf(c, "AutoRollingUpdate", "AutoRollingUpdate", "AutoRollingUpdate", "AutoInPlaceUpdate"))
		},
		func(r *v1beta1.CRI, c randfill.Continue) {
			r.Name = v1beta1.CRIName(oneOf(c, "containerd", "containerd", "containerd", "other"))
			r.ContainerRuntimes = []v1beta1.ContainerRuntime{{Type: oneOf(c, "gvisor", "gvisor", "kata")}}
		},
		func(r *runtime.RawExtension, c randfill.Continue) {
			r.Raw = []byte(oneOf(c, `{`+head+`}`, `{`+head+`}`, asking, `{}`, `"text"`))
		},
		func(u *types.UID, c randfill.Continue) { *u = types.UID(oneOf(c, "u", "v")) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(1+int64(c.Intn(99)), resource.DecimalSI)
		},
		func(f *metav1.FieldsV1, _ randfill.Continue) {
			if err := f.UnmarshalJSON([]byte(`{}`)); err != nil {
				panic(err)
			}
		},
	)
}

// answered holds everything admission reads of a Shoot from its cache, and its answers.
type answered struct {
	Pools                   []provider.Pool
	Index, Warnings, Events []string
}

// answersAbout returns the answers about a Shoot, whose cached form seen returns. The questions are an update of its profile, and two
// runs of maintenance that update all its images.
func answersAbout(t *testing.T, shoot *v1beta1.Shoot, seen func(*v1beta1.Shoot) *v1beta1.Shoot) answered {
	t.Helper()
	before, after := offers(t)
	child := &v1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "child", UID: "child"}}
	child.Spec.Parent = v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: before.Name}
	known := seen(shoot.DeepCopy())
	c := componentFor(openstack.Provider{}, stored{before, child, known})
	report, err := c.checkCloudProfile(t.Context(), after, before)
	if err != nil || len(report.Errors) > 0 {
		t.Fatal(report.Errors, err)
	}
	all := answered{Pools: provider.PoolsOf(known), Index: profileIndex(known), Warnings: warn(report.Warnings)}
	garden := stored{after, child, nil}
	handler, events := mutatingShoots(t, garden)
	for _, version := range []string{"1", "2"} {
		shoot := shoot.DeepCopy()
		shoot.ResourceVersion = version
		garden[2] = seen(shoot.DeepCopy())
		response := handler.Handle(t.Context(), toVersion(t, MaintenanceUser, shoot, "2.0.0"))
		if !response.Allowed {
			t.Fatal(response.Result)
		}
		for len(events) > 0 {
			all.Events = append(all.Events, <-events)
		}
	}
	return all
}

// leaves calls visit with each set field, in a fixed order, including workers' fields. A value that is passed on whole is one field.
func leaves(v reflect.Value, at string, visit func(at string, field reflect.Value)) {
	passedOn := []any{&v1beta1.Volume{}, &runtime.RawExtension{}, &v1beta1.MaintenanceAutoUpdate{}, &metav1.Time{}}
	whole := slices.ContainsFunc(passedOn, func(p any) bool { return reflect.TypeOf(p) == v.Type() })
	switch workers, ok := v.Interface().([]v1beta1.Worker); {
	case v.IsZero():
	case ok:
		for i := range workers {
			leaves(v.Index(i), at, visit)
		}
	case v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct && !whole:
		leaves(v.Elem(), at, visit)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), at+"."+v.Type().Field(i).Name, visit)
		}
	default:
		visit(at, v)
	}
}

// without returns a Shoot as cached, without one of its leaves.
func without(t *testing.T, shoot *v1beta1.Shoot, leaf int) *v1beta1.Shoot {
	t.Helper()
	stripped, i := kept(t, shoot).DeepCopy(), 0
	leaves(reflect.ValueOf(stripped), "", func(_ string, field reflect.Value) {
		if i == leaf {
			field.SetZero()
		}
		i++
	})
	return stripped
}

// noteSet records for each field of a struct whether it is set.
func noteSet(v reflect.Value, set map[string]bool) {
	for i := range v.NumField() {
		if name, field := v.Type().Field(i).Name, v.Field(i); field.Kind() == reflect.Struct {
			noteSet(field, set)
		} else {
			set[name] = set[name] || !field.IsZero()
		}
	}
}

// TestStrippedShoots fills every field of Shoots. Admission must answer from its cache as it does from whole Shoots. To show that this is
// no coincidence, each kept field affects an answer, and each field of a Pool is set.
func TestStrippedShoots(t *testing.T) {
	fill, set := fillShoots(), map[string]bool{"Order": true, "SecureBoot": true, "GPU": true} // not in the Shoots of Gardener v1.150
	// Informers select by labels, and decoded objects have no TypeMeta.
	decides := map[string]bool{".TypeMeta.Kind": true, ".TypeMeta.APIVersion": true, ".ObjectMeta.Labels": true}
	for range 150 {
		shoot := &v1beta1.Shoot{}
		fill.Fill(shoot)
		want := answersAbout(t, shoot, func(s *v1beta1.Shoot) *v1beta1.Shoot { return s })
		got := answersAbout(t, shoot, func(s *v1beta1.Shoot) *v1beta1.Shoot { return kept(t, s) })
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("by the cache the answers are\n%s instead of\n%s", encode(t, got), encode(t, want))
		}
		for i := range want.Pools {
			noteSet(reflect.ValueOf(want.Pools[i]), set)
		}
		var names []string
		leaves(reflect.ValueOf(kept(t, shoot)), "", func(at string, _ reflect.Value) { names = append(names, at) })
		for i, name := range names {
			if !decides[name] {
				got := answersAbout(t, shoot, func(s *v1beta1.Shoot) *v1beta1.Shoot { return without(t, s, i) })
				decides[name] = !reflect.DeepEqual(got, want)
			}
		}
	}
	for name, ever := range decides {
		if !ever {
			t.Errorf("the cache keeps %s, which decides nothing here: have it decide an answer, or do not keep it", name)
		}
	}
	for name, ever := range set {
		if !ever {
			t.Errorf("no pool of this test has a %s: it is not known whether the cache keeps it", name)
		}
	}
}
