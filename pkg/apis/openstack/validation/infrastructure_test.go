// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/test/cases"
)

// runNetworks checks the InfrastructureConfigs of an archive, each beside the networks of its Shoot.
func runNetworks(t *testing.T, archive string) {
	t.Helper()
	run(t, archive, func(c *cases.Case) validation.Findings {
		var config v1alpha1.InfrastructureConfig
		c.Decode("config.yaml", &config)
		var networking *v1beta1.Networking
		c.Decode("networking.yaml", &networking)
		before := config.DeepCopy()
		found := validation.InfrastructureConfig(&config, networking, field.NewPath("config"))
		if !reflect.DeepEqual(before, &config) {
			c.T().Error("the config was changed")
		}
		return found
	})
}

func TestWorkersNetwork(t *testing.T) { runNetworks(t, "workers-network") }

func TestExistingNetworks(t *testing.T) { runNetworks(t, "existing-networks") }

func TestSubnetPool(t *testing.T) { runNetworks(t, "subnet-pool") }

func TestIPv6(t *testing.T) { runNetworks(t, "ipv6") }

func TestFloatingPoolSubnetName(t *testing.T) { runNetworks(t, "floating-pool-subnet-name") }

func TestInfrastructureConfigUpdate(t *testing.T) {
	run(t, "infrastructure-update", func(c *cases.Case) validation.Findings {
		var old, config v1alpha1.InfrastructureConfig
		c.Decode("old.yaml", &old)
		c.Decode("new.yaml", &config)
		return validation.Findings{Errors: validation.InfrastructureConfigUpdate(&old, &config, true, field.NewPath("config"))}
	})
}
