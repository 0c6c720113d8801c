// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package components lists the components of this repository and their differences. Charts, images and manifests of all of them are built
// in the same way. A component is an admission component, of which each cloud has one, or a worker controller.
package components

import (
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/provider"
)

// OpenStack is the extension's own admission component, which is not installed beside another one.
var OpenStack = Component{Type: "openstack", Title: "OpenStack", Credentials: true, WorkerSettings: true}

// titles are the irregular titles, by provider type.
var titles = map[string]string{
	"openstack": "OpenStack", "alicloud": "AliCloud", "gdch": "Google Distributed Cloud", "hcloud": "Hetzner Cloud", "ironcore": "IronCore",
	"ironcore-metal": "IronCore on bare metal", "stackit": "STACKIT",
}

// Component is the admission component or the worker controller for a provider type. Gardenlet installs worker controllers in seeds. The
// component's command is the package ./cmd/PROGRAM.
type Component struct {
	// Type is the provider type.
	Type string
	// Title is the cloud's name for people.
	Title string
	// Worker is set for a worker controller.
	Worker bool
	// Beside is set if the admission component is installed beside the extension's own, under different names.
	Beside bool
	// Described is set for a cloud by description. One command is the admission component of all such clouds; flags choose the cloud.
	Described bool
	// Credentials is set if the admission component also checks the credentials of Shoots, and so needs webhooks and rights for them.
	Credentials bool
	// WorkerSettings is set if the cloud has worker pool settings that only capkit's worker controller reads. The admission component has a
	// flag that says whether that controller is installed.
	WorkerSettings bool
}

// All returns the admission components, ordered by type: one for each known cloud except Gardener's local setup.
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

// Programs returns the first component with each command, including worker controllers.
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

// Release returns the name of the Extension, the ControllerRegistration and the Helm releases. For a worker controller it must differ from
// provider-TYPE, the extension that has everything else.
func (c Component) Release() string {
	switch {
	case c.Worker:
		return "provider-" + c.Type + "-worker"
	case c.Beside:
		return "admission-capkit-" + c.Type
	}
	return "admission-" + c.Type
}

// Program returns the name of the command and the image.
func (c Component) Program() string {
	switch {
	case c.Worker:
		return "gardener-extension-provider-" + c.Type
	case c.Described:
		return "gardener-extension-admission-capkit"
	}
	return c.Name()
}

// Name returns the name of the Deployment and, for an admission component, of the webhook configurations.
func (c Component) Name() string { return "gardener-extension-" + c.Release() }

// Short returns a short description of the component, without an article.
func (c Component) Short() string {
	switch {
	case c.Worker:
		return "worker controller of the " + c.Title + " extension"
	case c.Beside:
		return "admission component beside that of the " + c.Title + " extension"
	}
	return "admission component of the " + c.Title + " extension"
}

// title returns the title of a provider type: an irregular one, or else the type with an initial capital. A type of at most three letters
// is an abbreviation, and all capitals.
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
