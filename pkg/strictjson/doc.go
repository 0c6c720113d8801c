// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package strictjson decodes JSON into Go API types as strictly as the API server does with strict field validation,
// and reports every problem at the path where the user wrote it, in words that need no knowledge of Go.
//
// Start reading at Decode. A document without errors takes one pass of a fast decoder (quick.go). Only if that is not
// content does the strict decoder of Kubernetes have its say; and if that is not content either, the document is walked
// once beside the Go type (walk.go, over the fields found by fields.go and the bytes read by cursor.go), and words.go and
// suggest.go turn what does not fit into messages.
//
// Unmarshal is for documents that an API server has written, in which there is nothing to report.
//
// Nothing here knows Gardener, images or providers; rules about values belong to the caller.
package strictjson
