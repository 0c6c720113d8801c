// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package rights tests that the charts grant the admission component nothing that it does not need. That they grant
// all it needs is what every other test with a garden shows: the component has no other rights there.
package rights

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/suite"
)

var (
	g            *garden.Garden
	program      string
	installation *extension.Installation
)

func TestRights(t *testing.T) { suite.Run(t, "test/rights", "garden") }

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	program, err = extension.Build(ctx)
	Expect(err).NotTo(HaveOccurred())
	g = suite.StartGarden(ctx, garden.Options{})
	_, err = g.NewProject(ctx, "orchard")
	Expect(err).NotTo(HaveOccurred())
	Expect(g.NewRegistration(ctx, "openstack", "openstack", "cilium", "gardenlinux")).To(Succeed())
	Expect(g.Apply(ctx, "testdata/objects.yaml")).To(Succeed())

	// The component has run once: there is an authority.
	installation, err = extension.Install(ctx, g)
	Expect(err).NotTo(HaveOccurred())
	replica, err := installation.New(program)
	Expect(err).NotTo(HaveOccurred())
	process, err := extension.Start(ctx, g, replica)
	Expect(err).NotTo(HaveOccurred())
	Expect(process.Kill()).To(Succeed())
})
