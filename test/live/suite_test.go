// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package live tests the command on clusters.
//
//   - garden_test.go: answers about a real garden, and the rights that the command needs
//   - defaulting_test.go, maintenance_test.go: predictions of Gardener's behavior without capkit's webhooks
//   - verdict_test.go: lint agrees with the API server on thousands of changed objects
//   - landscape_test.go: resource usage in a landscape of 20,000 Shoots
package live

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/garden/samples"
	"github.com/capkit/capkit/test/suite"
)

// root is the root of the repository.
const root = "../.."

var (
	g *garden.Garden
	// all has the samples of all clouds. The garden has their profiles and Shoots.
	all []*samples.Samples
)

func TestLive(t *testing.T) { suite.Run(t, "test/live", "garden") }

var _ = BeforeSuite(func(ctx SpecContext) {
	for _, c := range extension.All() {
		made, err := samples.Of(root, c.Component)
		Expect(err).NotTo(HaveOccurred())
		all = append(all, made)
	}
	g = suite.StartGarden(ctx, garden.Options{Audit: true})
	_, err := g.NewProject(ctx, "demo")
	Expect(err).NotTo(HaveOccurred())
	Expect(samples.Register(ctx, g, all...)).To(Succeed())
	further := &v1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "further"}}
	further.Spec.Resources = []v1beta1.ControllerResource{
		{Kind: "OperatingSystemConfig", Type: "alpha"}, {Kind: "OperatingSystemConfig", Type: "beta"}, {Kind: "ContainerRuntime", Type: "gvisor"},
	}
	Expect(g.Client().Create(ctx, further)).To(Succeed())
	for _, s := range all {
		Expect(samples.Apply(ctx, g.Client(), append(s.Credentials(), s.Profile, s.Namespaced, s.Shoot)...)).To(Succeed(), s.Component.Type)
	}
})

// answer is the exit status and output of a run of the command.
type answer struct {
	status         int
	stdout, stderr string
}

// capkit runs the command in this process, for the providers of these types, or for all providers.
func capkit(args []string, types ...string) answer {
	var providers []cli.Provider
	for _, p := range clouds.All() {
		if len(types) == 0 || strings.Contains(strings.Join(types, " "), p.Type()) {
			providers = append(providers, p)
		}
	}
	var stdout, stderr bytes.Buffer
	status := cli.Run(append([]string{"capkit"}, args...), nil, &stdout, &stderr, providers...)
	return answer{status, stdout.String(), stderr.String()}
}

// admin runs the command with all rights.
func admin(args ...string) answer {
	return capkit(append(args, "--kubeconfig", g.Kubeconfig()))
}

// account creates a service account with the rights in the rules, in all namespaces or in one. It returns the path of its kubeconfig.
func account(ctx context.Context, name, namespace string, rules ...rbacv1.PolicyRule) string {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Name: name, Namespace: "garden-demo"}
	user := &corev1.ServiceAccount{ObjectMeta: meta}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: meta.Namespace}}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	Expect(g.Client().Create(ctx, user)).To(Succeed())
	Expect(g.Client().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules})).To(Succeed())
	if namespace == "" {
		Expect(g.Client().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: ref, Subjects: subjects,
		})).To(Succeed())
	} else {
		Expect(g.Client().Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, RoleRef: ref, Subjects: subjects,
		})).To(Succeed())
	}
	waitForRights(ctx, name, namespace, rules...)
	request := &authenticationv1.TokenRequest{}
	Expect(g.Client().SubResource("token").Create(ctx, user, request)).To(Succeed())
	return kubeconfig(request.Status.Token)
}

// waitForRights waits until the API server knows that a service account may list the resources in the rules, in all namespaces or in one.
func waitForRights(ctx context.Context, name, namespace string, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			Eventually(ctx, func() (bool, error) {
				review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User: "system:serviceaccount:garden-demo:" + name,
					ResourceAttributes: &authorizationv1.ResourceAttributes{
						Namespace: namespace, Verb: "list", Group: rule.APIGroups[0], Resource: resource,
					},
				}}
				err := g.Client().Create(ctx, review)
				return review.Status.Allowed, err
			}).Should(BeTrue(), "%s may list %s", name, resource)
		}
	}
}

// kubeconfig writes a kubeconfig for the garden with a token, and returns its path.
func kubeconfig(token string) string {
	GinkgoHelper()
	config, err := clientcmd.LoadFromFile(g.Kubeconfig())
	Expect(err).NotTo(HaveOccurred())
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	}
	path := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(*config, path)).To(Succeed())
	return path
}
