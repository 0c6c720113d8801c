// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package reserved

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/gardener"
)

// ValidateUpdate is [gardener.Server.ValidateUpdate] of a Gardener that accepts the reserved capabilities.
func ValidateUpdate(server *gardener.Server, updated, old *v1beta1.CloudProfile) field.ErrorList {
	d := disguiseFor(updated, old)
	return d.reveal(server.ValidateUpdate(disguised(d, updated), disguised(d, old)))
}

// ValidateNamespacedUpdate is [gardener.Server.ValidateNamespaced], on update, of a Gardener that accepts the reserved capabilities. In the
// errors that ignore receives, their names are still replaced.
func ValidateNamespacedUpdate(
	server *gardener.Server, updated, old *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, ignore func(*field.Error) bool,
) field.ErrorList {
	d := disguiseFor(updated, old, parent)
	return d.reveal(server.ValidateNamespaced(disguised(d, updated), disguised(d, old), disguised(d, parent), ignore))
}
