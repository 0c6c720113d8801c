// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// anchor is an image whose version 1.0.0 boots on every worker pool, and whose version 0.9.0 expires.
const anchor = "gardenlinux"

// pick returns a random one of the values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// drawOffer draws an offer in which some versions do not fit every region, machine type, kubelet and container runtime.
func drawOffer(r *rand.Rand) offer {
	o := offer{kubernetes: "1.33.2 1.33.3 1.34.1", legacy: r.IntN(4) == 0}
	for _, name := range []string{"alpha", "beta"} {
		known, texts := map[string]bool{}, []string(nil)
		for range 3 + r.IntN(7) {
			version := fmt.Sprintf("%d.%d.%d", 1+r.IntN(3), r.IntN(3), r.IntN(3))
			if known[version] {
				continue
			}
			known[version] = true
			marks := []string{
				pick(r, "", "", "", "", "preview", "deprecated"), pick(r, "", "", "", "", "", "", "", "", "expired"), pick(r, "", "asia"),
				pick(r, "amd", "amd", "amd", "bare"), pick(r, "arm", "arm", ""), pick(r, "gvisor", "gvisor", ""),
				pick(r, "", "", "", "", "", "", "", "kubelet<1.34", "kubelet>1.33.2"),
			}
			texts = append(texts, version+":"+strings.Join(marks, ","))
		}
		o.images = append(o.images, offeredImage{name, v1beta1.UpdateStrategyMajor, strings.Join(texts, " ")})
	}
	o.images = append(o.images, offeredImage{anchor, v1beta1.UpdateStrategyMajor, "1.0.0:amd,arm,gvisor 0.9.0:amd,arm,gvisor,expired"})
	r.Shuffle(len(o.images), func(i, k int) { o.images[i], o.images[k] = o.images[k], o.images[i] })
	return o
}

// drawPool draws a worker pool's requirements. Nine in ten leave a part of their image to Gardener.
func drawPool(r *rand.Rand, worker *v1beta1.Worker) {
	worker.Machine.Type = pick(r, "medium_4_8", "medium_4_8", "medium_4_8_arm", "bare_8_16")
	if r.IntN(10) == 0 {
		worker.CRI = &v1beta1.CRI{Name: v1beta1.CRINameContainerD, ContainerRuntimes: []v1beta1.ContainerRuntime{{Type: "gvisor"}}}
	}
	if r.IntN(10) == 0 {
		worker.Kubernetes = &v1beta1.WorkerKubernetes{Version: ptr.To("1.33.2")}
	}
	name := pick(r, "alpha", "alpha", "beta", "beta", anchor)
	switch r.IntN(10) {
	case 0:
		worker.Machine.Image = &v1beta1.ShootMachineImage{Name: anchor, Version: ptr.To("1.0.0")}
	case 1, 2, 3:
		worker.Machine.Image = nil
	case 4, 5:
		worker.Machine.Image = &v1beta1.ShootMachineImage{Name: name}
	default:
		version := pick(r, "", "", "1", "1", "2", "2", "3", "v1", "1.", "1.1", "2.0", "x")
		worker.Machine.Image = &v1beta1.ShootMachineImage{Name: name, Version: &version}
	}
}

// drawShoot draws a Shoot with one to three worker pools for one of the profiles.
func drawShoot(r *rand.Rand, name string, profiles []*v1beta1.CloudProfile) *v1beta1.Shoot {
	GinkgoHelper()
	s := shootOf(name, pick(r, profiles...).Name)
	s.Spec.Region = pick(r, "europe", "asia")
	s.Spec.Kubernetes.Version = pick(r, "1.33.2", "1.33.3", "1.34.1", "1.33", "1")
	first := s.Spec.Provider.Workers[0]
	first.Zones = []string{s.Spec.Region + "-1a"}
	s.Spec.Provider.Workers = nil
	for i := range pick(r, 1, 1, 1, 2, 3) {
		worker := first.DeepCopy()
		worker.Name = fmt.Sprint("pool", i)
		drawPool(r, worker)
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *worker)
	}
	return s
}

// selected has the compared fields of a worker pool in the output of select.
type selected struct {
	Shoot, Image, Version, Defaulted, Error string
	Reference                               any
}

// selections returns the output of select for the worker pools of each Shoot in the files, in order.
func selections(files ...string) map[string][]selected {
	GinkgoHelper()
	a := capkit(append([]string{"select", "-o", "json"}, files...), "openstack")
	var answer struct{ Pools []selected }
	Expect(json.Unmarshal([]byte(a.stdout), &answer)).To(Succeed(), a.stderr)
	found := map[string][]selected{}
	for _, p := range answer.Pools {
		found[p.Shoot] = append(found[p.Shoot], p)
	}
	return found
}

var ofPool = regexp.MustCompile(`spec\.provider\.workers\[(\d+)\]`)

// leaves reports whether a worker pool leaves a part of its image to Gardener.
func leaves(w v1beta1.Worker) bool {
	return w.Machine.Image == nil || strings.Count(ptr.Deref(w.Machine.Image.Version, ""), ".") < 2
}

var _ = Describe("Without capkit's webhooks", func() {
	It("select says of images that are left out what Gardener fills in", func(ctx SpecContext) {
		r := rand.New(rand.NewPCG(15, 1))
		var profiles []*v1beta1.CloudProfile
		var files []string
		for i := range 8 {
			name, drawn := fmt.Sprint("drawn-", i), drawOffer(r)
			profile := offering(name, drawn, time.Now().Add(time.Hour)) // expired versions would be left out on creation
			create(ctx, profile)
			expired := offering(name, drawn, time.Now().Add(-time.Hour))
			Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) { p.Spec = expired.Spec })).To(Succeed())
			profiles, files = append(profiles, profile), append(files, written(profile))
			s := shootOf(name, name)
			s.Spec.Provider.Workers[0].Machine.Image = &v1beta1.ShootMachineImage{Name: anchor, Version: ptr.To("0.9.0")}
			Eventually(ctx, func() error { return g.Client().Create(ctx, s.DeepCopy(), client.DryRunAll) }).
				Should(MatchError(ContainSubstring("gardenlinux:0.9.0")), "once the API server has seen that it has expired")
		}
		var shoots []client.Object
		for i := range 200 {
			shoots = append(shoots, drawShoot(r, fmt.Sprint("s", i), profiles))
		}
		said := selections(append(files, written(shoots...))...)

		filled, bootNothing, refused, refusedChoices := 0, 0, 0, 0
		for _, object := range shoots {
			s, answers := object.(*v1beta1.Shoot), said["garden-demo/"+object.GetName()]
			text, err := json.Marshal(s.Spec.Provider.Workers)
			Expect(err).NotTo(HaveOccurred())
			about := func() string {
				return fmt.Sprintf("%s, Kubernetes %s: %s", s.Spec.CloudProfile.Name, s.Spec.Kubernetes.Version, text)
			}
			Expect(answers).To(HaveLen(len(s.Spec.Provider.Workers)))
			stored := s.DeepCopy()
			if err := g.Client().Create(ctx, stored, client.DryRunAll); err != nil {
				refused++
				none := And(HaveField("Defaulted", ""), HaveField("Error", Not(BeEmpty())))
				Expect(answers).To(ContainElement(none), "%v\n%s", err, about())
				if strings.Contains(fmt.Sprint(answers), ", and refuses it: ") {
					refusedChoices++
				}
				for _, match := range ofPool.FindAllStringSubmatch(err.Error(), -1) {
					i, _ := strconv.Atoi(match[1])
					Expect(answers[i]).To(none, "%v\n%s", err, about())
				}
				continue
			}
			for i, a := range answers {
				image, by := stored.Spec.Provider.Workers[i].Machine.Image, ""
				if leaves(s.Spec.Provider.Workers[i]) {
					filled, by = filled+1, "gardener"
				}
				Expect(a.Image+"@"+a.Version).To(Equal(image.Name+"@"+*image.Version), about)
				Expect(a.Defaulted).To(Equal(by), about)
				if a.Reference == nil {
					bootNothing++
				}
			}
		}
		AddReportEntry(fmt.Sprintf("%d images filled in, of which %d boot nothing; %d of %d Shoots refused, %d of them for what was filled in",
			filled, bootNothing, refused, len(shoots), refusedChoices))
		Expect(min(filled, bootNothing, refused, refusedChoices)).To(BeNumerically(">", 10))
	})
})
