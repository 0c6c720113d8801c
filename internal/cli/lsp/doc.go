// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package lsp is the command lsp, a language server over standard input and output. What it says is what lint, lint --fix, explain and
// explain-rule say, at the place where the editor is.
//
// Start reading at server (server.go), which answers requests, and landscape (landscape.go), which knows the files that belong together
// and checks them. The rest is by what editors ask for: completion.go, hover.go, definition.go, actions.go. The framing and the order of
// requests are those of package jrpc2, places in texts those of package text.
package lsp
