// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package report is what the lint command prints: its findings, and the formats that they are written in.
//
// Start reading at [Report], whose JSON is documented, and [Report.Write]. Each format has a file of its own: text.go,
// sarif.go and junit.go; JSON and YAML, in which other commands print their answers too, are in encode.go.
//
// Nothing is checked here, and nothing is known here of manifests: who makes a [Finding] says where it is.
package report
