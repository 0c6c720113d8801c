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
	"github.com/capkit/capkit/pkg/provider"
)

// OpenStack is the component that is the extension's own, and not beside it.
var OpenStack = Component{Type: "openstack", Title: "OpenStack", Credentials: true}

// without are the provider types of the table of clouds without a component: that of Gardener's local set-up.
var without = []string{"local"}

// titles are those that follow from no rule.
var titles = map[string]string{"openstack": "OpenStack", "alicloud": "AliCloud"}

// Component is the admission component for a provider type. Its command is the package ./cmd/NAME.
type Component struct {
	// Type is the provider type.
	Type string
	// Title is how people write it.
	Title string
	// Beside reports whether the component is installed beside the one that the extension has, under names of its own.
	Beside bool
	// Credentials reports whether it checks the credentials of Shoots, too: it has webhooks and rights for them.
	Credentials bool
}

// All returns the components, in the order of their types: one for each cloud but Gardener's local set-up.
func All() []Component {
	var all []Component
	for _, cloud := range clouds.All() {
		if slices.Contains(without, cloud.Type()) {
			continue
		}
		_, credentials := provider.As[provider.CredentialsValidator](cloud)
		all = append(all, Component{
			Type: cloud.Type(), Title: title(cloud.Type()), Beside: cloud.Type() != OpenStack.Type, Credentials: credentials,
		})
	}
	return all
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

// Release is the name of the Extension and the ControllerRegistration, and that of the releases of the charts.
func (c Component) Release() string {
	if c.Beside {
		return "admission-capkit-" + c.Type
	}
	return "admission-" + c.Type
}

// Name is that of the command, the image, the Deployment and the webhook configurations.
func (c Component) Name() string { return "gardener-extension-" + c.Release() }

// Short says what the component is, without an article.
func (c Component) Short() string {
	if c.Beside {
		return "admission component beside that of the " + c.Title + " extension"
	}
	return "admission component of the " + c.Title + " extension"
}

// Controller is the worker controller for a provider type, a component that gardenlet installs in seeds. Its command is the package
// ./cmd/NAME, and its chart the folder charts/NAME.
type Controller struct {
	// Type is the provider type.
	Type string
	// Title is how people write it.
	Title string
}

// Controllers returns the worker controllers.
func Controllers() []Controller {
	return []Controller{{Type: OpenStack.Type, Title: OpenStack.Title}}
}

// Release is the name of the Extension and the ControllerRegistration, and that of the chart and its releases. The extension that has
// everything but the worker controller is called provider-TYPE.
func (c Controller) Release() string { return "provider-" + c.Type + "-worker" }

// Name is that of the command and the image.
func (c Controller) Name() string { return "gardener-extension-provider-" + c.Type }

// ObjectName is that of the Deployment, and of all other objects in a seed.
func (c Controller) ObjectName() string { return "gardener-extension-" + c.Release() }

// Short says what the component is, without an article.
func (c Controller) Short() string { return "worker controller of the " + c.Title + " extension" }

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
