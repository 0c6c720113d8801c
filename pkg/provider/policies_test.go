// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
)

func TestPolicies(t *testing.T) {
	chosen := policy.Policies{Order: capability.Gardener, CoreFollows: true, Undecided: policy.Fails}
	cloud := given.Deciding{Chosen: chosen}
	if got := provider.PoliciesOf(cloud); got != chosen {
		t.Error(got)
	}
	if got := provider.PoliciesOf(provider.Untyped[openstack.Image](cloud)); got != chosen {
		t.Errorf("without a type: %v", got)
	}
	if got := provider.PoliciesOf(given.ImagesOnly{}); got != (policy.Policies{}) {
		t.Errorf("by default: %v", got)
	}
	if err := provider.Check[openstack.Image](cloud); err != nil {
		t.Error(err)
	}
}

func TestPoliciesThatThereAreNot(t *testing.T) {
	for want, chosen := range map[string]policy.Policies{
		"provider openstack: the policy Order is 2, which is no preference order": {Order: 2},
		"provider openstack: the policy Undecided is 3, which is none":            {Undecided: 3},
		"provider openstack: the policy Undecided is -1, which is none":           {Undecided: -1},
		"provider openstack: by the policy CoreFollows, core's flavors follow the provider config, and by the policy MappedIn, images are mapped in the moon": {
			CoreFollows: true, MappedIn: "the moon",
		},
	} {
		err := provider.Check[openstack.Image](given.Deciding{Chosen: chosen})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
