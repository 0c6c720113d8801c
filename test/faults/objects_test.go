// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
)

// badLabel labels objects that only the component refuses.
const badLabel = "faults.capkit.example/bad"

// prepareObjects creates the objects that Shoots need, before any webhook that checks them is registered.
func prepareObjects(ctx context.Context) {
	GinkgoHelper()
	_, err := g.NewProject(ctx, "orchard")
	Expect(err).NotTo(HaveOccurred())
	Expect(g.NewRegistration(ctx, "openstack", "openstack", "cilium", "gardenlinux")).To(Succeed())
	Expect(g.Apply(ctx, "testdata/profile.yaml", "testdata/credentials.yaml")).To(Succeed())
}

// read reads an object from testdata.
func read[T any](name string) *T {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	Expect(err).NotTo(HaveOccurred())
	object := new(T)
	Expect(yaml.UnmarshalStrict(content, object)).To(Succeed())
	return object
}

// kind is a kind of object that the load writes.
type kind struct {
	name string
	// fresh returns a new valid object.
	fresh func(name string) client.Object
	// vary makes the n-th change of a valid object's spec, which stays valid.
	vary func(object client.Object, n int)
	// spoil makes an object invalid in a way that only the component detects.
	spoil func(object client.Object)
	// errors returns the errors of an object.
	errors func(object client.Object) field.ErrorList
	list   func() client.ObjectList
}

// spoilt returns a new invalid object.
func (k *kind) spoilt(name string) client.Object {
	object := k.fresh(name)
	k.spoil(object)
	return object
}

// kinds are the kinds that the writers write.
var kinds = []*kind{&profiles, &shoots}

var profiles = kind{
	name: "CloudProfile",
	fresh: func(name string) client.Object {
		profile := read[v1beta1.CloudProfile]("profile.yaml")
		profile.Name = name
		return profile
	},
	vary: func(object client.Object, n int) {
		changeConfig(object.(*v1beta1.CloudProfile), func(config *v1alpha1.CloudProfileConfig) {
			config.MachineImages[0].Versions[0].CapabilityFlavors[0].Regions[0].ID = fmt.Sprintf("1877-amd64-%d", n)
		})
	},
	spoil: func(object client.Object) {
		changeConfig(object.(*v1beta1.CloudProfile), func(config *v1alpha1.CloudProfileConfig) {
			version := &config.MachineImages[0].Versions[0]
			version.CapabilityFlavors = version.CapabilityFlavors[:1]
		})
	},
	errors: func(object client.Object) field.ErrorList {
		_, report := check.CloudProfile(openstack.Provider{}, object.(*v1beta1.CloudProfile))
		return report.Errors.Errors()
	},
	list: func() client.ObjectList { return &v1beta1.CloudProfileList{} },
}

var shoots = kind{
	name: "Shoot",
	fresh: func(name string) client.Object {
		shoot := read[v1beta1.Shoot]("shoot.yaml")
		shoot.Name = name
		return shoot
	},
	vary: func(object client.Object, n int) {
		object.(*v1beta1.Shoot).Spec.Provider.Workers[0].Maximum = int32(2 + n%50)
	},
	spoil: func(object client.Object) { // no image for arm64 in this region
		workers := &object.(*v1beta1.Shoot).Spec.Provider.Workers
		worker := (*workers)[0].DeepCopy()
		worker.Name, worker.Machine.Type, worker.Machine.Architecture = "arm", "medium_arm", ptr.To("arm64")
		*workers = append(*workers, *worker)
	},
	errors: func(object client.Object) field.ErrorList {
		return check.Shoot(orchard(), object.(*v1beta1.Shoot), nil).Errors.Errors()
	},
	list: func() client.ObjectList { return &v1beta1.ShootList{} },
}

var orchard = sync.OnceValue(func() *profile.Profile[openstack.Image] {
	profile, report := profile.Compile(openstack.Provider{}, &read[v1beta1.CloudProfile]("profile.yaml").Spec, field.NewPath("spec"))
	Expect(report.Errors).To(BeEmpty())
	return profile
})

func changeConfig(profile *v1beta1.CloudProfile, change func(*v1alpha1.CloudProfileConfig)) {
	GinkgoHelper()
	config := &v1alpha1.CloudProfileConfig{}
	Expect(json.Unmarshal(profile.Spec.ProviderConfig.Raw, config)).To(Succeed())
	change(config)
	raw, err := json.Marshal(config)
	Expect(err).NotTo(HaveOccurred())
	profile.Spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
}
