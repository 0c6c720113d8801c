// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/local"
)

// A component beside the extension's own shares no name with it, and is otherwise the same.
func TestCommandBeside(t *testing.T) {
	names := func(cmd *cobra.Command) []string {
		return []string{
			cmd.Use, cmd.Flag("webhook-config-cert-dir").DefValue, cmd.Flag("leader-election-id").DefValue,
		}
	}
	own, beside := NewCommand(local.Provider{}), NewCommandBeside(local.Provider{})
	if want := []string{
		"gardener-extension-admission-local", "/tmp/admission-local-cert", "gardener-extension-admission-local-leader-election",
	}; !slices.Equal(names(own), want) {
		t.Errorf("%v", names(own))
	}
	if want := []string{
		"gardener-extension-admission-capkit-local", "/tmp/admission-capkit-local-cert",
		"gardener-extension-admission-capkit-local-leader-election",
	}; !slices.Equal(names(beside), want) {
		t.Errorf("%v", names(beside))
	}
	if own.Short != beside.Short {
		t.Errorf("%q is not %q", beside.Short, own.Short)
	}
}

func TestConfigurationName(t *testing.T) {
	if got := configurationName("admission-openstack"); got != "gardener-extension-admission-openstack" {
		t.Error(got)
	}
	t.Setenv("WEBHOOK_CONFIG_NAMESPACE", "runtime-extension-provider-openstack")
	if got := configurationName("admission-openstack"); got != "gardener-extension-admission-openstack-runtime" {
		t.Error(got)
	}
}
