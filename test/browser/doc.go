// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package browser tests the page of capkit report in a real browser, Chromium, which hack/browser finds or downloads, and the language
// server in an editor there, CodeMirror, which npm installs. It is a module of its own, so that nobody who uses the packages of capkit
// has its dependencies.
package browser
