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
	"github.com/capkit/capkit/test/cases"
)

// runWorkers checks the WorkerConfigs of an archive.
func runWorkers(t *testing.T, archive string) {
	t.Helper()
	run(t, archive, func(c *cases.Case) validation.Findings {
		var config v1alpha1.WorkerConfig
		c.Decode("config.yaml", &config)
		return validation.WorkerConfig(&config, field.NewPath("config"))
	})
}

func TestNodeTemplate(t *testing.T) { runWorkers(t, "node-template") }

func TestMachineLabels(t *testing.T) {
	runWorkers(t, "machine-labels")
	const at = "error FieldValueTooLong config.machineLabels"
	full := strings.Repeat("ä", 255)
	for name, tc := range map[string]struct {
		label v1alpha1.MachineLabel
		want  []string
	}{
		"as long as it gets": {v1alpha1.MachineLabel{Name: full, Value: full}, nil},
		"too long": {v1alpha1.MachineLabel{Name: full + "a", Value: full + "b"},
			[]string{at + "[0].name value-out-of-range", at + "[0].value value-out-of-range"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := &v1alpha1.WorkerConfig{MachineLabels: []v1alpha1.MachineLabel{tc.label}}
			expect(t, validation.WorkerConfig(config, field.NewPath("config")), tc.want)
		})
	}
}

func TestSecurityGroups(t *testing.T) {
	runWorkers(t, "security-groups")
	t.Run("too long", func(t *testing.T) {
		config := &v1alpha1.WorkerConfig{AdditionalSecurityGroups: []string{strings.Repeat("a", 255), strings.Repeat("a", 256)}}
		expect(t, validation.WorkerConfig(config, field.NewPath("config")),
			[]string{"error FieldValueTooLong config.additionalSecurityGroups[1] value-out-of-range"})
	})
}

// However much is wrong, a config is answered for.
func TestNobodyReadsThatMuch(t *testing.T) {
	config := &v1alpha1.WorkerConfig{MachineLabels: make([]v1alpha1.MachineLabel, 1e5), AdditionalSecurityGroups: make([]string, 1e5)}
	found := validation.WorkerConfig(config, field.NewPath("config"))
	if n := len(found.Errors); n < 1000 || n > 1100 {
		t.Errorf("%d errors", n)
	}
}
