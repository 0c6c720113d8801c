// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package worker decides which image the machines of a worker pool boot during the pool's life. It is the third decision about images,
// after those about CloudProfiles and Shoots. A worker controller calls it before it writes machine classes, and writes the result into the
// Worker's status.
//
// Start reading at [Images.Of]. For a pool without machines, the answer is that of resolve.Pool. A pool with a machine class keeps its
// flavor until its machines are replaced, even if another flavor ranks higher by now. It also keeps its image if the profile no longer
// lists the image version. The package implements semantics S14. It reads and writes nothing: machine classes and status belong to the
// provider.
package worker
