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

// heart is the clock of the heartbeat. It is late if the heartbeat of the extension that writes the conditions of Workers is late.
// gardenlet reads the heartbeat of the extension that is registered for Workers, to learn whether their conditions are maintained. If this
// heartbeat did not stop with the other one, gardenlet would trust outdated conditions.
type heart struct {
	clock.RealClock

	reader client.Reader
	log    logr.Logger
	// extension is the name of the other extension's ControllerRegistration.
	extension string
}

// readTimeout limits the time to read the other extension's heartbeat.
const readTimeout = 10 * time.Second

// Now returns the time of the other extension's last heartbeat, but not later than the current time. If there is no heartbeat, or it cannot
// be read, it returns the current time, and logs that.
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

// last returns the time of the other extension's last heartbeat; nil if there was none.
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
