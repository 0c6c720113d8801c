// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

// ImageVersion names a version of a machine image.
type ImageVersion struct{ Image, Version string }

// String returns the name as messages have it: IMAGE@VERSION.
func (v ImageVersion) String() string { return v.Image + "@" + v.Version }
