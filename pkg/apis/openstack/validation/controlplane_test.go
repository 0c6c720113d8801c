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

func TestControlPlaneConfig(t *testing.T) {
	run(t, "control-plane", func(c *cases.Case) validation.Findings {
		var config v1alpha1.ControlPlaneConfig
		c.Decode("config.yaml", &config)
		var networks *v1alpha1.Networks
		c.Decode("networks.yaml", &networks)
		return validation.ControlPlaneConfig(&config, networks, strings.TrimSpace(c.Text("version")), field.NewPath("config"))
	})
}
