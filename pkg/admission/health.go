// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	gardenerhealthz "github.com/gardener/gardener/pkg/healthz"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// maxExpired is how long a certificate may have expired before /healthz fails. A new process reads the Secret anew, so
// that a restart helps one that does not get to know of a new certificate.
const maxExpired = 10 * time.Minute

// addChecks adds what /healthz and /readyz are about; docs/admission.md says what each check means. /readyz fails while
// the API server had better ask another replica; /healthz fails for what a restart may repair, and nothing else. source
// is the cluster of the certificates, nil if it is that of the manager.
func (s *server) addChecks(mgr manager.Manager, source cluster.Cluster) error {
	ready := errors.Join(
		mgr.AddReadyzCheck("informer-sync", gardenerhealthz.NewCacheSyncHealthz(mgr.GetCache())),
		mgr.AddReadyzCheck("webhook-server", s.listening),
		mgr.AddReadyzCheck("certificate", func(*http.Request) error { return s.certificate.valid(time.Now(), 0) }),
		mgr.AddReadyzCheck("shutdown", func(*http.Request) error {
			if s.signalled.Err() != nil {
				return errors.New("the process was asked to stop")
			}
			return nil
		}),
	)
	if source != nil {
		synced := gardenerhealthz.NewCacheSyncHealthz(source.GetCache())
		ready = errors.Join(ready, mgr.AddReadyzCheck("source-informer-sync", synced))
	}
	return errors.Join(ready,
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddHealthzCheck("informer-sync", gardenerhealthz.NewCacheSyncHealthzWithDeadline(
			mgr.GetLogger(), clock.RealClock{}, mgr.GetCache(), gardenerhealthz.DefaultCacheSyncDeadline)),
		mgr.AddHealthzCheck("certificate", func(*http.Request) error {
			return s.certificate.valid(time.Now(), maxExpired)
		}),
	)
}

// valid returns nil if a certificate is served that is valid now, or has expired no longer than this ago. It does not
// matter whether clients trust it, which a metric says: only the leader can see to that, and new pods that are not
// ready before it has would keep a Deployment from ending a leader that does not.
func (c *certificate) valid(now time.Time, expired time.Duration) error {
	current := c.current.Load()
	switch {
	case current == nil:
		return errors.New("there is no certificate")
	case now.Before(current.Leaf.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", current.Leaf.NotBefore)
	case now.After(current.Leaf.NotAfter.Add(expired)):
		return fmt.Errorf("the certificate has expired at %s", current.Leaf.NotAfter)
	}
	return nil
}

// watch makes the informers of a leader at once: made later, they would make a replica unready until they are synced.
// The namespace is the one of the certificates, empty if there is none.
func watch(ctx context.Context, mgr manager.Manager, source cluster.Cluster, namespace string) error {
	informers, objects := mgr.GetCache(), []client.Object{
		&admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{},
	}
	if namespace != "" && source == nil {
		objects = append(objects, &corev1.Secret{})
	}
	for _, object := range objects {
		if _, err := informers.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("watching a %T: %w", object, err)
		}
	}
	if namespace != "" && source != nil {
		if _, err := source.GetCache().GetInformer(ctx, &corev1.Secret{}, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("watching the Secrets of the certificates: %w", err)
		}
	}
	return nil
}
