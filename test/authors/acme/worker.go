// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"fmt"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// TemplateFor is what a worker controller asks before it writes the machine class of a worker pool. inUse is the template
// that the pool boots now, according to the status of the Worker; empty for a new pool.
func TemplateFor(
	profile *consistency.Profile[Template], worker *extensionsv1alpha1.Worker, pool *extensionsv1alpha1.WorkerPool, inUse Template,
) (Template, error) {
	answer := profile.ResolvePool(provider.Pool{
		Name: pool.Name, MachineType: pool.MachineType, Architecture: ptr.Deref(pool.Architecture, ""),
		Image: pool.MachineImage.Name, Version: pool.MachineImage.Version, Region: worker.Spec.Region,
		Worker: capability.Worker{UpdateStrategy: ptr.Deref(pool.UpdateStrategy, "")}, Config: pool.ProviderConfig,
	})
	delisted := answer.Reason == imageselector.ReasonUnknownImage || answer.Reason == imageselector.ReasonUnknownVersion
	switch {
	case answer.Err == nil:
		return answer.Decision.Reference, nil
	case delisted && inUse != Template{}:
		return inUse, nil
	}
	return Template{}, fmt.Errorf("worker %s: %s", worker.Name, answer.Err.Detail)
}
