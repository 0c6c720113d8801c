// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package embedded is what the extension for acme would add to an admission command that it has already.
package embedded

import (
	"maps"

	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/test/authors/acme"
)

// SwitchOptions are those of the command, with the webhooks that it has.
func SwitchOptions(own ...webhookcmd.NameToFactory) *webhookcmd.SwitchOptions {
	return webhookcmd.NewSwitchOptions(append(own, admission.Switches(acme.Provider{})...)...)
}

// NewManager makes the manager of the command.
func NewManager(config *rest.Config, o manager.Options) (manager.Manager, error) {
	byObject := map[client.Object]cache.ByObject{}
	maps.Copy(byObject, o.Cache.ByObject)
	maps.Copy(byObject, admission.CacheByObject(acme.Provider{}))
	o.Cache.ByObject = byObject
	return manager.New(config, o)
}
