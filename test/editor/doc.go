// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package editor tests the language server in an editor: Neovim, from the packages of Debian.
package editor
