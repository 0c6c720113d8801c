// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package rights tests that the charts grant the admission components no unneeded rights. Every other test with a garden shows that they
// grant all that are needed, because the components have no other rights there.
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

// root is the root of the repository.
const root = "../.."

// subject is a component whose rights are tested.
type subject struct {
	*extension.Installation
	program string
	// shoot is a Shoot that maintenance would update to the image version newer, which it cannot boot.
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

// createObjects creates the objects for the components' requests, before a component runs.
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
	// Objects for components that check credentials.
	Expect(g.Apply(ctx, "testdata/objects.yaml")).To(Succeed())
}

// install installs the component and runs it once, which creates an authority.
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
