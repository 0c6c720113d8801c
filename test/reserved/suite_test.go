// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package reserved tests the admission component on a Gardener that accepts its own capabilities in the vocabulary of a CloudProfile, as
// the second text of GEP-0054 has it: operators register gardener-update-type and gardener-boot-type. garden.Options says what that
// Gardener is.
//
//   - profiles_test.go: CloudProfiles and NamespacedCloudProfiles that register and declare them
//   - shoots_test.go: what worker pools boot that are updated in place, and what becomes of them in maintenance
//   - migrate_test.go: what capkit migrate makes of files
//   - rules_test.go: the examples of rules that only hold here, and their repairs
//   - objects_test.go: the objects
//
// That lint says of thousands of objects what this Gardener says is tested in test/versions.
package reserved

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/suite"
)

// root is that of the repository.
const root = "../.."

var (
	// g is the garden of all specs. Each uses objects with names of its own, in the project demo.
	g *garden.Garden
	// u is who writes to it in a spec.
	u *user
)

func TestReserved(t *testing.T) { suite.Run(t, "test/reserved", "garden") }

var _ = BeforeSuite(func(ctx SpecContext) {
	program, err := extension.OpenStack.Build(ctx)
	Expect(err).NotTo(HaveOccurred())
	g = suite.StartGarden(ctx, garden.Options{AcceptsReserved: true, FeatureGates: map[string]bool{"InPlaceNodeUpdates": true}})
	_, err = g.NewProject(ctx, "demo")
	Expect(err).NotTo(HaveOccurred())
	Expect(g.NewRegistration(ctx, "openstack", "openstack", "cilium", imageName)).To(Succeed())
	Expect(g.Apply(ctx, root+"/hack/garden/demo/setup.yaml")).To(Succeed())
	_, err = extension.OpenStack.Run(ctx, g, program)
	Expect(err).NotTo(HaveOccurred())
})

var _ = BeforeEach(func() { u = newUser() })
