// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
)

// readStatus reads the status.providerStatus of a Worker; nil is an empty one. Fields that it does not know do not matter.
func readStatus(raw *runtime.RawExtension) (*v1alpha1.WorkerStatus, error) {
	status := &v1alpha1.WorkerStatus{}
	return status, kit.ReadStatus(raw, schema.GroupVersion(v1alpha1.GroupVersion).WithKind("WorkerStatus"), status)
}

// writeStatus returns what readStatus reads. Equal statuses are equal bytes.
func writeStatus(status *v1alpha1.WorkerStatus) (*runtime.RawExtension, error) {
	status.APIVersion, status.Kind = v1alpha1.GroupVersion.String(), "WorkerStatus"
	raw, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("the status of the Worker cannot be written: %w", err)
	}
	return &runtime.RawExtension{Raw: raw}, nil
}

// recordsOf returns the records of images in a status, in their order.
func recordsOf(status *v1alpha1.WorkerStatus) []worker.Record[openstack.Image] {
	records := make([]worker.Record[openstack.Image], 0, len(status.MachineImages))
	for _, image := range status.MachineImages {
		records = append(records, worker.Record[openstack.Image]{
			Image: image.Name, Version: image.Version, Reference: reference(ptr.Deref(image.ID, ""), ptr.Deref(image.Image, "")),
			Architecture: ptr.Deref(image.Architecture, ""), Capabilities: image.Capabilities,
		})
	}
	return records
}

// reference is what OpenStack finds an image by: the ID counts if there are both.
func reference(id, name string) openstack.Image {
	if id != "" {
		return openstack.Image{ID: id}
	}
	return openstack.Image{Name: name}
}

// machineImages is the opposite of recordsOf. The records are written in the format that suits the profile now:
// provider-openstack understands no other.
func machineImages(records []worker.Record[openstack.Image], legacy bool) []v1alpha1.MachineImage {
	var images []v1alpha1.MachineImage
	for _, r := range kit.InFormat(records, legacy) {
		images = append(images, v1alpha1.MachineImage{
			Name: r.Image, Version: r.Version, ID: nonEmpty(r.Reference.ID), Image: nonEmpty(r.Reference.Name),
			Architecture: nonEmpty(r.Architecture), Capabilities: r.Capabilities,
		})
	}
	return images
}

func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
