// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package reserved tests the admission component on a Gardener that accepts its own capabilities in a CloudProfile's vocabulary. Under
// the second text of GEP-0054, operators register gardener-update-type and gardener-boot-type. garden.Options describes that Gardener.
//
//   - profiles_test.go: CloudProfiles and NamespacedCloudProfiles that register and declare them
//   - shoots_test.go: the images of worker pools that are updated in place, and their maintenance
//   - migrate_test.go: files that capkit migrate rewrites
//   - rules_test.go: the examples of rules that apply only here, and their repairs
//   - objects_test.go: the objects
//
// test/versions compares lint with this Gardener on thousands of objects.
package reserved

import (
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
