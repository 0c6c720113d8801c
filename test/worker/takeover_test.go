// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/testing/fakenova"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/test/seed"
	"github.com/capkit/capkit/test/seed/replay"
)

// Our controller keeps the objects and machines of provider-openstack when it takes over, and again when it gives back.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"../../pkg/openstack/machines/testdata/seven", "testdata/more", "testdata/old"} {
		t.Run(folder[strings.LastIndex(folder, "/")+1:], func(t *testing.T) {
			t.Parallel()
			recording, err := replay.Load(os.DirFS(folder))
			check(t, err)
			takeOver(t, recording)
		})
	}
}

func takeOver(t *testing.T, recording *replay.Recording) {
	shoot := recorded(t, recording)
	theirs := run(t, shoot, recording.Add)
	check(t, shoot.Create(t.Context(), recording.Worker.DeepCopy(), ""))
	status := providerStatus(t, expectSucceeded(t, shoot))
	machines := bootedBy(t, shoot, recording)
	before := versionsOf(t, shoot)
	expectMade(t, before, recording)

	theirs.stop()
	our := run(t, shoot, ours)
	for range 2 {
		worker := reconcile(t, shoot, nil)
		if diff := gocmp.Diff(status, providerStatus(t, worker)); diff != "" {
			t.Errorf("the status (-provider-openstack +ours):\n%s", diff)
		}
		logTable(t, recording, before, versionsOf(t, shoot))
	}
	our.stop()
	run(t, shoot, recording.Add)
	reconcile(t, shoot, nil)
	if changed := before.Changed(versionsOf(t, shoot)); len(changed) > 0 {
		t.Errorf("the way back changes %v", changed)
	}
	if diff := gocmp.Diff(machines, bootedBy(t, shoot, recording)); diff != "" {
		t.Errorf("the machines (-before +after):\n%s", diff)
	}
}

// recorded creates the shoot of a recording, in a fake OpenStack with its server groups.
func recorded(t *testing.T, recording *replay.Recording) *seed.Shoot {
	t.Helper()
	openstack := fakenova.New(t, false)
	var status v1alpha1.WorkerStatus
	check(t, json.Unmarshal(recording.Worker.Status.ProviderStatus.Raw, &status))
	for _, group := range status.ServerGroupDependencies {
		openstack.PutAs(group.ID, group.Name, policyOf(t, recording, group.PoolName))
	}
	profile := recording.Profile.DeepCopy()
	edit(t, &profile.Spec.ProviderConfig.Raw, func(config map[string]any) { config["keystoneURL"] = openstack.Keystone() })
	shoot, err := theSeed(t).NewShoot(t.Context(), recording.Worker.Namespace, seed.ShootOptions{
		Profile: profile, Credentials: openstack.Secret(), UserData: string(recording.Secrets[0].Data["userData"]),
		Change: func(s *v1beta1.Shoot) { s.Spec = *recording.Shoot.Spec.DeepCopy() },
	})
	check(t, err)
	return shoot
}

func policyOf(t *testing.T, recording *replay.Recording, pool string) string {
	t.Helper()
	for _, p := range recording.Worker.Spec.Pools {
		if p.Name == pool {
			var config v1alpha1.WorkerConfig
			check(t, json.Unmarshal(p.ProviderConfig.Raw, &config))
			return config.ServerGroup.Policy
		}
	}
	t.Fatalf("there is no pool %s", pool)
	return ""
}

// edit changes a JSON object.
func edit(t testing.TB, raw *[]byte, change func(map[string]any)) {
	t.Helper()
	var object map[string]any
	check(t, json.Unmarshal(*raw, &object))
	change(object)
	edited, err := json.Marshal(object)
	check(t, err)
	*raw = edited
}

// providerStatus returns the status that the next controller reads, with its unordered images sorted.
func providerStatus(t testing.TB, worker *extensionsv1alpha1.Worker) v1alpha1.WorkerStatus {
	t.Helper()
	var status v1alpha1.WorkerStatus
	check(t, json.Unmarshal(worker.Status.ProviderStatus.Raw, &status))
	slices.SortFunc(status.MachineImages, func(a, b v1alpha1.MachineImage) int { return cmp.Compare(asJSON(t, a), asJSON(t, b)) })
	return status
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	check(t, err)
	return string(text)
}

// bootedBy waits until every pool has its minimum of running machines, and returns their images by name.
func bootedBy(t testing.TB, shoot *seed.Shoot, recording *replay.Recording) map[string]string {
	t.Helper()
	booted, want := map[string]string{}, map[string][]string{}
	for _, d := range recording.Deployments {
		for i := range recording.Classes {
			if class := &recording.Classes[i]; class.Name == d.ClassName {
				var config struct {
					Spec struct{ ImageID, ImageName string }
				}
				check(t, json.Unmarshal(class.ProviderSpec.Raw, &config))
				for range d.Minimum {
					want[d.PoolName] = append(want[d.PoolName], cmp.Or(config.Spec.ImageID, config.Spec.ImageName))
				}
			}
		}
	}
	for _, m := range expectMachines(t, shoot, want) {
		booted[m.Name] = m.Image
	}
	return booted
}

// expectMade expects the recorded objects to exist. Otherwise, their staying unchanged would mean nothing.
func expectMade(t testing.TB, there seed.Versions, recording *replay.Recording) {
	t.Helper()
	for i, d := range recording.Deployments {
		for _, name := range []string{"MachineDeployment " + d.Name, "MachineClass " + d.ClassName, "Secret " + recording.Secrets[i].Name} {
			if there[name] == "" {
				t.Errorf("there is no %s", name)
			}
		}
	}
}

// logTable logs the numbers of all and of changed decisive objects for each pool. Any change fails the test.
func logTable(t testing.TB, recording *replay.Recording, before, after seed.Versions) {
	t.Helper()
	changed, all := before.Changed(after), 0
	lines := []string{fmt.Sprintf("%-10s %7s %7s", "pool", "objects", "changed")}
	for _, p := range recording.Worker.Spec.Pools {
		objects, others := 0, 0
		prefix := " " + recording.Worker.Namespace + "-" + p.Name + "-z"
		for name := range before {
			if strings.Contains(name, prefix) {
				objects++
			}
		}
		for _, name := range changed {
			if strings.Contains(name, prefix) {
				others++
			}
		}
		all += objects
		lines = append(lines, fmt.Sprintf("%-10s %7d %7d", p.Name, objects, others))
	}
	t.Logf("%s\nall of %d objects, and %d of no pool", strings.Join(lines, "\n"), all, len(before)-all)
	if len(changed) > 0 {
		t.Errorf("the takeover changes %v", changed)
	}
}
