// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package lsp implements the command lsp, a language server over standard input and output. It shows the results of lint, lint --fix,
// explain and explain-rule at places in an editor, and contains no rules of its own.
//
// Start reading at server (server.go), which answers requests. There is a file for each feature: completion.go, hover.go, definition.go.
// Findings and repairs are in package workspace, which checks open files. Package jrpc2 does the framing and orders requests, and package
// text finds places in texts.
package lsp
