// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package imageselector chooses the image that a worker pool boots: from the images of a CloudProfile, compiled once
// into a [Catalog], it selects the best flavor of an image version for a machine type and a region.
//
// Start reading at [Catalog.Decide]. It evaluates each flavor once and returns the record, a [Decision];
// [Catalog.Select] runs the same loop without keeping the record and does not allocate.
//
// The package is generic over the provider's image reference R and never looks into it. It decodes no manifest, checks
// no consistency and knows no provider: that is consistency's business. The rules it implements are S4 to S7 of
// docs/semantics.md.
package imageselector
