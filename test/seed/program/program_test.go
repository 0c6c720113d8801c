// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package program_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/seed"
	"github.com/capkit/capkit/test/seed/program"
	"github.com/capkit/capkit/test/suite"
)

// root is the root of the repository.
const root = "../../.."

var (
	s         *seed.Seed
	installed *program.Installation
	profile   *v1beta1.CloudProfile
)

func TestProgram(t *testing.T) { suite.Run(t, "test/seed/program", "seed") }

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	s, err = seed.Start(ctx, seed.Options{})
	Expect(err).NotTo(HaveOccurred())
	suite.Share(s.Garden)
	installed, err = program.Install(ctx, s)
	Expect(err).NotTo(HaveOccurred())
	content, err := os.ReadFile(root + "/example/cloudprofile.yaml")
	Expect(err).NotTo(HaveOccurred())
	profile = &v1beta1.CloudProfile{}
	Expect(yaml.UnmarshalStrict(content, profile)).To(Succeed())
})

// start starts a replica and waits until it is ready. The replica is killed at the end of the spec.
func start(ctx context.Context, name string, flags ...string) *program.Process {
	GinkgoHelper()
	p, err := installed.Start(ctx, name, flags...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(p.Kill)
	Expect(p.WaitUntilReady(ctx)).To(Succeed())
	return p
}

func lease(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	object := &coordinationv1.Lease{}
	return object, s.Client().Get(ctx, client.ObjectKey{Namespace: program.Namespace, Name: name}, object)
}

// leader returns the identity of the leader, or the empty string if there is none.
func leader(ctx context.Context) (string, error) {
	object, err := lease(ctx, "provider-openstack-worker-leader-election")
	if err != nil || object.Spec.HolderIdentity == nil {
		return "", client.IgnoreNotFound(err)
	}
	return *object.Spec.HolderIdentity, nil
}

// get returns the response to a path, once the request succeeds.
func get(ctx context.Context, address, path string) (content string) {
	GinkgoHelper()
	Eventually(ctx, func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", response.Status, body)
		}
		content = string(body)
		return err
	}).Should(Succeed())
	return content
}

// selector matches a series in an alert: its name, and a selected controller, which is the only label that the program itself serves.
var selector = regexp.MustCompile(`(\w+)\{job="[^"]*"(,controller="(?:worker|heartbeat)")?\}`)

// watched returns the series in the chart's alerts, as patterns for the program's metrics.
func watched() (patterns []string) {
	GinkgoHelper()
	rendered, err := charts.Render(components.Controllers()[0], charts.Worker, program.Namespace,
		map[string]any{"monitoring": map[string]any{"enabled": true}})
	Expect(err).NotTo(HaveOccurred())
	i := slices.IndexFunc(rendered, func(object *unstructured.Unstructured) bool { return object.GetKind() == "PrometheusRule" })
	rules, err := yaml.Marshal(rendered[i])
	Expect(err).NotTo(HaveOccurred())
	found := selector.FindAllStringSubmatch(string(rules), -1)
	Expect(found).To(HaveLen(strings.Count(string(rules), `{job=`)), "of other labels nothing is known")
	for _, match := range found {
		pattern := `(?m)^` + match[1] + `[{ ]`
		if match[2] != "" {
			pattern = `(?m)^` + match[1] + `\{controller="`
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

var _ = Describe("A replica of the worker controller", func() {
	It("says that it is there, and serves health checks and metrics", func(ctx SpecContext) {
		metrics, err := garden.FreeAddress()
		Expect(err).NotTo(HaveOccurred())
		p := start(ctx, "alone", "--metrics-bind-address="+metrics, "--heartbeat-renew-interval-seconds=1")
		Expect(get(ctx, p.HealthAddress, "/healthz?verbose")).To(And(ContainSubstring("[+]ping ok"), ContainSubstring("[+]informer-sync ok")))
		Expect(get(ctx, p.HealthAddress, "/readyz?verbose")).To(ContainSubstring("[+]informer-sync ok"))
		var first *coordinationv1.Lease
		Eventually(ctx, func() (err error) {
			first, err = lease(ctx, "gardener-extension-heartbeat")
			return err
		}).Should(Succeed())
		Expect(first.Spec.HolderIdentity).To(HaveValue(Equal("provider-openstack-worker")))
		Eventually(ctx, func(o Gomega) {
			next, err := lease(ctx, "gardener-extension-heartbeat")
			o.Expect(err).NotTo(HaveOccurred())
			o.Expect(next.Spec.RenewTime.Time).To(BeTemporally(">", first.Spec.RenewTime.Time))
		}).Should(Succeed())
		served := And(
			ContainSubstring(`leader_election_master_status{name="provider-openstack-worker-leader-election"} 1`),
			ContainSubstring(`controller_runtime_reconcile_errors_total{controller="worker"}`),
			ContainSubstring(`controller_runtime_reconcile_errors_total{controller="heartbeat"}`),
		)
		for _, pattern := range watched() {
			served = And(served, MatchRegexp(pattern))
		}
		Eventually(ctx, func() string { return get(ctx, metrics, "/metrics") }).Should(served)
		Expect(p.Stop(ctx)).To(Succeed())
		Expect(p.Wait()).To(Succeed())
	})

	It("is no more alive than provider-openstack, which writes the conditions", func(ctx SpecContext) {
		const namespace = "extension-provider-openstack-away"
		of := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{
			v1beta1constants.LabelControllerRegistrationName: "provider-openstack",
		}}}
		away := metav1.NewMicroTime(time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC))
		beat := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gardener-extension-heartbeat"},
			Spec:       coordinationv1.LeaseSpec{RenewTime: &away},
		}
		Expect(s.Client().Create(ctx, of)).To(Succeed())
		Expect(s.Client().Create(ctx, beat)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { // no controller deletes namespaces in a test seed
			patch := client.MergeFrom(of.DeepCopy())
			of.Labels = nil
			Expect(s.Client().Patch(ctx, of, patch)).To(Succeed())
		})
		start(ctx, "no-more-alive", "--heartbeat-renew-interval-seconds=1")
		renewed := func() (*metav1.MicroTime, error) {
			own, err := lease(ctx, "gardener-extension-heartbeat")
			return own.Spec.RenewTime, client.IgnoreNotFound(err)
		}
		Eventually(ctx, renewed).Should(HaveValue(HaveField("Time", BeTemporally("==", away.Time))))
		now := metav1.NowMicro()
		beat.Spec.RenewTime = &now
		Expect(s.Client().Update(ctx, beat)).To(Succeed())
		Eventually(ctx, renewed).Should(HaveValue(HaveField("Time", BeTemporally("==", now.Time.Truncate(time.Microsecond)))))
	})

	It("takes over when the one before is told to end, and goes on with what that has begun", func(ctx SpecContext) {
		first := start(ctx, "first")
		Eventually(ctx, leader).ShouldNot(BeEmpty())
		holder, err := leader(ctx)
		Expect(err).NotTo(HaveOccurred())
		start(ctx, "second")
		Consistently(ctx, leader).Should(Equal(holder))

		shoot, err := s.NewShoot(ctx, "shoot--program--handover", seed.ShootOptions{Profile: profile})
		Expect(err).NotTo(HaveOccurred())
		Expect(shoot.ScaleManager(ctx, 0)).To(Succeed()) // so that the controller waits for machines
		Expect(shoot.Create(ctx, shoot.Worker(seed.Pool("web", "medium_4_8", "gardenlinux", "1877.5.0")), "")).To(Succeed())
		Eventually(ctx, shoot.Deployments).Should(HaveLen(1))
		Expect(first.Stop(ctx)).To(Succeed())
		Expect(first.Wait()).To(Succeed())
		Eventually(ctx, leader).Should(And(Not(BeEmpty()), Not(Equal(holder))))
		Expect(shoot.ScaleManager(ctx, 1)).To(Succeed())
		Eventually(ctx, func(o Gomega) {
			worker, err := shoot.Get(ctx)
			o.Expect(err).NotTo(HaveOccurred())
			o.Expect(worker.Status.LastOperation).To(HaveValue(HaveField("State", v1beta1.LastOperationStateSucceeded)))
		}).Should(Succeed())
	})

	It("tells of every pool whose image is another one, in Events of the Worker", func(ctx SpecContext) {
		start(ctx, "telling")
		shoot, err := s.NewShoot(ctx, "shoot--program--telling", seed.ShootOptions{Profile: profile, Change: func(shoot *v1beta1.Shoot) {
			shoot.Spec.Hibernation = &v1beta1.Hibernation{Enabled: new(true)} // so that the controller does not wait for machines
		}})
		Expect(err).NotTo(HaveOccurred())
		var pools []extensionsv1alpha1.WorkerPool
		for _, name := range []string{"web", "db", "build"} {
			pools = append(pools, seed.Pool(name, "medium_4_8", "gardenlinux", "1877.5.0"))
		}
		Expect(shoot.Create(ctx, shoot.Worker(pools...), "")).To(Succeed())
		Eventually(ctx, shoot.Result).Should(HaveValue(HaveField("Status.LastOperation.State", v1beta1.LastOperationStateSucceeded)))
		Expect(shoot.ChangeProfile(ctx, func(profile *v1beta1.CloudProfile) {
			for i := range profile.Spec.MachineTypes {
				if profile.Spec.MachineTypes[i].Name == "medium_4_8" {
					profile.Spec.MachineTypes[i].Capabilities["hypervisor"] = []string{"baremetal"}
				}
			}
		})).To(Succeed())
		Expect(shoot.ReconcileChange(ctx)).To(Succeed())
		Eventually(ctx, func() ([]corev1.Event, error) {
			list := &corev1.EventList{}
			err := s.Client().List(ctx, list, client.InNamespace(shoot.Name))
			return list.Items, err
		}).Should(ConsistOf(told("web"), told("db"), told("build")))
	})

	It("tells of every pool whose image cannot be decided, and goes on", func(ctx SpecContext) {
		start(ctx, "undecided")
		shoot, err := s.NewShoot(ctx, "shoot--program--undecided", seed.ShootOptions{Profile: profile, Change: func(shoot *v1beta1.Shoot) {
			shoot.Spec.Hibernation = &v1beta1.Hibernation{Enabled: new(true)} // so that the controller does not wait for machines
		}})
		Expect(err).NotTo(HaveOccurred())
		pools := []extensionsv1alpha1.WorkerPool{
			seed.Pool("web", "medium_4_8", "gardenlinux", "1877.5.0"), seed.Pool("db", "medium_4_8", "gardenlinux", "1877.5.0"),
		}
		Expect(shoot.Create(ctx, shoot.Worker(pools...), "")).To(Succeed())
		succeeded := HaveValue(HaveField("Status.LastOperation.State", v1beta1.LastOperationStateSucceeded))
		Eventually(ctx, shoot.Result).Should(succeeded)
		before, err := shoot.Classes(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(shoot.ChangeProfile(ctx, func(profile *v1beta1.CloudProfile) {
			raw := string(profile.Spec.ProviderConfig.Raw)
			profile.Spec.ProviderConfig.Raw = []byte(strings.ReplaceAll(raw, `"europe"`, `"elsewhere"`))
		})).To(Succeed())
		Expect(shoot.Reconcile(ctx, nil)).To(Succeed())
		says := func(pool string) OmegaMatcher {
			return And(HaveField("Reason", "ImageUndecided"), HaveField("InvolvedObject.Name", seed.WorkerName),
				HaveField("Message", HavePrefix("worker pool "+pool+": no image fits machine type medium_4_8 with gardenlinux@1877.5.0 in region europe")))
		}
		Eventually(ctx, func() ([]corev1.Event, error) {
			list := &corev1.EventList{}
			err := s.Client().List(ctx, list, client.InNamespace(shoot.Name))
			return list.Items, err
		}).Should(ConsistOf(says("web"), says("db")))
		Eventually(ctx, shoot.Result).Should(succeeded)
		Expect(shoot.Classes(ctx)).To(Equal(before))
	})

	It("says what it would do, while another one reconciles the Workers, and does nothing", func(ctx SpecContext) {
		other := start(ctx, "reconciling")
		shoot, err := s.NewShoot(ctx, "shoot--program--dry", seed.ShootOptions{Profile: profile, Change: func(shoot *v1beta1.Shoot) {
			shoot.Spec.Hibernation = &v1beta1.Hibernation{Enabled: new(true)} // so that the controller does not wait for machines
		}})
		Expect(err).NotTo(HaveOccurred())
		Expect(shoot.Create(ctx, shoot.Worker(seed.Pool("web", "medium_4_8", "gardenlinux", "1877.5.0")), "")).To(Succeed())
		Eventually(ctx, shoot.Result).Should(HaveValue(HaveField("Status.LastOperation.State", v1beta1.LastOperationStateSucceeded)))
		Expect(other.Stop(ctx)).To(Succeed())
		Expect(other.Wait()).To(Succeed())
		dry := func(name string) (string, error) {
			p, err := installed.Start(ctx, name, "--dry-run", "--kubeconfig="+s.Kubeconfig())
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(p.Kill)
			Eventually(ctx, p.Done()).Should(BeClosed())
			said, err := os.ReadFile(p.LogFile)
			Expect(err).NotTo(HaveOccurred())
			return string(said), p.Wait()
		}
		Eventually(ctx, shoot.Deployments).Should(HaveEach(Satisfy(func(d machinev1alpha1.MachineDeployment) bool {
			return d.Status.ObservedGeneration == d.Generation
		})))
		rest := seed.Rest{}
		Eventually(ctx, func() error { return rest.Look(ctx, shoot) }).WithPolling(500 * time.Millisecond).Should(Succeed())
		said, _ := dry("dry") // the Shoots of other specs may have problems
		Expect(said).To(And(MatchRegexp(`checked, \d+ without findings`), Not(ContainSubstring(shoot.Name+":"))))

		worker, err := shoot.Get(ctx)
		Expect(err).NotTo(HaveOccurred())
		worker.Spec.Pools[0].NodeAgentSecretName = new("gardener-node-agent-another")
		Expect(s.Client().Update(ctx, worker)).To(Succeed())
		said, err = dry("dry-replacing")
		Expect(err).To(HaveOccurred())
		Expect(said).To(ContainSubstring(shoot.Name + ": STOP: worker pool web: the machines of " + shoot.Name + "-web-z1 would be replaced"))
		after, err := shoot.Versions(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(rest.Versions.Changed(after)).To(BeEmpty())
	})

	It("does not start in a seed with an old release of provider-openstack, and says which is needed", func(ctx SpecContext) {
		const name, namespace = "gardener-extension-provider-openstack", "extension-provider-openstack-old"
		labels := map[string]string{"app": name}
		pod := corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: "example.com/provider-openstack:v1.52.0"}}}
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
			},
		}
		of := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{
			v1beta1constants.LabelControllerRegistrationName: "provider-openstack",
		}}}
		Expect(s.Client().Create(ctx, of)).To(Succeed())
		Expect(s.Client().Create(ctx, deployment)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { // no controller deletes namespaces in a test seed
			patch := client.MergeFrom(of.DeepCopy())
			of.Labels = nil
			Expect(s.Client().Patch(ctx, of, patch)).To(Succeed())
		})
		p, err := installed.Start(ctx, "refusing")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(p.Kill)
		Eventually(ctx, p.Done()).Should(BeClosed())
		Expect(p.Wait()).NotTo(Succeed())
		Expect(os.ReadFile(p.LogFile)).To(ContainSubstring("is of release v1.52.0, whose machine controllers cannot read the machine classes " +
			"of this one; update it to v1.57.0 or newer first: nothing has been changed"))
		deployment.Spec.Template.Spec.Containers[0].Image = "example.com/provider-openstack:v1.57.0"
		Expect(s.Client().Update(ctx, deployment)).To(Succeed())
		start(ctx, "after-the-update")
	})
})

// told matches an Event about the image of a pool.
func told(pool string) OmegaMatcher {
	return And(
		HaveField("Reason", "ImageReplaced"), HaveField("InvolvedObject.Kind", "Worker"), HaveField("InvolvedObject.Name", seed.WorkerName),
		HaveField("Message", HavePrefix("worker pool "+pool+": new machines boot another flavor")),
	)
}
