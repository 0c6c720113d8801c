// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/consistency"
)

// timeoutSeconds is how long the API server waits for an answer. Answers take milliseconds; what may take longer is a
// profile that has to be read first.
const timeoutSeconds int32 = 10

// entry is a row in the table of webhooks.
type entry struct {
	// name of the webhook; its path is /webhooks/NAME.
	name   string
	action string
	object client.Object
	// subresource is empty for the object itself.
	subresource string
	handler     admission.Handler
}

// table lists the webhooks for a provider. Objects are looked up by means of lookup.
func table[R any](provider consistency.Provider[R], lookup *lookup[R]) []entry {
	return []entry{
		{"validate-cloudprofile", extensionswebhook.ActionValidating, &v1beta1.CloudProfile{}, "",
			validating("CloudProfile", cloudProfileCheck[R]{provider, lookup}.check)},
		{"validate-namespacedcloudprofile", extensionswebhook.ActionValidating, &v1beta1.NamespacedCloudProfile{}, "",
			validating("NamespacedCloudProfile", namespacedCheck[R]{lookup}.check)},
		{"validate-shoot", extensionswebhook.ActionValidating, &v1beta1.Shoot{}, "",
			validating("Shoot", shootCheck[R]{lookup}.check)},
		{"mutate-cloudprofile", extensionswebhook.ActionMutating, &v1beta1.CloudProfile{}, "",
			mutating("CloudProfile", cloudProfileFilling[R]{provider}.changes)},
		{"mutate-namespacedcloudprofile", extensionswebhook.ActionMutating, &v1beta1.NamespacedCloudProfile{}, "",
			mutating("NamespacedCloudProfile", namespacedFilling[R]{provider, lookup}.changes)},
		{"mutate-namespacedcloudprofile-status", extensionswebhook.ActionMutating, &v1beta1.NamespacedCloudProfile{}, "status",
			mutating("NamespacedCloudProfile", rendering[R]{provider}.changes)},
	}
}

func (e *entry) path() string { return "/webhooks/" + e.name }

// paths returns the paths of all webhooks.
func paths[R any](provider consistency.Provider[R]) []string {
	var all []string
	for _, e := range table[R](provider, nil) {
		all = append(all, e.path())
	}
	return all
}

// webhook turns a row into what Gardener registers: for objects with the label that Gardener's API server puts on all that
// belongs to a provider type, failing closed.
func (e *entry) webhook(providerType string) *extensionswebhook.Webhook {
	types := extensionswebhook.Type{Obj: e.object}
	if e.subresource != "" {
		types.Subresource = &e.subresource
	}
	return &extensionswebhook.Webhook{
		Action:         e.action,
		Name:           e.name,
		Path:           e.path(),
		Target:         extensionswebhook.TargetSeed,
		Types:          []extensionswebhook.Type{types},
		Webhook:        &admission.Webhook{Handler: e.handler, RecoverPanic: ptr.To(true), LogConstructor: discreetLogger},
		ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{providerLabel(providerType): "true"}},
		FailurePolicy:  ptr.To(admissionregistrationv1.Fail),
		TimeoutSeconds: ptr.To(timeoutSeconds),
	}
}

// providerLabel is the label that Gardener's API server puts on objects of a provider type.
func providerLabel(providerType string) string {
	return "provider.extensions.gardener.cloud/" + providerType
}

// Switches returns the webhooks of this package, each under its name, for the SwitchOptions of an extension's own command.
// [NewCommand] has them already. The webhooks of one manager have to come from one call. They read CloudProfiles,
// NamespacedCloudProfiles and Shoots through the manager's cache, whose scheme needs the types of core.gardener.cloud. None
// can be added to a manager if [consistency.CheckProvider] finds something wrong with the provider.
func Switches[R any](provider consistency.Provider[R]) []webhookcmd.NameToFactory {
	var shared *lookup[R]
	build := func(mgr manager.Manager, row int) (*extensionswebhook.Webhook, error) {
		if shared == nil { // the webhooks are built one after the other
			err := consistency.CheckProvider(provider)
			if err == nil {
				shared, err = lookupFor(provider, mgr)
			}
			if err != nil {
				return nil, err
			}
		}
		return table(provider, shared)[row].webhook(provider.Type()), nil
	}
	var switches []webhookcmd.NameToFactory
	for i, e := range table[R](provider, nil) {
		switches = append(switches, webhookcmd.Switch(e.name, func(mgr manager.Manager) (*extensionswebhook.Webhook, error) {
			return build(mgr, i)
		}))
	}
	return switches
}
