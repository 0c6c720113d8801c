// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package constraints_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack"
)

func TestShootUpdate(t *testing.T) {
	const (
		networks = "networks: {workers: 10.250.0.0/19}"
		policy   = "      serverGroup: {policy: anti-affinity}\n"
		labels   = "      machineLabels: [{name: b, value: c, triggerRollingOnUpdate: true}, {name: a, value: b, triggerRollingOnUpdate: true}, {name: c}]\n"
		inPlace  = "  - name: web\n    updateStrategy: AutoInPlaceUpdate\n"
		manual   = "  - name: web\n    updateStrategy: ManualInPlaceUpdate\n"
		web      = "  - name: web\n"
		volumes  = "    dataVolumes: [{name: a, size: 1Gi}]\n"
		size     = "    volume: {type: standard, size: 20Gi}\n"
		rolled   = "warning Invalid workers[0].providerConfig.serverGroup machines-replaced"
		relabel  = "warning Invalid workers[0].providerConfig.machineLabels machines-replaced"
		zones    = "error Invalid workers[1].zones field-immutable"
		config   = "error Forbidden workers[0].providerConfig field-immutable"
	)
	webPool := shootSpec[strings.Index(shootSpec, web):strings.Index(shootSpec, "  - name: db")]
	for name, tc := range map[string]struct {
		old, updated []string
		want         []string
	}{
		"nothing":                          {nil, nil, nil},
		"what can be changed":              {nil, []string{networks, "networks: {workers: 10.250.0.0/19, shareNetwork: {enabled: true}}", "haproxy", "amphora", "1.33.2", "1.34.0", "size: 20Gi", "size: 30Gi"}, nil},
		"the floating pool":                {nil, []string{"fp-public", "fp-demo"}, []string{"error Invalid infrastructureConfig.floatingPoolName field-immutable"}},
		"the networks":                     {nil, []string{networks, "networks: {worker: 10.250.0.0/20, id: a}"}, []string{"error Invalid infrastructureConfig.networks.id field-immutable", "error Invalid infrastructureConfig.networks.worker field-immutable"}},
		"the name of workers":              {[]string{"workers: 10", "worker: 10"}, nil, nil},
		"the network that was not there":   {[]string{networks, "networks: {}"}, nil, []string{"error Invalid infrastructureConfig.networks.workers field-immutable"}},
		"what could not be read":           {[]string{"floatingPoolName", "floatingPoolname"}, nil, nil},
		"beside an unknown field":          {[]string{noPool, noPool + "    colour: red\n"}, []string{"fp-public", "fp-demo"}, []string{"error Invalid infrastructureConfig.floatingPoolName field-immutable"}},
		"what cannot be read":              {nil, []string{"floatingPoolName", "floatingPoolname"}, nil},
		"a kind that is repaired":          {[]string{infrastructureKind, controlPlaneKind}, []string{"fp-public", "fp-demo"}, nil},
		"the load balancers":               {nil, []string{controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: a}]\n    zone: a"}, nil},
		"one more zone":                    {[]string{"[europe-1a, europe-1b]", "[europe-1a]"}, nil, nil},
		"the first zone":                   {[]string{"[europe-1a, europe-1b]", "[]"}, nil, nil},
		"one zone less":                    {nil, []string{"[europe-1a, europe-1b]", "[europe-1a]"}, []string{zones}},
		"no zones":                         {nil, []string{"[europe-1a, europe-1b]", "[]"}, []string{zones}},
		"zones in another order":           {nil, []string{"[europe-1a, europe-1b]", "[europe-1b, europe-1a]"}, []string{zones}},
		"one more zone before":             {nil, []string{"[europe-1a, europe-1b]", "[europe-1c, europe-1a, europe-1b]"}, []string{zones}},
		"another zone":                     {nil, []string{"[europe-1a, europe-1b]", "[europe-1a, europe-1c]"}, []string{zones}},
		"a pool that was not there":        {[]string{webPool, ""}, nil, nil},
		"a pool that is removed":           {nil, []string{webPool, ""}, nil},
		"a pool that is renamed":           {nil, []string{web, "  - name: www\n", policy, labels}, nil},
		"the policy":                       {nil, []string{"anti-affinity}", "affinity}"}, []string{rolled}},
		"the server group, removed":        {nil, []string{policy, ""}, []string{rolled}},
		"the server group, added":          {[]string{policy, ""}, nil, []string{rolled}},
		"the whole config":                 {[]string{webPool[strings.Index(webPool, "    providerConfig"):], ""}, nil, []string{rolled}},
		"labels, added":                    {nil, []string{policy, policy + labels}, []string{relabel}},
		"labels, in another order":         {[]string{policy, policy + labels}, []string{policy, policy + "      machineLabels: [{name: a, value: b, triggerRollingOnUpdate: true}, {name: d}, {name: b, value: c, triggerRollingOnUpdate: true}]\n"}, nil},
		"labels that trigger nothing":      {[]string{policy, policy + labels}, []string{policy, policy + with(t, labels, "{name: c}", "{name: c, value: x}")}, nil},
		"a label's value":                  {[]string{policy, policy + labels}, []string{policy, policy + with(t, labels, "value: c", "value: d")}, []string{relabel}},
		"both":                             {nil, []string{policy, labels}, []string{relabel, rolled}},
		"in place, the same":               {[]string{web, inPlace}, []string{web, inPlace}, nil},
		"in place, the config":             {[]string{web, inPlace}, []string{web, inPlace, policy, labels}, []string{config}},
		"in place by hand, the config":     {[]string{web, manual}, []string{web, manual, policy, ""}, []string{config}},
		"in place, written in another way": {[]string{web, inPlace}, []string{web, inPlace, policy, "      additionalSecurityGroups: []\n      serverGroup: {\"policy\": \"anti-affinity\"}\n"}, nil},
		"in place, a config of nothing":    {[]string{web, inPlace, policy, ""}, []string{web, inPlace, webPool[strings.Index(webPool, "    providerConfig"):], "    providerConfig: null\n"}, nil},
		"in place, what was misspelt":      {[]string{web, inPlace, "serverGroup", "servergroup"}, []string{web, inPlace}, []string{config}},
		"in place, what is misspelt":       {[]string{web, inPlace}, []string{web, inPlace, "serverGroup", "servergroup"}, []string{config}},
		"in place, an unknown field":       {[]string{web, inPlace, policy, policy + "      colour: red\n"}, []string{web, inPlace}, nil},
		"in place, data volumes":           {[]string{web, inPlace}, []string{web, inPlace, size, size + volumes}, []string{"error Forbidden workers[0].dataVolumes field-immutable"}},
		"data volumes":                     {nil, []string{size, size + volumes}, nil},
		"everything, in order": {[]string{web, inPlace}, []string{web, inPlace, policy, labels, size, size + volumes, "fp-public", "fp-demo", networks, "networks: {workers: 10.250.0.0/21, id: a}", "[europe-1a, europe-1b]", "[europe-1b]"}, []string{
			"error Invalid infrastructureConfig.floatingPoolName field-immutable", "error Invalid infrastructureConfig.networks.id field-immutable", "error Invalid infrastructureConfig.networks.workers field-immutable",
			"error Forbidden workers[0].dataVolumes field-immutable", config, zones}},
	} {
		t.Run(name, func(t *testing.T) {
			old, updated := shootOf(t, with(t, shootSpec, tc.old...)), shootOf(t, with(t, shootSpec, tc.updated...))
			wasOld, wasUpdated := old.DeepCopy(), updated.DeepCopy()
			expect(t, openstack.Provider{}.CheckShootUpdate(old, updated), tc.want)
			if diff := cmp.Diff(wasOld, old) + cmp.Diff(wasUpdated, updated); diff != "" {
				t.Errorf("a Shoot was changed: %s", diff)
			}
		})
	}
}

// An update is not blamed for what the profile has lost since, as long as it leaves that alone (semantics S10).
func TestRatchetOfShoots(t *testing.T) {
	const (
		pool      = "error NotSupported infrastructureConfig.floatingPoolName floating-pool-not-allowed"
		excused   = "warning NotSupported infrastructureConfig.floatingPoolName floating-pool-not-allowed"
		hibernate = "\nhibernation: {enabled: true}"
		policy    = "{policy: anti-affinity}"
	)
	removed := []string{"{name: fp-public}", "{name: fp-other}"}
	for name, tc := range map[string]struct {
		profile, old, updated []string
		want                  []string
	}{
		"hibernation":                 {removed, nil, []string{"region: europe", "region: europe" + hibernate}, []string{excused}},
		"another pool, also unknown":  {removed, nil, []string{"fp-public", "fp-none"}, []string{pool}},
		"another pool":                {removed, nil, []string{"fp-public", "fp-other"}, nil},
		"a worker pool":               {removed, nil, []string{"size: 20Gi", "size: 30Gi"}, []string{excused}},
		"a worker pool, wrong":        {removed, nil, []string{"[europe-1a]", "[europe-1c]"}, []string{"error NotSupported workers[0].zones[0] unknown-zone", excused}},
		"the load balancer":           {[]string{"{name: haproxy}, ", ""}, nil, []string{"region: europe", "region: europe" + hibernate}, []string{"warning NotSupported controlPlaneConfig.loadBalancerProvider load-balancer-provider-not-allowed"}},
		"to another one":              {[]string{"{name: haproxy}, ", ""}, nil, []string{"haproxy", "octavia"}, []string{"error NotSupported controlPlaneConfig.loadBalancerProvider load-balancer-provider-not-allowed"}},
		"a zone":                      {[]string{"{name: europe-1b}", "{name: europe-1c}"}, nil, []string{"anti-affinity}", "affinity}"}, []string{"warning NotSupported workers[1].zones[1] unknown-zone"}},
		"one more zone":               {[]string{"{name: europe-1b}", "{name: europe-1c}"}, nil, []string{"[europe-1a, europe-1b]", "[europe-1a, europe-1b, europe-1d]"}, []string{"error NotSupported workers[1].zones[2] unknown-zone", "warning NotSupported workers[1].zones[1] unknown-zone"}},
		"a volume type":               {[]string{"{name: standard, ", "{name: fast, "}, nil, []string{"[europe-1a, europe-1b]", "[europe-1a]"}, []string{"warning NotSupported workers[0].volume.type unknown-volume-type"}},
		"classes of a pool that left": {removed, nil, []string{controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: a}]"}, []string{"error Invalid controlPlaneConfig.loadBalancerClasses load-balancer-class-not-allowed", excused}},
		"the same classes":            {removed, []string{controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: a}]"}, []string{controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: b}]"}, []string{"warning Invalid controlPlaneConfig.loadBalancerClasses load-balancer-class-not-allowed", excused}},
		"a zone, and another image":   {[]string{"{name: europe-1b}", "{name: europe-1c}"}, nil, []string{"gl, version: 1.0.0}", "gl}"}, []string{"warning NotSupported workers[1].zones[1] unknown-zone"}},
		"a policy":                    {[]string{"[affinity, anti-affinity]", "[affinity]"}, nil, []string{"size: 20Gi", "size: 30Gi"}, []string{"warning NotSupported workers[0].providerConfig.serverGroup.policy server-group-not-allowed"}},
		"to another policy":           {[]string{"[affinity, anti-affinity]", "[affinity]"}, nil, []string{policy, "{policy: soft-affinity}"}, []string{"error NotSupported workers[0].providerConfig.serverGroup.policy server-group-not-allowed"}},
		"an unknown field":            {nil, []string{noPool, noPool + "    colour: red\n"}, []string{noPool, noPool + "    colour: red\n", "region: europe", "region: europe" + hibernate}, []string{"warning Forbidden infrastructureConfig.colour unknown-field"}},
		"an unknown field, and more":  {nil, []string{noPool, noPool + "    colour: red\n"}, []string{noPool, noPool + "    colour: red\n", "networks: {workers: 10.250.0.0/19}", "networks: {workers: 10.250.0.0/18}"}, []string{"warning Forbidden infrastructureConfig.colour unknown-field"}},
		"an unknown field, elsewhere": {nil, []string{noPool, noPool + "    colour: red\n"}, []string{noPool, noPool + "    colour: red\n", "haproxy", "amphora"}, []string{"warning Forbidden infrastructureConfig.colour unknown-field"}},
		"a class of other networks": {nil,
			[]string{"fp-public", "fp-classes", controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: a}]"},
			[]string{"fp-public", "fp-classes", controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: b}, {name: a}]"},
			[]string{"error NotSupported controlPlaneConfig.loadBalancerClasses[0] load-balancer-class-not-allowed", "warning NotSupported controlPlaneConfig.loadBalancerClasses[1] load-balancer-class-not-allowed"}},
		"a class of yet others": {nil,
			[]string{"fp-public", "fp-classes", controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: a, floatingSubnetName: a}]"},
			[]string{"fp-public", "fp-classes", controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: a, floatingSubnetName: b}]"},
			[]string{"error NotSupported controlPlaneConfig.loadBalancerClasses[0] load-balancer-class-not-allowed"}},
		"configs that were missing": {nil, []string{shootSpec[strings.Index(shootSpec, "  infrastructureConfig"):strings.Index(shootSpec, "  workers")], ""},
			[]string{shootSpec[strings.Index(shootSpec, "  infrastructureConfig"):strings.Index(shootSpec, "  workers")], "", "size: 20Gi", "size: 30Gi"},
			[]string{"warning Required controlPlaneConfig provider-config-missing", "warning Required infrastructureConfig provider-config-missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			profile := compile(t, with(t, profileSpec, tc.profile...))
			old, updated := shootOf(t, with(t, shootSpec, tc.old...)), shootOf(t, with(t, shootSpec, tc.updated...))
			domain := ptr.To("other")
			report := consistency.Ratchet(profile.CheckShoot(updated, domain), profile.CheckShoot(old, domain), updated, old)
			expect(t, report, tc.want)
		})
	}
}

func TestRolling(t *testing.T) {
	workers := openstack.Provider{}.Workers()
	for name, tc := range map[string]struct {
		config string
		want   []consistency.Rolling
	}{
		"nothing": {"{kind: WorkerConfig}", []consistency.Rolling{{Field: "serverGroup"}, {Field: "machineLabels"}}},
		"everything": {"{kind: WorkerConfig, serverGroup: {policy: affinity}, machineLabels: [{name: b, value: x, triggerRollingOnUpdate: true}, {name: c, value: y}, {name: a, value: z, triggerRollingOnUpdate: true}, {name: d, triggerRollingOnUpdate: false}]}",
			[]consistency.Rolling{{Field: "serverGroup", Value: "affinity"}, {Field: "machineLabels", Value: "a=z, b=x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, workers.Rolling(raw(tc.config))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if diff := cmp.Diff([]consistency.Rolling{{Field: "serverGroup"}, {Field: "machineLabels"}}, workers.Rolling(nil)); diff != "" {
		t.Error(diff)
	}
}
