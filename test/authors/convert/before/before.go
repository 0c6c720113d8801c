// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package before is what the extension does without capkit: not its code, but what extensions in the shape of that for AWS do, as far as
// users notice. It is there to be compared with package after.
package before

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/authors/convert/api"
)

// mutator is a function as an extensionswebhook.Mutator.
type mutator func(newObj, oldObj client.Object) error

// Mutate calls the function.
func (m mutator) Mutate(_ context.Context, newObj, oldObj client.Object) error {
	return m(newObj, oldObj)
}

// validator is a function as an extensionswebhook.Validator.
type validator func(ctx context.Context, newObj, oldObj client.Object) error

// Validate calls the function.
func (v validator) Validate(ctx context.Context, newObj, oldObj client.Object) error {
	return v(ctx, newObj, oldObj)
}

func decode(raw *runtime.RawExtension) (*api.CloudProfileConfig, error) {
	config := &api.CloudProfileConfig{}
	if raw == nil {
		return config, nil
	}
	return config, json.Unmarshal(raw.Raw, config)
}

// NewCloudProfileMutator fills in core's flavors: they follow the provider config, whatever core has.
func NewCloudProfileMutator() extensionswebhook.Mutator {
	return mutator(func(newObj, _ client.Object) error {
		object := newObj.(*v1beta1.CloudProfile)
		config, err := decode(object.Spec.ProviderConfig)
		if err != nil || len(object.Spec.MachineCapabilities) == 0 {
			return err
		}
		for _, image := range object.Spec.MachineImages {
			for v := range image.Versions {
				mapped := find(config, image.Name, image.Versions[v].Version)
				if mapped == nil || len(mapped.CapabilityFlavors) == 0 {
					continue
				}
				image.Versions[v].CapabilityFlavors = nil
				for _, flavor := range mapped.CapabilityFlavors {
					image.Versions[v].CapabilityFlavors = append(image.Versions[v].CapabilityFlavors,
						v1beta1.MachineImageFlavor{Capabilities: flavor.Capabilities})
				}
			}
		}
		return nil
	})
}

// NewNamespacedCloudProfileMutator merges provider configs into the status, versions by their name, in the format that they are in.
func NewNamespacedCloudProfileMutator() extensionswebhook.Mutator {
	return mutator(func(newObj, _ client.Object) error {
		object := newObj.(*v1beta1.NamespacedCloudProfile)
		if object.Generation != object.Status.ObservedGeneration || object.Spec.ProviderConfig == nil {
			return nil
		}
		own, err := decode(object.Spec.ProviderConfig)
		if err != nil {
			return err
		}
		merged, err := decode(object.Status.CloudProfileSpec.ProviderConfig)
		if err != nil {
			return err
		}
		for _, image := range own.MachineImages {
			merge(merged, image)
		}
		raw, err := json.Marshal(merged)
		object.Status.CloudProfileSpec.ProviderConfig = &runtime.RawExtension{Raw: raw}
		return err
	})
}

func merge(into *api.CloudProfileConfig, image api.MachineImages) {
	byVersion := map[string]api.MachineImageVersion{} // of two entries of a version the last one counts
	i := slices.IndexFunc(into.MachineImages, func(known api.MachineImages) bool { return known.Name == image.Name })
	if i < 0 {
		i = len(into.MachineImages)
		into.MachineImages = append(into.MachineImages, api.MachineImages{Name: image.Name})
	}
	for _, version := range slices.Concat(into.MachineImages[i].Versions, image.Versions) {
		byVersion[version.Version] = version
	}
	into.MachineImages[i].Versions = nil
	for _, version := range byVersion {
		into.MachineImages[i].Versions = append(into.MachineImages[i].Versions, version)
	}
}

// NewCloudProfileValidator demands a mapping for each version of core.
func NewCloudProfileValidator() extensionswebhook.Validator {
	return validator(func(_ context.Context, newObj, _ client.Object) error {
		spec := newObj.(*v1beta1.CloudProfile).Spec
		return validate(spec.MachineImages, spec.ProviderConfig, func(*api.MachineImageVersion) bool { return true })
	})
}

// NewNamespacedCloudProfileValidator does so for the versions of a NamespacedCloudProfile, in each region that one of its flavors has.
func NewNamespacedCloudProfileValidator() extensionswebhook.Validator {
	return validator(func(_ context.Context, newObj, _ client.Object) error {
		spec := newObj.(*v1beta1.NamespacedCloudProfile).Spec
		return validate(spec.MachineImages, spec.ProviderConfig, sameRegions)
	})
}

func validate(images []v1beta1.MachineImage, raw *runtime.RawExtension, sound func(*api.MachineImageVersion) bool) error {
	at := field.NewPath("spec", "providerConfig", "machineImages")
	config, err := decode(raw)
	if err != nil {
		return err
	}
	var errs field.ErrorList
	for _, image := range images {
		for _, version := range image.Versions {
			if mapped := find(config, image.Name, version.Version); mapped == nil || !sound(mapped) {
				errs = append(errs, field.Required(at, fmt.Sprintf("must provide an image mapping for %s@%s", image.Name, version.Version)))
			}
		}
	}
	return errs.ToAggregate()
}

func sameRegions(version *api.MachineImageVersion) bool {
	for i := range version.CapabilityFlavors {
		if len(version.CapabilityFlavors[i].Regions) != len(version.CapabilityFlavors[0].Regions) {
			return false
		}
	}
	return true
}

// NewShootValidator demands an AMI for each worker pool that is not as it was.
func NewShootValidator(reader client.Reader) extensionswebhook.Validator {
	return validator(func(ctx context.Context, newObj, oldObj client.Object) error {
		shoot, profile := newObj.(*v1beta1.Shoot), &v1beta1.CloudProfile{}
		if err := reader.Get(ctx, client.ObjectKey{Name: shoot.Spec.CloudProfile.Name}, profile); err != nil {
			return err
		}
		var errs field.ErrorList
		for i, worker := range shoot.Spec.Provider.Workers {
			if old, _ := oldObj.(*v1beta1.Shoot); old != nil && i < len(old.Spec.Provider.Workers) &&
				worker.Machine.Image == old.Spec.Provider.Workers[i].Machine.Image { // pointers, which are never equal
				continue
			}
			if _, err := amiOf(&profile.Spec, worker.Machine.Type, worker.Machine.Image.Name, *worker.Machine.Image.Version, shoot.Spec.Region); err != nil {
				errs = append(errs, field.Invalid(field.NewPath("spec", "provider", "workers").Index(i), worker.Machine.Image.Name, err.Error()))
			}
		}
		return errs.ToAggregate()
	})
}

// Image returns the image of a worker pool: the best flavor of the profile, or else what the status has. It does not look at machine
// classes.
func Image(profile *v1beta1.CloudProfileSpec, status *api.WorkerStatus, w *extensionsv1alpha1.Worker, pool int) (*api.MachineImage, error) {
	of := w.Spec.Pools[pool]
	image, err := amiOf(profile, of.MachineType, of.MachineImage.Name, of.MachineImage.Version, w.Spec.Region)
	if err == nil {
		return image, nil
	}
	for i, booted := range status.MachineImages {
		if booted.Name == of.MachineImage.Name && booted.Version == of.MachineImage.Version &&
			(booted.Architecture == nil || reflect.DeepEqual(booted.Architecture, of.Architecture)) {
			return &status.MachineImages[i], nil
		}
	}
	return nil, err
}

func amiOf(profile *v1beta1.CloudProfileSpec, machineType, image, version, region string) (*api.MachineImage, error) {
	config, err := decode(profile.ProviderConfig)
	if err != nil {
		return nil, err
	}
	none := fmt.Errorf("could not find an AMI for region %q, image %q, version %q", region, image, version)
	mapped := find(config, image, version)
	if mapped == nil {
		return nil, none
	}
	i := slices.IndexFunc(profile.MachineTypes, func(t v1beta1.MachineType) bool { return t.Name == machineType })
	if i < 0 {
		return nil, none
	}
	if len(mapped.CapabilityFlavors) == 0 {
		architecture := ptr.Deref(profile.MachineTypes[i].Architecture, "amd64")
		for _, r := range mapped.Regions {
			if r.Name == region && ptr.Deref(r.Architecture, "amd64") == architecture {
				return &api.MachineImage{Name: image, Version: version, AMI: r.AMI, Architecture: &architecture}, nil
			}
		}
		return nil, none
	}
	var inRegion []api.MachineImageFlavor
	for _, flavor := range mapped.CapabilityFlavors {
		flavor.Regions = slices.DeleteFunc(slices.Clone(flavor.Regions), func(r api.RegionAMIMapping) bool { return r.Name != region })
		if len(flavor.Regions) > 0 {
			inRegion = append(inRegion, flavor)
		}
	}
	best, err := extensionsworker.FindBestImageFlavor(inRegion, profile.MachineTypes[i].Capabilities, profile.MachineCapabilities)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", none, err)
	}
	return &api.MachineImage{Name: image, Version: version, AMI: best.Regions[len(best.Regions)-1].AMI, Capabilities: best.Capabilities}, nil
}

// find returns the first entry of a version; nil if there is none.
func find(config *api.CloudProfileConfig, image, version string) *api.MachineImageVersion {
	for _, known := range config.MachineImages {
		for i := range known.Versions {
			if known.Name == image && known.Versions[i].Version == version {
				return &known.Versions[i]
			}
		}
	}
	return nil
}
