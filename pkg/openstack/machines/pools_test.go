// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/worker"
)

// poolCase is a pool that differs from pool plain of the seven, with the differences from provider-openstack's objects for plain. All are
// merge patches.
type poolCase struct {
	pool, profile, worker, shoot string
	// class and deployment are for the first zone.
	class, deployment string
	// hashed are the parts of the hash in the class name, in order, after the name of the node agent's secret.
	hashed []string
}

const workerConfig = "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: WorkerConfig"

var poolCases = map[string]poolCase{
	"the machine type has a volume": {
		pool:  `{machineType: kvm, volume: null}`,
		class: `{nodeTemplate: {instanceType: kvm}, providerSpec: {spec: {flavorName: kvm, rootDiskSize: 33, rootDiskType: premium-disk}}}`,
	},
	"the machine type has a volume, the pool a size": {
		pool:  `{machineType: kvm}`,
		class: `{nodeTemplate: {instanceType: kvm}, providerSpec: {spec: {flavorName: kvm, rootDiskType: premium-disk}}}`,
	},
	"the machine type has a volume, the pool its own": {
		pool:  `{machineType: kvm, volume: {size: 50Gi, type: slow}}`,
		class: `{nodeTemplate: {instanceType: kvm}, providerSpec: {spec: {flavorName: kvm, rootDiskSize: 50, rootDiskType: slow}}}`,
	},
	"the machine type has the default volume": {
		pool:    `{machineType: other, volume: null}`,
		profile: `{spec: {machineTypes: [{name: other, storage: {type: default, size: 33Gi}, capabilities: {architecture: [amd64]}}]}}`,
		class:   `{nodeTemplate: {instanceType: other}, providerSpec: {spec: {flavorName: other, rootDiskSize: null}}}`,
	},
	"no volume": {
		pool:  `{volume: null}`,
		class: `{providerSpec: {spec: {rootDiskSize: null}}}`,
	},
	"data volumes are Cinder's": {
		pool: `{dataVolumes: [{name: data, size: 10Gi}]}`,
	},
	"node templates of both": {
		pool:  `{providerConfig: {` + workerConfig + `, nodeTemplate: {capacity: {cpu: 8, example.com/card: 2}, virtualCapacity: {example.com/seat: 5}}}}`,
		class: `{nodeTemplate: {capacity: {cpu: "8", example.com/card: "2"}, virtualCapacity: {example.com/seat: "5"}}}`,
	},
	"node template with virtual capacity": {
		pool:  `{nodeTemplate: {virtualCapacity: {example.com/seat: 5}}}`,
		class: `{nodeTemplate: {virtualCapacity: {example.com/seat: "5"}}}`,
	},
	"node template of the config alone": {
		pool:  `{nodeTemplate: null, providerConfig: {` + workerConfig + `, nodeTemplate: {capacity: {memory: 16Gi, example.com/card: 2}}}}`,
		class: `{nodeTemplate: {capacity: {memory: 16Gi, example.com/card: "2"}}}`,
	},
	"a + in a version": {
		pool:  `{machineImage: {version: 1.0.0+x}}`,
		class: `{metadata: {labels: {operatingSystemVersion: 1.0.0_x}}, providerSpec: {spec: {imageID: PLUS}}}`,
	},
	"an image by name": {
		pool: `{machineType: arm, architecture: arm64}`,
		class: `{nodeTemplate: {instanceType: arm, architecture: arm64},
			providerSpec: {spec: {flavorName: arm, imageID: null, imageName: arm-name}}}`,
	},
	"no architecture": {pool: `{architecture: null}`},
	"a profile without capabilities": {
		profile: `{spec: {machineCapabilities: null,
			machineTypes: [{name: virt, architecture: amd64, cpu: "4", gpu: "0", memory: 8Gi}],
			machineImages: [{name: gardenlinux, versions: [{version: 1.0.0, architectures: [amd64, arm64]}]}],
			providerConfig: {machineImages: [{name: gardenlinux, versions: [{version: 1.0.0, image: by-name,
				regions: [{name: europe, id: ARM, architecture: arm64}, {name: europe, id: OLD}]}]}]}}}`,
		class: `{providerSpec: {spec: {imageID: OLD}}}`,
	},
	"odd characters in labels": {
		pool:       `{labels: {example.com/team: "a/b c", "x=y": z}}`,
		class:      `{providerSpec: {spec: {tags: {example.com-team: "a/b c", x-y: z}}}}`,
		deployment: `{Labels: {example.com/team: "a/b c", "x=y": z}}`,
	},
	"machine labels win over labels, and Gardener's over both": {
		pool: `{labels: {a/b: pool, kubernetes.io/role/node: pool},
			providerConfig: {` + workerConfig + `, machineLabels: [{name: a-b, value: machine}, {name: kubernetes.io-role-node, value: x}]}}`,
		class:      `{providerSpec: {spec: {tags: {a-b: machine}}}}`,
		deployment: `{Labels: {a/b: pool, kubernetes.io/role/node: pool}}`,
	},
	"machine labels that replace machines": {
		pool: `{providerConfig: {` + workerConfig + `, additionalSecurityGroups: [two, one],
			machineLabels: [{name: b, value: "2", triggerRollingOnUpdate: true}, {name: c}, {name: a, value: "1", triggerRollingOnUpdate: true}]}}`,
		class:  `{providerSpec: {spec: {securityGroups: [sg-nodes, two, one], tags: {a: "1", b: "2", c: ""}}}}`,
		hashed: []string{"a=1", "b=2", "one", "two"},
	},
	"everything that is hashed": {
		pool: `{name: group, providerConfig: {` + workerConfig + `, additionalSecurityGroups: [b, a], serverGroup: {policy: affinity},
			machineLabels: [{name: l, value: v, triggerRollingOnUpdate: true}]}}`,
		class:  `{providerSpec: {spec: {serverGroupID: sg-id-1, securityGroups: [sg-nodes, b, a], tags: {l: v}}}}`,
		hashed: []string{"sg-id-1", "l=v", "a", "b"}, deployment: `{PoolName: group}`,
	},
	"a server group that nobody asks for any more": {
		pool: `{name: group}`, deployment: `{PoolName: group}`,
	},
	"taints, annotations, priority": {
		pool:       `{priority: 7, annotations: {a: b}, taints: [{key: k, value: v, effect: NoSchedule}]}`,
		deployment: `{Priority: 7, Annotations: {a: b}, Taints: [{key: k, value: v, effect: NoSchedule}]}`,
	},
	"cluster autoscaler": {
		pool: `{clusterAutoscaler: {scaleDownUtilizationThreshold: "0.4", scaleDownUnneededTime: 17m, maxNodeProvisionTime: 16m}}`,
		deployment: `{ClusterAutoscalerAnnotations: {
			autoscaler.gardener.cloud/scale-down-utilization-threshold: "0.4",
			autoscaler.gardener.cloud/scale-down-unneeded-time: 17m0s, autoscaler.gardener.cloud/max-node-provision-time: 16m0s}}`,
	},
	"settings of machine-controller-manager": {
		pool: `{machineControllerManager: {machineDrainTimeout: 5m, machineHealthTimeout: 6m, machineCreationTimeout: 7m, maxEvictRetries: 3,
			nodeConditions: [ReadonlyFilesystem, DiskPressure], autoPreserveFailedMachineMax: 2}}`,
		deployment: `{AutoPreserveFailedMachineMax: 2, MachineConfiguration: {
			drainTimeout: 5m0s, healthTimeout: 6m0s, creationTimeout: 7m0s, maxEvictRetries: 3, nodeConditions: "ReadonlyFilesystem,DiskPressure"}}`,
	},
	"manual in place": {
		pool: `{name: inplace, updateStrategy: ManualInPlaceUpdate, kubernetesVersion: 1.33.2, nodeAgentSecretName: gardener-node-agent-inplace-0123456789abcdef}`,
		deployment: `{PoolName: inplace, Strategy: {type: InPlaceUpdate, rollingUpdate: null,
			inPlaceUpdate: {maxSurge: 1, maxUnavailable: 0, orchestrationType: Manual}}}`,
	},
	"two zones, the first has more": {
		pool: `{zones: [europe-1b, europe-1a], minimum: 3, maximum: 7, maxSurge: 3, maxUnavailable: 50%,
			machineControllerManager: {autoPreserveFailedMachineMax: 3}}`,
		class: `{nodeTemplate: {zone: europe-1b}, providerSpec: {spec: {availabilityZone: europe-1b}}}`,
		deployment: `{Minimum: 2, Maximum: 4, Strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 67%}}, AutoPreserveFailedMachineMax: 2,
			Labels: {topology.cinder.csi.openstack.org/zone: europe-1b, topology.manila.csi.openstack.org/zone: europe-1b}}`,
	},
	"pods in two networks": {
		shoot: `{spec: {networking: {ipFamilies: [IPv4, IPv6]}}, status: {networking: {pods: [100.96.0.0/11, "fd00::/56"]}}}`,
		class: `{providerSpec: {spec: {podNetworkCIDRs: [100.96.0.0/11, "fd00::/56"]}}}`,
	},
	"IPv4 only": {
		worker: `{spec: {infrastructureProviderStatus: {networks: {subnets: [{purpose: pods, id: p}, {purpose: nodes, id: nodes-1}]}}}}`,
		class:  `{providerSpec: {spec: {subnetIDs: [nodes-1]}}}`,
	},
	"other credentials": {
		worker: `{spec: {secretRef: {name: other, namespace: elsewhere}}}`,
		class:  `{credentialsSecretRef: {name: other, namespace: elsewhere}}`,
	},
}

// patched returns an object after a merge patch in YAML.
func patched[T any](t testing.TB, original any, patch string) *T {
	t.Helper()
	raw, err := json.Marshal(original)
	if err != nil {
		t.Fatal(err)
	}
	if patch != "" {
		p, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(patch, "\t", " ")))
		if err != nil {
			t.Fatalf("%s: %v", patch, err)
		}
		if raw, err = jsonpatch.MergePatch(raw, p); err != nil {
			t.Fatal(err)
		}
	}
	into := new(T)
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
	return into
}

func asYAML(t testing.TB, patch any) string {
	t.Helper()
	raw, err := yaml.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// withoutNull removes null and empty objects.
func withoutNull(value any) any {
	object, is := value.(map[string]any)
	if !is {
		return value
	}
	kept := map[string]any{}
	for name, v := range object {
		if v = withoutNull(v); v == nil {
			continue
		}
		if inner, is := v.(map[string]any); is && len(inner) == 0 {
			continue
		}
		kept[name] = v
	}
	return kept
}

// hash returns the suffix of machine class names.
func hash(parts ...string) string {
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	var all string
	for _, part := range parts {
		all += sum(part)
	}
	return sum(all)[:5]
}

// situationWith returns a situation with only the pool of the case.
func (c poolCase) situationWith(t testing.TB) *situation {
	t.Helper()
	s := situationOf(t, seven)
	s.worker.Spec.Pools = []extensionsv1alpha1.WorkerPool{*patched[extensionsv1alpha1.WorkerPool](t, s.worker.Spec.Pools[0], c.pool)}
	s.cluster.CloudProfile = patched[v1beta1.CloudProfile](t, s.cluster.CloudProfile, c.profile)
	s.worker = patched[extensionsv1alpha1.Worker](t, s.worker, c.worker)
	s.cluster.Shoot = patched[v1beta1.Shoot](t, s.cluster.Shoot, c.shoot)
	return s
}

// A pool with a setting gets provider-openstack's objects for the plain pool, changed by the setting.
func TestPools(t *testing.T) {
	plainClass := (*load[[]any](t, seven, "upstream-machineclasses"))[4]
	plainDeployment := (*load[[]any](t, seven, "upstream-machinedeployments"))[0]
	for name, tc := range poolCases {
		t.Run(name, func(t *testing.T) {
			s := tc.situationWith(t)
			pool := &s.worker.Spec.Pools[0]
			p := planned(t, s)
			hashed := hash(append([]string{*pool.NodeAgentSecretName}, tc.hashed...)...)
			if pool.UpdateStrategy != nil { // one of the seven is the same pool with automatic updates
				hashed = "e1a64"
			}
			deployment := "shoot--h6--s4-" + pool.Name + "-z1"
			class := deployment + "-" + hashed
			named := map[string]any{"metadata": map[string]any{"name": class, "creationTimestamp": nil}, "secretRef": map[string]any{"name": class}}
			want := *patched[map[string]any](t, *patched[map[string]any](t, plainClass, asYAML(t, named)), tc.class)
			delete(want, "kind")
			delete(want, "apiVersion")
			got := *patched[map[string]any](t, p.pools[0].classes[0], "")
			if diff := cmp.Diff(withoutNull(want), withoutNull(got)); diff != "" {
				t.Errorf("machine class (-want +got):\n%s", diff)
			}
			names := map[string]any{"Name": deployment, "ClassName": class, "SecretName": class}
			wantDeployment := *patched[map[string]any](t, *patched[map[string]any](t, plainDeployment, asYAML(t, names)), tc.deployment)
			gotDeployment := *patched[map[string]any](t, p.pools[0].deployments[0], "")
			if diff := cmp.Diff(withoutNull(wantDeployment), withoutNull(gotDeployment)); diff != "" {
				t.Errorf("machine deployment (-want +got):\n%s", diff)
			}
		})
	}
}

// Exactly the settings that the provider lists rename machine classes, so that machines are replaced. Admission warns of them.
func TestClassesAreRenamedForWhatTheProviderLists(t *testing.T) {
	of := func(config string) (hash string, rolling []provider.Rolling) {
		s := poolCase{pool: `{name: group, providerConfig: {` + workerConfig + config + `}}`}.situationWith(t)
		pool, question := &s.worker.Spec.Pools[0], worker.PoolsOf(s.worker)[0]
		read := configOf(pool.ProviderConfig)
		group, _ := s.serverGroup(pool.Name, read)
		hash, err := hashOf(pool, &question, s.cluster, read, group)
		if err != nil {
			t.Fatal(err)
		}
		return hash, openstack.Provider{}.Workers().Rolling(question)
	}
	hash, rolling := of("")
	for config, replaces := range map[string]bool{
		`, serverGroup: {policy: affinity}`:                                    true,
		`, machineLabels: [{name: a, value: b, triggerRollingOnUpdate: true}]`: true,
		`, machineLabels: [{name: a, value: b}]`:                               false,
		`, additionalSecurityGroups: [a]`:                                      true,
		`, additionalSecurityGroups: []`:                                       false,
		`, nodeTemplate: {capacity: {cpu: 8}}`:                                 false,
		`, trustedLaunch: {enabled: true}`:                                     true,
		`, trustedLaunch: {enabled: false}`:                                    false,
	} {
		otherHash, otherRolling := of(config)
		if renamed, listed := otherHash != hash, !slices.Equal(otherRolling, rolling); renamed != replaces || listed != replaces {
			t.Errorf("%s: the class is renamed: %v, it is listed: %v, and not %v", config, renamed, listed, replaces)
		}
	}
}
