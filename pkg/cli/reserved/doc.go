// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package reserved validates objects as a Gardener would that accepts the capabilities which GEP-0054 reserves for it,
// those with the prefix gardener-, in the vocabulary of a CloudProfile, on machine types and in core flavors.
//
// There is no such Gardener yet: v1.150 refuses the prefix in all three, and so a profile that is written for the one
// to come cannot be checked with it. This package runs the validation of today on a copy of the object in which the
// prefix is replaced, and puts the names back into what it says. Once Gardener accepts them, the package goes, and so
// does the flag --reserved-in-core.
package reserved
