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

// readStatus reads status.providerStatus of a Worker, which may be nil. It ignores unknown fields.
func readStatus(raw *runtime.RawExtension) (*v1alpha1.WorkerStatus, error) {
	status := &v1alpha1.WorkerStatus{}
	return status, kit.ReadStatus(raw, schema.GroupVersion(v1alpha1.GroupVersion).WithKind("WorkerStatus"), status)
}

// writeStatus returns a status in the form that readStatus reads. Equal statuses result in equal bytes.
func writeStatus(status *v1alpha1.WorkerStatus) (*runtime.RawExtension, error) {
	status.APIVersion, status.Kind = v1alpha1.GroupVersion.String(), "WorkerStatus"
	raw, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("the status of the Worker cannot be written: %w", err)
	}
	return &runtime.RawExtension{Raw: raw}, nil
}

// recordsOf returns the image records of a status in their order.
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

// reference returns a reference to an image. The ID takes precedence over the name.
func reference(id, name string) openstack.Image {
	if id != "" {
		return openstack.Image{ID: id}
	}
	return openstack.Image{Name: name}
}

// machineImages is the inverse of recordsOf. It writes records in the format of the current profile, the only one that provider-openstack
// understands.
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
