// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package lsp is the command lsp, a language server over standard input and output. What it says is what lint, lint --fix, explain and
// explain-rule say, at the place where the editor is.
//
// Start reading at server (server.go), which answers requests. The rest is by what editors ask for: completion.go, hover.go, definition.go.
// Findings and repairs are in package workspace, which checks what is open. The framing and the order of requests are those of package
// jrpc2, places in texts those of package text.
package lsp
