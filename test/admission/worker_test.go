// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// workerHead are the first members of a worker's providerConfig.
const workerHead = `"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"`

// asking is a worker's providerConfig that asks for trusted launch.
const asking = `{` + workerHead + `,"trustedLaunch":{"enabled":true}}`

// askingAt is where it does, in the first worker pool.
const askingAt = "spec.provider.workers[0].providerConfig.trustedLaunch"

// launching returns the example CloudProfile whose gardenlinux 1877.5.0 has a flavor for trusted launch, under another name.
func launching(t *testing.T, name string) *v1beta1.CloudProfile {
	t.Helper()
	profile := read[v1beta1.CloudProfile](t, "../../example/cloudprofile-trusted-launch.yaml")
	profile.Name = name
	return profile
}

// trusting returns a Shoot with one worker pool, which asks for trusted launch.
func trusting(t *testing.T, name, profile string) *v1beta1.Shoot {
	t.Helper()
	s := read[v1beta1.Shoot](t, "../../example/shoot-trusted-launch.yaml")
	s.Name, s.Spec.CloudProfile.Name = name, profile
	s.Spec.Provider.Workers = s.Spec.Provider.Workers[:1]
	return s
}

// withoutLaunch removes the flavor for trusted launch on both sides.
func withoutLaunch(t *testing.T, profile *v1beta1.CloudProfile) {
	t.Helper()
	flavor := `,{"capabilities":{"architecture":["amd64"],"openstack-trustedLaunch":["enabled"]},"regions":[{"id":"1234-amd64-trusted","name":"europe"}]}`
	replaceConfig(t, profile, flavor, "")
	flavors := &profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors
	*flavors = (*flavors)[:1]
}

// cause is one reason for a refusal: its type, its place, and a part of what it says.
type cause struct {
	kind        field.ErrorType
	field, says string
}

// refusedFor demands that an error is the denial of an object by the component, for these reasons in this order.
func refusedFor(t *testing.T, err error, want ...cause) {
	t.Helper()
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || !strings.Contains(err.Error(), ".admission-openstack.") {
		t.Fatalf("got %v, want a refusal for %v", err, want)
	}
	differ(t, status.Status().Details.Causes, want)
}

func differ(t *testing.T, got []metav1.StatusCause, want []cause) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %d causes, want %d: %v", len(got), len(want), got)
		return
	}
	for i, w := range want {
		if got[i].Type != metav1.CauseType(w.kind) || got[i].Field != w.field || !strings.Contains(got[i].Message, w.says) {
			t.Errorf("got %v, want %v", got[i], w)
		}
	}
}

func TestTrustedLaunch(t *testing.T) {
	u := newUser(t)
	u.create(t, launching(t, "launch"))
	s := trusting(t, "launch", "launch")
	u.accepted(t, u.Create(t.Context(), s))

	// What is wrong with a pool that asks. All of it is put right again by what is suggested.
	for name, test := range map[string]struct {
		change func(*v1beta1.Worker)
		want   cause
	}{
		"machine type": {func(w *v1beta1.Worker) { w.Machine.Type = "old_8_16" }, cause{field.ErrorTypeInvalid, askingAt,
			"worker pool ledger: trustedLaunch.enabled: true asks for openstack-trustedLaunch [enabled], and machine type old_8_16 has [disabled]; would work: machine type medium_4_8, machine type trusted_4_8"}},
		"version": {func(w *v1beta1.Worker) { w.Machine.Image.Version = ptr.To("1592.9.0") }, cause{field.ErrorTypeInvalid, askingAt,
			"{architecture: [amd64]} does not declare openstack-trustedLaunch, so it has [disabled], the worker pool asks for [enabled]; would work: version 1877.5.0"}},
		"reserved flavors": {func(w *v1beta1.Worker) { w.Machine.Image.Version = ptr.To("2150.1.0") }, cause{field.ErrorTypeInvalid, askingAt,
			"{architecture: [amd64], gardener-bootType: [secure, standard]} does not declare openstack-trustedLaunch, so it has [disabled]"}},
		"spelling": {func(w *v1beta1.Worker) {
			w.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{` + workerHead + `,"trustedlaunch":{"enabled":true}}`)}
		}, cause{field.ErrorTypeForbidden, "spec.provider.workers[0].providerConfig.trustedlaunch", `did you mean "trustedLaunch"?`}},
		"value": {func(w *v1beta1.Worker) {
			w.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{` + workerHead + `,"trustedLaunch":{"enabled":"yes"}}`)}
		}, cause{field.ErrorTypeInvalid, askingAt + ".enabled", "expected true or false, got a string"}},
		"kind": {func(w *v1beta1.Worker) {
			w.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{` + strings.Replace(workerHead, "WorkerConfig", "InfrastructureConfig", 1) + `}`)}
		}, cause{field.ErrorTypeNotSupported, "spec.provider.workers[0].providerConfig.kind", "this extension reads kind: WorkerConfig only"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := trusting(t, "launch-not", "launch")
			test.change(&s.Spec.Provider.Workers[0])
			refusedFor(t, u.Create(t.Context(), s), test.want)
		})
	}

	// Another pool, which is wrong, of a Shoot that is right. The first is not mentioned.
	err := change(t, u, s, func(s *v1beta1.Shoot) {
		pool := s.Spec.Provider.Workers[0].DeepCopy()
		pool.Name, pool.Machine.Type = "old", "old_8_16"
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *pool)
	})
	refusedFor(t, err, cause{field.ErrorTypeInvalid, strings.Replace(askingAt, "0", "1", 1), "machine type old_8_16 has [disabled]"})

	// Who asks for nothing may have any machine type, and the setting may be switched off.
	err = change(t, u, s, func(s *v1beta1.Shoot) {
		pool := s.Spec.Provider.Workers[0].DeepCopy()
		pool.Name, pool.Machine.Type = "old", "old_8_16"
		pool.ProviderConfig.Raw = []byte(strings.Replace(asking, "true", "false", 1))
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *pool)
	})
	u.accepted(t, err)
	destroy(t, u, s)
}

func TestTrustedLaunchIsNotRegistered(t *testing.T) {
	u := newUser(t)
	u.create(t, openstack(t, "not-registered"))
	s := shoot(t, "no-launch", "not-registered")
	s.Spec.Provider.Workers[0].ProviderConfig = &runtime.RawExtension{Raw: []byte(asking)}
	refusedFor(t, u.Create(t.Context(), s), cause{field.ErrorTypeNotSupported, askingAt,
		"asks for openstack-trustedLaunch [enabled], which the profile does not register; the operator has to register it in spec.machineCapabilities, with the values [enabled, disabled]"})
	s.Spec.Provider.Workers[0].ProviderConfig = nil
	u.accepted(t, u.Create(t.Context(), s))
	destroy(t, u, s)
}

// Nobody is locked out by what an operator takes away: updates of Shoots that leave the pool in question alone are admitted.
func TestTrustedLaunchIsTakenAway(t *testing.T) {
	u, profile := newUser(t), launching(t, "taken-away")
	u.create(t, profile)
	s := trusting(t, "taken-away", "taken-away")
	u.create(t, s)
	eventually(t, "the webhook knows that the Shoot uses the flavor", func() bool {
		if err := change(t, u, profile, func(p *v1beta1.CloudProfile) { withoutLaunch(t, p) }); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(u.heard(), func(warning string) bool {
			return strings.Contains(warning, "spec.providerConfig.machineImages: gardenlinux@1877.5.0: no image is left for worker pools of Shoot garden-demo/taken-away: they get no new machines")
		}) {
			return true
		}
		// Put back: nobody who boots another flavor is affected, so there is nothing to warn about.
		err := change(t, u, profile, func(p *v1beta1.CloudProfile) {
			again := launching(t, "").Spec
			p.Spec.MachineImages, p.Spec.ProviderConfig = again.MachineImages, again.ProviderConfig
		})
		u.accepted(t, err)
		return false
	})

	const lacks = "no flavor of gardenlinux@1877.5.0 that fits machine type medium_4_8 in region europe supports that"
	leaveAlone := func(t *testing.T, warning string) {
		t.Helper()
		eventually(t, "the webhook knows the profile", func() bool {
			if err := change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum++ }); err != nil {
				t.Fatal(err)
			}
			return strings.Contains(strings.Join(u.heard(), "\n"), warning)
		})
		err := change(t, u, s, func(s *v1beta1.Shoot) {
			s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(s.Spec.Hibernation == nil || !*s.Spec.Hibernation.Enabled)}
		})
		u.accepted(t, err, askingAt+": worker pool ledger: trustedLaunch.enabled: true asks for openstack-trustedLaunch [enabled], "+warning)
	}
	leaveAlone(t, "and "+lacks)
	err := change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Machine.Type = "trusted_4_8" })
	refusedFor(t, err, cause{field.ErrorTypeInvalid, askingAt, strings.Replace(lacks, "medium_4_8", "trusted_4_8", 1)})
	err = change(t, u, s, func(s *v1beta1.Shoot) {
		pool := s.Spec.Provider.Workers[0].DeepCopy()
		pool.Name = "more"
		s.Spec.Provider.Workers = append([]v1beta1.Worker{*pool}, s.Spec.Provider.Workers...)
	})
	refusedFor(t, err, cause{field.ErrorTypeInvalid, askingAt, "worker pool more: "})

	// The rest goes as well: now nothing is registered.
	err = change(t, u, profile, func(p *v1beta1.CloudProfile) {
		p.Spec.MachineCapabilities = p.Spec.MachineCapabilities[:1]
		for i := range p.Spec.MachineTypes {
			delete(p.Spec.MachineTypes[i].Capabilities, "openstack-trustedLaunch")
		}
	})
	u.accepted(t, err)
	leaveAlone(t, "which the profile does not register")

	// Asking for no more is a repair.
	err = change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].ProviderConfig = nil })
	u.accepted(t, err)
	destroy(t, u, s)
}

// What stands in a worker's providerConfig is older than the component that reads it.
func TestWorkerConfigThatWasThereBefore(t *testing.T) {
	u, s := newUser(t), &v1beta1.Shoot{}
	s.Name, s.Namespace = "before-config", "garden-demo"
	misspelt := func(pool string) cause {
		return cause{field.ErrorTypeForbidden, "spec.provider.workers[" + pool + "].providerConfig.machineLables", `did you mean "machineLabels"?`}
	}
	err := change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)} })
	u.accepted(t, err, misspelt("0").field, "spec.provider.workers[1].providerConfig.apiVersion", "spec.provider.workers[1].providerConfig.trustedLaunch")

	// Another order, another pool, and other numbers are nothing new.
	err = change(t, u, s, func(s *v1beta1.Shoot) {
		slices.Reverse(s.Spec.Provider.Workers)
		right := s.Spec.Provider.Workers[0].DeepCopy()
		right.Name, right.ProviderConfig = "right", nil
		s.Spec.Provider.Workers = append([]v1beta1.Worker{*right}, s.Spec.Provider.Workers...)
		s.Spec.Provider.Workers[1].Maximum = 5
	})
	u.accepted(t, err, misspelt("2").field, "spec.provider.workers[1].providerConfig.apiVersion")

	// Another image is, where it is not known what the pool asks for; a field that is unknown keeps nothing from being read.
	err = change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[2].Machine.Image.Version = ptr.To("1592.9.0") })
	u.accepted(t, err, misspelt("2").field)
	err = change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[1].Machine.Image.Version = ptr.To("1592.9.0") })
	refused(t, err, "spec.provider.workers[1].providerConfig.apiVersion", "spec.provider.workers[1].providerConfig.trustedLaunch")
	// So is another name.
	err = change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[2].Name = "other" })
	refusedFor(t, err, misspelt("2"))
	err = change(t, u, s, func(s *v1beta1.Shoot) {
		s.Spec.Provider.Workers[2].ProviderConfig.Raw = []byte(strings.Replace(string(s.Spec.Provider.Workers[2].ProviderConfig.Raw), "machineLables", "machineLabels", 1))
		s.Spec.Provider.Workers[1].ProviderConfig = nil
	})
	u.accepted(t, err)
	destroy(t, u, s)
}

func TestTrustedLaunchOfANamespacedCloudProfile(t *testing.T) {
	u, parent := newUser(t), launching(t, "launch-parent")
	u.create(t, parent)
	profile := preview(t, "launch-child", parent.Name)
	profile.Spec.ProviderConfig.Raw = []byte(strings.NewReplacer(
		`"hypervisor":["virtualized"]`, `"openstack-trustedLaunch":["enabled"],"gardener-bootType":["secure","standard"]`,
		`,{"id":"2001-amd64-virt","name":"asia"}`, "").Replace(string(profile.Spec.ProviderConfig.Raw)))
	u.accepted(t, u.Create(t.Context(), profile))
	if flavors := profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors; len(flavors) != 1 ||
		len(flavors[0].Capabilities) != 2 || !slices.Equal(flavors[0].Capabilities["openstack-trustedLaunch"], []string{"enabled"}) {
		t.Errorf("admission has filled in %v", flavors)
	}
	rendered(t, u, profile, "1877.5.0=1234-amd64", "1592.9.0=1233-amd64", "2150.1.0=2150-amd64", "2000.0.0=2000-amd64-virt")

	s := trusting(t, "launch-child", profile.Name)
	s.Spec.CloudProfile.Kind = "NamespacedCloudProfile"
	s.Spec.Provider.Workers[0].Machine.Image.Version = ptr.To("1592.9.0")
	eventually(t, "Gardener knows the profile", func() bool {
		err := u.Create(t.Context(), s)
		if apierrors.IsInvalid(err) {
			refusedFor(t, err, cause{field.ErrorTypeInvalid, askingAt, "would work: version 2000.0.0, version 1877.5.0"})
		}
		return apierrors.IsInvalid(err)
	})
	s.Spec.Provider.Workers[0].Machine.Image.Version = ptr.To("2000.0.0")
	u.accepted(t, u.Create(t.Context(), s))
	destroy(t, u, s)
}

func TestWorkerCapabilitiesOfACloudProfile(t *testing.T) {
	const signed = "spec.providerConfig.machineImages[0].versions[2].capabilityFlavors[1].capabilities."
	for name, test := range map[string]struct {
		change func(*testing.T, *v1beta1.CloudProfile)
		want   cause
	}{
		"reserved-name": {func(t *testing.T, p *v1beta1.CloudProfile) { replaceConfig(t, p, "gardener-bootType", "gardener-boot") },
			cause{field.ErrorTypeNotSupported, signed + "gardener-boot", "which are [gardener-bootType, gardener-updateType, gardener-gpuSupport]"}},
		"reserved-value": {func(t *testing.T, p *v1beta1.CloudProfile) { replaceConfig(t, p, `"secure"`, `"signed"`) },
			cause{field.ErrorTypeNotSupported, signed + "gardener-bootType[0]", `with the values [secure, standard]; "signed" is none of them`}},
		"worker-value": {func(_ *testing.T, p *v1beta1.CloudProfile) {
			p.Spec.MachineCapabilities[1].Values = []string{"enabled", "optional", "disabled"}
		}, cause{field.ErrorTypeNotSupported, "spec.machineCapabilities[1].values[1]", `openstack-trustedLaunch has the values [enabled, disabled]; nothing ever asks for "optional"`}},
		"not-told-apart": {func(t *testing.T, p *v1beta1.CloudProfile) {
			replaceConfig(t, p, `"gardener-bootType":["secure","standard"]`, `"gardener-bootType":["standard"]`)
		}, cause{field.ErrorTypeDuplicate, strings.TrimSuffix(signed, ".capabilities."), "is the same flavor as spec.providerConfig.machineImages[0].versions[2].capabilityFlavors[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			u, profile := newUser(t), launching(t, name)
			test.change(t, profile)
			refusedFor(t, u.Create(t.Context(), profile), test.want)
		})
	}
}

// Several flavors of the provider config, which differ in reserved capabilities only, belong to one flavor of core.
func TestReservedCapabilitiesAreNotFilledIn(t *testing.T) {
	u, profile := newUser(t), launching(t, "reserved")
	versions := profile.Spec.MachineImages[0].Versions
	for i := range versions {
		versions[i].CapabilityFlavors = nil
	}

	u.accepted(t, u.Create(t.Context(), profile))
	for i, want := range launching(t, "").Spec.MachineImages[0].Versions {
		if got := profile.Spec.MachineImages[0].Versions[i].CapabilityFlavors; !sameFlavors(got, want.CapabilityFlavors) {
			t.Errorf("version %s has got the flavors %v instead of %v", want.Version, got, want.CapabilityFlavors)
		}
	}

	// Core itself has no place for them.
	err := change(t, u, profile, func(p *v1beta1.CloudProfile) {
		p.Spec.MachineImages[0].Versions[2].CapabilityFlavors[0].Capabilities["gardener-bootType"] = []string{"standard"}
	})
	if !apierrors.IsInvalid(err) || strings.Contains(err.Error(), ".admission-openstack.") {
		t.Errorf("a reserved capability in core: %v", err)
	}
}

func sameFlavors(a, b []v1beta1.MachineImageFlavor) bool {
	return slices.EqualFunc(a, b, func(a, b v1beta1.MachineImageFlavor) bool {
		return len(a.Capabilities) == len(b.Capabilities) && !slices.ContainsFunc([]string{"architecture", "openstack-trustedLaunch"}, func(name string) bool {
			return !slices.Equal(a.Capabilities[name], b.Capabilities[name])
		})
	})
}
