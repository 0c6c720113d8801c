// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/seed/program"
)

// The places where the controller has rights. One role in each grants all of them.
const (
	inShoots = "in the namespaces of shoots"
	inOwn    = "in its own namespace"
)

// API groups.
const (
	core         = ""
	apps         = "apps"
	extensions   = "extensions.gardener.cloud"
	machine      = "machine.sapcloud.io"
	coordination = "coordination.k8s.io"
	events       = "events.k8s.io"
)

// Names of objects that rights are limited to.
const (
	itsLease  = "provider-openstack-worker-leader-election"
	heartbeat = "gardener-extension-heartbeat"
)

// reading is the verbs list and watch, which informers need together.
const reading = "list and watch"

// right is a verb on a resource, or on one object of it, that a role grants, and the controller's need for it.
type right struct {
	where, verb, group, resource, name string
	need                               need
}

func (r right) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s.%s", r.verb, r.resource, r.group), ".") + " " + r.where
}

// verbs returns the individual verbs.
func (r right) verbs() []string { return strings.Split(r.verb, " and ") }

// granted returns the right without its need.
func (r right) granted() right {
	r.need = nil
	return r
}

// needed are the rights of the controller.
var needed = []right{
	{inShoots, reading, extensions, "clusters", "", created},
	{inShoots, reading, core, "namespaces", "", created},
	{inShoots, reading, extensions, "workers", "", nothing},
	{inShoots, "patch", extensions, "workers", "", created},
	{inShoots, "patch", extensions, "workers/status", "", created},
	{inShoots, reading, machine, "machineclasses", "", created},
	{inShoots, "create", machine, "machineclasses", "", created},
	{inShoots, "patch", machine, "machineclasses", "", changed},
	{inShoots, "delete", machine, "machineclasses", "", replaced},
	{inShoots, "deletecollection", machine, "machineclasses", "", deleted},
	{inShoots, reading, machine, "machinedeployments", "", created},
	{inShoots, "create", machine, "machinedeployments", "", created},
	{inShoots, "patch", machine, "machinedeployments", "", changed},
	{inShoots, "delete", machine, "machinedeployments", "", replaced},
	{inShoots, "deletecollection", machine, "machinedeployments", "", deleted},
	{inShoots, reading, machine, "machinesets", "", created},
	{inShoots, "create", machine, "machinesets", "", restored},
	{inShoots, reading, machine, "machines", "", nothing},
	{inShoots, "create", machine, "machines", "", restored},
	{inShoots, "patch", machine, "machines", "", deleted},
	{inShoots, "get", core, "secrets", "", deleted},
	{inShoots, "list", core, "secrets", "", created},
	{inShoots, "create", core, "secrets", "", created},
	{inShoots, "patch", core, "secrets", "", changed},
	{inShoots, "delete", core, "secrets", "", replaced},
	{inShoots, "deletecollection", core, "secrets", "", deleted},
	{inShoots, "get", core, "configmaps", "", created},
	{inShoots, "create", core, "configmaps", "", created},
	{inShoots, "patch", core, "configmaps", "", changed},
	{inShoots, "get", apps, "deployments", "", created},
	{inShoots, "patch", apps, "deployments/scale", "", created},
	{inShoots, "list", core, "pods", "", doingNothing},
	{inShoots, "delete", core, "pods", "", doingNothing},
	{inShoots, "create", events, "events", "", anotherImage},
	{inShoots, "get", coordination, "leases", heartbeat, nothing},
	{inOwn, "create", coordination, "leases", "", nothing},
	{inOwn, "get", coordination, "leases", itsLease, nothing},
	{inOwn, "update", coordination, "leases", itsLease, nothing},
	{inOwn, "patch", coordination, "leases", heartbeat, nothing},
	{inOwn, "create", core, "events", "", nothing},
}

var _ = Describe("The worker controller", func() {
	It("has no right that is not tested here", func(ctx SpecContext) {
		var all []right
		for _, r := range needed {
			all = append(all, r.granted())
		}
		Expect(append(granted(ctx, inShoots), granted(ctx, inOwn)...)).To(ConsistOf(all))
	})

	It("does not miss a right while it has all of them", SpecPriority(-1), func(ctx SpecContext) {
		p := newProbe(ctx)
		for _, need := range []need{created, changed, replaced, deleted, restored, anotherImage, doingNothing} {
			need(ctx)
		}
		Eventually(ctx, p.said).Should(ContainSubstring("Successfully deleted stuck machine-controller-manager pod"))
		Expect(p.said()).NotTo(MatchRegexp(`cannot [a-z]+ resource`))
	})

	for _, r := range needed {
		// The right that is only needed after two minutes comes last.
		priority := SpecPriority(0)
		if r.resource == "pods" {
			priority = SpecPriority(-1)
		}
		It("does not do without the right to "+r.String(), priority, func(ctx SpecContext) {
			take(ctx, r)
			p := newProbe(ctx)
			r.need(ctx)
			var refusals []OmegaMatcher
			for _, verb := range r.verbs() {
				refusals = append(refusals, ContainSubstring("cannot %s resource %q in API group %q", verb, r.resource, r.group))
			}
			Eventually(ctx, func() (string, error) {
				log, err := p.said()
				return strings.ReplaceAll(log, `\"`, `"`), err
			}).Should(Or(refusals...))
		})
	}
})

// roleIn returns the role that grants all rights in a place, and its rules.
func roleIn(ctx context.Context, where string) (client.Object, *[]rbacv1.PolicyRule) {
	GinkgoHelper()
	var role client.Object
	var rules *[]rbacv1.PolicyRule
	key := client.ObjectKey{Name: program.Controller.Name()}
	if where == inShoots {
		object := &rbacv1.ClusterRole{}
		role, rules = object, &object.Rules
	} else {
		object := &rbacv1.Role{}
		role, rules = object, &object.Rules
		key.Namespace = program.Namespace
	}
	Expect(s.Client().Get(ctx, key, role)).To(Succeed())
	return role, rules
}

// granted returns the individual rights in a place.
func granted(ctx context.Context, where string) []right {
	GinkgoHelper()
	var rights []right
	_, rules := roleIn(ctx, where)
	for _, rule := range *rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range strings.Split(strings.Replace(strings.Join(rule.Verbs, ","), "list,watch", reading, 1), ",") {
					rights = append(rights, right{where, verb, group, resource, strings.Join(rule.ResourceNames, ","), nil})
				}
			}
		}
	}
	return rights
}

// without returns rules that grant the same rights except one.
func without(rules []rbacv1.PolicyRule, r right) []rbacv1.PolicyRule {
	var rest []rbacv1.PolicyRule
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				single := *rule.DeepCopy()
				single.APIGroups, single.Resources = []string{group}, []string{resource}
				if group == r.group && resource == r.resource && strings.Join(rule.ResourceNames, ",") == r.name {
					single.Verbs = slices.DeleteFunc(single.Verbs, func(verb string) bool { return slices.Contains(r.verbs(), verb) })
				}
				if len(single.Verbs) > 0 {
					rest = append(rest, single)
				}
			}
		}
	}
	return rest
}

// take revokes a right of the controller until the end of the spec, and waits until the API server has seen that.
func take(ctx context.Context, r right) {
	GinkgoHelper()
	role, rules := roleIn(ctx, r.where)
	before := *rules
	DeferCleanup(func(ctx SpecContext) {
		*rules = before
		Expect(s.Client().Update(ctx, role)).To(Succeed())
		Eventually(ctx, allowed).WithArguments(r).Should(HaveEach(true))
	})
	*rules = without(before, r)
	Expect(s.Client().Update(ctx, role)).To(Succeed())
	Eventually(ctx, allowed).WithArguments(r).Should(HaveEach(false))
}

// allowed returns, for each verb, whether the controller has a right according to the API server.
func allowed(ctx context.Context, r right) ([]bool, error) {
	config, err := clientcmd.BuildConfigFromFlags("", installed.Kubeconfig)
	if err != nil {
		return nil, err
	}
	controller, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	namespace := ""
	if r.where == inOwn {
		namespace = program.Namespace
	}
	resource, subresource, _ := strings.Cut(r.resource, "/")
	var answers []bool
	for _, verb := range r.verbs() {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Group: r.group, Resource: resource, Subresource: subresource, Name: r.name, Verb: verb,
			},
		}}
		review, err := controller.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		answers = append(answers, review.Status.Allowed)
	}
	return answers, nil
}
