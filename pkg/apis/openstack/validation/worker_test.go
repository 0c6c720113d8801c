// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
)

type workerTable map[string]struct {
	config string
	want   []string
}

func (tests workerTable) run(t *testing.T) {
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var config v1alpha1.WorkerConfig
			decode(t, tc.config, &config)
			expect(t, validation.WorkerConfig(&config, field.NewPath("config")), tc.want)
		})
	}
}

func TestNodeTemplate(t *testing.T) {
	const capacity, virtual = "config.nodeTemplate.capacity", "config.nodeTemplate.virtualCapacity"
	workerTable{
		"nothing":                 {"{}", nil},
		"empty":                   {"nodeTemplate: {}", nil},
		"everything":              {"nodeTemplate: {capacity: {cpu: 500m, gpu: 0, memory: 8Gi, storage: 40Gi, ephemeral-storage: 20Gi, pods: 110, hugepages-2Mi: 1Gi, nvidia.com/gpu: 0}, virtualCapacity: {example.com/licence: 0, seats: 2k}}", nil},
		"negative":                {"nodeTemplate: {capacity: {memory: -1Gi, cpu: -1, gpu: -1, a.b/c: -1}}", []string{"error FieldValueInvalid " + capacity + "[a.b/c] node-template", "error FieldValueInvalid " + capacity + "[cpu] node-template", "error FieldValueInvalid " + capacity + "[gpu] node-template", "error FieldValueInvalid " + capacity + "[memory] node-template"}},
		"nothing of it":           {"nodeTemplate: {capacity: {cpu: 0, memory: 0Gi}}", []string{"error FieldValueInvalid " + capacity + "[cpu] node-template", "error FieldValueInvalid " + capacity + "[memory] node-template"}},
		"unknown":                 {"nodeTemplate: {capacity: {CPU: 1, mem: 1Gi, /: 1, a b/c: 1}}", []string{"error FieldValueNotSupported " + capacity + "[/] node-template", "error FieldValueNotSupported " + capacity + "[CPU] node-template", "error FieldValueNotSupported " + capacity + "[a b/c] node-template", "error FieldValueNotSupported " + capacity + "[mem] node-template"}},
		"virtual, negative":       {"nodeTemplate: {virtualCapacity: {a: -1}}", []string{"error FieldValueInvalid " + virtual + "[a] node-template"}},
		"virtual, a part":         {"nodeTemplate: {virtualCapacity: {b: 1500m, a: 0.5}}", []string{"error FieldValueInvalid " + virtual + "[a] node-template", "error FieldValueInvalid " + virtual + "[b] node-template"}},
		"virtual, a part of none": {"nodeTemplate: {virtualCapacity: {a: -500m}}", []string{"error FieldValueInvalid " + virtual + "[a] node-template", "error FieldValueInvalid " + virtual + "[a] node-template"}},
		"virtual, no name":        {"nodeTemplate: {virtualCapacity: {a b: 1, \"\": 1}}", []string{"error FieldValueInvalid " + virtual + "[] node-template", "error FieldValueInvalid " + virtual + "[a b] node-template"}},
	}.run(t)
}

func TestMachineLabels(t *testing.T) {
	const at = " config.machineLabels"
	full := strings.Repeat("ä", 255)
	workerTable{
		"several":            {"machineLabels: [{name: a, value: b}, {name: b}, {name: example.com/c, value: \"d, e: f\", triggerRollingOnUpdate: true}]", nil},
		"as long as it gets": {"machineLabels: [{name: " + full + ", value: " + full + "}]", nil},
		"too long":           {"machineLabels: [{name: " + full + "a, value: " + full + "b}]", []string{"error FieldValueTooLong" + at + "[0].name value-out-of-range", "error FieldValueTooLong" + at + "[0].value value-out-of-range"}},
		"no name":            {"machineLabels: [{value: a}, {name: \" \"}]", []string{"error FieldValueRequired" + at + "[0].name name-missing", "error FieldValueRequired" + at + "[1].name name-missing"}},
		"a name twice":       {"machineLabels: [{name: a}, {name: b}, {name: a}, {name: a}]", []string{"error FieldValueDuplicate" + at + "[2].name entry-duplicate"}},
		"two names twice":    {"machineLabels: [{name: a}, {name: b}, {name: b}, {name: a}]", []string{"error FieldValueDuplicate" + at + "[2].name entry-duplicate", "error FieldValueDuplicate" + at + "[3].name entry-duplicate"}},
		"characters":         {`machineLabels: [{name: "a[0]", value: "{}"}, {name: "a\nb", value: "\r"}]`, []string{"error FieldValueInvalid" + at + "[0].name value-format", "error FieldValueInvalid" + at + "[0].value value-format", "error FieldValueInvalid" + at + "[1].name value-format", "error FieldValueInvalid" + at + "[1].value value-format"}},
		"reserved": {"machineLabels: [{name: kubernetes.io-cluster-shoot--a--b}, {name: kubernetes.io-role-node}, {name: kubernetes.io/cluster/a}, {name: xkubernetes.io-role-}, {name: kubernetes.io/role/node}]", []string{
			"error FieldValueForbidden" + at + "[0].name machine-label-reserved", "error FieldValueForbidden" + at + "[1].name machine-label-reserved", "error FieldValueForbidden" + at + "[2].name machine-label-reserved",
			"error FieldValueForbidden" + at + "[3].name machine-label-reserved", "error FieldValueForbidden" + at + "[4].name machine-label-reserved"}},
		"almost reserved": {"machineLabels: [{name: kubernetes.io-cluster, value: kubernetes.io-role-node}, {name: worker.gardener.cloud/pool}]", nil},
	}.run(t)
}

func TestSecurityGroups(t *testing.T) {
	const at = " config.additionalSecurityGroups"
	workerTable{
		"several":            {"additionalSecurityGroups: [a, b, 2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70]", nil},
		"none":               {"additionalSecurityGroups: []", nil},
		"empty":              {"additionalSecurityGroups: [\"\", a, \" \"]", []string{"error FieldValueRequired" + at + "[0] value-empty", "error FieldValueRequired" + at + "[2] value-empty"}},
		"too long":           {"additionalSecurityGroups: [" + strings.Repeat("a", 255) + ", " + strings.Repeat("a", 256) + "]", []string{"error FieldValueTooLong" + at + "[1] value-out-of-range"}},
		"one twice":          {"additionalSecurityGroups: [a, b, a, a]", []string{"warning FieldValueDuplicate" + at + "[2] entry-repeated"}},
		"everything, sorted": {"{additionalSecurityGroups: [\"\"], machineLabels: [{}], nodeTemplate: {capacity: {cpu: -1}}}", []string{"error FieldValueInvalid config.nodeTemplate.capacity[cpu] node-template", "error FieldValueRequired config.machineLabels[0].name name-missing", "error FieldValueRequired" + at + "[0] value-empty"}},
	}.run(t)
}

// However much is wrong, a config is answered for.
func TestNobodyReadsThatMuch(t *testing.T) {
	config := &v1alpha1.WorkerConfig{MachineLabels: make([]v1alpha1.MachineLabel, 1e5), AdditionalSecurityGroups: make([]string, 1e5)}
	found := validation.WorkerConfig(config, field.NewPath("config"))
	if n := len(found.Errors); n < 1000 || n > 1100 {
		t.Errorf("%d errors", n)
	}
}
