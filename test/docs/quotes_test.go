// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/ratchet"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
)

func object[T any](t *testing.T, file string) *T {
	t.Helper()
	o := new(T)
	if err := yaml.UnmarshalStrict([]byte(read(t, file)), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// trustedLaunch returns the example of worker-capabilities.md, compiled after a change.
func trustedLaunch(t *testing.T, change func(*v1beta1.CloudProfileSpec)) *profile.Profile[openstack.Image] {
	t.Helper()
	spec := object[v1beta1.CloudProfile](t, "example/cloudprofile-trusted-launch.yaml").Spec
	change(&spec)
	profile, report := profile.Compile(openstack.Provider{}, &spec, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	return profile
}

// withdraw returns a change that removes the flavors with trusted launch on both sides.
func withdraw(t *testing.T) func(*v1beta1.CloudProfileSpec) {
	t.Helper()
	return func(spec *v1beta1.CloudProfileSpec) {
		version := &spec.MachineImages[0].Versions[0]
		version.CapabilityFlavors = slices.DeleteFunc(version.CapabilityFlavors, func(f v1beta1.MachineImageFlavor) bool {
			return f.Capabilities[openstack.TrustedLaunch] != nil
		})
		editProvided(t, spec, func(flavors []any) []any {
			return slices.DeleteFunc(flavors, func(f any) bool {
				return f.(map[string]any)["capabilities"].(map[string]any)[openstack.TrustedLaunch] != nil
			})
		})
	}
}

// editProvided changes the flavors of the provider config's first version.
func editProvided(t *testing.T, spec *v1beta1.CloudProfileSpec, edit func([]any) []any) {
	t.Helper()
	var config map[string]any
	if err := json.Unmarshal(spec.ProviderConfig.Raw, &config); err != nil {
		t.Fatal(err)
	}
	version := config["machineImages"].([]any)[0].(map[string]any)["versions"].([]any)[0].(map[string]any)
	version["capabilityFlavors"] = edit(version["capabilityFlavors"].([]any))
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	spec.ProviderConfig.Raw = raw
}

// unregister returns a change that also removes the registration and the machine types' declarations.
func unregister(t *testing.T) func(*v1beta1.CloudProfileSpec) {
	t.Helper()
	return func(spec *v1beta1.CloudProfileSpec) {
		withdraw(t)(spec)
		spec.MachineCapabilities = slices.DeleteFunc(spec.MachineCapabilities, func(d v1beta1.CapabilityDefinition) bool {
			return d.Name == openstack.TrustedLaunch
		})
		for i := range spec.MachineTypes {
			delete(spec.MachineTypes[i].Capabilities, openstack.TrustedLaunch)
		}
	}
}

// Withdrawing a feature has the effects in worker-capabilities.md: the warning, and the effects on Shoots.
func TestWithdrawal(t *testing.T) {
	offered := trustedLaunch(t, func(*v1beta1.CloudProfileSpec) {})
	shoot := object[v1beta1.Shoot](t, "example/shoot-trusted-launch.yaml")
	for what, change := range map[string]func(*v1beta1.CloudProfileSpec){"withdrawn": withdraw(t), "unregistered": unregister(t)} {
		profile := trustedLaunch(t, change)
		users := []update.User{{Shoot: shoot, Pools: provider.PoolsOf(shoot)}}
		changes := update.Of(gardenerlib.Library{}, update.View[openstack.Image]{Before: offered, After: profile, Users: users})
		warnings := check.Effects(offered, profile, &changes, maintenance.Corrects)
		if len(warnings) != 1 {
			t.Fatalf("%s: %v", what, warnings)
		}
		quoted(t, "docs/concepts/worker-capabilities.md", warnings[0].Field+": "+warnings[0].Detail)
		for name, c := range map[string]struct {
			update func(*v1beta1.Shoot)
			errors int
		}{
			"hibernate":               {func(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)} }, 0},
			"change the other pool":   {func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[1].Machine.Type = "old_8_16" }, 0},
			"change the machine type": {func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Machine.Type = "trusted_4_8" }, 1},
			"change the version":      {func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Machine.Image.Version = ptr.To("1592.9.0") }, 1},
			"no longer ask":           {func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].ProviderConfig = nil }, 0},
		} {
			updated := shoot.DeepCopy()
			c.update(updated)
			report := ratchet.Excuse(
				ratchet.Judged{Object: updated, Report: check.Shoot(profile, updated, nil)},
				ratchet.Judged{Object: shoot, Report: check.Shoot(profile, shoot, nil)},
			)
			if len(report.Errors) != c.errors {
				t.Errorf("%s, %s: %v", what, name, report.Errors)
			}
		}
	}
}

// The order of the steps in worker-capabilities.md does not matter to pools without a request: they boot the plain image.
func TestThoseWhoDoNotAsk(t *testing.T) {
	for name, change := range map[string]func(*v1beta1.CloudProfileSpec){"offered": func(*v1beta1.CloudProfileSpec) {}, "not offered": unregister(t)} {
		for _, machineType := range []string{"medium_4_8", "trusted_4_8", "old_8_16"} {
			for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
				answer := resolve.Pool(trustedLaunch(t, change).ByOrder(order), provider.Pool{
					MachineType: machineType, Image: "gardenlinux", Version: "1877.5.0", Region: "europe",
				})
				if got := answer.Decision.Reference.ID; got != "1234-amd64" {
					t.Errorf("%s: %s boots %q in the order %s", name, machineType, got, order)
				}
			}
		}
	}
}

// Other declarations of trusted launch have the effects in worker-capabilities.md: one image that boots either way, and
// machine types whose hardware decides.
func TestOtherDeclarations(t *testing.T) {
	const either, hardware = "enabled,disabled", "medium_4_8=disabled trusted_4_8=enabled old_8_16=disabled"
	asking := object[v1beta1.Shoot](t, "example/shoot-trusted-launch.yaml").Spec.Provider.Workers[0].ProviderConfig
	for name, c := range map[string]struct {
		flavors      []string // the declaration of each, empty if it has none
		machineTypes string
		plain, asks  []int // the flavor that a pool boots on each machine type, without and with a request; -1: none
	}{
		"one image":                   {[]string{either}, "", []int{0, 0, 0}, []int{0, 0, -1}},
		"one beside the plain one":    {[]string{"", either}, "", []int{0, 0, 0}, []int{1, 1, -1}},
		"the plain one says disabled": {[]string{"disabled", "enabled"}, "", []int{1, 1, 0}, []int{1, 1, -1}},
		"machine types say enabled":   {[]string{"", "enabled"}, hardware, []int{0, 0, 0}, []int{-1, 1, -1}},
		"a matter of hardware":        {[]string{"disabled", "enabled"}, hardware, []int{0, 1, 0}, []int{-1, 1, -1}},
	} {
		profile := trustedLaunch(t, func(spec *v1beta1.CloudProfileSpec) {
			redeclare(t, spec, c.flavors)
			for i := range spec.MachineTypes {
				if _, values, found := strings.Cut(c.machineTypes, spec.MachineTypes[i].Name+"="); found {
					spec.MachineTypes[i].Capabilities[openstack.TrustedLaunch] = strings.Fields(values)[:1]
				}
			}
		})
		for i, machineType := range []string{"medium_4_8", "trusted_4_8", "old_8_16"} {
			pool := provider.Pool{MachineType: machineType, Image: "gardenlinux", Version: "1877.5.0", Region: "europe"}
			plain := resolve.Pool(profile, pool).Decision.Chosen
			pool.Config = asking
			if asks := resolve.Pool(profile, pool).Decision.Chosen; plain != c.plain[i] || asks != c.asks[i] {
				t.Errorf("%s: %s boots %d, and %d if asked, instead of %d and %d", name, machineType, plain, asks, c.plain[i], c.asks[i])
			}
		}
	}
}

// redeclare replaces the flavors of the first version on both sides.
func redeclare(t *testing.T, spec *v1beta1.CloudProfileSpec, flavors []string) {
	t.Helper()
	var core []v1beta1.MachineImageFlavor
	var provided []any
	for i, values := range flavors {
		capabilities := v1beta1.Capabilities{capability.Architecture: {"amd64"}}
		if values != "" {
			capabilities[openstack.TrustedLaunch] = strings.Split(values, ",")
		}
		core = append(core, v1beta1.MachineImageFlavor{Capabilities: capabilities})
		provided = append(provided, map[string]any{
			"capabilities": capabilities, "regions": []any{map[string]any{"name": "europe", "id": fmt.Sprint(i)}},
		})
	}
	spec.MachineImages[0].Versions[0].CapabilityFlavors = core
	editProvided(t, spec, func([]any) []any { return provided })
}

// admission.md quotes the refusal of the API server.
func TestRefusal(t *testing.T) {
	shoot := object[v1beta1.Shoot](t, "docs/examples/shoot-old-hosts.yaml")
	report := check.Shoot(trustedLaunch(t, func(*v1beta1.CloudProfileSpec) {}), shoot, nil)
	kind := v1beta1.SchemeGroupVersion.WithKind("Shoot").GroupKind()
	refusal := apierrors.NewInvalid(kind, shoot.Name, report.Errors.Errors()).Error() // kubectl omits the group
	quoted(t, "docs/operators/admission.md", "The "+strings.Replace(refusal, kind.String(), kind.Kind, 1))
}

// README begins with such a refusal, shortened and broken into lines.
func TestRefusalInReadme(t *testing.T) {
	const command = "\n$ kubectl apply -f hack/garden/demo/shoot-bare.yaml\n"
	_, block, found := strings.Cut(read(t, "README.md"), command)
	block, _, ends := strings.Cut(block, "\n```\n")
	if !found || !ends {
		t.Fatalf("README has no block with %q", command)
	}
	spec := object[v1beta1.CloudProfile](t, "hack/garden/demo/cloudprofile-gap.yaml").Spec
	profile, _ := profile.Compile(openstack.Provider{}, &spec, field.NewPath("spec"))
	shoot := object[v1beta1.Shoot](t, "hack/garden/demo/shoot-bare.yaml")
	shoot.Spec.Provider.Workers[0].Machine.Architecture = ptr.To(v1beta1constants.ArchitectureAMD64) // Gardener has filled this in
	kind := v1beta1.SchemeGroupVersion.WithKind("Shoot").GroupKind()
	rest := apierrors.NewInvalid(kind, shoot.Name, check.Shoot(profile, shoot, nil).Errors.Errors()).Error()
	rest = "The " + strings.Replace(rest, kind.String(), kind.Kind, 1)
	for part := range strings.SplitSeq(strings.ReplaceAll(block, "\n", " "), " […] ") {
		if _, rest, found = strings.Cut(rest, part); !found {
			t.Errorf("the refusal does not have: %s", part)
		}
	}
	if rest != "" {
		t.Errorf("README leaves out: %s", rest)
	}
}

// The refusal of a type change while the profile is in use is quoted.
func TestRefusalOfAType(t *testing.T) {
	old := object[v1beta1.CloudProfile](t, "example/cloudprofile.yaml")
	updated := old.DeepCopy()
	updated.Spec.Type = "aws"
	refusal := check.TypeInUse(updated, old,
		[]string{"Shoot garden-demo/shop", "NamespacedCloudProfile garden-demo/preview"})
	quoted(t, "docs/operators/admission.md", `The CloudProfile "openstack" is invalid: `+refusal.Error.Error())
}

// quoted checks that a document has a block with exactly this text.
func quoted(t *testing.T, document, text string) {
	t.Helper()
	if !strings.Contains(read(t, document), "\n```\n"+text+"\n```\n") {
		t.Errorf("%s does not quote: %s", document, text)
	}
}
