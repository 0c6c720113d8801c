// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package components lists the components of this repository, as far as they differ: charts, images and the manifests that install them
// are made for each in the same way. They are admission components, one for each cloud, and worker controllers.
package components

import (
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/provider"
)

// OpenStack is the component that is the extension's own, and not beside it.
var OpenStack = Component{Type: "openstack", Title: "OpenStack", Credentials: true, WorkerSettings: true}

// titles are those that follow from no rule.
var titles = map[string]string{
	"openstack": "OpenStack", "alicloud": "AliCloud", "gdch": "Google Distributed Cloud", "hcloud": "Hetzner Cloud", "ironcore": "IronCore",
	"ironcore-metal": "IronCore on bare metal", "stackit": "STACKIT",
}

// Component is the admission component for a provider type, or the worker controller, which gardenlet installs in seeds. Its command is
// the package ./cmd/PROGRAM.
type Component struct {
	// Type is the provider type.
	Type string
	// Title is how people write it.
	Title string
	// Worker reports whether it is the worker controller.
	Worker bool
	// Beside reports whether the admission component is installed beside the one that the extension has, under names of its own.
	Beside bool
	// Described reports whether the cloud is one by description: one command is the admission component of all of them, and is told which
	// cloud it is for.
	Described bool
	// Credentials reports whether the admission component checks the credentials of Shoots, too: it has webhooks and rights for them.
	Credentials bool
	// WorkerSettings reports whether the cloud has settings of worker pools that only capkit's worker controller reads: the admission component
	// is told whether that is there.
	WorkerSettings bool
}

// All returns the admission components, in the order of their types: one for each cloud in the table of clouds but Gardener's local
// set-up.
func All() []Component {
	var all []Component
	for _, cloud := range clouds.All() {
		if cloud.Type() == "local" {
			continue
		}
		_, credentials := provider.As[provider.CredentialsValidator](cloud)
		_, settings := provider.As[provider.SettingsOwner](cloud)
		all = append(all, Component{
			Type: cloud.Type(), Title: title(cloud.Type()), Beside: cloud.Type() != OpenStack.Type, Credentials: credentials,
			WorkerSettings: settings, Described: described.Text(cloud.Type()) != "",
		})
	}
	return all
}

// Programs returns the components, worker controllers included, one for each command: the first one that has it.
func Programs() []Component {
	seen := map[string]bool{}
	return slices.DeleteFunc(append(All(), Controllers()...), func(c Component) bool {
		before := seen[c.Program()]
		seen[c.Program()] = true
		return before
	})
}

// Types returns the provider types of All.
func Types() []string {
	var types []string
	for _, c := range All() {
		types = append(types, c.Type)
	}
	return types
}

// Of returns the component for a provider type; false if there is none.
func Of(providerType string) (Component, bool) {
	all := All()
	i := slices.IndexFunc(all, func(c Component) bool { return c.Type == providerType })
	if i < 0 {
		return Component{}, false
	}
	return all[i], true
}

// Controllers returns the worker controllers.
func Controllers() []Component {
	return []Component{{Type: OpenStack.Type, Title: OpenStack.Title, Worker: true}}
}

// Release is the name of the Extension and the ControllerRegistration, and that of the releases of the charts. The extension that has
// everything but the worker controller is called provider-TYPE.
func (c Component) Release() string {
	switch {
	case c.Worker:
		return "provider-" + c.Type + "-worker"
	case c.Beside:
		return "admission-capkit-" + c.Type
	}
	return "admission-" + c.Type
}

// Program is the name of the command, and of the image.
func (c Component) Program() string {
	switch {
	case c.Worker:
		return "gardener-extension-provider-" + c.Type
	case c.Described:
		return "gardener-extension-admission-capkit"
	}
	return c.Name()
}

// Name is that of the Deployment and, for an admission component, of the webhook configurations.
func (c Component) Name() string { return "gardener-extension-" + c.Release() }

// Short says what the component is, without an article.
func (c Component) Short() string {
	switch {
	case c.Worker:
		return "worker controller of the " + c.Title + " extension"
	case c.Beside:
		return "admission component beside that of the " + c.Title + " extension"
	}
	return "admission component of the " + c.Title + " extension"
}

// title writes short names, which are abbreviations, in capitals, and others with one.
func title(providerType string) string {
	if known, found := titles[providerType]; found {
		return known
	}
	end := 1
	if len(providerType) <= 3 {
		end = len(providerType)
	}
	return strings.ToUpper(providerType[:end]) + providerType[end:]
}
