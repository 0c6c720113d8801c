// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// Updates in place are behind a feature gate of Gardener v1.150, which is on in the garden of these tests.

// What an error about an update in place looks like.
const (
	inPlaceAt   = "spec.provider.workers[0].updateStrategy"
	asksInPlace = "update strategy AutoInPlaceUpdate asks for gardener-updateType [inPlace], and no flavor of "
)

// inPlace returns the example Shoot that is updated in place, under another name.
func inPlace(t *testing.T, name, profile string) *v1beta1.Shoot {
	t.Helper()
	s := read[v1beta1.Shoot](t, "../../example/shoot-in-place.yaml")
	s.Name, s.Spec.CloudProfile.Name = name, profile
	return s
}

// The image says nowhere that it has gardener-updateType, only inPlaceUpdates.supported of core does.
func TestUpdatesInPlace(t *testing.T) {
	u, profile := newUser(t), launching(t, "in-place")
	u.create(t, profile)
	s := inPlace(t, "in-place", "in-place")
	u.create(t, s)

	// Gardener itself looks at inPlaceUpdates when a Shoot is created. What it does not know is what a flavor declares.
	declared := launching(t, "in-place-declared")
	replaceConfig(t, declared, `"gardener-bootType":["secure","standard"]`, `"gardener-updateType":["rolling"]`)
	replaceConfig(t, declared, `{"capabilities":{"architecture":["amd64"]},"regions":[{"id":"2150-amd64","name":"europe"}]},`, "")
	u.create(t, declared)
	refusedFor(t, u.Create(t.Context(), inPlace(t, "in-place-not", declared.Name)), cause{field.ErrorTypeInvalid, inPlaceAt,
		"{architecture: [amd64], gardener-updateType: [rolling]} has gardener-updateType [rolling], the worker pool asks for [inPlace]"})

	// The operator takes it away. The Shoot is left in peace, and told.
	err := change(t, u, profile, func(p *v1beta1.CloudProfile) { p.Spec.MachineImages[0].Versions[2].InPlaceUpdates = nil })
	u.accepted(t, err, "worker pools of Shoot garden-demo/in-place")
	hibernated := false
	eventually(t, "the webhook knows the profile", func() bool {
		hibernated = !hibernated
		err := change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: &hibernated} })
		if err != nil {
			t.Fatalf("hibernation is refused: %v", err)
		}
		heard := u.heard()
		return len(heard) == 1 && strings.Contains(heard[0], inPlaceAt+": worker pool disks: "+asksInPlace)
	})
	u.accepted(t, change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum = 9 }), asksInPlace)
	another := func(s *v1beta1.Shoot) {
		pool := s.Spec.Provider.Workers[0].DeepCopy()
		pool.Name = "more"
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *pool)
	}
	if err := change(t, u, s, another); err == nil {
		t.Error("another pool of this kind is accepted")
	}
	destroy(t, u, s)
}

// A flavor of the provider config may declare updates in place. When it is removed, Shoots that have it are left in peace.
func TestUpdatesInPlaceByAFlavor(t *testing.T) {
	u, profile := newUser(t), launching(t, "in-place-flavor")
	const boot, update = `"gardener-bootType":["secure","standard"]`, `"gardener-updateType":["inPlace"]`
	replaceConfig(t, profile, boot, update)
	replaceConfig(t, profile, `{"capabilities":{"architecture":["amd64"]},"regions":[{"id":"2150-amd64","name":"europe"}]}`,
		`{"capabilities":{"architecture":["amd64"],"gardener-updateType":["rolling"]},"regions":[{"id":"2150-amd64","name":"europe"}]}`)
	u.create(t, profile)
	s := inPlace(t, "in-place-flavor", profile.Name)
	u.create(t, s)
	err := change(t, u, profile, func(p *v1beta1.CloudProfile) {
		replaceConfig(t, p, `,{"capabilities":{"architecture":["amd64"],`+update+`},"regions":[{"id":"2150-amd64-signed","name":"europe"}]}`, "")
	})
	u.accepted(t, err, "worker pools of Shoot garden-demo/in-place-flavor")
	eventually(t, "the webhook knows the profile", func() bool {
		err := u.Create(t.Context(), inPlace(t, "in-place-late", profile.Name))
		return err != nil && strings.Contains(err.Error(), asksInPlace)
	})
	u.accepted(t, change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)} }), asksInPlace)
	destroy(t, u, s)
}
