// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package rights tests that the charts grant no admission component anything that it does not need. That they grant all it
// needs is what every other test with a garden shows: components have no other rights there.
package rights

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/garden/samples"
	"github.com/capkit/capkit/test/suite"
)

// root is that of the repository.
const root = "../.."

// subject is a component whose rights are tested.
type subject struct {
	*extension.Installation
	program string
	// shoot is one that maintenance would update to the version newer of its image, which it does not boot.
	shoot client.ObjectKey
	newer string
}

var (
	g *garden.Garden
	// subjects are all components.
	subjects []*subject
)

func TestRights(t *testing.T) { suite.Run(t, "test/rights", "garden") }

var _ = BeforeSuite(func(ctx SpecContext) {
	for _, c := range extension.All() {
		program, err := c.Build(ctx)
		Expect(err).NotTo(HaveOccurred())
		subjects = append(subjects, &subject{Installation: &extension.Installation{Component: c}, program: program})
	}
	g = suite.StartGarden(ctx, garden.Options{})
	for _, project := range []string{"orchard", "demo"} {
		_, err := g.NewProject(ctx, project)
		Expect(err).NotTo(HaveOccurred())
	}
	createObjects(ctx)
	for _, s := range subjects {
		s.install(ctx)
	}
})

// createObjects creates what the components are asked about, before there is one.
func createObjects(ctx context.Context) {
	GinkgoHelper()
	var all []*samples.Samples
	for _, s := range subjects {
		made, err := samples.Of(root, s.Component.Component)
		Expect(err).NotTo(HaveOccurred())
		all = append(all, made)
	}
	Expect(samples.Register(ctx, g, all...)).To(Succeed())
	for i, made := range all {
		profile := made.Ahead("rights")
		shoot := made.Moved("old", profile.GetName())
		Expect(samples.Apply(ctx, g.Client(), append(made.Credentials(), profile, shoot)...)).To(Succeed())
		subjects[i].shoot, subjects[i].newer = client.ObjectKeyFromObject(shoot), samples.Newer
	}
	// What only a component needs that checks credentials.
	Expect(g.Apply(ctx, "testdata/objects.yaml")).To(Succeed())
}

// install installs the component and lets it run once: then there is an authority.
func (s *subject) install(ctx context.Context) {
	GinkgoHelper()
	var err error
	s.Installation, err = s.Install(ctx, g)
	Expect(err).NotTo(HaveOccurred())
	replica, err := s.New(s.program)
	Expect(err).NotTo(HaveOccurred())
	process, err := extension.Start(ctx, g, replica)
	Expect(err).NotTo(HaveOccurred())
	Expect(process.Kill()).To(Succeed())
}
