// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/test/seed"
)

// fault is a defect because of which a pool's machines cannot be created.
type fault struct {
	// worker and profile make the changes. Nil means no change.
	worker  func(*extensionsv1alpha1.Worker)
	profile func(testing.TB, *v1beta1.CloudProfile)
	// says are texts in the error: about the faulty pool, and about what would work.
	says []string
	// configuration means that a user or an operator can repair the fault.
	configuration bool
}

// Pool web has no fault of its own, but pool arm does.
var faults = map[string]fault{
	"the secret of the user data is missing": {
		worker: func(w *extensionsv1alpha1.Worker) { w.Spec.Pools[1].UserDataSecretRef.Name = "absent" },
		says:   []string{"worker pool arm: ", "absent", seed.UserDataKey},
	},
	"the secret has no user data": {
		worker: func(w *extensionsv1alpha1.Worker) { w.Spec.Pools[1].UserDataSecretRef.Key = "other" },
		says:   []string{"worker pool arm: ", seed.UserData, "other"},
	},
	"no InfrastructureStatus": {
		worker: func(w *extensionsv1alpha1.Worker) { w.Spec.InfrastructureProviderStatus = nil },
		says:   []string{"worker pools web, arm: ", "spec.infrastructureProviderStatus is missing"},
	},
	"an InfrastructureStatus of an unknown version": {
		worker: func(w *extensionsv1alpha1.Worker) {
			w.Spec.InfrastructureProviderStatus = &runtime.RawExtension{
				Raw: []byte(`{"apiVersion": "openstack.provider.extensions.gardener.cloud/v2", "kind": "InfrastructureStatus"}`)}
		},
		says: []string{"worker pools web, arm: ", "openstack.provider.extensions.gardener.cloud/v2", "v1alpha1"},
	},
	"the machine type of a new pool is gone": {
		worker:  func(w *extensionsv1alpha1.Worker) { w.Spec.Pools[1].Name = "new" },
		profile: func(_ testing.TB, p *v1beta1.CloudProfile) { p.Spec.MachineTypes = p.Spec.MachineTypes[:3] },
		says:    []string{"worker pool new: ", "machine type arm"}, configuration: true,
	},
	"a version that there never was": {
		worker: func(w *extensionsv1alpha1.Worker) { updateSecond(w, "9.9.9") },
		says:   []string{"worker pool arm: ", "9.9.9"}, configuration: true,
	},
	"an image that there never was": {
		worker: func(w *extensionsv1alpha1.Worker) {
			updateSecond(w, "1.0.0")
			w.Spec.Pools[1].MachineImage.Name = "other"
		},
		says: []string{"worker pool arm: ", "other"}, configuration: true,
	},
	"no flavor for the machine type": {
		worker: func(w *extensionsv1alpha1.Worker) { updateSecond(w, "2.0.0") },
		says:   []string{"worker pool arm: ", "no image fits machine type arm", "would work: "}, configuration: true,
	},
	"no image in the region": {
		worker: func(w *extensionsv1alpha1.Worker) { w.Spec.Pools[1].Name = "new" },
		profile: func(t testing.TB, p *v1beta1.CloudProfile) {
			replaceRaw(t, &p.Spec.ProviderConfig.Raw, `"id":"arm-1","name":"europe"`, `"id":"arm-1","name":"asia"`)
		},
		says: []string{"worker pool new: ", "region europe"}, configuration: true,
	},
	"a config of a new pool that cannot be read": {
		worker: func(w *extensionsv1alpha1.Worker) {
			w.Spec.Pools[1].Name = "new"
			w.Spec.Pools[1].ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion": "other/v1", "kind": "WorkerConfig"}`)}
		},
		says: []string{"worker pool new: ", "other/v1"}, configuration: true,
	},
	"a volume without a number": {
		worker: func(w *extensionsv1alpha1.Worker) { w.Spec.Pools[1].Volume.Size = "large" },
		says:   []string{"worker pool arm: ", "volume.size", "50Gi"}, configuration: true,
	},
}

func updateSecond(w *extensionsv1alpha1.Worker, version string) {
	w.Spec.Pools[0], w.Spec.Pools[1] = w.Spec.Pools[1], w.Spec.Pools[0]
	updated(version)(w)
	w.Spec.Pools[0], w.Spec.Pools[1] = w.Spec.Pools[1], w.Spec.Pools[0]
}

// With a fault nothing is written and machines keep running. After the repair the controller continues. A Worker can always be deleted.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := newShoot(t, nil)
			run(t, shoot, ours)
			web, arm := pool("web", "virt", "1.0.0"), pool("arm", "arm", "1.0.0")
			create(t, shoot, web, arm)
			machines := names(expectMachines(t, shoot, map[string][]string{"web": {"amd-1"}, "arm": {"arm-1"}}))
			before, right := versionsOf(t, shoot), shoot.Worker(web, arm).Spec

			f.inject(t, shoot)
			for _, change := range []func(*extensionsv1alpha1.Worker){f.worker, nil} {
				expectRefused(t, shoot, f.configuration, change, f.says...)
				if changed := before.Changed(versionsOf(t, shoot)); len(changed) > 0 {
					t.Errorf("in spite of the error there is a change of %v", changed)
				}
			}
			// Repair the Worker first, because it could succeed once the profile is repaired.
			check(t, shoot.Reconcile(t.Context(), func(w *extensionsv1alpha1.Worker) { w.Spec = *right.DeepCopy() }))
			check(t, shoot.ChangeProfile(t.Context(), func(p *v1beta1.CloudProfile) { p.Spec = profileOf(t, profileSpec).Spec }))
			reconcile(t, shoot, nil)
			if changed := before.Changed(versionsOf(t, shoot)); len(changed) > 0 {
				t.Errorf("the repair changes %v", changed)
			}
			for i, name := range names(expectMachines(t, shoot, map[string][]string{"web": {"amd-1"}, "arm": {"arm-1"}})) {
				if name != machines[i] {
					t.Errorf("%s is replaced by %s", machines[i], name)
				}
			}
			f.inject(t, shoot)
			expectRefused(t, shoot, f.configuration, f.worker, f.says...)
			expectDeleted(t, shoot)
		})
	}
}

// inject makes the fault, except its change of the Worker.
func (f *fault) inject(t testing.TB, shoot *seed.Shoot) {
	t.Helper()
	if f.profile != nil {
		check(t, shoot.ChangeProfile(t.Context(), func(p *v1beta1.CloudProfile) { f.profile(t, p) }))
	}
}

// A pool whose machines were never created, or whose image is gone, can be deleted.
func TestDeletionWithoutAnImage(t *testing.T) {
	t.Parallel()
	t.Run("and without machines", func(t *testing.T) {
		t.Parallel()
		shoot := newShoot(t, nil)
		run(t, shoot, ours)
		check(t, shoot.Create(t.Context(), shoot.Worker(pool("web", "virt", "9.9.9")), ""))
		expectError(t, shoot, true, "worker pool web: ", "9.9.9")
		expectDeleted(t, shoot)
	})
	t.Run("since the profile is empty", func(t *testing.T) {
		t.Parallel()
		shoot := newShoot(t, nil)
		run(t, shoot, ours)
		create(t, shoot, pool("web", "virt", "1.0.0"))
		check(t, shoot.ChangeProfile(t.Context(), func(p *v1beta1.CloudProfile) {
			p.Spec = v1beta1.CloudProfileSpec{Type: p.Spec.Type}
		}))
		expectDeleted(t, shoot)
	})
}

// A refusal by the cloud is reported with the machine, with a code, until the cloud accepts it.
func TestWhatTheCloudRefuses(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]struct {
		failures seed.Failures
		code     v1beta1.ErrorCode
		says     string
	}{
		"an image": {
			seed.Failures{Images: map[string]string{"amd-1": "Image amd-1 could not be found."}}, v1beta1.ErrorConfigurationProblem, "Image amd-1",
		},
		"quota": {seed.Failures{Quota: new(int)}, v1beta1.ErrorInfraQuotaExceeded, "Quota exceeded for instances"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := newShoot(t, nil)
			run(t, shoot, ours)
			check(t, shoot.Fail(t.Context(), f.failures))
			check(t, shoot.Create(t.Context(), shoot.Worker(pool("web", "virt", "1.0.0")), ""))
			eventually(t, func(ctx context.Context) error {
				worker, err := shoot.Get(ctx)
				if err != nil {
					return err
				}
				failed := worker.Status.LastError
				if failed == nil || !strings.Contains(failed.Description, f.says) || len(failed.Codes) != 1 || failed.Codes[0] != f.code {
					return fmt.Errorf("the error is %+v", failed)
				}
				return nil
			})
			check(t, shoot.Fail(t.Context(), seed.Failures{}))
			expectMachines(t, shoot, map[string][]string{"web": {"amd-1"}})
		})
	}
}

// Wherever a controller stops, the next one continues.
func TestRestartsInTheMiddle(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	pools := map[string][]string{"a": {"amd-1"}, "b": {"amd-1"}, "c": {"arm-1"}}
	c := run(t, shoot, ours)
	check(t, shoot.Create(t.Context(),
		shoot.Worker(pool("a", "virt", "1.0.0"), pool("b", "bare", "1.0.0", zoned("europe-1b")), pool("c", "arm", "1.0.0")), ""))
	for _, kind := range []string{"Secret " + shoot.Name, "MachineClass ", "MachineDeployment ", "Machine "} {
		eventually(t, func(context.Context) error {
			for name := range versionsOf(t, shoot) {
				if strings.Contains(name, kind) {
					return nil
				}
			}
			return errors.New("there is no " + kind)
		})
		c.stop()
		c = run(t, shoot, ours)
	}
	check(t, shoot.Reconcile(t.Context(), nil))
	expectSucceeded(t, shoot)
	expectMachines(t, shoot, pools)
	expectUnchanged(t, shoot)
	classes, err := shoot.Classes(t.Context())
	check(t, err)
	if len(classes) != len(pools) {
		t.Errorf("there are %d machine classes", len(classes))
	}
	c.stop()

	// Also in the middle of a deletion.
	c = run(t, shoot, ours)
	worker, err := shoot.Get(t.Context())
	check(t, err)
	check(t, theSeed(t).Client().Delete(t.Context(), worker))
	check(t, shoot.Reconcile(t.Context(), nil))
	eventually(t, func(ctx context.Context) error {
		machines, err := shoot.Machines(ctx)
		for _, m := range machines {
			if m.Deleted {
				return nil
			}
		}
		return errors.Join(errors.New("no machine is being deleted"), err)
	})
	c.stop()
	run(t, shoot, ours)
	expectGone(t, shoot, worker)
}
