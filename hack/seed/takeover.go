// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/go-logr/logr"

	"github.com/capkit/capkit/test/seed"
	"github.com/capkit/capkit/test/seed/replay"
)

// recorded has provider-openstack's objects for some pools. One of them needs a Nova, which is missing here.
const (
	recorded   = "pkg/openstack/machines/testdata/seven"
	needsANova = "group"
)

// takeOver lets provider-openstack create machines, then lets the worker controller of the demo take over, and then give back.
func takeOver(ctx context.Context, s *seed.Seed) error {
	recording, err := replay.Load(os.DirFS(recorded))
	if err != nil {
		return err
	}
	recording.Without(needsANova)
	shoot, err := s.NewShoot(ctx, recording.Worker.Namespace, seed.ShootOptions{
		Profile: recording.Profile, UserData: string(recording.Secrets[0].Data["userData"]),
		Change: func(s *v1beta1.Shoot) { s.Spec = *recording.Shoot.Spec.DeepCopy() },
	})
	if err != nil {
		return err
	}
	title("Another Shoot. provider-openstack has made machine classes and deployments of its %d pools; they were recorded, and\n"+
		"# Gardener's generic actuator writes them once more. Their machines come up.", len(recording.Worker.Spec.Pools))
	if err := under(recording.Add, shoot, func() error {
		return errors.Join(shoot.Create(ctx, recording.Worker.DeepCopy(), ""), succeeded(ctx, shoot))
	}); err != nil {
		return err
	}
	if err := running(ctx, shoot, recording); err != nil {
		return err
	}
	before, err := shoot.Versions(ctx)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		title string
		add   seed.Add
	}{
		{"Our worker controller takes over, and reconciles. What decides about machines stays as it is, so that none is replaced.", add},
		{"And the way back: provider-openstack reconciles again.", recording.Add},
	} {
		title("%s", step.title)
		if err := under(step.add, shoot, func() error {
			return errors.Join(shoot.Reconcile(ctx, nil), succeeded(ctx, shoot))
		}); err != nil {
			return err
		}
		if err := compare(ctx, shoot, recording, before); err != nil {
			return err
		}
	}
	return nil
}

// under runs do while a controller reconciles a shoot.
func under(add seed.Add, shoot *seed.Shoot, do func() error) error {
	stop, err := shoot.Run(nil, logr.Discard(), add)
	if err != nil {
		return err
	}
	return errors.Join(do(), stop())
}

// running waits until every pool has its initial machines.
func running(ctx context.Context, shoot *seed.Shoot, recording *replay.Recording) error {
	want := 0
	for _, d := range recording.Deployments {
		want += int(d.Minimum)
	}
	return eventually(ctx, func(ctx context.Context) error {
		machines, err := shoot.Machines(ctx)
		if err != nil {
			return err
		}
		up := 0
		for _, m := range machines {
			if m.Image != "" {
				up++
			}
		}
		if up != want {
			return fmt.Errorf("%d of %d machines are running", up, want)
		}
		return nil
	})
}

// compare prints how many objects of each pool have changed, and fails if any has.
func compare(ctx context.Context, shoot *seed.Shoot, recording *replay.Recording, before seed.Versions) error {
	after, err := shoot.Versions(ctx)
	if err != nil {
		return err
	}
	changed := before.Changed(after)
	table := [][]any{{"POOL", "OBJECTS", "CHANGED"}}
	for _, pool := range recording.Worker.Spec.Pools {
		of := func(name string) bool { return strings.Contains(name, " "+shoot.Name+"-"+pool.Name+"-z") }
		objects, others := 0, 0
		for name := range before {
			if of(name) {
				objects++
			}
		}
		for _, name := range changed {
			if of(name) {
				others++
			}
		}
		table = append(table, []any{pool.Name, objects, others})
	}
	if len(changed) > 0 {
		return errors.Join(show(table), fmt.Errorf("these should not have changed: %v", changed))
	}
	return show(table)
}
