// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden/extension"
)

// The clusters in which the component has rights. One role in each grants all of them.
const (
	inGarden  = "in the garden"
	inRuntime = "in the runtime cluster"
)

// API groups.
const (
	core          = ""
	gardener      = "core.gardener.cloud"
	security      = "security.gardener.cloud"
	registrations = "admissionregistration.k8s.io"
	coordination  = "coordination.k8s.io"
	events        = "events.k8s.io"
)

// reading is the verbs list and watch, which informers need together. They request a watch that begins with a list, or both separately if
// the API server does not support that. The server decides which of the two fails first.
const reading = "list and watch"

// right is a verb on a resource, or on one object of it, that a role grants.
type right struct{ cluster, verb, group, resource, name string }

// Placeholders in the table of rights for names that depend on the component.
const (
	itself    = "(the component's own)"
	itsLease  = "(its lease)"
	itsGarden = "(its namespace in the garden)"
)

// of returns the right with the names of a component.
func (r right) of(s *subject) right {
	switch r.name {
	case itself:
		r.name = s.Name()
	case itsLease:
		r.name = s.lease()
	case itsGarden:
		r.name = "extension-" + s.Release()
	}
	return r
}

func (r right) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s.%s", r.verb, r.resource, r.group), ".") + " " + r.cluster
}

// verbs returns the individual verbs.
func (r right) verbs() []string { return strings.Split(r.verb, " and ") }

// needed are the rights that every component has.
var needed = []right{
	{inGarden, "get", gardener, "cloudprofiles", ""},
	{inGarden, reading, gardener, "cloudprofiles", ""},
	{inGarden, "get", gardener, "namespacedcloudprofiles", ""},
	{inGarden, reading, gardener, "namespacedcloudprofiles", ""},
	{inGarden, reading, gardener, "shoots", ""},
	{inGarden, "create", events, "events", ""},
	{inGarden, "get", core, "namespaces", itsGarden},
	{inGarden, "create", registrations, "mutatingwebhookconfigurations", itself},
	{inGarden, reading, registrations, "mutatingwebhookconfigurations", itself},
	{inGarden, "patch", registrations, "mutatingwebhookconfigurations", itself},
	{inGarden, "create", registrations, "validatingwebhookconfigurations", itself},
	{inGarden, reading, registrations, "validatingwebhookconfigurations", itself},
	{inGarden, "patch", registrations, "validatingwebhookconfigurations", itself},
	{inRuntime, "get", core, "secrets", ""},
	{inRuntime, reading, core, "secrets", ""},
	{inRuntime, "create", core, "secrets", ""},
	{inRuntime, "patch", core, "secrets", ""},
	{inRuntime, "delete", core, "secrets", ""},
	{inRuntime, "create", coordination, "leases", ""},
	{inRuntime, "get", coordination, "leases", itsLease},
	{inRuntime, "update", coordination, "leases", itsLease},
	{inRuntime, "create", core, "events", ""},
}

// neededForCredentials are the additional rights of a component that checks credentials.
var neededForCredentials = []right{
	{inGarden, "get", gardener, "secretbindings", ""},
	{inGarden, "get", gardener, "internalsecrets", ""},
	{inGarden, "get", security, "credentialsbindings", ""},
	{inGarden, "get", core, "secrets", ""},
}

// needed returns the rights of a component.
func (s *subject) needed() []right {
	var own []right
	for _, r := range needed {
		own = append(own, r.of(s))
	}
	if s.Credentials {
		own = append(own, neededForCredentials...)
	}
	return own
}

var _ = Describe("The admission component", func() {
	It("has no right that is not tested here", func(ctx SpecContext) {
		for _, s := range subjects {
			Expect(append(s.granted(ctx, inGarden), s.granted(ctx, inRuntime)...)).To(ConsistOf(s.needed()), s.Name())
		}
	})

	It("does not miss a right while it has all of them", func(ctx SpecContext) {
		for _, p := range probes(ctx, subjects) {
			Eventually(ctx, p.says).Should(ContainSubstring(`"allowed":false`), p.Name())
			Consistently(ctx, p.says).ShouldNot(MatchRegexp(`cannot [a-z]+ resource`), p.Name())
		}
	})

	// A right to create any webhook configuration would allow reading and changing every write in the garden.
	It("cannot create webhook configurations of another name, in either way", func(ctx SpecContext) {
		for _, s := range subjects {
			config, err := clientcmd.BuildConfigFromFlags("", s.GardenKubeconfig)
			Expect(err).NotTo(HaveOccurred())
			component, err := client.New(config, client.Options{})
			Expect(err).NotTo(HaveOccurred())
			for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
				object := &unstructured.Unstructured{Object: map[string]any{"webhooks": []any{}}}
				object.SetGroupVersionKind(admissionregistrationv1.SchemeGroupVersion.WithKind(kind))
				object.SetName("catch-all")
				Expect(component.Create(ctx, object.DeepCopy())).To(MatchError(apierrors.IsForbidden, "IsForbidden"))
				Expect(component.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("somebody"))).
					To(MatchError(apierrors.IsForbidden, "IsForbidden"))
			}
		}
	})

	// All components are tested in parallel, which takes hardly longer than testing one if there are many processors.
	for _, r := range slices.Concat(needed, neededForCredentials) {
		It("does not do without the right to "+r.String(), func(ctx SpecContext) {
			var losing []*subject
			for _, s := range tried() {
				if own := r.of(s); slices.Contains(s.needed(), own) {
					s.take(ctx, own)
					losing = append(losing, s)
				}
			}
			Expect(losing).NotTo(BeEmpty())
			var refusals []OmegaMatcher
			for _, verb := range r.verbs() {
				refusals = append(refusals, ContainSubstring("cannot %s resource %q in API group %q", verb, r.resource, r.group))
			}
			for _, p := range probes(ctx, losing) {
				Eventually(ctx, p.says).Should(Or(refusals...), p.Name())
			}
		})
	}
})

// tried returns the components that lose their rights: the ones that check credentials, and so have most rights. The components differ in
// nothing else. make test-long tries all of them.
var tried = func() []*subject {
	return slices.DeleteFunc(slices.Clone(subjects), func(s *subject) bool { return !s.Credentials })
}

// probes starts a probe of each component.
func probes(ctx context.Context, of []*subject) []*probe {
	GinkgoHelper()
	var started []*probe
	for _, s := range of {
		started = append(started, s.newProbe(ctx))
	}
	return started
}

// roleIn returns the role that grants all rights in a cluster, and its rules.
func (s *subject) roleIn(ctx context.Context, cluster string) (client.Object, *[]rbacv1.PolicyRule) {
	GinkgoHelper()
	var role client.Object
	var rules *[]rbacv1.PolicyRule
	key := client.ObjectKey{Name: s.Name()}
	if cluster == inGarden {
		object := &rbacv1.ClusterRole{}
		role, rules = object, &object.Rules
	} else {
		object := &rbacv1.Role{}
		role, rules = object, &object.Rules
		key.Namespace = extension.Namespace
	}
	Expect(g.Client().Get(ctx, key, role)).To(Succeed())
	return role, rules
}

// granted returns the individual rights in a cluster.
func (s *subject) granted(ctx context.Context, cluster string) []right {
	GinkgoHelper()
	var rights []right
	_, rules := s.roleIn(ctx, cluster)
	for _, rule := range *rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range strings.Split(strings.Replace(strings.Join(rule.Verbs, ","), "list,watch", reading, 1), ",") {
					rights = append(rights, right{cluster, verb, group, resource, strings.Join(rule.ResourceNames, ",")})
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
				if group == r.group && resource == r.resource {
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

// take revokes a right of the component until the end of the spec, and waits until the API server has seen that.
func (s *subject) take(ctx context.Context, r right) {
	GinkgoHelper()
	role, rules := s.roleIn(ctx, r.cluster)
	before := *rules
	DeferCleanup(func(ctx SpecContext) {
		*rules = before
		Expect(g.Client().Update(ctx, role)).To(Succeed())
		Eventually(ctx, s.allowed).WithArguments(r).Should(HaveEach(true))
	})
	*rules = without(before, r)
	Expect(g.Client().Update(ctx, role)).To(Succeed())
	Eventually(ctx, s.allowed).WithArguments(r).Should(HaveEach(false))
}

// allowed returns, for each verb, whether the component has a right according to the API server.
func (s *subject) allowed(ctx context.Context, r right) ([]bool, error) {
	kubeconfig, namespace := s.GardenKubeconfig, ""
	if r.cluster == inRuntime {
		kubeconfig, namespace = s.RuntimeKubeconfig, extension.Namespace
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	component, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	var answers []bool
	for _, verb := range r.verbs() {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: r.group, Resource: r.resource, Name: r.name, Verb: verb},
		}}
		review, err := component.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		answers = append(answers, review.Status.Allowed)
	}
	return answers, nil
}
