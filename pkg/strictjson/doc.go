// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package strictjson decodes JSON into Go API types as strictly as the API server does with strict field validation,
// and reports every problem at the path where the user wrote it, in words that need no knowledge of Go.
//
// Decode is the only function. When the strict decoder of Kubernetes is content, nothing else runs. When it is not, the
// document is walked once beside the Go type (walk.go, over the fields found by fields.go and the bytes read by
// cursor.go), and words.go and suggest.go turn what does not fit into messages.
//
// Nothing here knows Gardener, images or providers; rules about values belong to the caller.
package strictjson
