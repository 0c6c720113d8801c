// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
	"github.com/capkit/capkit/test/authors/acme"
)

// statusKind is the kind of what the delegate writes into status.providerStatus of a Worker.
var statusKind = schema.GroupVersionKind{Group: "acme.provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "WorkerStatus"}

// recordsOf and statusOf are the two directions of the list in the status.
func recordsOf(status *acme.WorkerStatus) []worker.Record[acme.Template] {
	var records []worker.Record[acme.Template]
	for _, image := range status.MachineImages {
		records = append(records, worker.Record[acme.Template]{
			Image: image.Name, Version: image.Version, Reference: image.Template,
			Architecture: image.Architecture, Capabilities: image.Capabilities, Implied: image.Implied,
		})
	}
	return records
}

// statusOf returns the status of a Worker with these records, in the format of its profile.
func statusOf(records []worker.Record[acme.Template], legacy bool) *acme.WorkerStatus {
	status := &acme.WorkerStatus{}
	status.SetGroupVersionKind(statusKind)
	for _, r := range kit.InFormat(records, legacy) {
		status.MachineImages = append(status.MachineImages, acme.BootedImage{
			Name: r.Image, Version: r.Version, Template: r.Reference, Architecture: r.Architecture, Capabilities: r.Capabilities, Implied: r.Implied,
		})
	}
	return status
}
