// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package validation checks the provider's own objects for OpenStack, field by field: what each may be by itself, and
// what an update may change. It does not compare one object with another; what a Shoot may have in its CloudProfile
// is said in pkg/openstack/rules, and nothing is said here about which images there are for which machines.
//
// Every function is pure and safe for concurrent use. It reports everything at once, in the order of the fields as
// the types list them, at paths below the one that it is given. [Rules] describes the rules; each has its entry in
// catalogue.go.
package validation
