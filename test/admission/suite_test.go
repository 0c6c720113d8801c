// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package admission tests the admission component on a real Gardener API: its binary runs beside a garden, and everything
// goes through the API server.
package admission

import (
	"context"
	"errors"
	"testing"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

// g is the garden of all tests here. Each uses objects with names of its own, in the project demo.
var g *garden.Garden

// program is the path of the component.
var program string

func TestMain(m *testing.M) { garden.Main(m, run) }

func run(m *testing.M) (status int, err error) {
	ctx := context.Background()
	if program, err = extension.Build(ctx); err != nil {
		return 1, err
	}
	if g, err = garden.Start(ctx, garden.Options{FeatureGates: []string{"InPlaceNodeUpdates"}}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	if err := prepare(ctx); err != nil {
		return 1, err
	}
	if _, err := extension.Run(ctx, g, program); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// prepare creates what was there before the component was installed: a project that can have Shoots, and objects that the
// component would refuse.
func prepare(ctx context.Context) error {
	if _, err := g.NewProject(ctx, "demo"); err != nil {
		return err
	}
	if err := g.NewRegistration(ctx, "openstack", "openstack", "cilium", "gardenlinux"); err != nil {
		return err
	}
	return g.Apply(ctx, "../../hack/garden/demo/setup.yaml", "testdata/before")
}
