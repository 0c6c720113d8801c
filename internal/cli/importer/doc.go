// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package importer implements the command import. It selects the profiles that get a release's images, edits their
// files, and proves the result. Package release reads the release and computes the change of each profile.
package importer
