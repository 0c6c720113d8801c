// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package clouds tests the admission components of all clouds on one real Gardener API, with the examples of each.
//
//   - clouds_test.go: the behavior of each component
//   - beside_test.go: each component beside the component of the extension
//   - standin_test.go: a stand-in for the latter
package clouds

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/garden/samples"
	"github.com/capkit/capkit/test/suite"
)

// root is the root of the repository.
const root = "../.."

var (
	g *garden.Garden
	// all has the clouds with a component, by provider type. Their components are running.
	all = map[string]*samples.Samples{}
)

// each returns a table entry for every cloud.
func each() []TableEntry {
	var rows []TableEntry
	for _, c := range extension.All() {
		rows = append(rows, Entry(c.Type, c))
	}
	return rows
}

func TestClouds(t *testing.T) { suite.Run(t, "test/clouds", "garden") }

var _ = BeforeSuite(func(ctx SpecContext) {
	programs := map[string]string{}
	var known []*samples.Samples
	for _, c := range extension.All() {
		var err error
		programs[c.Type], err = c.Build(ctx)
		Expect(err).NotTo(HaveOccurred())
		all[c.Type], err = samples.Of(root, c.Component)
		Expect(err).NotTo(HaveOccurred())
		known = append(known, all[c.Type])
	}
	g = suite.StartGarden(ctx, garden.Options{})
	_, err := g.NewProject(ctx, "demo")
	Expect(err).NotTo(HaveOccurred())
	Expect(samples.Register(ctx, g, known...)).To(Succeed())
	for _, s := range known {
		Expect(samples.Apply(ctx, g.Client(), s.Credentials()...)).To(Succeed())
		// Objects that exist before the component is installed.
		Expect(samples.Apply(ctx, g.Client(), s.Ahead("old"))).To(Succeed(), s.Component.Type)
	}
	for _, c := range extension.All() {
		_, err := c.Run(ctx, g, programs[c.Type])
		Expect(err).NotTo(HaveOccurred())
	}
	// Specs need these profiles, and run in any order.
	for _, s := range known {
		Expect(samples.Apply(ctx, g.Client(), s.Profile)).To(Succeed(), s.Component.Type)
	}
})
