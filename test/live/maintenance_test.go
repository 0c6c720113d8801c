// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/test/suite"
)

// scenario is an update of a profile, and its effect on the next maintenance of a Shoot.
type scenario struct {
	// strategy is the image's update strategy. The default is minor.
	strategy v1beta1.MachineImageUpdateStrategy
	// images and kubernetes are the versions of the image and of Kubernetes before and after the update, in the format of releases.
	// Versions stay if there are none after the update. The defaults are image version 1.0.0 and Kubernetes 1.33.2.
	images, kubernetes [2]string
	// pools are the worker pools of the Shoot as IMAGE VERSION or IMAGE VERSION/KUBERNETES VERSION. They are named web, db
	// and so on. The default is one pool with 1.0.0.
	pools []string
	// controlPlane is the Kubernetes version of the Shoot. The default is 1.33.2.
	controlPlane string
	// change changes the Shoot before it is created.
	change func(*v1beta1.Shoot)
	// want lists the changes of the Shoot as WHAT ACTION [VERSION], separated by commas. WHAT is a worker pool for its
	// image, kubernetes for the control plane, or POOL/kubernetes for a worker pool's Kubernetes version.
	want string
}

var poolNames = []string{"web", "db", "batch"}

// fates maps the owners of versions, as in scenario.want, to ACTION [VERSION].
type fates map[string]string

func (s *scenario) fates() fates {
	wanted := fates{}
	for _, text := range strings.Split(s.want, ", ") {
		if of, fate, found := strings.Cut(text, " "); found {
			wanted[of] = fate
		}
	}
	return wanted
}

func (f fates) add(of string, action maintenance.Action, to string) {
	switch action {
	case maintenance.Stays:
	case maintenance.Stuck, maintenance.Fails:
		f[of] = string(action)
	default:
		f[of] = string(action) + " " + to
	}
}

// onKubernetes returns the key of the Kubernetes version of a worker pool, or of the control plane if pool is empty.
func onKubernetes(pool string) string { return strings.TrimPrefix(pool+"/kubernetes", "/") }

// versions returns the versions of a Shoot after the changes.
func (f fates) versions(now map[string]string) map[string]string {
	then := map[string]string{}
	for of, version := range now {
		_, to, found := strings.Cut(f[of], " ")
		if then[of] = version; found {
			then[of] = to
		}
	}
	return then
}

// failing reports whether any version is stuck or fails.
func (f fates) failing() bool {
	for _, fate := range f {
		if !strings.Contains(fate, " ") {
			return true
		}
	}
	return false
}

// versionsOf returns the versions of a Shoot by owner.
func versionsOf(s *v1beta1.Shoot) map[string]string {
	versions := map[string]string{"kubernetes": s.Spec.Kubernetes.Version}
	for _, w := range s.Spec.Provider.Workers {
		versions[w.Name] = *w.Machine.Image.Version
		if w.Kubernetes != nil && w.Kubernetes.Version != nil {
			versions[onKubernetes(w.Name)] = *w.Kubernetes.Version
		}
	}
	return versions
}

// beacon is an image to which the profile's update adds a version. Its effect on a Shoot shows that Gardener has seen the update.
const beacon = "beta"

// profile returns the profile before or after the update. Its expiring versions expire at the given time.
func (s *scenario) profile(name string, updated bool, at time.Time) *v1beta1.CloudProfile {
	GinkgoHelper()
	i, seen := 0, "1.0.0"
	if updated {
		i, seen = 1, "1.0.0 2.0.0"
	}
	choose := func(of [2]string, none string) string {
		for _, text := range []string{of[i], of[0], none} {
			if text != "" {
				return text
			}
		}
		return ""
	}
	strategy := s.strategy
	if strategy == "" {
		strategy = v1beta1.UpdateStrategyMinor
	}
	return offering(name, offer{kubernetes: choose(s.kubernetes, "1.33.2"), images: []offeredImage{
		{"gardenlinux", strategy, choose(s.images, "1.0.0")}, {beacon, v1beta1.UpdateStrategyMajor, seen},
	}}, at)
}

// shoot returns the Shoot before the update.
func (s *scenario) shoot(name string) *v1beta1.Shoot {
	GinkgoHelper()
	shoot := shootOf(name, name)
	if s.controlPlane != "" {
		shoot.Spec.Kubernetes.Version = s.controlPlane
	}
	pools := s.pools
	if len(pools) == 0 {
		pools = []string{"1.0.0"}
	}
	first := shoot.Spec.Provider.Workers[0]
	shoot.Spec.Provider.Workers = nil
	for i, pool := range pools {
		worker := first.DeepCopy()
		version, kubelet, own := strings.Cut(pool, "/")
		worker.Name, worker.Machine.Image = poolNames[i], &v1beta1.ShootMachineImage{Name: "gardenlinux", Version: &version}
		if own {
			worker.Kubernetes = &v1beta1.WorkerKubernetes{Version: &kubelet}
		}
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, *worker)
	}
	if s.change != nil {
		s.change(shoot)
	}
	return shoot
}

// foretold returns the predictions of capkit maintenance for a Shoot.
func foretold(shoot string, args ...string) fates {
	GinkgoHelper()
	a := capkit(append([]string{"maintenance", "--webhook=false", "-o", "json"}, args...), "openstack")
	var answer struct {
		Pools, Kubernetes []struct {
			Shoot, Pool, To string
			Action          maintenance.Action
		}
	}
	Expect(json.Unmarshal([]byte(a.stdout), &answer)).To(Succeed(), a.stderr)
	found := fates{}
	for _, p := range answer.Pools {
		if p.Shoot == "garden-demo/"+shoot {
			found.add(p.Pool, p.Action, p.To)
		}
	}
	for _, k := range answer.Kubernetes {
		if k.Shoot == "garden-demo/"+shoot {
			found.add(onKubernetes(k.Pool), k.Action, k.To)
		}
	}
	return found
}

// plan has the predictions of capkit plan for a Shoot.
type plan struct {
	// then has the fates of its versions.
	then fates
	// moves has the versions of worker pools after the next maintenance that would differ without the update.
	moves map[string]string
}

// planned returns the predictions of capkit plan for a Shoot and an update of its profile.
func planned(shoot string, updated *v1beta1.CloudProfile) plan {
	GinkgoHelper()
	a := capkit([]string{"plan", "--webhook=false", "-o", "json", "-A", "--kubeconfig", g.Kubeconfig(), written(updated)}, "openstack")
	var answer struct{ Changes []changes.Change }
	Expect(json.Unmarshal([]byte(a.stdout), &answer)).To(Succeed(), a.stderr)
	found := plan{fates{}, map[string]string{}}
	for _, c := range answer.Changes {
		for _, f := range c.Then {
			of := f.Pool
			if c.Kind == changes.Kubernetes {
				of = onKubernetes(f.Pool)
			}
			if f.Shoot != "garden-demo/"+shoot {
				continue
			}
			Expect(found.then).NotTo(HaveKey(of), "said twice")
			found.then.add(of, f.Action, f.To)
		}
		for _, pool := range c.Pools {
			if c.Kind == changes.WillUpdate && pool.Shoot == "garden-demo/"+shoot {
				found.moves[pool.Name] = fmt.Sprint(cmp.Or(c.To, c.From)) // without To, the pools keep the version
			}
		}
	}
	return found
}

// agrees requires that a plan predicts the Shoot's changes, as far as they differ from those without the update. A plan may
// omit versions that only stay because of the update, and images if the maintenance fails.
func (p plan) agrees(want, without fates, now map[string]string) {
	GinkgoHelper()
	then := want.versions(now)
	for of, fate := range p.then {
		Expect(fate).To(Equal(want[of]), of)
	}
	for of, fate := range want {
		if fate == "stuck" || fate == "fails" && strings.HasSuffix(of, "kubernetes") {
			Expect(p.then).To(HaveKey(of))
		}
	}
	for pool, to := range p.moves {
		Expect(to).To(Equal(then[pool]), pool)
	}
	for of, version := range without.versions(now) {
		_, said := p.then[of]
		if _, moves := p.moves[of]; !said && !moves {
			Expect(then[of]).To(BeElementOf(version, now[of]), "%s is not in the plan: %v", of, p)
		}
	}
}

// dated returns the fates of the versions that get an expiration date.
func (s *scenario) dated(want fates, now map[string]string) fates {
	found := fates{}
	for of, version := range now {
		all := s.images[1]
		if strings.HasSuffix(of, "kubernetes") {
			all = s.kubernetes[1]
		}
		if slices.Contains(strings.Fields(all), version+":expired") {
			found[of] = want[of]
		}
	}
	return found
}

func images(before, after string) [2]string { return [2]string{before, after} }

// autoUpdates returns a Shoot change that sets the automatic updates of images and Kubernetes.
func autoUpdates(images, kubernetes bool) func(*v1beta1.Shoot) {
	return func(s *v1beta1.Shoot) {
		s.Spec.Maintenance.AutoUpdate = &v1beta1.MaintenanceAutoUpdate{MachineImageVersion: &images, KubernetesVersion: kubernetes}
	}
}

func withGVisor(s *v1beta1.Shoot) {
	s.Spec.Provider.Workers[0].CRI = &v1beta1.CRI{
		Name: v1beta1.CRINameContainerD, ContainerRuntimes: []v1beta1.ContainerRuntime{{Type: "gvisor"}},
	}
}

// This garden has no webhook of capkit, so everything is Gardener's own behavior.
var _ = Describe("What becomes of versions is what maintenance and plan say:", func() {
	const patch, major = v1beta1.UpdateStrategyPatch, v1beta1.UpdateStrategyMajor
	number := 0

	DescribeTable("if", func(ctx SpecContext, sc scenario) {
		number++
		name := fmt.Sprint("fate-", number)
		past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		profile, s := sc.profile(name, false, past), sc.shoot(name)
		create(ctx, profile)
		create(ctx, s)
		sees := shootOf(name+"-sees", name)
		sees.Spec.Kubernetes.Version = s.Spec.Kubernetes.Version
		sees.Spec.Provider.Workers[0].Machine.Image = &v1beta1.ShootMachineImage{Name: beacon, Version: ptr.To("1.0.0")}
		create(ctx, sees)
		cluster := []string{"-n", "garden-demo", "--kubeconfig", g.Kubeconfig()}
		want, now := sc.fates(), versionsOf(s)

		without := foretold(name, cluster...)
		updated, announced := sc.profile(name, true, past), sc.profile(name, true, future)
		soon, ahead := planned(name, updated), planned(name, announced)
		later := foretold(name, "--at", future.Add(time.Minute).Format(time.RFC3339), written(announced), written(s))

		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Spec = updated.Spec })).To(Succeed())
		Eventually(ctx, func() string {
			suite.Maintain(ctx, g.Client(), sees)
			return *sees.Spec.Provider.Workers[0].Machine.Image.Version
		}).Should(Equal("2.0.0"), "once Gardener has seen the update")
		then := foretold(name, cluster...)
		last := suite.Maintain(ctx, g.Client(), s)

		failure := ""
		if last != nil {
			failure = ptr.Deref(last.FailureReason, "")
		}
		Expect(versionsOf(s)).To(Equal(want.versions(now)), failure)
		if want.failing() {
			Expect(failure).NotTo(BeEmpty())
		} else {
			Expect(failure).To(BeEmpty())
		}
		By("comparing what was said")
		mentioned := maps.Clone(want)
		maps.DeleteFunc(mentioned, func(of, fate string) bool { // maintenance reports the failure with the worker pools
			return strings.HasSuffix(of, "kubernetes") && fate == "fails"
		})
		Expect(then).To(Equal(mentioned), "maintenance")
		Expect(later).To(Equal(mentioned), "maintenance --at")
		soon.agrees(want, without, now)
		for of, fate := range sc.dated(want, now) {
			Expect(ahead.then).To(HaveKeyWithValue(of, fate), "once the date has come")
		}
		for of, fate := range ahead.then {
			Expect(fate).To(Equal(want[of]), of)
		}
	},
		// Images.
		Entry("a version expires, and there is a newer one", scenario{
			images: images("1.0.0 1.1.0", "1.0.0:expired 1.1.0"), want: "web forced 1.1.0",
		}),
		Entry("a version expires that is alone", scenario{images: images("1.0.0", "1.0.0:expired"), want: "web stuck"}),
		Entry("a version expires, and only a preview is newer", scenario{
			images: images("1.0.0 1.1.0:preview", "1.0.0:expired 1.1.0:preview"), want: "web stuck",
		}),
		Entry("a version expires, and only a deprecated one is newer", scenario{
			images: images("1.0.0 1.1.0:deprecated", "1.0.0:expired 1.1.0:deprecated"), want: "web forced 1.1.0",
		}),
		Entry("a version expires, and only an older one is left", scenario{
			images: images("0.9.0 1.0.0", "0.9.0 1.0.0:expired"), want: "web stuck",
		}),
		Entry("a version expires, and the newer one is for another architecture", scenario{
			images: images("1.0.0 1.1.0:arm", "1.0.0:expired 1.1.0:arm"), want: "web stuck",
		}),
		Entry("a version expires, and the newer one is for bare metal", scenario{
			images: images("1.0.0 1.1.0:bare", "1.0.0:expired 1.1.0:bare"), want: "web stuck",
		}),
		Entry("a version expires, and the newer one has no image in the region, which Gardener does not look at", scenario{
			images: images("1.0.0 1.1.0:asia", "1.0.0:expired 1.1.0:asia"), want: "web forced 1.1.0",
		}),
		Entry("a version expires, and the newer one is not for the kubelet", scenario{
			images: images("1.0.0 1.1.0:kubelet>1.33.2", "1.0.0:expired 1.1.0:kubelet>1.33.2"), want: "web stuck",
		}),
		Entry("a version expires, by strategy patch, and the next minor as well: that is still the next", scenario{
			strategy: patch, images: images("1.0.0 1.1.0 1.2.0", "1.0.0:expired 1.1.0:expired 1.2.0"), want: "web forced 1.1.0",
		}),
		Entry("a version expires, by strategy patch, and all others as well", scenario{
			strategy: patch, images: images("1.0.0 1.1.0", "1.0.0:expired 1.1.0:expired"), want: "web forced 1.1.0",
		}),
		Entry("a version expires, by strategy patch, and there is a newer patch", scenario{
			strategy: patch, images: images("1.0.0 1.0.1 1.1.0", "1.0.0:expired 1.0.1 1.1.0"), want: "web forced 1.0.1",
		}),
		Entry("a version expires, by strategy patch, and the next minor has patches", scenario{
			strategy: patch, images: images("1.0.0 1.1.0 1.1.1 1.2.0", "1.0.0:expired 1.1.0 1.1.1 1.2.0"), want: "web forced 1.1.1",
		}),
		Entry("a version expires, by strategy patch, and there is another major alone", scenario{
			strategy: patch, images: images("1.0.0 2.0.0", "1.0.0:expired 2.0.0"), want: "web stuck",
		}),
		Entry("a version expires, by strategy minor, and there are other majors alone", scenario{
			images: images("1.0.0 2.0.0 2.1.0 3.0.0", "1.0.0:expired 2.0.0 2.1.0 3.0.0"), want: "web forced 2.1.0",
		}),
		Entry("a version expires, by strategy major, and is the newest", scenario{
			strategy: major, images: images("1.0.0 0.9.0", "1.0.0:expired 0.9.0"), want: "web stuck",
		}),
		Entry("a version expires, without automatic updates", scenario{
			images: images("1.0.0 1.1.0", "1.0.0:expired 1.1.0"), change: autoUpdates(false, true), want: "web forced 1.1.0",
		}),
		Entry("a version is new", scenario{images: images("1.0.0", "1.0.0 1.1.0"), want: "web updated 1.1.0"}),
		Entry("a version is new, without automatic updates", scenario{
			images: images("1.0.0", "1.0.0 1.1.0"), change: autoUpdates(false, true), want: "",
		}),
		Entry("versions are new, by strategy patch", scenario{
			strategy: patch, images: images("1.0.0", "1.0.0 1.0.1 1.1.0 2.0.0"), want: "web updated 1.0.1",
		}),
		Entry("versions are new, by strategy minor", scenario{
			images: images("1.0.0", "1.0.0 1.0.1 2.0.0"), want: "web updated 1.0.1",
		}),
		Entry("versions are new, by strategy major", scenario{
			strategy: major, images: images("1.0.0", "1.0.0 1.0.1 3.0.0 2.0.0"), want: "web updated 1.0.1",
		}),
		Entry("majors are new, by strategy major", scenario{
			strategy: major, images: images("1.0.0", "1.0.0 3.0.0 3.0.1:preview 2.0.0"), want: "web updated 3.0.0",
		}),
		Entry("a new version has no image in the region", scenario{images: images("1.0.0", "1.0.0 1.1.0:asia"), want: "web updated 1.1.0"}),
		Entry("a new version is not for the kubelet", scenario{
			images: images("1.0.0", "1.0.0 1.1.0 1.2.0:kubelet<1.33"), want: "web updated 1.1.0",
		}),
		Entry("a new version does not have the container runtime", scenario{
			images: images("1.0.0:gvisor", "1.0.0:gvisor 1.1.0:gvisor 1.2.0"), change: withGVisor, want: "web updated 1.1.0",
		}),
		Entry("a preview becomes supported", scenario{
			images: images("1.0.0 1.1.0:preview", "1.0.0 1.1.0:supported"), want: "web updated 1.1.0",
		}),
		Entry("the newest becomes a preview", scenario{images: images("1.0.0 1.1.0", "1.0.0 1.1.0:preview"), want: ""}),
		Entry("the newest is deprecated", scenario{
			images: images("1.0.0 1.1.0 1.2.0", "1.0.0 1.1.0 1.2.0:deprecated"), want: "web updated 1.1.0",
		}),
		Entry("the newest is removed", scenario{images: images("1.0.0 1.1.0 1.2.0", "1.0.0 1.1.0"), want: "web updated 1.1.0"}),
		Entry("the newest expires", scenario{images: images("1.0.0 1.1.0 1.2.0", "1.0.0 1.1.0 1.2.0:expired"), want: "web updated 1.1.0"}),
		Entry("the version of one pool expires", scenario{
			strategy: patch, images: images("1.0.0 1.0.1 2.0.0", "1.0.0 1.0.1 2.0.0:expired"), pools: []string{"1.0.0", "2.0.0"},
			want: "web updated 1.0.1, db stuck",
		}),
		Entry("the versions of two pools expire", scenario{
			strategy: patch, images: images("1.0.0 1.0.1 1.1.0 1.1.1", "1.0.0:expired 1.0.1 1.1.0:expired 1.1.1"),
			pools: []string{"1.0.0", "1.1.0", "1.1.1"}, want: "web forced 1.0.1, db forced 1.1.1",
		}),

		// Kubernetes.
		Entry("a patch of Kubernetes is new", scenario{
			kubernetes: images("1.33.2", "1.33.2 1.33.3"), want: "kubernetes updated 1.33.3",
		}),
		Entry("a minor of Kubernetes is new", scenario{kubernetes: images("1.33.2", "1.33.2 1.34.1"), want: ""}),
		Entry("a patch of Kubernetes is new, without automatic updates", scenario{
			kubernetes: images("1.33.2", "1.33.2 1.33.3"), change: autoUpdates(true, false), want: "",
		}),
		Entry("a patch of Kubernetes becomes supported", scenario{
			kubernetes: images("1.33.2 1.33.3:preview", "1.33.2 1.33.3:supported"), want: "kubernetes updated 1.33.3",
		}),
		Entry("the newest patch of Kubernetes is removed", scenario{
			kubernetes: images("1.33.2 1.33.3 1.33.4", "1.33.2 1.33.3"), want: "kubernetes updated 1.33.3",
		}),
		Entry("Kubernetes expires, and there is a newer patch", scenario{
			kubernetes: images("1.33.2 1.33.3 1.34.1", "1.33.2:expired 1.33.3 1.34.1"), want: "kubernetes forced 1.33.3",
		}),
		Entry("Kubernetes expires, and there is the next minor", scenario{
			kubernetes: images("1.33.2 1.34.0 1.34.1 1.35.0", "1.33.2:expired 1.34.0 1.34.1 1.35.0"), want: "kubernetes forced 1.34.1",
		}),
		Entry("Kubernetes expires, without automatic updates", scenario{
			kubernetes: images("1.33.2 1.34.1", "1.33.2:expired 1.34.1"), change: autoUpdates(true, false), want: "kubernetes forced 1.34.1",
		}),
		Entry("Kubernetes expires, and the next minor is not there", scenario{
			kubernetes: images("1.33.2 1.35.0", "1.33.2:expired 1.35.0"), want: "kubernetes stuck",
		}),
		Entry("Kubernetes expires, and the next minor is a preview", scenario{
			kubernetes: images("1.33.2 1.34.1:preview", "1.33.2:expired 1.34.1:preview"), want: "kubernetes stuck",
		}),
		Entry("Kubernetes expires, and the next minor as well", scenario{
			kubernetes: images("1.33.2 1.34.1 1.35.0", "1.33.2:expired 1.34.1:expired 1.35.0"), want: "kubernetes forced 1.34.1",
		}),
		Entry("a worker pool has Kubernetes of its own, of which a patch is new", scenario{
			kubernetes: images("1.32.4 1.33.2", "1.32.4 1.32.5 1.33.2"), pools: []string{"1.0.0/1.32.4", "1.0.0"}, want: "web/kubernetes updated 1.32.5",
		}),
		Entry("the Kubernetes of a worker pool expires: it goes no further than the control plane", scenario{
			kubernetes: images("1.32.4 1.33.2 1.33.3", "1.32.4:expired 1.33.2 1.33.3"), pools: []string{"1.0.0/1.32.4"},
			change: autoUpdates(true, false), want: "web/kubernetes forced 1.33.2",
		}),
		Entry("the Kubernetes of a worker pool expires, and that of the control plane", scenario{
			kubernetes: images("1.33.2 1.34.1", "1.33.2:expired 1.34.1"), pools: []string{"1.0.0/1.33.2"},
			want: "kubernetes forced 1.34.1, web/kubernetes forced 1.34.1",
		}),
		Entry("the Kubernetes of a worker pool expires, and the next minor is not there", scenario{
			kubernetes: images("1.32.4 1.34.1", "1.32.4:expired 1.34.1"), controlPlane: "1.34.1", pools: []string{"1.0.0/1.32.4"},
			want: "web/kubernetes stuck",
		}),

		// Both.
		Entry("image and Kubernetes are new", scenario{
			images: images("1.0.0", "1.0.0 1.1.0"), kubernetes: images("1.33.2", "1.33.2 1.33.3"),
			want: "web updated 1.1.0, kubernetes updated 1.33.3",
		}),
		Entry("image and Kubernetes expire", scenario{
			images: images("1.0.0 1.1.0", "1.0.0:expired 1.1.0"), kubernetes: images("1.33.2 1.34.1", "1.33.2:expired 1.34.1"),
			want: "web forced 1.1.0, kubernetes forced 1.34.1",
		}),
		Entry("a pool is stuck, and Kubernetes is new", scenario{
			images: images("1.0.0", "1.0.0:expired"), kubernetes: images("1.33.2", "1.33.2 1.33.3"),
			want: "web stuck, kubernetes updated 1.33.3",
		}),
		Entry("Kubernetes is stuck, and an image is new", scenario{
			images: images("1.0.0", "1.0.0 1.1.0"), kubernetes: images("1.33.2 1.35.0", "1.33.2:expired 1.35.0"),
			want: "web updated 1.1.0, kubernetes stuck",
		}),
		Entry("a new image is not for the new Kubernetes, so that Gardener refuses both", scenario{
			images: images("1.0.0", "1.0.0 1.1.0:kubelet<1.33.3"), kubernetes: images("1.33.2", "1.33.2 1.33.3"),
			want: "web fails, kubernetes fails",
		}),
		Entry("the image that there is is not for the new Kubernetes, so that Gardener refuses both", scenario{
			images:     images("1.0.0:kubelet<1.33.3 1.1.0:preview,kubelet<1.33.3", "1.0.0:kubelet<1.33.3 1.1.0:kubelet<1.33.3"),
			kubernetes: images("1.33.2", "1.33.2 1.33.3"), want: "web fails, kubernetes fails",
		}),
	)
})
