// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package admission tests the admission component on a real Gardener API. Its binary runs beside a garden, and all requests
// go through the API server.
package admission

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/suite"
)

// root is the root of the repository.
const root = "../.."

var (
	// g is the garden of all specs. Each spec uses its own object names, in project demo.
	g *garden.Garden
	// u writes to the garden for the specs.
	u *user
	// component is the admission component, and process its running process.
	component extension.Replica
	process   *garden.Process
)

func TestAdmission(t *testing.T) { suite.Run(t, "test/admission", "garden") }

var _ = BeforeSuite(func(ctx SpecContext) {
	program, err := extension.OpenStack.Build(ctx)
	Expect(err).NotTo(HaveOccurred())
	g = suite.StartGarden(ctx, garden.Options{FeatureGates: map[string]bool{"InPlaceNodeUpdates": true, "VersionClassificationLifecycle": true}})

	// The state before the component is installed: a project that can have Shoots, and objects that the component would refuse.
	_, err = g.NewProject(ctx, "demo")
	Expect(err).NotTo(HaveOccurred())
	Expect(g.NewRegistration(ctx, "openstack", "openstack", "cilium", "gardenlinux")).To(Succeed())
	Expect(g.Apply(ctx, root+"/hack/garden/demo/setup.yaml", "testdata/before")).To(Succeed())
	retypeBefore(ctx)

	installation, err := extension.OpenStack.Install(ctx, g)
	Expect(err).NotTo(HaveOccurred())
	component, err = installation.New(program)
	Expect(err).NotTo(HaveOccurred())
	serve(ctx)
})

// serve starts the component with additional flags, and waits until the API server calls it.
func serve(ctx context.Context, args ...string) {
	GinkgoHelper()
	component.Args = args
	var err error
	process, err = extension.Start(ctx, g, component)
	Expect(err).NotTo(HaveOccurred())
	Expect(extension.OpenStack.WaitUntilInstalled(ctx, g)).To(Succeed())
}

var _ = BeforeEach(func() { u = newUser() })

// Whatever the specs did, no Secret's contents are logged.
var _ = AfterSuite(func() {
	if g != nil {
		expectNoPasswordInLogs()
	}
})
