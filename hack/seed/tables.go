// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/capkit/capkit/test/seed"
)

// patience is the timeout for changes that take seconds on an idle machine.
const patience = 3 * time.Minute

// eventually waits until a condition returns nil. If it does not in time, the error includes the condition's last one.
func eventually(ctx context.Context, condition func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = condition(ctx)
		return last == nil, nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// succeeded waits until the Worker of a shoot is reconciled.
func succeeded(ctx context.Context, shoot *seed.Shoot) error {
	return eventually(ctx, func(ctx context.Context) error {
		worker, err := shoot.Result(ctx)
		switch {
		case err != nil:
			return err
		case worker == nil:
			return errors.New("the Worker is not reconciled yet")
		case worker.Status.LastOperation.State != v1beta1.LastOperationStateSucceeded:
			return fmt.Errorf("%+v", worker.Status.LastError)
		}
		return nil
	})
}

// expect waits until the machines of a shoot boot these images, which are sorted, and prints the machines.
func expect(ctx context.Context, shoot *seed.Shoot, images ...string) error {
	var found []seed.Machine
	err := eventually(ctx, func(ctx context.Context) (err error) {
		if found, err = shoot.Machines(ctx); err != nil {
			return err
		}
		var booted []string
		for _, m := range found {
			if m.Phase != machinev1alpha1.MachineRunning || m.Deleted {
				return fmt.Errorf("machine %s is not running: %s", m.Name, m.Message)
			}
			booted = append(booted, m.Image)
		}
		if slices.Sort(booted); !slices.Equal(booted, images) {
			return fmt.Errorf("the machines should boot %v, and boot %v", images, booted)
		}
		return nil
	})
	table := [][]any{{"POOL", "MACHINE", "ZONE", "PHASE", "BOOTS"}}
	for _, m := range found {
		table = append(table, []any{m.Pool, m.Name, m.Zone, m.Phase, m.Image})
	}
	return errors.Join(err, show(table))
}

// show prints a table.
func show(rows [][]any) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				_, _ = fmt.Fprint(w, "\t")
			}
			_, _ = fmt.Fprint(w, cell)
		}
		_, _ = fmt.Fprintln(w)
	}
	return w.Flush()
}
