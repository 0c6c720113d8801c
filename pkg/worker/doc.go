// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package worker decides which image the machines of a worker pool boot while the pool lives on: the third of the
// decisions about images, after those about CloudProfiles and Shoots. A worker controller asks it before it writes
// machine classes, and writes what it says into the status of the Worker.
//
// Start reading at [Images.Of]. For a pool without machines the answer is that of resolve.Pool. A pool
// that has a machine class keeps its flavor as long as its machines are not replaced, whatever is ranked higher by
// now; and it goes on with what it has if the profile does not list its image version any more. The package implements
// S14 of docs/semantics.md. It reads and writes nothing: machine classes and status are those of the provider.
package worker
