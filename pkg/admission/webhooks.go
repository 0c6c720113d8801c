// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"sync"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/admission/internal/serving"
	"github.com/capkit/capkit/pkg/provider"
)

// timeoutSeconds is how long the API server waits for an answer. Answers take milliseconds, unless a profile has to be read first.
const timeoutSeconds = 10

// mutateStatus is the name of the webhook for the status of NamespacedCloudProfiles.
const mutateStatus = "mutate-namespacedcloudprofile-status"

// entry is a row of the webhook table.
type entry struct {
	// name of the webhook; its path is /webhooks/NAME.
	name   string
	action string
	object client.Object
	// subresources lists how the object can be written. A nil element is the object itself.
	subresources []*string
	handler      admission.Handler
}

// component implements a provider's webhooks. Objects that it reads belong to the informers and are not modified.
type component struct {
	// name of the component, the source of its Events.
	name string

	// provider is untyped, so that this package is compiled once, and not again in each program that serves webhooks.
	provider provider.Provider[any]
	// credentials and dns check Secrets, and updates checks updates of Shoots. Each is nil if the provider does not implement it.
	credentials provider.CredentialsValidator
	dns         provider.DNSCredentialsValidator
	updates     provider.ShootUpdateValidator
	// settings describes the settings that only capkit's worker controller reads; nil if there are none. worker says whether that
	// controller runs. It does not change once the webhooks are served.
	settings provider.SettingsOwner
	worker   *bool
	profiles *profiles

	// maintainers are the users that write Shoots in maintenance. They do not change once the webhooks are served.
	maintainers *[]string
	// corrects reports whether mutate-shoot is served. It does not change once the webhooks are served.
	corrects bool
	// events records Events on Shoots; nil before connect. recorded holds the Shoot versions that already have an Event.
	events    events.EventRecorder
	recording sync.Mutex
	recorded  *lru.Cache

	// cached reads from the informers. live reads from the API server: credentials, and objects that are too new for the informers. Both
	// are nil before connect.
	cached, live client.Reader
}

func newComponent(cloud provider.Provider[any]) *component {
	c := &component{
		name: "admission-" + cloud.Type(), provider: cloud, profiles: newProfiles(cloud),
		maintainers: &[]string{MaintenanceUser}, worker: new(bool), recorded: lru.New(maxRecorded),
	}
	c.credentials, _ = provider.As[provider.CredentialsValidator](cloud)
	c.dns, _ = provider.As[provider.DNSCredentialsValidator](cloud)
	c.updates, _ = provider.As[provider.ShootUpdateValidator](cloud)
	c.settings, _ = provider.As[provider.SettingsOwner](cloud)
	return c
}

// webhooks lists the webhooks, including those for credentials if the provider checks them.
func (c *component) webhooks() []entry {
	profile, child, shoot := coreKind(kindCloudProfile), coreKind(kindNamespacedCloudProfile), coreKind("Shoot")
	known := catalogueOf(c.provider)
	self, status := []*string{nil}, []*string{new("status")}
	selfOrBinding := []*string{nil, new("binding")} // Gardener lets a binding change the rest of the spec, too
	rows := []entry{
		validating("validate-cloudprofile", profile, self, known, c.checkCloudProfile),
		validating("validate-namespacedcloudprofile", child, self, known, c.checkNamespacedCloudProfile),
		validating("validate-shoot", shoot, selfOrBinding, known, c.checkShoot),
		handle(mutateShoot, extensionswebhook.ActionMutating, shoot, self, c.mutateShoot),
		mutating("mutate-cloudprofile", profile, self, c.fillCloudProfile),
		mutating("mutate-namespacedcloudprofile", child, self, c.fillNamespacedCloudProfile),
		mutating(mutateStatus, child, status, c.renderStatus),
	}
	if c.credentials == nil {
		return rows
	}
	binding := securityv1alpha1.SchemeGroupVersion.WithKind("CredentialsBinding")
	return append(rows,
		validating("validate-secret", kindSecret, self, known, c.checkSecret),
		validating("validate-secretbinding", coreKind("SecretBinding"), self, known, c.checkSecretBinding),
		validating("validate-credentialsbinding", binding, self, known, c.checkCredentialsBinding))
}

// coreKind returns a kind of core.gardener.cloud.
func coreKind(kind string) schema.GroupVersionKind { return v1beta1.SchemeGroupVersion.WithKind(kind) }

func (e *entry) path() string { return "/webhooks/" + e.name }

// webhook turns a row into the webhook that Gardener registers. It selects objects by the label that Gardener puts on all objects of a
// provider type, and fails closed.
func (e *entry) webhook(providerType string) *extensionswebhook.Webhook {
	var types []extensionswebhook.Type
	for _, subresource := range e.subresources {
		types = append(types, extensionswebhook.Type{Obj: e.object, Subresource: subresource})
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
		Types:          types,
		Webhook:        e.served(e.handler),
		ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{label: "true"}},
		FailurePolicy:  ptr.To(admissionregistrationv1.Fail),
		TimeoutSeconds: ptr.To[int32](timeoutSeconds),
	}
}

// served serves a handler on behalf of a row, with metrics.
func (e *entry) served(handler admission.Handler) *admission.Webhook {
	return &admission.Webhook{Handler: measured(e.name, handler), RecoverPanic: ptr.To(true), LogConstructor: e.logger}
}

// maxName bounds names of objects and users in the log. No API server accepts longer object names.
const maxName = 253

// logger returns the logger for a request to the webhook. It logs the names of object and user in printable form, but never any content
// of the object. Decoding errors quote objects, so they are logged without their text.
func (e *entry) logger(base logr.Logger, req *admission.Request) logr.Logger {
	base = base.WithValues("webhook", e.name)
	if req == nil {
		return base.WithSink(discreet{base.GetSink()})
	}
	return base.WithValues("resource", serving.Shown(req.Resource.Resource, maxName), "subresource", serving.Shown(req.SubResource, maxName),
		"operation", operationOf(*req), "object", klog.KRef(serving.Shown(req.Namespace, maxName), serving.Shown(req.Name, maxName)),
		"user", serving.Shown(req.UserInfo.Username, maxName), "requestID", serving.Shown(string(req.UID), maxName))
}

// discreet is a sink that omits the text of errors.
type discreet struct{ logr.LogSink }

// Error logs only the message.
func (d discreet) Error(_ error, message string, keysAndValues ...any) {
	d.LogSink.Info(0, message, keysAndValues...)
}

// providerLabel returns the label that Gardener's API server puts on objects of a provider type. Secrets get another label from
// Gardener's controller manager once a binding refers to them.
func providerLabel(providerType string) string {
	return v1beta1constants.LabelExtensionProviderTypePrefix + providerType
}

// Switches returns the webhooks of this package by name, for the SwitchOptions of an extension's own command. [NewCommand] includes them.
// All webhooks of one manager must come from one call.
//
// The webhooks read CloudProfiles, NamespacedCloudProfiles and Shoots through the manager's cache. Its scheme needs the types of
// core.gardener.cloud. Configure the cache with [CacheByObject]; otherwise it keeps all Shoots of the garden. [Rights] returns the
// permissions that the webhooks need. For a [provider.CredentialsValidator] there are webhooks for credentials as well. They need the
// types of security.gardener.cloud and Secrets in the scheme, and read them without the cache. A [provider.DNSCredentialsValidator] needs
// Secrets in the scheme.
//
// Adding a webhook to a manager fails if [provider.Check] finds a problem with the provider. The webhooks answer from the cache even if
// the API server has been silent for a long time.
func Switches[R any](cloud provider.Provider[R]) []webhookcmd.NameToFactory {
	return switches(newComponent(provider.Untyped(cloud)))
}

func switches(c *component) []webhookcmd.NameToFactory {
	var found []webhookcmd.NameToFactory
	for _, e := range c.webhooks() {
		build := func(mgr manager.Manager) (*extensionswebhook.Webhook, error) {
			if err := c.connect(mgr); err != nil {
				return nil, err
			}
			c.corrects = c.corrects || e.name == mutateShoot
			return e.webhook(c.provider.Type()), nil
		}
		found = append(found, webhookcmd.Switch(e.name, build))
	}
	return found
}
