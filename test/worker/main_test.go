// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package worker tests the worker controller for OpenStack, and the resulting machines, on a seed. All tests run in parallel, each in its
// own shoot, because they mostly wait.
//
//   - main_test.go: the seed
//   - controller_test.go: the controller of a test, which can be stopped and started
//   - shoot_test.go: shoots, and the conditions that tests wait for
//   - the others: tests
package worker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/test/seed"
)

// start starts the seed of all tests, once.
var start = sync.OnceValues(func() (*seed.Seed, error) { return seed.Start(context.Background(), seed.Options{}) })

var started bool

// theSeed returns the seed of all tests.
func theSeed(t testing.TB) *seed.Seed {
	t.Helper()
	started = true
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", "64"); err != nil { // far more than processors, because they wait
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	log.SetLogger(logr.Discard()) // each controller has its own logger
	code := m.Run()
	if started {
		s, err := start()
		if err == nil {
			err = s.Stop()
		}
		if err = errors.Join(err); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
