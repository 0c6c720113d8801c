// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package serving serves webhooks, in every replica, and keeps the rest of the process fit for it. It lets a request through to a
// handler if it has the form of one that an API server sends, if there is room for it, and as long as the API server of the garden
// is heard. It decides which certificate clients are shown, what /healthz and /readyz say, and when a replica that is asked to stop
// does so.
//
// It knows nothing of what the webhooks are about: package admission has a handler, and hands it over. It imports none of the
// packages that decide, and does not register webhooks.
//
// Start reading at [Webhooks]. [Options] has the flags. A request comes by server.go, limits.go and hearing.go, each of which may
// refuse it. What the process does besides is in certificate.go and memory.go, and its numbers in metrics.go.
package serving
