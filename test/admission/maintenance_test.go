// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/suite"
)

// release is an image version of a profile. By default it has images in both regions, with and without trusted launch.
type release struct {
	version string
	// only names the only region with an image. If it is empty, both have one.
	only string
	// untrusted omits the flavor for trusted launch.
	untrusted bool
	change    func(*v1beta1.MachineImageVersion)
}

// image is a machine image, used by the worker pool of the same name. want is the version that maintenance must leave the pool on.
type image struct {
	strategy v1beta1.MachineImageUpdateStrategy
	releases []release
	pool     func(*v1beta1.Worker)
	want     string
}

func classified(as v1beta1.VersionClassification) func(*v1beta1.MachineImageVersion) {
	return func(v *v1beta1.MachineImageVersion) {
		v.Classification = &as //nolint:staticcheck // as people write it
	}
}

// expireFirst returns a change that expires the first version of the images.
func expireFirst(images ...string) func(*v1beta1.CloudProfile) {
	return func(p *v1beta1.CloudProfile) {
		for _, image := range p.Spec.MachineImages {
			if slices.Contains(images, image.Name) {
				before := metav1.NewTime(time.Now().Add(-time.Hour))
				image.Versions[0].ExpirationDate = &before //nolint:staticcheck // as people write it
			}
		}
	}
}

func forKubelet(constraint string) func(*v1beta1.MachineImageVersion) {
	return func(v *v1beta1.MachineImageVersion) { v.KubeletVersionConstraint = &constraint }
}

func withGVisor(v *v1beta1.MachineImageVersion) {
	v.CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD, ContainerRuntimes: []v1beta1.ContainerRuntime{{Type: "gvisor"}}}}
}

func inPlaceFrom(version string) func(*v1beta1.MachineImageVersion) {
	return func(v *v1beta1.MachineImageVersion) {
		v.InPlaceUpdates = &v1beta1.InPlaceUpdates{Supported: true, MinVersionForUpdate: &version}
	}
}

func asksForLaunch(w *v1beta1.Worker) {
	w.ProviderConfig = trusting("", "").Spec.Provider.Workers[0].ProviderConfig
}

// poolImages returns images, each named after the reason it tests. In each, Gardener would choose a version that the worker
// pool cannot boot, because it has an image in asia only, or none for trusted launch.
func poolImages() map[string]image {
	const patch, minor, major = v1beta1.UpdateStrategyPatch, v1beta1.UpdateStrategyMinor, v1beta1.UpdateStrategyMajor
	gap := func(version string) release { return release{version: version, only: "asia"} }
	is := func(version string) release { return release{version: version} }
	with := func(version string, change func(*v1beta1.MachineImageVersion)) release {
		return release{version: version, change: change}
	}
	launch := release{version: "1.1.0", untrusted: true}
	gapWith := func(version string, change func(*v1beta1.MachineImageVersion)) release {
		return release{version: version, only: "asia", change: change}
	}
	return map[string]image{
		"ledger":     {minor, []release{is("1.0.0"), launch}, asksForLaunch, "1.0.0"},
		"web":        {minor, []release{is("1.0.0"), launch}, unchangedWorker, "1.1.0"},
		"patch":      {patch, []release{is("1.0.0"), is("1.0.1"), gap("1.0.2"), is("1.1.0")}, unchangedWorker, "1.0.1"},
		"minor":      {minor, []release{is("1.0.0"), is("1.1.0"), gap("1.2.0"), is("2.0.0")}, unchangedWorker, "1.1.0"},
		"major":      {major, []release{is("1.0.0"), is("2.0.0"), gap("3.0.0")}, unchangedWorker, "2.0.0"},
		"deprecated": {minor, []release{is("1.0.0"), with("1.1.0", classified("deprecated")), gap("1.2.0")}, unchangedWorker, "1.1.0"},
		"preview":    {minor, []release{is("1.0.0"), with("1.1.0", classified("preview")), gap("1.2.0")}, unchangedWorker, "1.0.0"},
		"expired":    {patch, []release{is("1.0.0"), is("1.1.0"), gap("1.1.1")}, unchangedWorker, "1.1.0"},
		"stuck":      {patch, []release{is("1.0.0"), gap("1.1.1")}, unchangedWorker, "1.0.0"},
		// Kubernetes is updated to 1.33.3 at the same time.
		"kubelet": {minor, []release{
			is("1.0.0"), is("1.1.0"), with("1.2.0", forKubelet("< 1.33.3")), gap("1.3.0"),
		}, unchangedWorker, "1.1.0"},
		"runtime": {minor, []release{
			with("1.0.0", withGVisor), with("1.1.0", withGVisor), is("1.2.0"), gapWith("1.3.0", withGVisor),
		}, func(w *v1beta1.Worker) {
			w.CRI = &v1beta1.CRI{Name: v1beta1.CRINameContainerD, ContainerRuntimes: []v1beta1.ContainerRuntime{{Type: "gvisor"}}}
		}, "1.1.0"},
		"in-place": {minor, []release{
			with("1.0.0", inPlaceFrom("1.0.0")), with("1.1.0", inPlaceFrom("1.0.0")), with("1.2.0", inPlaceFrom("1.1.5")),
			gapWith("1.3.0", inPlaceFrom("1.0.0")),
		}, func(w *v1beta1.Worker) { w.UpdateStrategy = ptr.To(v1beta1.AutoInPlaceUpdate) }, "1.1.0"},
	}
}

func unchangedWorker(*v1beta1.Worker) {}

// offering returns a CloudProfile with the images. Each image version has a flavor without trusted launch, and one for it
// unless untrusted is set.
func offering(name string, images map[string]image) *v1beta1.CloudProfile {
	GinkgoHelper()
	profile := launching(name)
	spec := &profile.Spec
	spec.Regions = append(spec.Regions, v1beta1.Region{Name: "asia", Zones: []v1beta1.AvailabilityZone{{Name: "asia-1a"}}})
	spec.Kubernetes.Versions = append(spec.Kubernetes.Versions, v1beta1.ExpirableVersion{Version: "1.33.3"})
	spec.MachineImages = nil
	var configs []any
	for image, offered := range images {
		core := v1beta1.MachineImage{Name: image, UpdateStrategy: &offered.strategy}
		var versions []any
		for _, r := range offered.releases {
			version, config := r.describe()
			core.Versions = append(core.Versions, version)
			versions = append(versions, config)
		}
		spec.MachineImages = append(spec.MachineImages, core)
		configs = append(configs, map[string]any{"name": image, "versions": versions})
	}
	edit(spec.ProviderConfig, replace("/machineImages", configs))
	return profile
}

// describe returns the release's entries in core and in the provider config.
func (r release) describe() (v1beta1.MachineImageVersion, map[string]any) {
	flavors := []v1beta1.Capabilities{{"architecture": {"amd64"}}, {"architecture": {"amd64"}, "openstack-trustedLaunch": {"enabled"}}}
	if r.untrusted {
		flavors = flavors[:1]
	}
	version := v1beta1.MachineImageVersion{CRI: []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}}
	version.Version = r.version
	var configs []any
	for _, flavor := range flavors {
		version.CapabilityFlavors = append(version.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: flavor})
		var regions []any
		for _, region := range []string{"europe", "asia"} {
			if r.only == "" || r.only == region {
				regions = append(regions, map[string]string{"name": region, "id": region + "-" + r.version})
			}
		}
		configs = append(configs, map[string]any{"capabilities": flavor, "regions": regions})
	}
	if r.change != nil {
		r.change(&version)
	}
	return version, map[string]any{"version": r.version, "capabilityFlavors": configs}
}

// using returns a Shoot with a worker pool for each image, which boots the image's first version.
func using(name, profile string, images map[string]image) *v1beta1.Shoot {
	GinkgoHelper()
	s := shootOf(root+"/example/shoot-trusted-launch.yaml", name, profile)
	pool := s.Spec.Provider.Workers[0]
	pool.ProviderConfig = nil
	s.Spec.Provider.Workers = nil
	for image, used := range images {
		worker := pool.DeepCopy()
		worker.Name = image
		worker.Machine.Image = &v1beta1.ShootMachineImage{Name: image, Version: &used.releases[0].version}
		used.pool(worker)
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *worker)
	}
	return s
}

// versionsOf returns the image version of each worker pool, and the Kubernetes version under the key kubernetes.
func versionsOf(s *v1beta1.Shoot) map[string]string {
	versions := map[string]string{"kubernetes": s.Spec.Kubernetes.Version}
	for _, w := range s.Spec.Provider.Workers {
		versions[w.Name] = *w.Machine.Image.Version
	}
	return versions
}

// registerTypes registers the operating systems of the images, and further resources.
func registerTypes(ctx context.Context, name string, images map[string]image, further ...v1beta1.ControllerResource) {
	GinkgoHelper()
	registration := &v1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Spec.Resources = further
	for image := range images {
		system := v1beta1.ControllerResource{Kind: "OperatingSystemConfig", Type: image}
		registration.Spec.Resources = append(registration.Spec.Resources, system)
	}
	create(ctx, registration)
}

// notesAbout returns the component's Events for a Shoot.
func notesAbout(ctx context.Context, s *v1beta1.Shoot) []string {
	GinkgoHelper()
	list := &eventsv1.EventList{}
	Expect(u.List(ctx, list, client.InNamespace(s.Namespace))).To(Succeed())
	var notes []string
	for _, e := range list.Items {
		if e.Regarding.UID == s.UID && e.ReportingController == "gardener-extension-admission-openstack" {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

var _ = Describe("Maintenance", func() {
	It("updates each worker pool to the newest version that it boots", func(ctx SpecContext) {
		all := poolImages()
		registerTypes(ctx, "maintained", all, v1beta1.ControllerResource{Kind: "ContainerRuntime", Type: "gvisor"})
		profile := offering("maintained", all)
		create(ctx, profile)
		s := using("maintained", "maintained", all)
		create(ctx, s)
		DeferCleanup(destroy, s)
		Expect(change(ctx, profile, expireFirst("expired", "stuck"))).To(Succeed())
		want := map[string]string{"kubernetes": "1.33.3"}
		for name, image := range all {
			want[name] = image.want
		}
		Eventually(ctx, func(g Gomega) { // once every server has seen the profile
			last := suite.Maintain(ctx, u, s)
			g.Expect(last.FailureReason).To(BeNil(), "%v", last)
			g.Expect(versionsOf(s)).To(Equal(want))
		}).Should(Succeed())
		Eventually(ctx, notesAbout).WithArguments(s).Should(ContainElement(And(
			HavePrefix("worker pools that cannot have what maintenance chose: "),
			ContainSubstring("ledger stays on ledger@1.0.0 instead of 1.1.0"),
			ContainSubstring("minor is updated to minor@1.1.0 instead of 1.2.0"))))
		By("maintaining it once more, which changes nothing")
		suite.Maintain(ctx, u, s)
		Expect(versionsOf(s)).To(Equal(want))
	})
})

var _ = Describe("Maintenance", Ordered, ContinueOnFailure, func() {
	// The newest version has an image in asia only, and the Shoots are in europe.
	const name = "kept"
	offered := map[string]image{name: {v1beta1.UpdateStrategyMinor, []release{
		{version: "1.0.0"}, {version: "1.1.0"}, {version: "1.2.0", only: "asia"},
	}, unchangedWorker, ""}}
	var profile *v1beta1.CloudProfile

	BeforeAll(func(ctx SpecContext) {
		registerTypes(ctx, name, offered)
		profile = offering(name, offered)
		create(ctx, profile)
	})

	// maintained creates a Shoot, triggers its maintenance, and returns it.
	maintained := func(ctx SpecContext, name string, change func(*v1beta1.Shoot)) *v1beta1.Shoot {
		GinkgoHelper()
		s := using(name, "kept", offered)
		change(s)
		create(ctx, s)
		DeferCleanup(destroy, s)
		last := suite.Maintain(ctx, u, s)
		Expect(last.FailureReason).To(BeNil(), "%v", last)
		return s
	}

	It("goes on for a hibernated Shoot", func(ctx SpecContext) {
		s := maintained(ctx, "kept-hibernated", hibernate)
		Expect(versionsOf(s)).To(HaveKeyWithValue("kept", "1.1.0"))
	})

	It("asks for the profile that a NamespacedCloudProfile makes", func(ctx SpecContext) {
		child := &v1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "kept", Namespace: "garden-demo"}}
		child.Spec.Parent = v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "kept"}
		version, config := release{version: "1.3.0", only: "asia"}.describe()
		child.Spec.MachineImages = []v1beta1.MachineImage{{Name: name, Versions: []v1beta1.MachineImageVersion{version}}}
		child.Spec.ProviderConfig = profile.Spec.ProviderConfig.DeepCopy()
		edit(child.Spec.ProviderConfig, remove("/keystoneURL"), remove("/constraints"),
			replace("/machineImages", []any{map[string]any{"name": name, "versions": []any{config}}}))
		create(ctx, child)
		s := using("kept-namespaced", "kept", offered)
		s.Spec.CloudProfile.Kind = "NamespacedCloudProfile"
		create(ctx, s)
		DeferCleanup(destroy, s)
		Eventually(ctx, func(g Gomega) { // once Gardener has rendered the profile
			suite.Maintain(ctx, u, s)
			g.Expect(versionsOf(s)).To(HaveKeyWithValue("kept", "1.1.0"))
			notes := notesAbout(ctx, s)
			g.Expect(notes).To(ContainElement(ContainSubstring("worker pool kept is updated to kept@1.1.0: maintenance chose kept@1.3.0, but no image fits")))
		}).Should(Succeed())
	})

	// announce makes the newest version a preview, and then a supported one.
	announce := func(ctx SpecContext) []string {
		GinkgoHelper()
		newest := func(p *v1beta1.CloudProfile) *v1beta1.MachineImageVersion {
			return &p.Spec.MachineImages[0].Versions[2]
		}
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { classified("preview")(newest(p)) })).To(Succeed())
		Expect(u.Heard()).NotTo(ContainElement(ContainSubstring("maintenance")))
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { classified("supported")(newest(p)) })).To(Succeed())
		return u.Heard()
	}

	It("is foretold to the operator, and is what was foretold", func(ctx SpecContext) {
		s := using("kept-foretold", name, offered)
		create(ctx, s)
		DeferCleanup(destroy, s)
		Eventually(announce).WithContext(ctx).Should(ContainElement(And( // once the component knows the Shoot
			ContainSubstring("kept@1.2.0: Gardener's maintenance would choose it for worker pools of Shoot garden-demo/kept-foretold (1 pool), "+
				"but they cannot boot it: worker pool kept: no image fits machine type medium_4_8 with kept@1.2.0 in region europe"),
			ContainSubstring("; they are updated to 1.1.0 instead;"))))
		Expect(change(ctx, s, ofPool(0, setVersion("1.1.0")))).To(Succeed())
		Eventually(announce).WithContext(ctx).Should(ContainElement(ContainSubstring("; they stay on the versions that they have;")))
		Eventually(ctx, func(g Gomega) { // once Gardener has seen the profile
			last := suite.Maintain(ctx, u, s)
			g.Expect(last.FailureReason).To(BeNil(), "%v", last)
			g.Expect(notesAbout(ctx, s)).To(ContainElement(HavePrefix("worker pool kept stays on kept@1.1.0: maintenance chose kept@1.2.0")))
		}).Should(Succeed())
		Expect(versionsOf(s)).To(HaveKeyWithValue("kept", "1.1.0"))
	})

	It("updates no image where that is switched off", func(ctx SpecContext) {
		s := maintained(ctx, "kept-off", func(s *v1beta1.Shoot) {
			s.Spec.Maintenance.AutoUpdate = &v1beta1.MaintenanceAutoUpdate{
				KubernetesVersion: true, MachineImageVersion: ptr.To(false),
			}
		})
		Expect(versionsOf(s)).To(HaveKeyWithValue("kept", "1.0.0"))
		Expect(notesAbout(ctx, s)).To(BeEmpty())
	})

	It("is nobody's but Gardener's: what a user names is refused", func(ctx SpecContext) {
		s := using("kept-user", name, offered)
		create(ctx, s)
		DeferCleanup(destroy, s)
		Expect(change(ctx, s, ofPool(0, setVersion("1.2.0")))).To(beRefusedAt("spec.provider.workers[0].machine.type"))
		Expect(change(ctx, s, ofPool(0, setVersion("1.1.0")))).To(Succeed())
	})

	It("fails as a whole without the webhook or the component, and writes nothing, and is done later", func(ctx SpecContext) {
		s := using("kept-later", name, offered)
		create(ctx, s)
		DeferCleanup(destroy, s)
		before := versionsOf(s)
		By("switching the webhook off")
		Expect(process.Stop(ctx)).To(Succeed())
		serve(ctx, "--disable-webhooks=mutate-shoot")
		Eventually(announce).WithContext(ctx).Should(ContainElement(And(
			ContainSubstring("kept-later (1 pool), but they cannot boot it"),
			ContainSubstring("; the maintenance of these Shoots then fails as a whole;"))))
		last := suite.Maintain(ctx, u, s)
		Expect(*last.FailureReason).To(ContainSubstring("no image fits machine type medium_4_8 with kept@1.2.0 in region europe"))
		Expect(versionsOf(s)).To(Equal(before))
		By("stopping the component")
		Expect(process.Stop(ctx)).To(Succeed())
		broken := &v1beta1.Shoot{}
		Expect(u.Get(ctx, client.ObjectKeyFromObject(s), broken)).To(Succeed())
		broken.Labels = map[string]string{"a": "b"}
		Expect(u.Update(ctx, broken)).To(MatchError(ContainSubstring("failed calling webhook")))
		By("starting it again, with the webhook")
		serve(ctx)
		Eventually(ctx, func(g Gomega) { // once the API server calls the webhook again
			suite.Maintain(ctx, u, s)
			g.Expect(versionsOf(s)).To(Equal(map[string]string{"kept": "1.1.0", "kubernetes": "1.33.3"}))
		}).Should(Succeed())
	})
})

// Without capabilities such a Shoot can still be updated. With capabilities the profile locks it, see lock_test.go.
var _ = Describe("Maintenance of a Shoot with a machine type that is gone", func() {
	It("ends at that worker pool, and goes on where it ended once the machine type is back", func(ctx SpecContext) {
		offered := map[string]image{"gone": {v1beta1.UpdateStrategyMinor, []release{
			{version: "1.0.0"}, {version: "1.1.0"}, {version: "1.2.0", only: "asia"},
		}, unchangedWorker, ""}}
		registerTypes(ctx, "gone", offered)
		profile := offering("gone", offered)
		withoutCapabilities(profile)
		create(ctx, profile)
		s := using("gone", "gone", offered)
		for i, name := range []string{"before", "on-it", "after"} {
			worker := s.Spec.Provider.Workers[0].DeepCopy()
			worker.Name = name
			if i == 1 {
				worker.Machine.Type = "old_8_16"
			}
			s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *worker)
		}
		s.Spec.Provider.Workers = s.Spec.Provider.Workers[1:]
		create(ctx, s)
		DeferCleanup(destroy, s)
		types := slices.Clone(profile.Spec.MachineTypes)
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.MachineTypes = slices.DeleteFunc(p.Spec.MachineTypes, func(t v1beta1.MachineType) bool { return t.Name == "old_8_16" })
		})).To(Succeed())
		ended := map[string]string{"before": "1.1.0", "on-it": "1.0.0", "after": "1.0.0", "kubernetes": "1.33.3"}
		Eventually(ctx, func(g Gomega) { // once every server has seen the profile
			suite.Maintain(ctx, u, s)
			g.Expect(versionsOf(s)).To(Equal(ended))
		}).Should(Succeed())
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Spec.MachineTypes = types })).To(Succeed())
		ended["on-it"], ended["after"] = "1.1.0", "1.1.0"
		Eventually(ctx, func(g Gomega) {
			last := suite.Maintain(ctx, u, s)
			g.Expect(last.FailureReason).To(BeNil(), "%v", last)
			g.Expect(versionsOf(s)).To(Equal(ended))
		}).Should(Succeed())
	})
})

// withoutCapabilities turns a profile with one image into the legacy format.
func withoutCapabilities(profile *v1beta1.CloudProfile) {
	GinkgoHelper()
	spec := &profile.Spec
	spec.MachineCapabilities = nil
	for i := range spec.MachineTypes {
		spec.MachineTypes[i].Capabilities = nil
	}
	for i := range spec.MachineImages[0].Versions {
		v := &spec.MachineImages[0].Versions[i]
		v.CapabilityFlavors, v.Architectures = nil, []string{"amd64"}
		edit(spec.ProviderConfig, operation{Op: "move", From: flavorAt(i, 0) + "/regions", Path: versionAt(i) + "/regions"},
			remove(versionAt(i)+"/capabilityFlavors"))
	}
}

var _ = Describe("An image that is left to Gardener", Ordered, ContinueOnFailure, func() {
	// The newest version has an image in asia only, and the Shoots are in europe.
	offered := map[string]image{
		"left": {v1beta1.UpdateStrategyMinor, []release{{version: "1.0.0"}, {version: "1.1.0", only: "asia"}}, unchangedWorker, ""},
	}

	BeforeAll(func(ctx SpecContext) {
		registerTypes(ctx, "left", offered)
		create(ctx, offering("left", offered))
	})

	// leaving returns a Shoot with one worker pool that specifies this image.
	leaving := func(name string, image *v1beta1.ShootMachineImage) *v1beta1.Shoot {
		s := using(name, "left", offered)
		s.Spec.Provider.Workers[0].Machine.Image = image
		return s
	}
	imageOf := func(s *v1beta1.Shoot, pool int) string {
		image := s.Spec.Provider.Workers[pool].Machine.Image
		return image.Name + "@" + *image.Version
	}
	const corrected = "worker pool left gets left@1.0.0: Gardener chose left@1.1.0, but no image fits machine type "
	none, named := (*v1beta1.ShootMachineImage)(nil), &v1beta1.ShootMachineImage{Name: "left"}

	DescribeTable("is one that boots, however the Shoot is created",
		func(ctx SpecContext, name string, image *v1beta1.ShootMachineImage, write func(context.Context, *v1beta1.Shoot) error) {
			s := leaving(name, image)
			Expect(write(ctx, s)).To(Succeed())
			DeferCleanup(destroy, s)
			Expect(u.Get(ctx, client.ObjectKeyFromObject(s), s)).To(Succeed())
			Expect(imageOf(s, 0)).To(Equal("left@1.0.0"))
		},
		Entry("POST, no image", "left-post", none, func(ctx context.Context, s *v1beta1.Shoot) error {
			err := u.Create(ctx, s)
			Expect(u.Heard()).To(ContainElement(ContainSubstring(corrected)))
			return err
		}),
		Entry("kubectl apply", "left-apply", none, func(ctx context.Context, s *v1beta1.Shoot) error { return apply(ctx, s) }),
		Entry("kubectl apply, no version", "left-apply-named", named, func(ctx context.Context, s *v1beta1.Shoot) error { return apply(ctx, s) }),
		Entry("server-side apply", "left-ssa", none, func(ctx context.Context, s *v1beta1.Shoot) error {
			return apply(ctx, s, "--server-side")
		}),
		Entry("server-side apply, no version", "left-ssa-named", named, func(ctx context.Context, s *v1beta1.Shoot) error {
			return apply(ctx, s, "--server-side")
		}),
	)

	DescribeTable("is one that boots, however a worker pool is added",
		func(ctx SpecContext, name string, write func(context.Context, *v1beta1.Shoot) error) {
			s := leaving(name, &v1beta1.ShootMachineImage{Name: "left", Version: ptr.To("1.0.0")})
			Expect(apply(ctx, s)).To(Succeed())
			DeferCleanup(destroy, s)
			Expect(write(ctx, s)).To(Succeed())
			Expect(u.Get(ctx, client.ObjectKeyFromObject(s), s)).To(Succeed())
			Expect(s.Spec.Provider.Workers).To(HaveLen(2))
			Expect(imageOf(s, 1)).To(Equal("left@1.0.0"))
		},
		Entry("PUT", "left-put", func(ctx context.Context, s *v1beta1.Shoot) error {
			return change(ctx, s, addPool("more", withoutImage))
		}),
		Entry("merge patch", "left-merge", func(ctx context.Context, s *v1beta1.Shoot) error {
			Expect(u.Get(ctx, client.ObjectKeyFromObject(s), s)).To(Succeed())
			before := s.DeepCopy()
			addPool("more", withoutImage)(s)
			return u.Patch(ctx, s, client.MergeFrom(before))
		}),
		Entry("kubectl apply", "left-apply-more", func(ctx context.Context, s *v1beta1.Shoot) error {
			addPool("more", withoutImage)(s)
			return apply(ctx, s)
		}),
		Entry("server-side apply", "left-ssa-more", func(ctx context.Context, s *v1beta1.Shoot) error {
			addPool("more", withoutImage)(s)
			return apply(ctx, s, "--server-side", "--force-conflicts")
		}),
	)

	It("is one that boots, if kubectl apply begins its version", func(ctx SpecContext) {
		s := leaving("left-partial", &v1beta1.ShootMachineImage{Name: "left", Version: ptr.To("v1")})
		Expect(apply(ctx, s)).To(Succeed())
		DeferCleanup(destroy, s)
		Expect(u.Get(ctx, client.ObjectKeyFromObject(s), s)).To(Succeed())
		Expect(imageOf(s, 0)).To(Equal("left@1.0.0"))
	})

	// The API server records that the request has a version, but not which one. It records an omitted version as an empty one.
	DescribeTable("is not touched if that cannot be told from what the user names",
		func(ctx SpecContext, version *string, write func(context.Context, *v1beta1.Shoot) error) {
			s := leaving("left-explicit", &v1beta1.ShootMachineImage{Name: "left", Version: version})
			Expect(write(ctx, s)).To(MatchError(And(
				ContainSubstring("spec.provider.workers[0].machine.type"), ContainSubstring("would work: version 1.0.0"))))
		},
		Entry("POST, a version", ptr.To("1.1.0"), func(ctx context.Context, s *v1beta1.Shoot) error { return u.Create(ctx, s) }),
		Entry("POST, a part of it", ptr.To("1"), func(ctx context.Context, s *v1beta1.Shoot) error { return u.Create(ctx, s) }),
		Entry("POST, no version", nil, func(ctx context.Context, s *v1beta1.Shoot) error { return u.Create(ctx, s) }),
		Entry("kubectl apply, a version", ptr.To("1.1.0"), func(ctx context.Context, s *v1beta1.Shoot) error { return apply(ctx, s) }),
		Entry("server-side apply, a version", ptr.To("1.1.0"), func(ctx context.Context, s *v1beta1.Shoot) error {
			return apply(ctx, s, "--server-side")
		}),
		Entry("server-side apply, a part of it", ptr.To("1"), func(ctx context.Context, s *v1beta1.Shoot) error {
			return apply(ctx, s, "--server-side")
		}),
	)
})

func withoutImage(w *v1beta1.Worker) { w.Machine.Image = nil }

// apply applies a Shoot with kubectl.
func apply(ctx context.Context, s *v1beta1.Shoot, args ...string) error {
	GinkgoHelper()
	manifest := s.DeepCopy()
	manifest.ManagedFields, manifest.ResourceVersion, manifest.UID = nil, "", ""
	manifest.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("Shoot"))
	content, err := yaml.Marshal(manifest)
	Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(GinkgoT().TempDir(), "shoot.yaml")
	Expect(os.WriteFile(file, content, 0o600)).To(Succeed())
	_, err = g.Kubectl(ctx, append([]string{"apply", "-f", file}, args...)...)
	return err
}
