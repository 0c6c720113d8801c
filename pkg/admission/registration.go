// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// registrationRetryPeriod is how long to wait before registering the webhooks is tried again.
const registrationRetryPeriod = time.Second

// persistent is a manager that goes on if what it is to do once as leader fails, and tries that again. Gardener's packages
// give registering the webhooks 5 seconds, and end the process after that; but a slow API server is no reason to stop
// serving.
type persistent struct{ manager.Manager }

// Add adds a runnable. Only those that are functions can be run again; controllers retry by themselves.
func (p persistent) Add(runnable manager.Runnable) error {
	elected, ok := runnable.(manager.LeaderElectionRunnable)
	if !ok || !elected.NeedLeaderElection() || reflect.TypeOf(runnable).Kind() != reflect.Func {
		return p.Manager.Add(runnable)
	}
	return p.Manager.Add(manager.RunnableFunc(func(ctx context.Context) error {
		log := p.GetLogger().WithName("registration")
		// The only error is that the process was asked to end.
		_ = wait.PollUntilContextCancel(ctx, registrationRetryPeriod, true, func(ctx context.Context) (bool, error) {
			err := runnable.Start(ctx)
			countRegistration(err)
			if err != nil {
				log.Error(err, "Registering the webhooks failed, and is tried again")
				return false, nil
			}
			log.Info("Registered the webhooks")
			return true, nil
		})
		return nil
	}))
}
