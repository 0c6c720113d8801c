// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// registering is the manager that Gardener's packages register the webhooks with. Its server only records the webhooks. It retries the
// leader's one-time tasks when they fail. Gardener's packages allow them 5 seconds and then end the process, but a slow API server is no
// reason to stop serving.
type registering struct {
	manager.Manager
	server *webhook.DefaultServer
}

// GetWebhookServer returns the server.
func (r registering) GetWebhookServer() webhook.Server { return r.server }

// GetClient returns a client that creates webhook configurations by applying them.
func (r registering) GetClient() client.Client { return applying{r.Manager.GetClient()} }

// applying is a client that creates webhook configurations by server-side apply. A PATCH has the name in its URL, so RBAC can restrict
// it. A POST has the name in its body, which no authorizer sees.
type applying struct{ client.Client }

// Create creates an object. The leader first writes each webhook configuration twice at the same time, once without the CA bundle.
// Server-side apply removes fields that the same field owner wrote before and now leaves out. Each call therefore uses its own field
// owner, so that the CA bundle stays.
//
// Later, the object may be one that the leader read when it started and that has been deleted since. The new object has another identity,
// so UID and resource version are cleared.
func (a applying) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	complete(object)
	if err := a.own(ctx, object); err != nil {
		return err
	}
	kind, err := a.GroupVersionKindFor(object)
	if err != nil || kind.Group != admissionregistrationv1.GroupName {
		return a.Client.Create(ctx, object, options...)
	}
	fresh := object.DeepCopyObject().(client.Object)
	fresh.SetUID("")
	fresh.SetResourceVersion("")
	fresh.SetManagedFields(nil)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(fresh)
	if err != nil {
		return fmt.Errorf("writing the %s: %w", kind.Kind, err)
	}
	applied := &unstructured.Unstructured{Object: content}
	applied.SetGroupVersionKind(kind)
	return a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied),
		client.FieldOwner(object.GetName()+"-"+utilrand.String(5)), client.ForceOwnership)
}

// Patch patches an object. Gardener's packages compute the patch for webhooks before they call this method, so it would undo the changes
// of complete. Patch therefore computes it again.
func (a applying) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	configuration := complete(object)
	if err := a.own(ctx, object); err != nil {
		return err
	}
	if configuration == nil || patch.Type() != types.StrategicMergePatchType {
		return a.Client.Patch(ctx, object, patch, options...)
	}
	stored := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := a.Get(ctx, client.ObjectKeyFromObject(object), stored); err != nil {
		return err
	}
	before := configuration.DeepCopy()
	before.Webhooks, before.OwnerReferences = stored.Webhooks, stored.OwnerReferences
	return a.Client.Patch(ctx, object, client.StrategicMergeFrom(before), options...)
}

// own updates the owner references to namespaces to the namespace that has the name now. The leader knows only the namespace from its
// start. If that is gone, API servers delete the objects that it owns, and would do so again and again.
func (a applying) own(ctx context.Context, object client.Object) error {
	owners := object.GetOwnerReferences()
	for i := range owners {
		if owners[i].Kind != "Namespace" {
			continue
		}
		namespace := &corev1.Namespace{}
		if err := a.Get(ctx, client.ObjectKey{Name: owners[i].Name}, namespace); err != nil {
			return fmt.Errorf("the owner of %s: %w", object.GetName(), err)
		}
		owners[i].UID = namespace.UID
	}
	object.SetOwnerReferences(owners)
	return nil
}

// complete sets fields of a webhook configuration that Gardener's packages do not set. mutate-shoot writes Events, except in a dry run.
// The webhook for the status is reinvoked if a later webhook changes the object: the extension's own component, which may run beside this
// one, merges provider configs into the status too, and would repeat entries. complete returns the object if it is a
// MutatingWebhookConfiguration, and otherwise nil.
func complete(object client.Object) *admissionregistrationv1.MutatingWebhookConfiguration {
	configuration, ok := object.(*admissionregistrationv1.MutatingWebhookConfiguration)
	if !ok {
		return nil
	}
	for i := range configuration.Webhooks {
		switch w := &configuration.Webhooks[i]; {
		case strings.HasPrefix(w.Name, mutateShoot+"."):
			w.SideEffects = ptr.To(admissionregistrationv1.SideEffectClassNoneOnDryRun)
		case strings.HasPrefix(w.Name, mutateStatus+"."):
			w.ReinvocationPolicy = ptr.To(admissionregistrationv1.IfNeededReinvocationPolicy)
		}
	}
	return configuration
}

// Add adds a runnable. It retries only runnables that are functions, since these can be started again; controllers retry by themselves.
func (r registering) Add(runnable manager.Runnable) error {
	elected, ok := runnable.(manager.LeaderElectionRunnable)
	if !ok || !elected.NeedLeaderElection() || reflect.TypeOf(runnable).Kind() != reflect.Func {
		return r.Manager.Add(runnable)
	}
	return r.Manager.Add(manager.RunnableFunc(func(ctx context.Context) error {
		log := r.GetLogger().WithName("registration")
		// The only error is that ctx is done.
		_ = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
			if err := runnable.Start(ctx); err != nil {
				registrationsTotal.WithLabelValues("failure").Inc()
				log.Error(err, "Registering the webhooks failed, and is tried again")
				return false, nil
			}
			registrationsTotal.WithLabelValues("success").Inc()
			lastRegistration.SetToCurrentTime()
			log.Info("Registered the webhooks")
			return true, nil
		})
		return nil
	}))
}

// standIn makes a server admit everything on the paths of disabled webhooks, those in the table that it does not serve yet. API servers
// still call them until other replicas have been updated. If all webhooks of an action are disabled, they call them forever, because
// Gardener's packages then leave the registered configuration unchanged.
func standIn(server *webhook.DefaultServer, entries []entry) {
	admit := admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Allowed("")
	})
	for _, e := range entries {
		asked := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: e.path()}}
		if _, served := server.Options.WebhookMux.Handler(asked); served == "" {
			server.Register(e.path(), e.served(admit))
		}
	}
}
