// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// gap returns the CloudProfile of the demo whose bare metal flavor has no image in asia, under another name.
func gap(t *testing.T, name string) *v1beta1.CloudProfile {
	t.Helper()
	profile := read[v1beta1.CloudProfile](t, "../../hack/garden/demo/cloudprofile-gap.yaml")
	profile.Name = name
	return profile
}

// bare returns the Shoot of the demo, whose worker pool is of bare metal in asia.
func bare(t *testing.T, name, profile string) *v1beta1.Shoot {
	t.Helper()
	s := read[v1beta1.Shoot](t, "../../hack/garden/demo/shoot-bare.yaml")
	s.Name, s.Spec.CloudProfile.Name = name, profile
	return s
}

// destroy deletes a Shoot as its owner does. There is nothing to be destroyed, so it is for the test to remove finalizers.
func destroy(t *testing.T, u *user, s *v1beta1.Shoot) {
	t.Helper()
	err := change(t, u, s, func(s *v1beta1.Shoot) {
		s.Annotations = map[string]string{"confirmation.gardener.cloud/deletion": "true"}
	})
	if err == nil {
		err = u.Delete(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Shoot is gone", func() bool {
		err := u.Get(t.Context(), client.ObjectKeyFromObject(s), s)
		if err == nil {
			s.Finalizers = nil
			err = u.Update(t.Context(), s)
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
		return apierrors.IsNotFound(err)
	})
}

func TestShootGetsAnImageOrIsRefused(t *testing.T) {
	u := newUser(t)
	u.create(t, gap(t, "pools"))
	u.heard()
	s := bare(t, "pools", "pools")
	err := u.Create(t.Context(), s)
	refused(t, err, "spec.provider.workers[0].machine.type")
	if !strings.Contains(err.Error(), "would work: version 1592.9.0, machine type medium_4_8") {
		t.Errorf("the refusal does not say what would work: %v", err)
	}
	s.Spec.Provider.Workers[0].Machine.Type = "medium_4_8"
	u.accepted(t, u.Create(t.Context(), s))

	// A pool more, which gets none. The first is not mentioned.
	err = change(t, u, s, func(s *v1beta1.Shoot) {
		pool := s.Spec.Provider.Workers[0].DeepCopy()
		pool.Name, pool.Machine.Type = "bare", "bare_8_16"
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *pool)
	})
	refused(t, err, "spec.provider.workers[1].machine.type")

	workerless := bare(t, "workerless", "pools")
	workerless.Spec.Provider = v1beta1.Provider{Type: "openstack"}
	workerless.Spec.CredentialsBindingName, workerless.Spec.Networking = nil, nil
	u.accepted(t, u.Create(t.Context(), workerless))
}

func TestShootOfANamespacedCloudProfile(t *testing.T) {
	u := newUser(t)
	u.create(t, openstack(t, "of-namespaced"))
	profile := preview(t, "of-namespaced", "of-namespaced")
	u.create(t, profile)
	rendered(t, u, profile, "1877.5.0=1234-amd64-virt", "1592.9.0=1234-amd64-old", "2000.0.0=2000-amd64-virt")

	s := shoot(t, "of-namespaced", "of-namespaced")
	s.Spec.CloudProfile.Kind = "NamespacedCloudProfile"
	s.Spec.Provider.Workers[0].Machine.Image.Version = ptr.To("2000.0.0")
	eventually(t, "the Shoot is accepted", func() bool { // once Gardener's own admission knows the new profile
		err := u.Create(t.Context(), s)
		return err == nil
	})

	// What the Shoot uses is taken away: its image, which the update replaces by that of other machines.
	eventually(t, "the webhook knows that the Shoot uses the image", func() bool {
		replace := func(from, to string) {
			err := change(t, u, profile, func(p *v1beta1.NamespacedCloudProfile) {
				p.Spec.ProviderConfig.Raw = []byte(strings.Replace(string(p.Spec.ProviderConfig.Raw), from, to, 1))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		replace(`"name":"europe"`, `"name":"elsewhere"`)
		warnings := strings.Join(u.heard(), "\n")
		replace(`"name":"elsewhere"`, `"name":"europe"`)
		return strings.Contains(warnings, "gardenlinux@2000.0.0: no image is left for worker pools of Shoot garden-demo/of-namespaced")
	})
}

func TestShootWhosePoolHasBecomeImpossible(t *testing.T) {
	u, profile := newUser(t), openstack(t, "impossible")
	u.create(t, profile)
	s := bare(t, "impossible", "impossible")
	u.create(t, s)

	// The operator takes the image away.
	eventually(t, "the webhook knows that the Shoot uses the image", func() bool {
		replace := func(from, to string) {
			if err := change(t, u, profile, func(p *v1beta1.CloudProfile) { replaceConfig(t, p, from, to) }); err != nil {
				t.Fatal(err)
			}
		}
		replace(`"id":"5678-amd64-bare","name":"asia"`, `"id":"5678-amd64-bare","name":"elsewhere"`)
		if strings.Contains(strings.Join(u.heard(), "\n"), "no image is left for worker pools of Shoot garden-demo/impossible") {
			return true
		}
		replace(`"id":"5678-amd64-bare","name":"elsewhere"`, `"id":"5678-amd64-bare","name":"asia"`)
		return false
	})

	// Hibernation leaves the pool alone.
	err := change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)} })
	u.accepted(t, err, "no image fits machine type bare_8_16")
	// So does another number of machines; another image does not.
	err = change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum = 5 })
	u.accepted(t, err, "no image fits machine type bare_8_16")
	err = change(t, u, s, func(s *v1beta1.Shoot) {
		pool := s.Spec.Provider.Workers[0].DeepCopy()
		pool.Name = "more"
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *pool)
	})
	refused(t, err, "spec.provider.workers[1].machine.type")
	destroy(t, u, s)
}

func TestShootThatWasThereBefore(t *testing.T) {
	u, s := newUser(t), &v1beta1.Shoot{}
	s.Name, s.Namespace = "before", "garden-demo"
	err := change(t, u, s, func(s *v1beta1.Shoot) { s.Labels = map[string]string{"a": "b"} })
	u.accepted(t, err)
	destroy(t, u, s)
}
