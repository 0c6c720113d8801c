// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package strictjson decodes JSON into Go API types as strictly as the API server does with strict field validation,
// and reports every problem at the path where the user wrote it, in words that need no knowledge of Go.
//
// Start reading at Decode. A document without errors is decoded once, by a fast decoder that is as strict (fast.go).
//
// Only a document that the fast decoder refuses is walked, value by value, beside the Go type (walk.go, over the
// fields found by fields.go); words.go and suggest.go turn what does not fit into messages. Then the decoder of
// Kubernetes fills in what fits. If the walk finds nothing, its strict decoder has the last word.
//
// Unmarshal is for documents that an API server has written, in which there is nothing to report.
//
// Nothing here knows Gardener, images or providers; rules about values belong to the caller.
package strictjson
