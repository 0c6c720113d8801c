// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package program_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/seed"
	"github.com/capkit/capkit/test/seed/program"
)

// block returns the block of commands in docs/operators/operations.md that contains a text.
func block(text string) string {
	GinkgoHelper()
	document, err := os.ReadFile(root + "/docs/operators/operations.md")
	Expect(err).NotTo(HaveOccurred())
	var found string
	for _, match := range regexp.MustCompile("(?ms)^( *)```sh\n(.*?)^ *```$").FindAllStringSubmatch(string(document), -1) {
		if strings.Contains(match[2], text) {
			Expect(found).To(BeEmpty(), "several blocks have %q", text)
			found = strings.ReplaceAll("\n"+match[2], "\n"+match[1], "\n")
		}
	}
	Expect(found).NotTo(BeEmpty(), "no block has %q", text)
	return found
}

// follow runs commands exactly as in the document, in a folder, and returns their output.
func follow(ctx context.Context, folder string, blocks ...string) string {
	GinkgoHelper()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", strings.Join(blocks, "\n"))
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig(), "PATH="+filepath.Dir(s.Binary("kubectl"))+":"+os.Getenv("PATH"))
	cmd.Stderr = GinkgoWriter
	output, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred(), "%s\n%s", strings.Join(blocks, "\n"), output)
	return string(output)
}

// roll marks all pods of a Deployment as updated, like the Deployment's controller.
func roll(ctx context.Context, deployment *appsv1.Deployment) {
	GinkgoHelper()
	Expect(s.Client().Get(ctx, client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
	replicas := *deployment.Spec.Replicas
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
	Expect(s.Client().Status().Update(ctx, deployment)).To(Succeed())
}

// machineController returns the Deployment of a machine-controller-manager with the driver for OpenStack, which does not run.
func machineController(namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": "machine-controller-manager"}
	const driver = "machine-controller-manager-provider-openstack"
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "machine-controller-manager"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: driver, Image: "example.com/" + driver + ":v0.27.1"}},
			}},
		},
	}
}

var _ = Describe("The commands of the document for seeds", func() {
	It("say whether the worker controller of provider-openstack is off", func(ctx SpecContext) {
		const name, namespace = "gardener-extension-provider-openstack", "extension-provider-openstack-k5n2c"
		labels := map[string]string{"app.kubernetes.io/name": name}
		pod := corev1.PodSpec{ServiceAccountName: name, Containers: []corev1.Container{{
			Name: name, Image: name, Command: []string{"/" + name, "--heartbeat-namespace=" + namespace, "--disable-controllers=worker,bastion", "--log-level=info"},
		}}}
		meta := metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}
		deployment := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		}}
		for _, object := range []client.Object{
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{
				v1beta1constants.LabelControllerRegistrationName: "provider-openstack",
			}}},
			&corev1.ServiceAccount{ObjectMeta: meta}, deployment, &corev1.Pod{ObjectMeta: meta, Spec: pod},
			machineController(namespace),
		} {
			Expect(s.Client().Create(ctx, object)).To(Succeed())
		}
		Expect(follow(ctx, GinkgoT().TempDir(), block("grep machine-controller-manager-provider-openstack"))).To(Equal(
			name + "\n" + namespace + " example.com/machine-controller-manager-provider-openstack:v0.27.1\n"))
		roll(ctx, deployment)
		output := follow(ctx, GinkgoT().TempDir(), block("rollout status deployment gardener-extension-provider-openstack --timeout"))
		Expect(output).To(HaveSuffix("\n" + name + "\n--disable-controllers=worker,bastion\n"))
	})

	It("say that the controller runs, and that it changes nothing of what there is", func(ctx SpecContext) {
		start(ctx, "documented")
		shoot, err := s.NewShoot(ctx, "shoot--program--documented", seed.ShootOptions{Profile: profile})
		Expect(err).NotTo(HaveOccurred())
		Expect(shoot.Create(ctx, shoot.Worker(
			seed.Pool("web", "medium_4_8", "gardenlinux", "1877.5.0", seed.Size(2, 2)), seed.Pool("bare", "bare_8_16", "gardenlinux", "1592.9.0"),
		), "")).To(Succeed())
		Eventually(ctx, shoot.Result).Should(HaveValue(HaveField("Status.LastOperation.State", v1beta1.LastOperationStateSucceeded)))
		Expect(shoot.Machines(ctx)).To(HaveLen(3))
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: program.Namespace, Name: program.Controller.Name()}}
		roll(ctx, deployment)

		folder := GinkgoT().TempDir()
		lists, running := block("machines > before.txt"), block("get leases provider-openstack-worker-leader-election gardener-extension-heartbeat")
		follow(ctx, folder, lists)
		before, err := os.ReadFile(folder + "/before.txt")
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(string(before), "\nMachine ")).To(BeNumerically(">=", 3))
		Eventually(ctx, func() error {
			_, err := lease(ctx, "gardener-extension-heartbeat")
			return err
		}).Should(Succeed())
		Expect(follow(ctx, folder, running)).To(ContainSubstring("gardener-extension-heartbeat"))
		one := strings.Replace(block("machines > after.txt"), "shoot=SHOOT-NAMESPACE", "shoot="+shoot.Name, 1)
		functions, _, _ := strings.Cut(lists, "machines > before.txt")
		Expect(follow(ctx, folder, functions, one)).To(MatchRegexp(`(?m)^\S+ Succeeded$`))
		Expect(follow(ctx, folder, "shoot="+shoot.Name, block("reason=ImageReplaced"))).To(BeEmpty())

		By("looking for server groups that would not outlive going back")
		Expect(follow(ctx, folder, block("serverGroupDependencies"))).NotTo(ContainSubstring(shoot.Name))
		worker, err := shoot.Get(ctx)
		Expect(err).NotTo(HaveOccurred())
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status": {"providerStatus": {"serverGroupDependencies": [
			{"poolName": "web", "id": "1", "name": "%s-web-0bQxV7PzKa"}, {"poolName": "bare", "id": "2", "name": "be9f9c04-7053-4bb2-fe22442c"}]}}}`, shoot.Name))
		Expect(s.Client().Status().Patch(ctx, worker, patch)).To(Succeed())
		Expect(follow(ctx, folder, block("serverGroupDependencies"))).To(ContainSubstring(
			shoot.Name + " web=" + shoot.Name + "-web-0bQxV7PzKa bare=be9f9c04-7053-4bb2-fe22442c\n"))
	})
})
