// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package importer is the command import: which profiles get the images of a release, what that makes of their files, and how it proves that
// the result is right. What a release has, and what becomes of a profile, package release knows.
package importer
