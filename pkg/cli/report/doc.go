// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package report is what the lint command prints: its findings, and the formats that they are written in.
//
// Start reading at [Report], whose JSON is documented, and [Report.Write]. [JSON] and [YAML] are there, too, in which
// other commands print their answers; text.go, sarif.go and junit.go have the other formats.
//
// Nothing is checked here, and nothing is known here of manifests: who makes a [Finding] says where it is.
package report
