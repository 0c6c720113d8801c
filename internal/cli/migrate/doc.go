// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package migrate implements the command migrate: it edits files, in one or two steps, and proves that nothing else changes.
package migrate
