// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	operatorclient "github.com/gardener/gardener/pkg/operator/client"
	"github.com/gardener/gardener/pkg/utils/gardener/operator"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// The other extension before a takeover.
const other = `
apiVersion: operator.gardener.cloud/v1alpha1
kind: Extension
metadata:
  name: provider-openstack
spec:
  deployment:
    extension:
      helm:
        ociRepository:
          ref: registry.example.com/provider-openstack:v1.2.3
      values:
        replicaCount: 3
  resources:
  - {kind: BackupBucket, type: openstack}
  - {kind: BackupEntry, type: openstack}
  - {kind: Bastion, type: openstack}
  - {kind: ControlPlane, type: openstack}
  - {kind: DNSRecord, type: openstack-designate}
  - {kind: Infrastructure, type: openstack}
  - {kind: Worker, type: openstack}
`

// allCommands returns the command blocks below a heading of docs/operators/operations.md, in order.
func allCommands(heading string) []string {
	GinkgoHelper()
	_, section, found := strings.Cut(string(read(root, "docs", "operators", "operations.md")), "\n### "+heading+"\n")
	Expect(found).To(BeTrue())
	section, _, _ = strings.Cut(section, "\n### ")
	var blocks []string
	for _, match := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, strings.ReplaceAll(match[1], " bin/charts/", " example/"))
	}
	return blocks
}

// commands returns the blocks for the runtime cluster or the garden.
func commands(heading string) []string {
	GinkgoHelper()
	return slices.DeleteFunc(allCommands(heading), func(block string) bool {
		return !strings.Contains(block, "extension.operator.gardener.cloud") && !strings.Contains(block, "controllerregistrations -o")
	})
}

// follow runs the commands exactly as the document shows them, and returns their output.
func follow(ctx context.Context, block string) string {
	GinkgoHelper()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", block)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "KUBECONFIG="+g.Kubeconfig(), "PATH="+filepath.Dir(g.Binary("kubectl"))+":"+os.Getenv("PATH"))
	cmd.Stderr = GinkgoWriter
	output, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred(), "%s\n%s", block, output)
	return string(output)
}

// again runs commands twice, like an operator who is not sure whether they were run.
func again(ctx context.Context, block string) {
	GinkgoHelper()
	follow(ctx, block)
	follow(ctx, block)
}

// operate acts as gardener-operator for Extensions until ctx ends: it registers them with gardener-operator's own code, and
// reports that. It retries writes that the API server refuses.
func operate(ctx context.Context, runtimeCluster, virtualGarden client.Client) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		for _, name := range []string{"provider-openstack", worker.Release()} {
			extension := &operatorv1alpha1.Extension{}
			registration := &v1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if err := runtimeCluster.Get(ctx, client.ObjectKey{Name: name}, extension); err != nil {
				if apierrors.IsNotFound(err) {
					_ = virtualGarden.Delete(ctx, registration)
				}
				continue
			}
			wanted, deployment := operator.ControllerRegistrationForExtension(extension)
			if err := virtualGarden.Create(ctx, deployment); client.IgnoreAlreadyExists(err) != nil {
				continue
			}
			_, err := controllerutil.CreateOrUpdate(ctx, virtualGarden, registration, func() error {
				registration.Spec = wanted.Spec
				// There is no Shoot that would need it.
				registration.Spec.Deployment.Policy = ptr.To(v1beta1.ControllerDeploymentPolicyAlways)
				return nil
			})
			if err != nil {
				continue
			}
			now := metav1.Now()
			extension.Status.Conditions = []v1beta1.Condition{{
				Type: operatorv1alpha1.ExtensionInstalled, Status: v1beta1.ConditionTrue, LastTransitionTime: now, LastUpdateTime: now,
				Reason: "Test", Message: "test",
			}}
			_ = runtimeCluster.Status().Update(ctx, extension)
		}
	}, 100*time.Millisecond)
}

// clusters returns clients for the runtime cluster and the virtual garden.
func clusters() (runtimeCluster, virtualGarden client.Client) {
	GinkgoHelper()
	return clientSet(operatorclient.RuntimeScheme).Client(), clientSet(kubernetes.GardenScheme).Client()
}

// operated creates a garden for this spec with provider-openstack, and without the worker controller.
func operated(ctx context.Context) {
	GinkgoHelper()
	runtimeCluster, virtualGarden := clusters()
	remove := func(ctx context.Context) {
		for _, kind := range []string{"extensions.operator.gardener.cloud", "controllerregistrations", "controllerdeployments"} {
			_, err := g.Kubectl(ctx, "delete", kind, "provider-openstack", worker.Release(), "--ignore-not-found")
			Expect(err).NotTo(HaveOccurred())
		}
	}
	remove(ctx)
	apply(ctx, objects([]byte(other)))
	during(func(ctx context.Context) { operate(ctx, runtimeCluster, virtualGarden) })
	DeferCleanup(func(ctx SpecContext) { remove(ctx) })
	Eventually(func() error {
		return virtualGarden.Get(ctx, client.ObjectKey{Name: "provider-openstack"}, &v1beta1.ControllerRegistration{})
	}).Should(Succeed())
}

// during runs do until the spec ends.
func during(do func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		do(ctx)
	}()
	DeferCleanup(func() {
		stop()
		<-stopped
	})
}

var _ = Describe("The operations of the worker controller", func() {
	It("are done by the commands of the document", func(ctx SpecContext) {
		runtimeCluster, _ := clusters()
		operated(ctx)
		// responsible returns the registrations for Workers.
		responsible := func() string { return follow(ctx, commands("Taking over")[2]) }
		state := func() (kinds []string, values map[string]any) {
			GinkgoHelper()
			extension := &operatorv1alpha1.Extension{}
			Expect(runtimeCluster.Get(ctx, client.ObjectKey{Name: "provider-openstack"}, extension)).To(Succeed())
			for _, resource := range extension.Spec.Resources {
				kinds = append(kinds, resource.Kind)
			}
			return kinds, decode[map[string]any](extension.Spec.Deployment.ExtensionDeployment.Values.Raw)
		}
		before, _ := state()
		Expect(before).To(HaveLen(7))

		By("taking over")
		taking := commands("Taking over")
		Expect(taking).To(HaveLen(3))
		again(ctx, taking[0])
		kinds, values := state()
		Expect(kinds).To(Equal(before), "only the controller is switched off at first")
		Expect(values).To(Equal(map[string]any{"replicaCount": 3.0, "disableControllers": []any{"worker"}}))
		Expect(responsible()).To(HavePrefix("provider-openstack: "))
		interrupted, _, found := strings.Cut(taking[1], "kubectl apply")
		Expect(found).To(BeTrue())
		again(ctx, interrupted)
		kinds, _ = state()
		Expect(kinds).To(Equal(before[:6]), "nothing but the entry of Worker is removed, however often")
		again(ctx, taking[1])
		kinds, _ = state()
		Expect(kinds).To(Equal(before[:6]))
		Eventually(responsible).Should(Equal("provider-openstack-worker: Worker/openstack \n"))

		By("going back")
		back := commands("Going back")
		Expect(back).To(HaveLen(2))
		interrupted, _, found = strings.Cut(back[0], "\nindex=")
		Expect(found).To(BeTrue())
		again(ctx, interrupted)
		again(ctx, back[0])
		kinds, values = state()
		Expect(kinds).To(Equal(before))
		Expect(values).To(HaveKeyWithValue("disableControllers", []any{"worker"}))
		Eventually(func() string {
			// While nothing is registered, there is nothing to print.
			output, _ := g.Kubectl(ctx, "get", "controllerregistrations", "provider-openstack", "-o", "jsonpath={.spec.resources[*].kind}")
			return output
		}).Should(ContainSubstring("Worker"))
		Expect(responsible()).To(HavePrefix("provider-openstack: "))
		again(ctx, back[1])
		_, values = state()
		Expect(values).To(Equal(map[string]any{"replicaCount": 3.0, "disableControllers": []any{}}))
		gone := runtimeCluster.Get(ctx, client.ObjectKey{Name: worker.Release()}, &operatorv1alpha1.Extension{})
		Expect(gone).To(MatchError(ContainSubstring("not found")))
	})
})
