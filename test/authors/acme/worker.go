// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"encoding/json"
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"

	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/worker"
)

// ImagesOf returns what the pools of a Worker boot, in their order, before anything is written. classes are the machine
// classes that there are; nameOf returns the name of the one that a pool is going to have.
func ImagesOf(
	compiled *profile.Profile[Template], w *extensionsv1alpha1.Worker, classes []machinev1alpha1.MachineClass,
	nameOf func(pool string) string,
) ([]worker.Image[Template], error) {
	status := &WorkerStatus{}
	if w.Status.ProviderStatus != nil {
		if err := json.Unmarshal(w.Status.ProviderStatus.Raw, status); err != nil {
			return nil, fmt.Errorf("the status of worker %s: %w", w.Name, err)
		}
	}
	images := worker.NewImages(compiled, status.records())
	var booted []worker.Image[Template]
	for _, pool := range worker.PoolsOf(w) {
		question := worker.Question[Template]{Pool: pool, Names: []string{nameOf(pool.Name)}}
		for _, class := range classes {
			spec := &MachineSpec{}
			if err := json.Unmarshal(class.ProviderSpec.Raw, spec); err != nil {
				return nil, fmt.Errorf("machine class %s: %w", class.Name, err)
			}
			if spec.Pool == pool.Name {
				question.Classes = append(question.Classes, worker.Class[Template]{
					Name: class.Name, Image: pool.Image, Version: spec.Version, Reference: spec.Template,
				})
			}
		}
		image, err := images.Of(question)
		if err != nil {
			return nil, err
		}
		booted = append(booted, image)
	}
	return booted, nil
}

// records and StatusOf are the two directions of the list in the status.
func (s *WorkerStatus) records() []worker.Record[Template] {
	var records []worker.Record[Template]
	for _, image := range s.MachineImages {
		records = append(records, worker.Record[Template]{
			Image: image.Name, Version: image.Version, Reference: image.Template,
			Architecture: image.Architecture, Capabilities: image.Capabilities,
		})
	}
	return records
}

// StatusOf returns the status of a Worker whose pools boot these images.
func StatusOf(images []worker.Image[Template]) *WorkerStatus {
	status := &WorkerStatus{}
	status.APIVersion, status.Kind = configKind.GroupVersion().String(), "WorkerStatus"
	for _, r := range worker.Records(images) {
		status.MachineImages = append(status.MachineImages, BootedImage{
			Name: r.Image, Version: r.Version, Template: r.Reference, Architecture: r.Architecture, Capabilities: r.Capabilities,
		})
	}
	return status
}
