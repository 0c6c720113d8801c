// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/extensions"
	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// heart is the clock of the heartbeat: it is late if the heartbeat of the extension is that writes the conditions of Workers. gardenlet
// takes the heartbeat of who is registered for Workers for the one of who writes their conditions. If it did not stop with that,
// gardenlet would believe conditions that nobody looks after any more.
type heart struct {
	clock.RealClock

	reader client.Reader
	log    logr.Logger
	// extension is the name of the ControllerRegistration of that extension.
	extension string
}

// readTimeout is how long the heartbeat of the other extension may take to be read.
const readTimeout = 10 * time.Second

// Now returns the time of the last heartbeat of the other extension, and at most the time that it is. If that has no heartbeat, or if it
// cannot be read, it is the time that it is, and that is logged.
func (h *heart) Now() time.Time {
	now := h.RealClock.Now()
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	last, err := h.last(ctx)
	switch {
	case err != nil:
		h.log.Error(err, "The heartbeat of the extension that writes the conditions of Workers is not known", "extension", h.extension)
		return now
	case last == nil:
		h.log.V(1).Info("The extension that writes the conditions of Workers has no heartbeat", "extension", h.extension)
		return now
	case last.After(now):
		return now
	}
	return *last
}

// last returns when the other extension has said last that it is there; nil if it never has.
func (h *heart) last(ctx context.Context) (*time.Time, error) {
	namespaces := &corev1.NamespaceList{}
	of := client.MatchingLabels{v1beta1constants.LabelControllerRegistrationName: h.extension}
	if err := h.reader.List(ctx, namespaces, of); err != nil {
		return nil, err
	}
	var last *time.Time
	for i := range namespaces.Items {
		lease := &coordinationv1.Lease{}
		key := client.ObjectKey{Namespace: namespaces.Items[i].Name, Name: extensions.HeartBeatResourceName}
		if err := client.IgnoreNotFound(h.reader.Get(ctx, key, lease)); err != nil {
			return nil, fmt.Errorf("namespace %s: %w", key.Namespace, err)
		}
		if at := lease.Spec.RenewTime; at != nil && (last == nil || at.After(*last)) {
			last = &at.Time
		}
	}
	return last, nil
}
