// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package servergroups keeps the server groups of one Worker in OpenStack: worker pools may ask for one, which decides
// on which hosts their machines are. [Connect] logs in with the credentials of a Shoot, [Ensure] finds or creates the
// groups before machine classes are written, [CleanUp] removes what no pool needs any more once the machines are as
// they should be, and [Delete] removes all.
//
// What belongs to a Worker is known by three things only: the record in its status, its machine classes, and names that begin with
// the UID of its Shoot. Names that begin with the Shoot's technical ID, as provider-openstack gave in the past, prove nothing:
// those of a Shoot s1 begin like those of its neighbour s1-test.
//
// Start reading at Ensure. Nothing is kept in memory between calls, so that all of it can be interrupted at any call to
// OpenStack and be repeated.
package servergroups
