// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
)

// versioned returns a profile with a machine type for each of two architectures. The arguments are its Kubernetes versions in YAML, and
// its image versions with their architectures.
func versioned(t *testing.T, kubernetes string, images ...string) *profile.Profile[openstack.Image] {
	t.Helper()
	core, mapped := "", ""
	for _, image := range images {
		version, architecture, _ := strings.Cut(image, " ")
		architecture, further, _ := strings.Cut(architecture, " ")
		core += fmt.Sprintf("  - {version: %q, cri: [{name: containerd}], capabilityFlavors: [{architecture: [%s]}]%s}\n", version, architecture, further)
		mapped += fmt.Sprintf("    - {version: %q, capabilityFlavors: [{capabilities: {architecture: [%s]}, regions: [{name: europe, id: id-%s}]}]}\n",
			version, architecture, version)
	}
	return given.Sound(t, given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
machineCapabilities: [{name: architecture, values: [amd64, arm64]}]
regions: [{name: europe}]
kubernetes: {versions: [`+kubernetes+`]}
machineTypes:
- {name: amd, cpu: "4", gpu: "0", memory: 8Gi, capabilities: {architecture: [amd64]}}
- {name: arm, cpu: "4", gpu: "0", memory: 8Gi, capabilities: {architecture: [arm64]}}
machineImages:
- name: gl
  updateStrategy: major
  versions:
`+core+`providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
`+mapped))
}

// shootOn returns a Shoot with a worker pool on each of the machine types, with or without automatic updates. A type may name the pool's
// own Kubernetes version: amd@1.32.0.
func shootOn(t *testing.T, automatically bool, kubernetes, version string, types ...string) update.User {
	t.Helper()
	workers := ""
	for _, machineType := range types {
		machineType, kubelet, _ := strings.Cut(machineType, "@")
		architecture := machineType + "64"
		workers += fmt.Sprintf("  - {name: %s, kubernetes: {version: %s}, machine: {type: %s, architecture: %s, image: {name: gl, version: %q}}}\n",
			machineType, kubelet, machineType, architecture, version)
	}
	shoot := given.Decoded[v1beta1.Shoot](t, fmt.Sprintf(`
metadata: {namespace: garden-a, name: shoot}
spec:
  region: europe
  kubernetes: {version: %q}
  maintenance: {autoUpdate: {kubernetesVersion: %t, machineImageVersion: %t}}
  provider:
    type: openstack
    workers:
%s`, kubernetes, automatically, automatically, strings.ReplaceAll(workers, "  - ", "    - ")))
	return update.User{Shoot: shoot, Pools: provider.PoolsOf(shoot)}
}

// calendarOf summarizes the effects of an update on dates and versions.
func calendarOf(changes *update.Changes[openstack.Image]) string {
	var facts []string
	fates := func(then []update.Fate) (text string) {
		for _, f := range then {
			text += fmt.Sprintf(" %s:%s%s", f.Name, f.Action, strings.TrimSuffix("="+f.To, "="))
			if f.Worse {
				text += "!"
			}
		}
		return text
	}
	for _, e := range changes.Expires {
		facts = append(facts, fmt.Sprintf("%s expires (%d pools)%s", e.Version, len(e.Pools), fates(e.Then)))
	}
	for _, f := range changes.Failing {
		facts = append(facts, fmt.Sprintf("%s fails (%d pools), kept %t: %s", f.Version, len(f.Pools), f.Kept, f.Why))
	}
	for _, r := range changes.Rolls {
		does := "rolls to " + r.To
		if r.To == "" {
			does = string(r.Action)
		}
		facts = append(facts, fmt.Sprintf("%s %s (%d pools)", r.From, does, len(r.Pools)))
	}
	for _, k := range changes.Kubernetes {
		facts = append(facts, fmt.Sprintf("kubernetes %s %s%s", k.Version, k.Aspect, fates(k.Then)))
	}
	return strings.Join(facts, "; ")
}

// The effects of updates of dates, classifications and versions on a Shoot. A pool has the name of its architecture, and the control
// plane an empty name. An exclamation mark means that the update is the only cause.
func TestCalendar(t *testing.T) {
	const (
		past, future = `, expirationDate: "2020-01-01T00:00:00Z"`, `, expirationDate: "2037-01-01T00:00:00Z"`
		later        = `, expirationDate: "2038-01-01T00:00:00Z"`
		preview      = `, classification: preview`
		deprecated   = `, classification: deprecated`
		one          = `{version: 1.33.1}`
	)
	both := []string{"amd", "arm"}
	for what, tc := range map[string]struct {
		manual              bool
		types               []string
		kubeBefore, kube    string
		before, after, want string
		corrects            bool
	}{
		"nothing": {before: "1.0.0 amd64", after: "1.0.0 amd64"},
		"a date, and nothing newer": {
			before: "1.0.0 amd64", after: "1.0.0 amd64" + future, want: "1.0.0 expires (1 pools) amd:stuck!",
		},
		"another date": {
			before: "1.0.0 amd64" + later, after: "1.0.0 amd64" + future, want: "1.0.0 expires (1 pools) amd:stuck!",
		},
		"a later date": {
			before: "1.0.0 amd64" + future, after: "1.0.0 amd64" + later, want: "1.0.0 expires (1 pools) amd:stuck",
		},
		"no date any more": {before: "1.0.0 amd64" + future, after: "1.0.0 amd64", want: "1.0.0 expires (1 pools)"},
		"a date in the past": {
			before: "1.0.0 amd64|1.1.0 amd64" + preview, after: "1.0.0 amd64" + past + "|1.1.0 amd64", manual: true, want: "1.0.0 expires (1 pools) amd:forced=1.1.0",
		},
		"a date, and a newer one": {
			before: "1.0.0 amd64|1.1.0 amd64", after: "1.0.0 amd64" + future + "|1.1.0 amd64", manual: true,
			want: "1.0.0 expires (1 pools) amd:forced=1.1.0",
		},
		"a date that only the preview outlives": {
			before: "1.0.0 amd64|1.1.0 amd64" + preview, after: "1.0.0 amd64" + future + "|1.1.0 amd64" + preview,
			want: "1.0.0 expires (1 pools) amd:stuck!",
		},
		"a Shoot that a worker pool on another architecture locks": {
			types: both, before: "1.0.0 amd64|1.1.0 amd64", after: "1.0.0 amd64" + future + "|1.1.0 amd64", manual: true,
			want: "1.0.0 expires (2 pools) amd:fails! arm:stuck",
		},
		"the date of a version that nobody has": {
			before: "1.0.0 amd64|0.9.0 amd64", after: "1.0.0 amd64|0.9.0 amd64" + future, want: "0.9.0 expires (0 pools)",
		},
		"a new version": {
			before: "1.0.0 amd64", after: "1.0.0 amd64|1.1.0 amd64", want: "1.0.0 rolls to 1.1.0 (1 pools)",
		},
		"a new version, and no updates": {before: "1.0.0 amd64", after: "1.0.0 amd64|1.1.0 amd64", manual: true},
		"a new preview":                 {before: "1.0.0 amd64", after: "1.0.0 amd64|1.1.0 amd64" + preview},
		"a preview no more": {
			before: "1.0.0 amd64|1.1.0 amd64" + preview, after: "1.0.0 amd64|1.1.0 amd64", want: "1.0.0 rolls to 1.1.0 (1 pools)",
		},
		"a newer one than it would have been": {
			before: "1.0.0 amd64|1.1.0 amd64", after: "1.0.0 amd64|1.1.0 amd64|1.2.0 amd64", want: "1.0.0 rolls to 1.2.0 (1 pools)",
		},
		"an older one, since the newest is deprecated": {
			before: "1.0.0 amd64|1.1.0 amd64|1.2.0 amd64", after: "1.0.0 amd64|1.1.0 amd64|1.2.0 amd64" + deprecated, want: "1.0.0 rolls to 1.1.0 (1 pools)",
		},
		"the newest is gone": {
			before: "1.0.0 amd64|1.1.0 amd64", after: "1.0.0 amd64", want: "1.0.0 stays (1 pools)",
		},
		"the newest is gone, and no updates": {before: "1.0.0 amd64|1.1.0 amd64", after: "1.0.0 amd64", manual: true},
		"the newest becomes a preview": {
			before: "1.0.0 amd64|1.1.0 amd64", after: "1.0.0 amd64|1.1.0 amd64" + preview, want: "1.0.0 stays (1 pools)",
		},
		"what replaced an expired one is gone": {
			before: "1.0.0 amd64" + past + "|1.1.0 amd64", after: "1.0.0 amd64" + past, manual: true, want: "1.0.0 stuck (1 pools)",
		},
		"a date in the past instead of another": {
			before: "1.0.0 amd64" + past + "|1.1.0 amd64", after: "1.0.0 amd64, expirationDate: '2019-01-01T00:00:00Z'|1.1.0 amd64",
		},
		"expired without a date": {
			before: "1.0.0 amd64" + future, after: "1.0.0 amd64, lifecycle: [{classification: expired}]", want: "1.0.0 stuck (1 pools)",
		},
		"kubernetes, a date in the past instead of another": {
			kubeBefore: "{version: 1.33.1" + past + "}, {version: 1.34.0}",
			kube:       "{version: 1.33.1, classification: deprecated, expirationDate: '2019-01-01T00:00:00Z'}, {version: 1.34.0}",
		},
		"kubernetes, expired without a date": {
			kubeBefore: "{version: 1.33.1" + future + "}, {version: 1.34.0}", kube: "{version: 1.33.1, lifecycle: [{classification: expired}]}, {version: 1.34.0}",
			want: "kubernetes 1.33.1 classification :forced=1.34.0",
		},
		"what would replace one on its date is gone": {
			before: "1.0.0 amd64" + future + "|1.1.0 amd64", after: "1.0.0 amd64" + future, manual: true, want: "1.0.0 expires (1 pools) amd:stuck!",
		},
		"what would replace one on its date becomes a preview": {
			before: "1.0.0 amd64" + future + "|1.1.0 amd64", after: "1.0.0 amd64" + future + "|1.1.0 amd64" + preview,
			want: "1.0.0 expires (1 pools) amd:stuck!; 1.0.0 stays (1 pools)",
		},
		"something else replaces one on its date": {
			before: "1.0.0 amd64" + future + "|1.1.0 amd64", after: "1.0.0 amd64" + future + "|1.2.0 amd64", manual: true,
		},
		"a pool boots nothing at once, and not only on the date": {
			before: "1.0.0 amd64" + later + "|1.1.0 amd64", after: "1.0.0 arm64" + later, manual: true,
		},
		"kubernetes, what would replace one on its date is gone": {
			kubeBefore: "{version: 1.33.1" + future + "}, {version: 1.34.0}", kube: "{version: 1.33.1" + future + "}", manual: true,
			want: "kubernetes 1.33.1 expires :stuck!; kubernetes 1.34.0 removed",
		},
		"for later kubelets": {
			before: "1.0.0 amd64", after: "1.0.0 amd64, kubeletVersionConstraint: '>= 1.34'", manual: true,
			want: "1.0.0 fails (1 pools), kept true: Gardener refuses gl@1.0.0: it is for kubelets >= 1.34, and the worker pool has 1.33.1",
		},
		"for later kubelets, and another one": {
			before: "1.0.0 amd64|1.1.0 amd64", after: "1.0.0 amd64, kubeletVersionConstraint: '>= 1.34'|1.1.0 amd64", manual: true,
		},
		"an expired one is prolonged": {
			before: "1.0.0 amd64" + past + "|1.1.0 amd64", after: "1.0.0 amd64" + future + "|1.1.0 amd64", manual: true,
			want: "1.0.0 expires (1 pools) amd:forced=1.1.0",
		},
		"what replaced one that the profile does not have becomes a preview": {
			before: "1.1.0 amd64", after: "1.1.0 amd64" + preview, manual: true, want: "1.0.0 stuck (1 pools)",
		},
		"what replaced one that the profile does not have is no longer available": {
			before: "1.1.0 amd64", after: "1.1.0 amd64, lifecycle: [{classification: supported, startTime: '2038-01-01T00:00:00Z'}]", corrects: true,
			want: "1.0.0 stuck (1 pools)",
		},
		"a date in the past, and what replaced it is gone": {
			before: "1.0.0 amd64|1.1.0 amd64", after: "1.0.0 amd64" + past, want: "1.0.0 expires (1 pools) amd:stuck!",
		},
		"what is of no use": {before: "1.0.0 amd64", after: "1.0.0 amd64|1.1.0 arm64"},
		"kubernetes, a date": {
			kubeBefore: "{version: 1.33.1}, {version: 1.34.0}", kube: "{version: 1.33.1" + future + "}, {version: 1.34.0}", manual: true,
			want: "kubernetes 1.33.1 expires :forced=1.34.0",
		},
		"kubernetes of a worker pool, a date": {
			types: []string{"amd@1.32.0"}, kubeBefore: "{version: 1.32.0}, {version: 1.33.1}", kube: "{version: 1.32.0" + future + "}, {version: 1.33.1}", manual: true,
			want: "kubernetes 1.32.0 expires amd:forced=1.33.1",
		},
		"kubernetes, a date and nothing newer": {
			kube: "{version: 1.33.1" + future + "}", manual: true, want: "kubernetes 1.33.1 expires :stuck!",
		},
		"kubernetes, a new patch": {
			kube: "{version: 1.33.1}, {version: 1.33.2}", want: "kubernetes 1.33.2 added :updated=1.33.2",
		},
		"kubernetes, a new patch by hand": {
			kube: "{version: 1.33.1}, {version: 1.33.2}", manual: true, want: "kubernetes 1.33.2 added",
		},
		"kubernetes, a new minor": {
			kube: "{version: 1.33.1}, {version: 1.34.0}", want: "kubernetes 1.34.0 added",
		},
		"kubernetes, no preview any more": {
			kubeBefore: "{version: 1.33.1}, {version: 1.33.2" + preview + "}", kube: "{version: 1.33.1}, {version: 1.33.2}",
			want: "kubernetes 1.33.2 classification :updated=1.33.2",
		},
		"kubernetes, removed": {
			kubeBefore: "{version: 1.33.1}, {version: 1.33.2}, {version: 1.33.3}", kube: "{version: 1.33.1}, {version: 1.33.2}",
			want: "kubernetes 1.33.3 removed :updated=1.33.2",
		},
		"kubernetes, one removed that nobody has": {
			kubeBefore: "{version: 1.33.1}, {version: 1.32.0}", kube: one, want: "kubernetes 1.32.0 removed",
		},
	} {
		t.Run(what, func(t *testing.T) {
			images := func(text string) []string {
				var all []string
				for image := range strings.SplitSeq(text, "|") {
					if text == "" {
						image = "1.0.0 amd64"
					}
					all = append(all, strings.Replace(strings.Replace(image, "64,", "64 ,", 1), "  ", " ", 1))
				}
				return all
			}
			kubeBefore, kube := one, one
			if tc.kubeBefore != "" {
				kubeBefore = tc.kubeBefore
			}
			if tc.kube != "" {
				kube = tc.kube
			}
			types := tc.types
			if types == nil {
				types = []string{"amd"}
			}
			view := update.View[openstack.Image]{
				Before: versioned(t, kubeBefore, images(tc.before)...), After: versioned(t, kube, images(tc.after)...), All: true,
				Users: []update.User{shootOn(t, !tc.manual, "1.33.1", "1.0.0", types...)},
			}
			if tc.corrects {
				view.Admission = maintenance.Corrects
			}
			changes := update.Of(gardenerlib.Library{}, view)
			if got := calendarOf(&changes); got != tc.want {
				t.Errorf("%s, not %s", got, tc.want)
			}
		})
	}
}

// Admission warns about a date exactly if worker pools get stuck on it that otherwise would not.
func TestADateWarns(t *testing.T) {
	at := func(date string) *profile.Profile[openstack.Image] {
		return versioned(t, "{version: 1.33.1}", "1.0.0 amd64 "+date)
	}
	never, soon, later := at(""), at(`, expirationDate: "2037-01-01T00:00:00Z"`), at(`, expirationDate: "2038-01-01T00:00:00Z"`)
	for _, tc := range []struct {
		before, after *profile.Profile[openstack.Image]
		warnings      int
	}{{never, soon, 1}, {later, soon, 1}, {soon, later, 0}, {soon, never, 0}, {soon, soon, 0}} {
		changes := update.Of(gardenerlib.Library{}, update.View[openstack.Image]{
			Before: tc.before, After: tc.after, Users: []update.User{shootOn(t, true, "1.33.1", "1.0.0", "amd")},
		})
		warnings := check.Effects(tc.before, tc.after, &changes, maintenance.Corrects)
		if len(warnings) != tc.warnings || tc.warnings > 0 && (warnings[0].Origin != "maintenance-blocked" || !strings.Contains(warnings[0].Detail, "2037-01-01")) {
			t.Error(warnings)
		}
	}
}

// An update may give each version a different date. Predicting the effects on worker pools must not copy the profile for each date.
func TestManyDates(t *testing.T) {
	const dates = 30
	var before, after []string
	var users []update.User
	for i := range dates {
		version := fmt.Sprintf("1.%d.0", i)
		before = append(before, version+" amd64")
		after = append(after, fmt.Sprintf(`%s amd64 , expirationDate: "2037-01-%02dT00:00:00Z"`, version, i+1))
		users = append(users, shootOn(t, true, "1.33.1", version, "amd"))
	}
	was, is := versioned(t, "{version: 1.33.1}", before...), versioned(t, "{version: 1.33.1}", after...)
	for _, spec := range []*v1beta1.CloudProfileSpec{was.Spec(), is.Spec()} {
		spec.ProviderConfig.Raw = append(spec.ProviderConfig.Raw, strings.Repeat(" ", 1<<20)...)
	}
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	changes := update.Of(gardenerlib.Library{}, update.View[openstack.Image]{Before: was, After: is, Users: users})
	runtime.ReadMemStats(&end)
	if used := (end.TotalAlloc - start.TotalAlloc) >> 20; used > dates {
		t.Errorf("it took %d MiB", used)
	}
	if last := changes.Expires[dates-1]; len(changes.Expires) != dates || len(last.Pools) != 1 || len(last.Then) != 1 {
		t.Errorf("%d: %+v", len(changes.Expires), last)
	}
}
