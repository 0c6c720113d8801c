// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package seed_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/seed"
	"github.com/capkit/capkit/test/suite"
)

var s *seed.Seed

func TestSeed(t *testing.T) { suite.Run(t, "test/seed", "seed") }

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	s, err = seed.Start(ctx, seed.Options{})
	Expect(err).NotTo(HaveOccurred())
	suite.Share(s.Garden)
})

// classOf returns a shoot's machine class that boots an image, and its Secret, which has the same name.
func classOf(shoot *seed.Shoot, name, image string) []client.Object {
	GinkgoHelper()
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "openstack.machine.gardener.cloud/v1alpha1", "kind": "MachineProviderConfig",
		"spec": map[string]any{
			"imageID": image, "region": "europe", "availabilityZone": "europe-1a", "flavorName": "small", "keyName": "key",
			"networkID": "network", "podNetworkCIDRs": []string{"100.96.0.0/11"},
			"tags": map[string]string{"kubernetes.io-cluster-" + shoot.Name: "1", "kubernetes.io-role-node": "1"},
		},
	})
	Expect(err).NotTo(HaveOccurred())
	meta := metav1.ObjectMeta{Namespace: shoot.Name, Name: name, Labels: map[string]string{
		v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass,
	}}
	return []client.Object{
		&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"userData": []byte("#cloud-config")}},
		&machinev1alpha1.MachineClass{
			ObjectMeta: meta, Provider: "OpenStack", ProviderSpec: runtime.RawExtension{Raw: raw},
			SecretRef:            &corev1.SecretReference{Namespace: shoot.Name, Name: name},
			CredentialsSecretRef: &corev1.SecretReference{Namespace: shoot.Name, Name: seed.Credentials},
		},
	}
}

func deploymentOf(shoot *seed.Shoot, class string, replicas int32) *machinev1alpha1.MachineDeployment {
	labels := map[string]string{"name": "pool"}
	return &machinev1alpha1.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Name, Name: "pool"},
		Spec: machinev1alpha1.MachineDeploymentSpec{
			Replicas: replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, RevisionHistoryLimit: ptr.To[int32](0),
			Strategy: machinev1alpha1.MachineDeploymentStrategy{
				Type: machinev1alpha1.RollingUpdateMachineDeploymentStrategyType,
				RollingUpdate: &machinev1alpha1.RollingUpdateMachineDeployment{UpdateConfiguration: machinev1alpha1.UpdateConfiguration{
					MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0)),
				}},
			},
			Template: machinev1alpha1.MachineTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       machinev1alpha1.MachineSpec{Class: machinev1alpha1.ClassSpec{Kind: "MachineClass", Name: class}},
			},
		},
	}
}

// pooled creates a shoot with a machine deployment.
func pooled(ctx context.Context, name string, replicas int32) (*seed.Shoot, *machinev1alpha1.MachineDeployment) {
	GinkgoHelper()
	shoot, err := s.NewShoot(ctx, name, seed.ShootOptions{Profile: &v1beta1.CloudProfile{}})
	Expect(err).NotTo(HaveOccurred())
	create(ctx, classOf(shoot, "class-1", "image-1")...)
	deployment := deploymentOf(shoot, "class-1", replicas)
	create(ctx, deployment)
	return shoot, deployment
}

func create(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		Expect(s.Client().Create(ctx, object)).To(Succeed())
	}
}

// expectImages waits until all machines of a shoot run, and boot these images.
func expectImages(ctx context.Context, shoot *seed.Shoot, images ...string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) []string {
		machines, err := shoot.Machines(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		var booted []string
		for _, m := range machines {
			g.Expect(m.Phase).To(Equal(machinev1alpha1.MachineRunning), "%+v", m)
			booted = append(booted, m.Image)
		}
		return booted
	}).Should(ConsistOf(images))
}

func set(ctx context.Context, d *machinev1alpha1.MachineDeployment, change func()) {
	GinkgoHelper()
	patch := client.MergeFrom(d.DeepCopy())
	change()
	Expect(s.Client().Patch(ctx, d, patch)).To(Succeed())
}

var _ = Describe("A seed", func() {
	It("makes machines, replaces them and takes them away", func(ctx SpecContext) {
		shoot, deployment := pooled(ctx, "shoot--seed--roll", 2)
		expectImages(ctx, shoot, "image-1", "image-1")

		By("scaling up")
		set(ctx, deployment, func() { deployment.Spec.Replicas = 3 })
		expectImages(ctx, shoot, "image-1", "image-1", "image-1")

		By("rolling")
		create(ctx, classOf(shoot, "class-2", "image-2")...)
		set(ctx, deployment, func() { deployment.Spec.Template.Spec.Class.Name = "class-2" })
		expectImages(ctx, shoot, "image-2", "image-2", "image-2")

		By("scaling down")
		set(ctx, deployment, func() { deployment.Spec.Replicas = 1 })
		expectImages(ctx, shoot, "image-2")

		By("deleting it")
		Expect(s.Client().Delete(ctx, deployment)).To(Succeed())
		expectImages(ctx, shoot)
		nodes := &corev1.NodeList{}
		Expect(s.Client().List(ctx, nodes)).To(Succeed())
		for _, node := range nodes.Items {
			Expect(node.Spec.ProviderID).NotTo(HavePrefix("seed:///" + shoot.Name + "/"))
		}
	})

	It("refuses machines when asked to", func(ctx SpecContext) {
		shoot, err := s.NewShoot(ctx, "shoot--seed--fail", seed.ShootOptions{Profile: &v1beta1.CloudProfile{}})
		Expect(err).NotTo(HaveOccurred())
		Expect(shoot.Fail(ctx, seed.Failures{Images: map[string]string{"image-1": "Image image-1 could not be found"}})).To(Succeed())
		create(ctx, classOf(shoot, "class-1", "image-1")...)
		create(ctx, deploymentOf(shoot, "class-1", 2))
		expectMessage := func(text string) {
			GinkgoHelper()
			Eventually(ctx, func(g Gomega) {
				machines, err := shoot.Machines(ctx)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(machines).To(ContainElement(HaveField("Message", ContainSubstring(text))))
			}).Should(Succeed())
		}
		expectMessage("Image image-1 could not be found")

		By("a quota")
		Expect(shoot.Fail(ctx, seed.Failures{Quota: ptr.To(1)})).To(Succeed())
		expectMessage("Quota exceeded for instances: 1 allowed")
		Expect(shoot.Fail(ctx, seed.Failures{})).To(Succeed())
		expectImages(ctx, shoot, "image-1", "image-1")
	})

	It("refuses machine classes that OpenStack could not use", func(ctx SpecContext) {
		shoot, err := s.NewShoot(ctx, "shoot--seed--class", seed.ShootOptions{Profile: &v1beta1.CloudProfile{}})
		Expect(err).NotTo(HaveOccurred())
		objects := classOf(shoot, "class-1", "")
		create(ctx, objects...)
		create(ctx, deploymentOf(shoot, "class-1", 1))
		Eventually(ctx, func(g Gomega) {
			machines, err := shoot.Machines(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(machines).To(ConsistOf(HaveField("Message", ContainSubstring("the providerSpec has 0 of spec.imageID, spec.imageName"))))
		}).Should(Succeed())
	})

	It("leaves the machines alone while machine-controller-manager is scaled down", func(ctx SpecContext) {
		shoot, deployment := pooled(ctx, "shoot--seed--off", 1)
		expectImages(ctx, shoot, "image-1")
		Expect(shoot.ScaleManager(ctx, 0)).To(Succeed())
		other, second := pooled(ctx, "shoot--seed--on", 1) // by the time this one has machines, the first could have had some, too
		set(ctx, deployment, func() { deployment.Spec.Replicas = 3 })
		expectImages(ctx, other, "image-1")
		set(ctx, second, func() { second.Spec.Replicas = 2 })
		expectImages(ctx, other, "image-1", "image-1")
		machines, err := shoot.Machines(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(machines).To(HaveLen(1))

		By("scaling it up again")
		Expect(shoot.ScaleManager(ctx, 1)).To(Succeed())
		expectImages(ctx, shoot, "image-1", "image-1", "image-1")
	})
})
