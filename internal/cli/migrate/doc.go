// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package migrate is the command migrate: what it makes of files, in which steps, and how it proves that nothing else changes.
package migrate
