// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/http"
	"net/url"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/provider"
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

// table lists the webhooks for a provider. Objects are looked up by means of lookup. Those about credentials are there if
// the provider checks them.
func table[R any](cloud provider.Provider[R], lookup *lookup[R]) []entry {
	const validate, mutate = extensionswebhook.ActionValidating, extensionswebhook.ActionMutating
	profile, child, shoot := &v1beta1.CloudProfile{}, &v1beta1.NamespacedCloudProfile{}, &v1beta1.Shoot{}
	ofProfile, ofChild, ofShoot := coreKind("CloudProfile"), coreKind("NamespacedCloudProfile"), coreKind("Shoot")
	secrets, checksCredentials := any(cloud).(provider.CredentialsValidator)
	updates, _ := any(cloud).(provider.ShootUpdateValidator)
	known := catalogueOf(cloud)
	rows := []entry{
		{"validate-cloudprofile", validate, profile, "", validating(ofProfile, known, cloudProfileCheck[R]{cloud, lookup}.check)},
		{"validate-namespacedcloudprofile", validate, child, "", validating(ofChild, known, namespacedCheck[R]{lookup}.check)},
		{"validate-shoot", validate, shoot, "", validating(ofShoot, known, shootCheck[R]{lookup, secrets, updates}.check)},
		{"mutate-cloudprofile", mutate, profile, "", mutating(ofProfile, cloudProfileFilling[R]{cloud}.changes)},
		{"mutate-namespacedcloudprofile", mutate, child, "", mutating(ofChild, namespacedFilling[R]{cloud, lookup}.changes)},
		{"mutate-namespacedcloudprofile-status", mutate, child, "status", mutating(ofChild, rendering[R]{cloud}.changes)},
	}
	if !checksCredentials {
		return rows
	}
	c := credentials{secrets, lookup.live}
	return append(rows,
		entry{"validate-secret", validate, &corev1.Secret{}, "", validating(kindSecret, known, c.checkSecret)},
		entry{"validate-secretbinding", validate, &v1beta1.SecretBinding{}, "", validating(coreKind("SecretBinding"), known, c.checkSecretBinding)},
		entry{"validate-credentialsbinding", validate, &securityv1alpha1.CredentialsBinding{}, "",
			validating(securityv1alpha1.SchemeGroupVersion.WithKind("CredentialsBinding"), known, c.checkCredentialsBinding)},
	)
}

// coreKind returns a kind of core.gardener.cloud.
func coreKind(kind string) schema.GroupVersionKind { return v1beta1.SchemeGroupVersion.WithKind(kind) }

func (e *entry) path() string { return "/webhooks/" + e.name }

// webhook turns a row into what Gardener registers: for objects with the label that Gardener puts on all that belongs to a
// provider type, failing closed.
func (e *entry) webhook(providerType string) *extensionswebhook.Webhook {
	types := extensionswebhook.Type{Obj: e.object}
	if e.subresource != "" {
		types.Subresource = &e.subresource
	}
	label := providerLabel(providerType)
	if _, isSecret := e.object.(*corev1.Secret); isSecret {
		label = v1beta1constants.LabelShootProviderPrefix + providerType
	}
	return &extensionswebhook.Webhook{
		Action:         e.action,
		Name:           e.name,
		Path:           e.path(),
		Target:         extensionswebhook.TargetSeed,
		Types:          []extensionswebhook.Type{types},
		Webhook:        &admission.Webhook{Handler: measured(e.name, e.handler), RecoverPanic: ptr.To(true), LogConstructor: e.logger},
		ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{label: "true"}},
		FailurePolicy:  ptr.To(admissionregistrationv1.Fail),
		TimeoutSeconds: ptr.To(timeoutSeconds),
	}
}

// providerLabel is the label that Gardener's API server puts on its objects of a provider type. On Secrets its controller
// manager puts another one, once a binding refers to them.
func providerLabel(providerType string) string {
	return v1beta1constants.LabelExtensionProviderTypePrefix + providerType
}

// disabled returns the webhook that stands in for one that is disabled: it admits everything. API servers ask it while other
// replicas have not been told yet, and for good if all webhooks of an action are disabled: Gardener's packages then leave what
// is registered as it is.
func (e *entry) disabled() *admission.Webhook {
	handler := admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })
	return &admission.Webhook{Handler: measured(e.name, handler), RecoverPanic: ptr.To(true), LogConstructor: e.logger}
}

// standIn has a server serve all webhooks in a table that it does not serve yet.
func standIn(server *webhook.DefaultServer, entries []entry) {
	for _, e := range entries {
		served := ""
		if mux := server.WebhookMux(); mux != nil {
			_, served = mux.Handler(&http.Request{Method: http.MethodPost, URL: &url.URL{Path: e.path()}})
		}
		if served == "" {
			server.Register(e.path(), e.disabled())
		}
	}
}

// Switches returns the webhooks of this package, each under its name, for the SwitchOptions of an extension's own command.
// [NewCommand] has them already. The webhooks of one manager have to come from one call. They read CloudProfiles,
// NamespacedCloudProfiles and Shoots through the manager's cache, whose scheme needs the types of core.gardener.cloud. A
// provider that is a [provider.CredentialsValidator] has webhooks for credentials as well, which need the types of
// security.gardener.cloud and Secrets in the scheme, and read them without the cache. None can be added to a manager if
// [provider.Check] finds something wrong with the provider.
func Switches[R any](cloud provider.Provider[R]) []webhookcmd.NameToFactory {
	var shared *lookup[R]
	build := func(mgr manager.Manager, row int) (*extensionswebhook.Webhook, error) {
		if shared == nil { // the webhooks are built one after the other
			err := provider.Check(cloud)
			if err == nil {
				shared, err = lookupFor(cloud, mgr)
			}
			if err != nil {
				return nil, err
			}
		}
		return table(cloud, shared)[row].webhook(cloud.Type()), nil
	}
	var switches []webhookcmd.NameToFactory
	for i, e := range table(cloud, &lookup[R]{}) {
		switches = append(switches, webhookcmd.Switch(e.name, func(mgr manager.Manager) (*extensionswebhook.Webhook, error) {
			return build(mgr, i)
		}))
	}
	return switches
}
