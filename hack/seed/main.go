// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command seed demonstrates the worker controller for OpenStack in a seed on this machine, and stops it again: make demo-worker. It fails
// if a step has an unexpected result. Run it from the root of the repository.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/test/seed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "seed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	log.SetLogger(logr.Discard())
	fmt.Fprintln(os.Stderr, "starting etcd, kube-apiserver and machine-controller-manager")
	begin := time.Now()
	s, err := seed.Start(ctx, seed.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	fmt.Printf("\nA seed is ready, after %.0f seconds. Its machines are none that anybody could log in to: a cloud of the tests' own\n"+
		"makes them for machine-controller-manager, and their nodes say which image they boot.\n", time.Since(begin).Seconds())
	if err := demonstrate(ctx, s); err != nil {
		return err
	}
	if err := takeOver(ctx, s); err != nil {
		return err
	}
	fmt.Printf("\nAll of this went as it should, in %.0f seconds.\n", time.Since(begin).Seconds())
	return nil
}
