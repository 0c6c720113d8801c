// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package servergroups manages the server groups of one Worker in OpenStack. Worker pools may request a server group, which decides on
// which hosts their machines run. [Connect] logs in with the credentials of a Shoot. [Ensure] finds or creates the groups before machine
// classes are written. [CleanUp] removes groups that no pool needs any more, once the machines are reconciled, and [Delete] removes all.
//
// Only three things identify the groups of a Worker: the record in its status, its machine classes, and names that begin with the UID of
// its Shoot. Names that begin with the Shoot's technical ID, as provider-openstack used in the past, prove nothing: those of a Shoot s1
// begin like those of its neighbor s1-test.
//
// Start reading at Ensure. The package keeps no state between calls, so any call to OpenStack can be interrupted and the whole repeated.
package servergroups
