// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package worker tests that the chart of the worker controller grants exactly the rights that the controller needs.
package worker

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/seed"
	"github.com/capkit/capkit/test/seed/program"
	"github.com/capkit/capkit/test/suite"
)

var (
	s         *seed.Seed
	installed *program.Installation
	profile   *v1beta1.CloudProfile
	// stuck is the shoot of a machine-controller-manager that does nothing, which the controller notices after two minutes.
	stuck *seed.Shoot
)

func TestRights(t *testing.T) { suite.Run(t, "test/rights/worker", "seed") }

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	s, err = seed.Start(ctx, seed.Options{})
	Expect(err).NotTo(HaveOccurred())
	suite.Share(s.Garden)
	content, err := os.ReadFile("../../../example/cloudprofile.yaml")
	Expect(err).NotTo(HaveOccurred())
	profile = &v1beta1.CloudProfile{}
	Expect(yaml.UnmarshalStrict(content, profile)).To(Succeed())

	stuck = newShoot(ctx, false)
	deployment := &machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: stuck.Name, Name: "stuck", Finalizers: []string{managerFinalizer},
	}}
	deployment.Spec.Template.Spec.Class.Name = "none"
	Expect(s.Client().Create(ctx, deployment)).To(Succeed())

	installed, err = program.Install(ctx, s)
	Expect(err).NotTo(HaveOccurred())
	// Afterwards there are a heartbeat and a lease.
	p := newProbe(ctx)
	Expect(p.WaitUntilReady(ctx)).To(Succeed())
	Eventually(ctx, p.said).Should(ContainSubstring("became leader"))
	Eventually(ctx, func() error {
		return s.Client().Get(ctx, client.ObjectKey{Namespace: program.Namespace, Name: heartbeat}, &coordinationv1.Lease{})
	}).Should(Succeed())
	Expect(p.Kill()).To(Succeed())
})

// probe is a replica of the controller that needs its rights.
type probe struct{ *program.Process }

// probes is the number of probes so far.
var probes int

// newProbe starts a probe that leads at once, and is killed at the end of the spec.
func newProbe(ctx context.Context) *probe {
	GinkgoHelper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: program.Namespace, Name: itsLease}}
	Expect(client.IgnoreNotFound(s.Client().Delete(ctx, lease))).To(Succeed())
	probes++
	process, err := installed.Start(ctx, strconv.Itoa(probes),
		"--heartbeat-renew-interval-seconds=1", "--worker-max-concurrent-reconciles=20", "--log-level=debug")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(process.Kill)
	return &probe{process}
}

// said returns the controller's log so far.
func (p *probe) said() (string, error) {
	log, err := os.ReadFile(p.LogFile)
	return string(log), err
}
