// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build openstack

package openstack_test

import (
	"context"
	"testing"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gophercloudgroups "github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servergroups"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/pkg/openstack/machines/servergroups"
	"github.com/capkit/capkit/test/openstack"
	"github.com/capkit/capkit/test/suite"
)

const (
	hard = "anti-affinity"
	soft = "soft-anti-affinity"
)

var o *openstack.OpenStack

func TestOpenStack(t *testing.T) { suite.Run(t, "test/openstack", "openstack") }

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	o, err = openstack.Start(ctx, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(o.Stop()).To(Succeed()) })
})

func connect(ctx context.Context) servergroups.Compute {
	GinkgoHelper()
	compute, err := servergroups.Connect(ctx, servergroups.Credentials{Secret: o.Secret()}, openstack.Region)
	Expect(err).NotTo(HaveOccurred())
	return compute
}

// groups returns the existing server groups by name, with the number of their members.
func groups(ctx context.Context) map[string]int {
	GinkgoHelper()
	all, err := o.Groups(ctx)
	Expect(err).NotTo(HaveOccurred())
	members := map[string]int{}
	for _, g := range all {
		members[g.Name] = len(g.Members)
	}
	return members
}

// boot creates a server in a Shoot's group, and waits until it runs.
func boot(ctx context.Context, name, group, technicalID string) string {
	GinkgoHelper()
	id, err := o.Boot(ctx, name, group, map[string]string{"kubernetes.io-cluster-" + technicalID: "1", "kubernetes.io-role-node": "1"})
	Expect(err).NotTo(HaveOccurred())
	compute, err := o.Compute(ctx)
	Expect(err).NotTo(HaveOccurred())
	Eventually(ctx, func(g Gomega) {
		server, err := servers.Get(ctx, compute, id).Extract()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(server.Status).To(Equal("ACTIVE"), "%+v", server.Fault)
	}).Should(Succeed())
	return id
}

func kill(ctx context.Context, id string) {
	GinkgoHelper()
	compute, err := o.Compute(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(servers.Delete(ctx, compute, id).ExtractErr()).To(Succeed())
	Eventually(ctx, func(g Gomega) {
		all, err := o.Servers(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(all).NotTo(ContainElement(HaveField("ID", id)))
	}).Should(Succeed())
}

func put(ctx context.Context, name, policy string) string {
	GinkgoHelper()
	compute, err := o.Compute(ctx)
	Expect(err).NotTo(HaveOccurred())
	group, err := gophercloudgroups.Create(ctx, compute, gophercloudgroups.CreateOpts{Name: name, Policy: policy}).Extract()
	Expect(err).NotTo(HaveOccurred())
	return group.ID
}

// The specs share the project, and Nova, which one of them stops.
var _ = Describe("Server groups in OpenStack", Serial, func() {
	s1 := servergroups.Names{TechnicalID: "shoot--p--s1", UID: "be9f9c04-7053-4bb2-9883-e28ba6ace0ea"}

	It("live with their pools", func(ctx SpecContext) {
		compute := connect(ctx)
		pools := []servergroups.Pool{{Name: "a", Policy: soft}, {Name: "b", Policy: hard}}
		ids, have, err := servergroups.Ensure(ctx, compute, s1, pools, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(groups(ctx)).To(HaveLen(2))
		again, same, err := servergroups.Ensure(ctx, compute, s1, pools, have)
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(Equal(ids))
		Expect(same).To(Equal(have))
		lost, _, err := servergroups.Ensure(ctx, compute, s1, pools, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(lost).To(Equal(ids), "without record they are found by their names")

		By("booting a server")
		server := boot(ctx, "in-group-a", ids["a"], s1.TechnicalID)
		group, err := compute.Get(ctx, ids["a"])
		Expect(err).NotTo(HaveOccurred())
		Expect(group).To(Equal(servergroups.Group{ID: ids["a"], Name: have[0].Name, Policy: soft, Members: []string{server}}))

		By("changing the policy while there is a server")
		pools[0].Policy = hard
		moved, both, err := servergroups.Ensure(ctx, compute, s1, pools, have)
		Expect(err).NotTo(HaveOccurred())
		Expect(both).To(HaveLen(3))
		Expect(moved["a"]).NotTo(Equal(ids["a"]))
		Expect(servergroups.CleanUp(ctx, compute, s1, pools, both)).To(Equal(both))
		kill(ctx, server)
		left, err := servergroups.CleanUp(ctx, compute, s1, pools, both)
		Expect(err).NotTo(HaveOccurred())
		Expect(left).To(HaveLen(2))
		Expect(groups(ctx)).To(HaveLen(2))

		By("deleting them")
		Expect(servergroups.Delete(ctx, compute, s1, left)).To(BeEmpty())
		Expect(groups(ctx)).To(BeEmpty())
	})

	It("are told apart from those of a neighbour", func(ctx SpecContext) {
		compute := connect(ctx)
		own := put(ctx, "shoot--p--s1-test-x-0123456789", soft)
		foreign := put(ctx, "shoot--p--s1-test-x-abcdefghij", soft)
		mine := boot(ctx, "mine", own, s1.TechnicalID)
		theirs := boot(ctx, "theirs", foreign, "shoot--p--s1-test")
		ids, have, err := servergroups.Ensure(ctx, compute, s1, []servergroups.Pool{{Name: "test-x", Policy: soft}}, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(ids).To(Equal(map[string]string{"test-x": own}))
		kill(ctx, mine)
		Expect(servergroups.Delete(ctx, compute, s1, have)).To(BeEmpty())
		Expect(groups(ctx)).To(Equal(map[string]int{"shoot--p--s1-test-x-abcdefghij": 1}))
		kill(ctx, theirs)
		Expect(compute.Delete(ctx, foreign)).To(Succeed())
		Expect(compute.Delete(ctx, foreign)).To(Succeed(), "it is gone")
		_, err = compute.Get(ctx, foreign)
		Expect(err).To(MatchError(servergroups.ErrNotFound))
		_, err = compute.Metadata(ctx, theirs)
		Expect(err).To(MatchError(servergroups.ErrNotFound))
	})

	DescribeTable("are not there with wrong credentials", func(ctx SpecContext, key, value string, code v1beta1.ErrorCode, words string) {
		secret := o.Secret()
		secret[key] = []byte(value)
		_, err := servergroups.Connect(ctx, servergroups.Credentials{Secret: secret}, openstack.Region)
		Expect(err).To(MatchError(ContainSubstring(words)))
		Expect(v1beta1helper.ExtractErrorCodes(err)).To(ConsistOf(code))
		Expect(err.Error()).NotTo(ContainSubstring(openstack.Password))
		Expect(err.Error()).NotTo(ContainSubstring("not-it"))
	},
		Entry("password", "password", "not-it", v1beta1.ErrorInfraUnauthenticated, "answers 401"),
		Entry("user", "username", "nobody", v1beta1.ErrorInfraUnauthenticated, "answers 401"),
		Entry("tenant", "tenantName", "nowhere", v1beta1.ErrorInfraUnauthenticated, "answers 401"),
		Entry("a tenant without a role", "tenantName", "admin", v1beta1.ErrorInfraUnauthenticated, "answers 401"),
		Entry("domain", "domainName", "nowhere", v1beta1.ErrorInfraUnauthenticated, "answers 401"),
	)

	It("are not in a region that does not exist", func(ctx SpecContext) {
		_, err := servergroups.Connect(ctx, servergroups.Credentials{Secret: o.Secret()}, "asia")
		Expect(err).To(MatchError(ContainSubstring(`no public compute service for region "asia"; it has one for "europe"`)))
	})

	It("are refused by Nova in words that say what to do", func(ctx SpecContext) {
		compute := connect(ctx)
		_, _, err := servergroups.Ensure(ctx, compute, s1, []servergroups.Pool{{Name: "a", Policy: "somehow"}}, nil)
		Expect(err).To(MatchError(And(ContainSubstring(`worker pool a`), ContainSubstring("somehow"), ContainSubstring("answers 400"))))
		Expect(v1beta1helper.ExtractErrorCodes(err)).To(ConsistOf(v1beta1.ErrorConfigurationProblem))

		By("a quota")
		Expect(o.SetGroupQuota(ctx, 1)).To(Succeed())
		pools := []servergroups.Pool{{Name: "a", Policy: soft}, {Name: "b", Policy: soft}, {Name: "c", Policy: soft}}
		ids, have, err := servergroups.Ensure(ctx, compute, s1, pools, nil)
		Expect(err).To(MatchError(And(ContainSubstring(`worker pools b, c`), ContainSubstring("Quota exceeded"))))
		Expect(v1beta1helper.ExtractErrorCodes(err)).To(ConsistOf(v1beta1.ErrorInfraQuotaExceeded))
		Expect(ids).To(HaveLen(1))
		Expect(have).To(HaveLen(1))
		Expect(o.SetGroupQuota(ctx, 10)).To(Succeed())
		_, have, err = servergroups.Ensure(ctx, compute, s1, pools, have)
		Expect(err).NotTo(HaveOccurred())
		Expect(have).To(HaveLen(3))
		Expect(servergroups.Delete(ctx, compute, s1, nil)).To(BeEmpty(), "all of them have a name with the UID")
		Expect(groups(ctx)).To(BeEmpty())
	})

	It("are not forgotten while Nova is away", func(ctx SpecContext) {
		compute := connect(ctx)
		pools := []servergroups.Pool{{Name: "a", Policy: soft}}
		_, have, err := servergroups.Ensure(ctx, compute, s1, pools, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.StopNova()).To(Succeed())
		_, record, err := servergroups.Ensure(ctx, compute, s1, append(pools, servergroups.Pool{Name: "b", Policy: soft}), have)
		Expect(err).To(MatchError(ContainSubstring("cannot be reached")))
		Expect(record).To(Equal(have))
		record, err = servergroups.Delete(ctx, compute, s1, have)
		Expect(err).To(MatchError(ContainSubstring("cannot be reached")))
		Expect(record).To(Equal(have))
		Expect(o.StartNova(ctx)).To(Succeed())
		Expect(servergroups.Delete(ctx, compute, s1, have)).To(BeEmpty())
		Expect(groups(ctx)).To(BeEmpty())
	})
})
