// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package finding holds what all checks report: a [Finding] is one fault in a manifest, with the rule that it breaks, the
// place where it stands, and words for the person who wrote it. A [Report] has those that deny and those that only warn. A
// [Rule] is an entry of the catalogue from which documentation and SARIF output are made.
//
// Start reading at [New]. The package depends on no other package of this module, and knows no rule itself: rules belong to
// the packages that report them.
package finding
