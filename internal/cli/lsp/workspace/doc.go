// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package workspace contains an editor's open documents and the files that belong to them. It checks them when they change, publishes the
// findings, and provides repairs. Requests about places are not here, but in package lsp. Start reading at [Workspace] and, for one
// check, at run in run.go.
package workspace
