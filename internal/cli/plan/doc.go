// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package plan implements the command plan: it reads the two versions of a profile to compare, and prints the changes
// that package changes finds.
package plan
