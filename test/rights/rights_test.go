// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package rights tests that the charts grant the admission component nothing that it does not need. That they grant all it
// needs is what every other test with a garden shows: the component has no other rights there.
package rights

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

var (
	g            *garden.Garden
	program      string
	installation *extension.Installation
)

func TestMain(m *testing.M) { garden.Main(m, run) }

func run(m *testing.M) (status int, err error) {
	ctx := context.Background()
	if program, err = extension.Build(ctx); err != nil {
		return 1, err
	}
	if g, err = garden.Start(ctx, garden.Options{}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	if _, err := g.NewProject(ctx, "orchard"); err != nil {
		return 1, err
	}
	if err := g.Apply(ctx, "testdata/objects.yaml"); err != nil {
		return 1, err
	}
	if installation, err = extension.Install(ctx, g); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// right is a verb on a resource, perhaps of one name only, which a role grants.
type right struct {
	role                        client.Object
	group, resource, name, verb string
}

func (r right) String() string {
	cluster := "garden"
	if r.role.GetNamespace() != "" {
		cluster = "runtime cluster"
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s %s.%s", cluster, r.verb, r.resource, r.group), ".")
}

// verbs are those that are meant.
func (r right) verbs() []string {
	if r.verb == reading {
		return []string{"list", "watch"}
	}
	return []string{r.verb}
}

// missed tells whether what the component says has the API server's words for that it does not have the right.
func (r right) missed(said string) bool {
	return slices.ContainsFunc(r.verbs(), func(verb string) bool {
		return strings.Contains(said, fmt.Sprintf("cannot %s resource %q in API group %q", verb, r.resource, r.group))
	})
}

// reading is the verbs list and watch, which informers need together: they ask for a watch that begins with a list, and API
// servers that do not know that for a list and a watch. Which of the two fails first depends on the server.
const reading = "list and watch"

func TestEveryRuleIsNeeded(t *testing.T) {
	cluster, namespaced := &rbacv1.ClusterRole{}, &rbacv1.Role{}
	for object, key := range map[client.Object]client.ObjectKey{
		cluster:    {Name: extension.Name},
		namespaced: {Name: extension.Name, Namespace: extension.Namespace},
	} {
		if err := g.Client().Get(t.Context(), key, object); err != nil {
			t.Fatal(err)
		}
	}
	rights := append(rightsOf(cluster, cluster.Rules), rightsOf(namespaced, namespaced.Rules)...)
	for _, r := range rights {
		t.Run(r.String(), func(t *testing.T) {
			take(t, r)
			p := newProbe(t)
			if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
				return r.missed(p.says(t)), nil
			}); err != nil {
				t.Errorf("without it nothing fails; the component answers:\n%s", p.answers)
			}
		})
	}
}

// rightsOf returns what rules grant, one by one.
func rightsOf(role client.Object, rules []rbacv1.PolicyRule) []right {
	var rights []right
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					switch {
					case verb == "watch" && slices.Contains(rule.Verbs, "list"):
						continue
					case verb == "list" && slices.Contains(rule.Verbs, "watch"):
						verb = reading
					}
					rights = append(rights, right{role, group, resource, strings.Join(rule.ResourceNames, ""), verb})
				}
			}
		}
	}
	return rights
}

// without returns rules that grant the same but for one right.
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

// take takes a right from the component until the test ends, and waits until the API server has noticed.
func take(t *testing.T, r right) {
	t.Helper()
	rules := rulesOf(r.role)
	setRules(t, r.role, without(rules, r))
	t.Cleanup(func() {
		setRules(t, r.role, rules)
		waitUntil(t, r, true)
	})
	waitUntil(t, r, false)
}

func rulesOf(role client.Object) []rbacv1.PolicyRule {
	if cluster, ok := role.(*rbacv1.ClusterRole); ok {
		return cluster.Rules
	}
	return role.(*rbacv1.Role).Rules
}

func setRules(t *testing.T, role client.Object, rules []rbacv1.PolicyRule) {
	t.Helper()
	switch role := role.(type) {
	case *rbacv1.ClusterRole:
		role.Rules = rules
	case *rbacv1.Role:
		role.Rules = rules
	}
	if err := g.Client().Update(context.Background(), role); err != nil { // it is also for cleaning up
		t.Fatal(err)
	}
}

// waitUntil waits until the API server knows that the component has the right, or has not.
func waitUntil(t *testing.T, r right, has bool) {
	t.Helper()
	kubeconfig := installation.GardenKubeconfig
	if r.role.GetNamespace() != "" {
		kubeconfig = installation.RuntimeKubeconfig
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	component, err := client.New(config, client.Options{Scheme: g.Client().Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range r.verbs() {
		question := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: r.role.GetNamespace(), Group: r.group, Resource: r.resource, Name: r.name, Verb: verb,
			},
		}}
		err := wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			answer := question.DeepCopy()
			err := component.Create(ctx, answer)
			return answer.Status.Allowed == has, err
		})
		if err != nil {
			t.Fatalf("%s: %t is not what the API server says: %v", r, has, err)
		}
	}
}
