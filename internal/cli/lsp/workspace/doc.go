// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package workspace has what an editor has open, and the files that belong together with that; it checks them when they change, publishes
// what it finds, and has the repairs. Start reading at [Workspace] and, for one check, at run in run.go.
package workspace
