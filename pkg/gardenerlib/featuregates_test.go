// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerlib_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/gardenerlib"
)

func TestFeatureGates(t *testing.T) {
	cases.Run(t, "testdata/feature-gates.txtar", func(c *cases.Case) string {
		var config v1alpha1.ControlPlaneConfig
		var networks *v1alpha1.Networks
		c.Decode("config.yaml", &config)
		c.Decode("networks.yaml", &networks)
		version := strings.TrimSpace(c.Text("version"))
		return cases.Report(c.T(), validation.ControlPlaneConfig(&config, networks, version, gardenerlib.Library{}, field.NewPath("config")))
	})
}
