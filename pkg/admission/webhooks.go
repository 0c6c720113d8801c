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

// timeoutSeconds is how long the API server waits for an answer. Answers take milliseconds; what may take longer is a
// profile that has to be read first.
const timeoutSeconds = 10

// mutateStatus is the name of the webhook for the status of NamespacedCloudProfiles.
const mutateStatus = "mutate-namespacedcloudprofile-status"

// entry is a row in the table of webhooks.
type entry struct {
	// name of the webhook; its path is /webhooks/NAME.
	name   string
	action string
	object client.Object
	// subresources are the ways that the object can be written: nil is for the object itself.
	subresources []*string
	handler      admission.Handler
}

// component answers for the webhooks of a provider. What it reads belongs to the informers and is not changed.
type component struct {
	// name of the component, which Events are from.
	name string

	// provider is untyped, so that this package is compiled here, and not anew in each program that serves webhooks.
	provider provider.Provider[any]
	// credentials and dns judge Secrets, and updates what an update changes in a Shoot; nil if the provider cannot.
	credentials provider.CredentialsValidator
	dns         provider.DNSCredentialsValidator
	updates     provider.ShootUpdateValidator
	// settings has the settings that only the project's own worker controller reads, which is there if worker is set; nil if there are
	// none. worker is not changed once the webhooks are served.
	settings provider.SettingsOwner
	worker   *bool
	profiles *profiles

	// maintainers are the names of the users that write Shoots in maintenance. Not changed once the webhooks are served.
	maintainers *[]string
	// corrects says that mutate-shoot is served. Not changed once the webhooks are.
	corrects bool
	// events records Events on Shoots; nil before connect. recorded has the versions of Shoots that it was done for.
	events    events.EventRecorder
	recording sync.Mutex
	recorded  *lru.Cache

	// cached reads what the informers know. live asks the API server: about credentials, and for objects that are so
	// new that the informers do not know them yet. They are nil before connect.
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

// webhooks lists the webhooks. Those about credentials are there if the provider checks them.
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

// webhook turns a row into what Gardener registers: for objects with the label that Gardener puts on all that belongs
// to a provider type, failing closed.
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

// served has a handler answer in place of a row. What it answers is counted.
func (e *entry) served(handler admission.Handler) *admission.Webhook {
	return &admission.Webhook{Handler: measured(e.name, handler), RecoverPanic: ptr.To(true), LogConstructor: e.logger}
}

// maxName is what names of objects and of users are cut at in the log. No API server has longer ones of objects.
const maxName = 253

// logger returns the logger for a request to the webhook. It names the object and who wrote it, printable, and never
// shows a part of the object: errors about requests that could not be decoded quote them, so that only the fact is logged.
func (e *entry) logger(base logr.Logger, req *admission.Request) logr.Logger {
	base = base.WithValues("webhook", e.name)
	if req == nil {
		return base.WithSink(discreet{base.GetSink()})
	}
	return base.WithValues("resource", serving.Shown(req.Resource.Resource, maxName), "subresource", serving.Shown(req.SubResource, maxName),
		"operation", operationOf(*req), "object", klog.KRef(serving.Shown(req.Namespace, maxName), serving.Shown(req.Name, maxName)),
		"user", serving.Shown(req.UserInfo.Username, maxName), "requestID", serving.Shown(string(req.UID), maxName))
}

// discreet is a sink that leaves out what errors say.
type discreet struct{ logr.LogSink }

// Error logs the message alone.
func (d discreet) Error(_ error, message string, keysAndValues ...any) {
	d.LogSink.Info(0, message, keysAndValues...)
}

// providerLabel is the label that Gardener's API server puts on its objects of a provider type. On Secrets its
// controller manager puts another one, once a binding refers to them.
func providerLabel(providerType string) string {
	return v1beta1constants.LabelExtensionProviderTypePrefix + providerType
}

// Switches returns the webhooks of this package, each under its name, for the SwitchOptions of an extension's own
// command. [NewCommand] has them already. The webhooks of one manager have to come from one call.
//
// They read CloudProfiles, NamespacedCloudProfiles and Shoots through the manager's cache, whose scheme needs the types of
// core.gardener.cloud. [CacheByObject] is what it has to keep of them: a cache without it keeps all Shoots of the garden. [Rights] are
// what they have to be allowed. A provider that is a [provider.CredentialsValidator] has webhooks for credentials as well, which
// need the types of security.gardener.cloud and Secrets in the scheme, and read them without the cache. A
// [provider.DNSCredentialsValidator] needs Secrets.
//
// None can be added to a manager if [provider.Check] finds something wrong with the provider. They judge by what the cache knows,
// also if the API server has been silent for long.
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
