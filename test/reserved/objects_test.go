// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package reserved

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/suite"
)

// Gardener's own capabilities that operators register under the second text of GEP-0054.
const (
	updateType = "gardener-update-type"
	bootType   = "gardener-boot-type"
)

// imageName is the image of all worker pools.
const imageName = "gardenlinux"

// The definitions with all values.
var (
	updates = v1beta1.CapabilityDefinition{Name: updateType, Values: []string{"rolling", "in-place"}}
	boots   = v1beta1.CapabilityDefinition{Name: bootType, Values: []string{"standard", "secure"}}
)

// flavor is a flavor for amd64: its values of the update type, separated by blanks. The empty flavor does not declare the capability.
type flavor string

// The declarations of flavors.
const (
	silent  flavor = ""
	rolling flavor = "rolling"
	inPlace flavor = "in-place"
	both    flavor = "rolling in-place"
)

func (f flavor) capabilities() v1beta1.Capabilities {
	c := v1beta1.Capabilities{"architecture": {"amd64"}}
	if f != silent {
		c[updateType] = strings.Fields(string(f))
	}
	return c
}

// release is an image version that supports in-place updates from any other version, according to core.
type release struct {
	version string
	flavors []flavor
}

// offer is a profile's vocabulary besides the architecture, and its versions of the image.
type offer struct {
	registers []v1beta1.CapabilityDefinition
	releases  []release
}

func (o offer) registersUpdates() bool {
	return slices.ContainsFunc(o.registers, func(d v1beta1.CapabilityDefinition) bool { return d.Name == updateType })
}

// versions returns the versions in core and in the provider config. Unregistered capabilities are declared only in the provider config.
func (o offer) versions() (core []v1beta1.MachineImageVersion, config []any) {
	registered := o.registersUpdates()
	for _, r := range o.releases {
		v := v1beta1.MachineImageVersion{
			CRI:            []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}},
			InPlaceUpdates: &v1beta1.InPlaceUpdates{Supported: true, MinVersionForUpdate: ptr.To("0.1.0")},
		}
		v.Version = r.version
		var flavors []any
		for _, f := range r.flavors {
			if registered {
				v.CapabilityFlavors = append(v.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: f.capabilities()})
			}
			id := strings.ReplaceAll(strings.TrimSpace(r.version+" "+string(f)), " ", "-")
			flavors = append(flavors, map[string]any{"capabilities": f.capabilities(), "regions": []any{map[string]any{"name": "europe", "id": id}}})
		}
		if !registered {
			v.CapabilityFlavors = []v1beta1.MachineImageFlavor{{Capabilities: silent.capabilities()}}
		}
		core, config = append(core, v), append(config, map[string]any{"version": r.version, "capabilityFlavors": flavors})
	}
	return core, config
}

// write makes the offer the only content of a profile.
func (o offer) write(profile *v1beta1.CloudProfile) {
	GinkgoHelper()
	core, config := o.versions()
	spec := &profile.Spec
	spec.MachineCapabilities = append([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}, o.registers...)
	spec.MachineImages = []v1beta1.MachineImage{{Name: imageName, UpdateStrategy: ptr.To(v1beta1.UpdateStrategyMinor), Versions: core}}
	spec.ProviderConfig = edited(spec.ProviderConfig, func(c map[string]any) {
		c["machineImages"] = []any{map[string]any{"name": imageName, "versions": config}}
	})
}

// oldType is a machine type that cannot be updated in place, in profiles that register the update type.
const oldType = "old_8_16"

// profileOf returns a CloudProfile with an offer. Its first machine type declares neither the boot type nor the update type.
func profileOf(name string, o offer) *v1beta1.CloudProfile {
	GinkgoHelper()
	profile := read[v1beta1.CloudProfile]("example/cloudprofile-trusted-launch.yaml")
	profile.Name = name
	types := profile.Spec.MachineTypes[:1]
	if o.registersUpdates() {
		old := types[0].DeepCopy()
		old.Name, old.Capabilities = oldType, rolling.capabilities()
		types = append(types, *old)
	}
	profile.Spec.MachineTypes = types
	o.write(profile)
	return profile
}

// childOf returns a NamespacedCloudProfile with versions of the image, whose parent has the same name. It has no core flavors.
func childOf(name string, o offer) *v1beta1.NamespacedCloudProfile {
	GinkgoHelper()
	child := read[v1beta1.NamespacedCloudProfile]("example/namespacedcloudprofile.yaml")
	child.Name, child.Spec.Parent.Name, child.Spec.MachineTypes = name, name, nil
	core, config := o.versions()
	child.Spec.MachineImages = []v1beta1.MachineImage{{Name: imageName, Versions: core}}
	child.Spec.ProviderConfig = edited(child.Spec.ProviderConfig, func(c map[string]any) {
		c["machineImages"] = []any{map[string]any{"name": imageName, "versions": config}}
	})
	return child
}

// edited returns a changed copy of a config.
func edited(raw *runtime.RawExtension, change func(map[string]any)) *runtime.RawExtension {
	GinkgoHelper()
	var config map[string]any
	Expect(json.Unmarshal(raw.Raw, &config)).To(Succeed())
	change(config)
	text, err := json.Marshal(config)
	Expect(err).NotTo(HaveOccurred())
	return &runtime.RawExtension{Raw: text}
}

// configured returns the capabilities of the image's flavors in a provider config, by version.
func configured(raw *runtime.RawExtension) map[string][]v1beta1.Capabilities {
	GinkgoHelper()
	var config struct {
		MachineImages []struct {
			Versions []struct {
				Version           string
				CapabilityFlavors []struct{ Capabilities v1beta1.Capabilities }
			}
		}
	}
	Expect(json.Unmarshal(raw.Raw, &config)).To(Succeed())
	found := map[string][]v1beta1.Capabilities{}
	for _, v := range config.MachineImages[0].Versions {
		for _, f := range v.CapabilityFlavors {
			found[v.Version] = append(found[v.Version], f.Capabilities)
		}
	}
	return found
}

// inCore returns the capabilities of the image's flavors in core, by version.
func inCore(images []v1beta1.MachineImage) map[string][]v1beta1.Capabilities {
	found := map[string][]v1beta1.Capabilities{}
	for _, v := range images[0].Versions {
		for _, f := range v.CapabilityFlavors {
			found[v.Version] = append(found[v.Version], f.Capabilities)
		}
	}
	return found
}

// pool is a worker pool. An empty version means that Gardener chooses it, and an empty machineType means the first one.
type pool struct {
	name        string
	strategy    v1beta1.MachineUpdateStrategy
	version     string
	machineType string
}

// The update strategies of worker pools.
const (
	auto    = v1beta1.AutoInPlaceUpdate
	manual  = v1beta1.ManualInPlaceUpdate
	replace = v1beta1.AutoRollingUpdate
)

// shootOf returns a Shoot with worker pools, for the profile of the same name. Gardener maintains it only on request.
func shootOf(name string, pools ...pool) *v1beta1.Shoot {
	GinkgoHelper()
	s := read[v1beta1.Shoot]("example/shoot-in-place.yaml")
	s.Name, s.Spec.CloudProfile.Name = name, name
	s.Spec.Maintenance = &v1beta1.Maintenance{TimeWindow: garden.LaterToday()}
	first := s.Spec.Provider.Workers[0]
	s.Spec.Provider.Workers = nil
	for _, p := range pools {
		worker := first.DeepCopy()
		worker.Name, worker.UpdateStrategy = p.name, &p.strategy
		if p.machineType != "" {
			worker.Machine.Type = p.machineType
		}
		if worker.Machine.Image = nil; p.version != "" {
			worker.Machine.Image = &v1beta1.ShootMachineImage{Name: imageName, Version: &p.version}
		}
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *worker)
	}
	return s
}

// versionsOf returns the image version of each worker pool.
func versionsOf(s *v1beta1.Shoot) map[string]string {
	versions := map[string]string{}
	for _, w := range s.Spec.Provider.Workers {
		versions[w.Name] = *w.Machine.Image.Version
	}
	return versions
}

// read decodes the first document of a manifest below the root of the repository.
func read[T any](file string) *T {
	GinkgoHelper()
	content, err := os.ReadFile(root + "/" + file)
	Expect(err).NotTo(HaveOccurred())
	object := new(T)
	Expect(yaml.UnmarshalStrict(content, object)).To(Succeed(), file)
	return object
}

// user writes objects with all rights, and records the API server's warnings.
type user struct {
	client.Client
	suite.Hearing
}

func newUser() *user {
	GinkgoHelper()
	u := &user{}
	config := g.RESTConfig()
	config.WarningHandlerWithContext = u
	var err error
	u.Client, err = client.New(config, client.Options{Scheme: g.Client().Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return u
}

// create creates an object, which must be accepted with exactly one warning for each text.
func create(ctx context.Context, object client.Object, warnings ...string) {
	GinkgoHelper()
	u.Heard()
	Expect(u.Create(ctx, object)).To(Succeed())
	expectWarnings(warnings...)
}

// expectWarnings requires exactly one warning for each text since the last call.
func expectWarnings(texts ...string) {
	GinkgoHelper()
	heard := u.Heard()
	Expect(heard).To(HaveLen(len(texts)), "%q", heard)
	for _, text := range texts {
		Expect(heard).To(ContainElement(ContainSubstring(text)))
	}
}

// change reads an object, changes it and writes it, and retries on conflicts.
func change[P client.Object](ctx context.Context, object P, change func(P)) error {
	GinkgoHelper()
	for {
		Expect(u.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		change(object)
		u.Heard()
		if err := u.Update(ctx, object); !apierrors.IsConflict(err) {
			return err
		}
	}
}
