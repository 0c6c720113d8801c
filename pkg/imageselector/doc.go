// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package imageselector chooses the image that a worker pool boots: from the images of a CloudProfile, compiled once
// into a [Catalog], it selects the best flavor of an image version for a machine type, a request and a region.
//
// Start reading at [Catalog.Decide]. It evaluates each flavor of an image version once and returns the record, a
// [Decision]; [Catalog.Select] runs the same loop without keeping the record and does not allocate.
//
// The package is generic over R, a provider's reference to an image, and never looks into it. It decodes no manifest
// and reports no errors about one: it takes what it is given, also what lint and admission refuse (semantics S7).
// Decoding is up to a provider, checking to consistency. The rules that this package implements are those of S4 to S7
// of docs/semantics.md about choosing.
package imageselector
