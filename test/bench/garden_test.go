// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"context"
	"testing"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	localinstall "github.com/gardener/gardener/pkg/provider-local/apis/local/install"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/test/webhooks"
)

// newGarden returns a garden with CloudProfiles that serves Gardener's own webhooks and ours.
func newGarden(tb testing.TB, profiles ...*v1beta1.CloudProfile) *webhooks.Garden {
	tb.Helper()
	g := webhooks.New(profiles...)
	if err := localinstall.AddToScheme(g.Scheme()); err != nil {
		tb.Fatal(err)
	}
	return g
}

// ours returns the webhooks of the admission component for provider local by name. Nothing is compiled yet.
func ours(tb testing.TB, g *webhooks.Garden) map[string]admission.Handler {
	tb.Helper()
	return webhooks.Handlers(tb, local.Provider{}, g)
}

// theirs returns a handler of Gardener's extension library.
func theirs(tb testing.TB, g *webhooks.Garden, with func(*extensionswebhook.HandlerBuilder, manager.Manager)) admission.Handler {
	tb.Helper()
	mgr := g.Manager()
	builder := extensionswebhook.NewBuilder(mgr, logr.Discard())
	with(builder, mgr)
	handler, err := builder.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return handler
}

// annotating is a mutator that sets one field.
type annotating struct{}

func (annotating) Mutate(_ context.Context, object, _ client.Object) error {
	object.SetAnnotations(map[string]string{"a": "b"})
	return nil
}
