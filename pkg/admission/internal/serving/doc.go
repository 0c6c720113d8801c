// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package serving serves webhooks in every replica, and keeps the process healthy. It passes a request to the handler if it looks like a
// request of an API server, if there is room for it, and while the garden's API server is heard. It chooses the certificate that clients
// see, defines /healthz and /readyz, and delays the stop of a replica.
//
// It is independent of the webhooks' subject: package admission passes it a handler. It imports none of the packages with rules, and does
// not register webhooks.
//
// Start reading at [Webhooks]. [Options] has the flags. A request passes server.go, limits.go and hearing.go, each of which may refuse
// it. The rest of the process is in certificate.go and memory.go, and the metrics are in metrics.go.
package serving
