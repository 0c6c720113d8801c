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

// registering is the manager that Gardener's packages register the webhooks with. Its server only records which
// webhooks there are. What it is to do once as leader it tries again if that fails: Gardener's packages give it 5
// seconds, and end the process after that; but a slow API server is no reason to stop serving.
type registering struct {
	manager.Manager
	server *webhook.DefaultServer
}

// GetWebhookServer returns the server.
func (r registering) GetWebhookServer() webhook.Server { return r.server }

// GetClient returns a client that creates webhook configurations by applying them.
func (r registering) GetClient() client.Client { return applying{r.Manager.GetClient()} }

// applying is a client that creates webhook configurations by server-side apply: a PATCH has the name in its URL, so a
// role can restrict it. A POST has the name in its body, which no authorizer sees.
type applying struct{ client.Client }

// Create creates an object. The leader first writes each webhook configuration twice at the same time, once without the
// authority. Server-side apply removes what its field owner wrote before and now leaves out. Hence each call is an
// owner of its own, and the authority stays.
//
// Later, the object may be one that the leader has found when it started, and that somebody has deleted since: the new one has another
// identity.
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

// Patch patches an object. The patch by which Gardener's packages overwrite webhooks is worked out before they call this,
// and takes back what they do not know: it is worked out again.
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

// own has an object that a namespace owns be owned by the one that is called so now. The leader knows the one of when it started: if that is
// gone, API servers delete what it owns, and would do so again and again.
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

// complete says in a webhook configuration what Gardener's packages do not. One webhook writes Events, except in a dry
// run. Another one is asked again if somebody who is asked after it changes the object: the component of the extension,
// beside which this one may be, merges provider configs into the status as well, and so would do it twice. It returns the
// configuration of mutating webhooks that the object is; nil if it is none.
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

// Add adds a runnable. Only those that are functions can be run again; controllers retry by themselves.
func (r registering) Add(runnable manager.Runnable) error {
	elected, ok := runnable.(manager.LeaderElectionRunnable)
	if !ok || !elected.NeedLeaderElection() || reflect.TypeOf(runnable).Kind() != reflect.Func {
		return r.Manager.Add(runnable)
	}
	return r.Manager.Add(manager.RunnableFunc(func(ctx context.Context) error {
		log := r.GetLogger().WithName("registration")
		// The only error is that the process was asked to end.
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

// standIn has a server serve all webhooks in a table that it does not serve yet, since they are disabled: it admits
// everything. API servers ask them while other replicas have not been told yet, and for good if all webhooks of an
// action are disabled: Gardener's packages then leave what is registered as it is.
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
