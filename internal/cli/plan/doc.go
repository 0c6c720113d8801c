// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package plan is the command plan: which two versions of a profile it compares, and what it prints of the changes.
package plan
