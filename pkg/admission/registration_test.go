// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// recorder is a manager that keeps what is added.
type recorder struct {
	manager.Manager
	added []manager.Runnable
}

func (r *recorder) Add(runnable manager.Runnable) error {
	r.added = append(r.added, runnable)
	return nil
}

func (r *recorder) GetLogger() logr.Logger { return logr.Discard() }

// onceAsLeader is like what Gardener's packages add to register webhooks.
type onceAsLeader func(ctx context.Context) error

func (o onceAsLeader) NeedLeaderElection() bool        { return true }
func (o onceAsLeader) Start(ctx context.Context) error { return o(ctx) }

func TestRegistrationIsTriedAgain(t *testing.T) {
	r, tries := &recorder{}, 0
	add := persistent{r}.Add(onceAsLeader(func(context.Context) error {
		if tries++; tries < 2 {
			return errors.New("too slow")
		}
		return nil
	}))
	if err := errors.Join(add, r.added[0].Start(t.Context())); err != nil || tries != 2 {
		t.Error(tries, err)
	}
}

func TestRegistrationEndsWithTheProcess(t *testing.T) {
	r := &recorder{}
	add := persistent{r}.Add(onceAsLeader(func(context.Context) error { return errors.New("too slow") }))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := errors.Join(add, r.added[0].Start(ctx)); err != nil {
		t.Error("asked to end, it must not fail:", err)
	}
}

func TestOthersAreAddedAsTheyAre(t *testing.T) {
	r := &recorder{}
	failed := errors.New("failed")
	err := persistent{r}.Add(manager.RunnableFunc(func(context.Context) error { return failed }))
	if err != nil || !errors.Is(r.added[0].Start(t.Context()), failed) {
		t.Error(err)
	}
}
