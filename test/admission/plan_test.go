// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/pkg/cli"
	cloud "github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/suite"
)

// said is the exit status and output of a run of the command.
type said struct {
	status         int
	stdout, stderr string
}

// capkit runs the command against the garden.
func capkit(args ...string) said {
	var stdout, stderr bytes.Buffer
	args = append([]string{"capkit", args[0], "--kubeconfig", g.Kubeconfig(), "-o", "json"}, args[1:]...)
	status := cli.Run(args, nil, &stdout, &stderr, cli.For(cloud.Provider{}))
	return said{status, stdout.String(), stderr.String()}
}

// planned returns the changes that the command predicts for an update of a CloudProfile in the garden.
func planned(
	ctx context.Context, profile *v1beta1.CloudProfile, update func(*v1beta1.CloudProfile),
) (found []changes.Change, status int) {
	GinkgoHelper()
	Expect(u.Get(ctx, client.ObjectKeyFromObject(profile), profile)).To(Succeed())
	updated := &v1beta1.CloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: profile.Name}, Spec: *profile.Spec.DeepCopy(),
	}
	update(updated)
	text, err := yaml.Marshal(updated)
	Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(GinkgoT().TempDir(), "profile.yaml")
	Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
	answer := capkit("plan", "-A", file)
	var answered struct{ Changes []changes.Change }
	Expect(json.Unmarshal([]byte(answer.stdout), &answered)).To(Succeed(), answer.stderr)
	return answered.Changes, answer.status
}

// aboutPools matches a change of a kind that affects exactly these worker pools.
func aboutPools(kind changes.Kind, pools ...changes.Pool) OmegaMatcher {
	return ContainElement(And(HaveField("Kind", kind), HaveField("Pools", pools)))
}

// boots returns what each worker pool of a Shoot boots, according to the command.
func boots(shoot string) map[string]any {
	GinkgoHelper()
	var answer struct {
		Pools []struct {
			Shoot, Pool string
			Reference   any
		}
	}
	said := capkit("select", "-n", "garden-demo")
	Expect(json.Unmarshal([]byte(said.stdout), &answer)).To(Succeed(), said.stderr)
	found := map[string]any{}
	for _, p := range answer.Pools {
		if p.Shoot == "garden-demo/"+shoot {
			found[p.Pool] = p.Reference
		}
	}
	return found
}

// withoutFlavor removes the first flavor of the first version on both sides.
func withoutFlavor(p *v1beta1.CloudProfile) {
	version := &p.Spec.MachineImages[0].Versions[0]
	version.CapabilityFlavors = slices.Delete(version.CapabilityFlavors, 0, 1)
	edit(p.Spec.ProviderConfig, remove(flavorAt(0, 0)))
}

// The specs carry out what a plan predicts.
var _ = Describe("A plan", func() {
	// used returns a profile, a Shoot of the same name that uses it, and the Shoot's worker pool.
	used := func(ctx context.Context, name string) (*v1beta1.CloudProfile, *v1beta1.Shoot, changes.Pool) {
		GinkgoHelper()
		profile, s := openstack(name), shoot(name, name)
		create(ctx, profile)
		create(ctx, s)
		return profile, s, changes.Pool{Shoot: "garden-demo/" + name, Name: s.Spec.Provider.Workers[0].Name}
	}
	undo := func(p *v1beta1.CloudProfile) { p.Spec = openstack("").Spec }
	// another tries to create a Shoot like the existing one.
	another := func(ctx context.Context, profile string, change func(*v1beta1.Shoot)) error {
		GinkgoHelper()
		s := shoot(profile+"-more", profile)
		change(s)
		return u.Create(ctx, s, client.DryRunAll)
	}
	unchanged := func(*v1beta1.Shoot) {}

	It("names the Shoots that an update locks, and the worker pools that get no machines any more", func(ctx SpecContext) {
		profile, s, pool := used(ctx, "plan-locked")
		for i, lock := range []struct {
			update  func(*v1beta1.CloudProfile)
			refused func(error) bool
		}{
			{withoutFlavor, apierrors.IsForbidden},
			{func(p *v1beta1.CloudProfile) { p.Spec.MachineTypes = slices.Delete(p.Spec.MachineTypes, 0, 1) }, apierrors.IsServiceUnavailable},
		} {
			relabel := func(s *v1beta1.Shoot) { s.Labels = map[string]string{"lock": fmt.Sprint(i)} }
			found, status := planned(ctx, profile, lock.update)
			Expect(found).To(And(aboutPools(changes.Locked, pool), aboutPools(changes.Kept, pool)))
			Expect(status).To(Equal(1))
			Expect(change(ctx, profile, lock.update)).To(Succeed())
			Eventually(ctx, func() error { return change(ctx, s, relabel) }).Should(MatchError(lock.refused, "refused by Gardener"))
			Eventually(ctx, boots).WithArguments(s.Name).Should(Equal(map[string]any{pool.Name: nil}))
			Expect(change(ctx, profile, undo)).To(Succeed())
			Eventually(ctx, func() error { return change(ctx, s, relabel) }).Should(Succeed())
		}
		destroy(ctx, s)
	})

	It("says what Gardener refuses, and what admission does", func(ctx SpecContext) {
		profile, s, pool := used(ctx, "plan-refused")
		inUse := func(p *v1beta1.CloudProfile) {
			p.Spec.MachineImages[0].Versions = slices.Delete(p.Spec.MachineImages[0].Versions, 0, 1)
			edit(p.Spec.ProviderConfig, remove(versionAt(0)))
		}
		unmapped := func(p *v1beta1.CloudProfile) { edit(p.Spec.ProviderConfig, remove(flavorAt(0, 2))) }
		invalid := func(p *v1beta1.CloudProfile) { p.Spec.MachineTypes[0].CPU.Neg() }
		for _, refused := range []struct {
			update func(*v1beta1.CloudProfile)
			change OmegaMatcher
		}{
			{inUse, HaveField("Pools", []changes.Pool{pool})},
			{unmapped, HaveField("Rule", "provider-flavor-missing")},
			{invalid, HaveField("Field", "spec.machineTypes[0].cpu")},
		} {
			found, status := planned(ctx, profile, refused.update)
			Expect(status).To(Equal(1))
			Expect(found).To(ContainElement(And(HaveField("Kind", changes.Refused), refused.change)))
			Eventually(ctx, func() error { return change(ctx, profile, refused.update) }).ShouldNot(Succeed()) // once Gardener knows the Shoot
		}
		destroy(ctx, s)
	})

	It("says what boots no more, boots something else, and boots now", func(ctx SpecContext) {
		profile, s, pool := used(ctx, "plan-images")
		id := flavorAt(0, 0) + "/regions/0"
		By("another image")
		other := func(p *v1beta1.CloudProfile) { edit(p.Spec.ProviderConfig, replace(id+"/id", "9876")) }
		found, status := planned(ctx, profile, other)
		Expect(found).To(ConsistOf(And(HaveField("Kind", changes.OtherImage), HaveField("When", changes.Now), HaveField("Pools", []changes.Pool{pool}),
			HaveField("From", boots(s.Name)[pool.Name]), HaveField("To", map[string]any{"id": "9876"}))))
		Expect(status).To(Equal(0))
		Expect(change(ctx, profile, other)).To(Succeed())
		Expect(boots(s.Name)).To(HaveKeyWithValue(pool.Name, map[string]any{"id": "9876"}))

		By("no machines")
		none := func(p *v1beta1.CloudProfile) { edit(p.Spec.ProviderConfig, remove(id)) }
		found, status = planned(ctx, profile, none)
		Expect(found).To(ConsistOf(And(HaveField("Kind", changes.Kept), HaveField("Pools", []changes.Pool{pool}))))
		Expect(status).To(Equal(1))
		Expect(another(ctx, profile.Name, unchanged)).To(Succeed())
		Expect(change(ctx, profile, none)).To(Succeed())
		Expect(change(ctx, s, label)).To(Succeed()) // it is not locked
		Eventually(ctx, func() error { return another(ctx, profile.Name, unchanged) }).Should(MatchError(ContainSubstring("no image fits")))

		By("new")
		found, status = planned(ctx, profile, undo)
		Expect(found).To(ConsistOf(And(HaveField("Kind", changes.New), HaveField("Pools", []changes.Pool{pool}))))
		Expect(status).To(Equal(0))
		Expect(change(ctx, profile, undo)).To(Succeed())
		Eventually(ctx, func() error { return another(ctx, profile.Name, unchanged) }).Should(Succeed())

		By("gone")
		inAsia := func(s *v1beta1.Shoot) {
			s.Spec.Region, s.Spec.Provider.Workers[0].Zones = "asia", []string{"asia-1a"}
		}
		Expect(another(ctx, profile.Name, inAsia)).To(Succeed())
		gone := func(p *v1beta1.CloudProfile) { edit(p.Spec.ProviderConfig, remove(flavorAt(0, 0)+"/regions/1")) }
		found, status = planned(ctx, profile, gone)
		Expect(found).To(ConsistOf(And(HaveField("Kind", changes.Gone), HaveField("Region", "asia"), HaveField("Count", 0))))
		Expect(status).To(Equal(0))
		Expect(change(ctx, profile, gone)).To(Succeed())
		Eventually(ctx, func() error { return another(ctx, profile.Name, inAsia) }).Should(MatchError(ContainSubstring("no image fits")))
		destroy(ctx, s)
	})

	It("leaves the Shoots alone whose region is removed, as Gardener does", func(ctx SpecContext) {
		profile, s, pool := used(ctx, "plan-region")
		europe := HaveField("Region", s.Spec.Region)
		usedHere := And(HaveField("Version", *s.Spec.Provider.Workers[0].Machine.Image.Version),
			HaveField("MachineType", s.Spec.Provider.Workers[0].Machine.Type))
		removed := func(p *v1beta1.CloudProfile) {
			p.Spec.Regions = slices.DeleteFunc(p.Spec.Regions, func(r v1beta1.Region) bool { return r.Name == s.Spec.Region })
		}
		larger := func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum++ }
		another := func() error { return another(ctx, profile.Name, unchanged) }
		found, status := planned(ctx, profile, removed)
		Expect(found).To(ContainElement(HaveField("Kind", changes.Gone)))
		Expect(found).To(HaveEach(Or(
			And(HaveField("Kind", changes.Gone), europe, HaveField("Count", 0), Not(usedHere)),
			And(HaveField("Kind", changes.Offer), HaveField("Path", "spec.regions["+s.Spec.Region+"]"), HaveField("Used", ConsistOf(s.Namespace+"/"+s.Name))),
		)))
		Expect(status).To(Equal(1)) // the update removes something in use
		image := boots(s.Name)[pool.Name]
		Expect(change(ctx, profile, removed)).To(Succeed())
		Eventually(ctx, another).Should(MatchError(ContainSubstring("spec.region: Unsupported value")))
		Expect(change(ctx, s, larger)).To(Succeed())

		By("its return")
		found, status = planned(ctx, profile, undo)
		Expect(found).To(And(HaveEach(Or(And(HaveField("Kind", changes.New), europe), And(HaveField("Kind", changes.Offer), HaveField("Count", 0)))),
			ContainElement(And(usedHere, HaveField("To", image), HaveField("Count", 0)))))
		Expect(status).To(Equal(0))
		Expect(change(ctx, profile, undo)).To(Succeed())
		Eventually(ctx, another).Should(Succeed())
		destroy(ctx, s)
	})

	It("says what maintenance would choose", func(ctx SpecContext) {
		const name = "plan-kept"
		offers := func(releases ...release) map[string]image {
			return map[string]image{name: {v1beta1.UpdateStrategyMinor, releases, unchangedWorker, ""}}
		}
		before := offers(release{version: "1.0.0"})
		registerTypes(ctx, name, before)
		profile, s := offering(name, before), using(name, name, before)
		create(ctx, profile)
		create(ctx, s)
		later := offering(name, offers(release{version: "1.0.0"}, release{version: "1.1.0", only: "asia"}))
		update := func(p *v1beta1.CloudProfile) { p.Spec = later.Spec }
		found, status := planned(ctx, profile, update)
		Expect(found).To(ContainElement(And(HaveField("Kind", changes.Maintenance), HaveField("Version", "1.1.0"),
			HaveField("Pools", []changes.Pool{{Shoot: "garden-demo/" + name, Name: name}}))))
		Expect(status).To(Equal(1))
		Expect(change(ctx, profile, update)).To(Succeed())
		Eventually(ctx, func(g Gomega) { // once every server has seen the profile
			suite.Maintain(ctx, u, s)
			g.Expect(notesAbout(ctx, s)).To(ContainElement(ContainSubstring(name + " stays on " + name + "@1.0.0: maintenance chose " + name + "@1.1.0")))
		}).Should(Succeed())
		destroy(ctx, s)
	})
})
