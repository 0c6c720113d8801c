// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capkit/capkit/pkg/worker/kit/command"
	"github.com/capkit/capkit/test/authors/acme/machines"
)

// The controller can be added to a manager whose scheme has the kinds of Kubernetes and of Gardener's extensions, like the program's.
func TestProgram(t *testing.T) {
	if cmd := command.New(machines.Controller()); cmd.Name() != "gardener-extension-worker-acme" {
		t.Errorf("the program is %s", cmd.Name())
	}
	known := runtime.NewScheme()
	add := runtime.NewSchemeBuilder(scheme.AddToScheme, extensionsv1alpha1.AddToScheme)
	check(t, add.AddToScheme(known))
	mgr, err := manager.New(&rest.Config{Host: "http://127.0.0.1"}, manager.Options{Scheme: known, Metrics: server.Options{BindAddress: "0"}})
	check(t, err)
	check(t, machines.AddToManager(t.Context(), mgr, command.Options{}))
}
