// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Group is a server group in OpenStack.
type Group struct {
	// ID and Name of the group. Names are not unique in OpenStack, and immutable.
	ID, Name string
	// Policy for the placement of servers, such as anti-affinity. It is immutable.
	Policy string
	// Members are the IDs of the servers in the group, without deleted ones, in no particular order.
	Members []string
}

// Compute is the part of OpenStack's compute service that this package uses, in one project of one region. The result of [Connect] is
// safe for concurrent use. Its errors say which service failed and what to check, and expose Gardener's error codes with a method Codes.
type Compute interface {
	// List returns all server groups of the project, in the order of the service. The caller owns the slice.
	List(ctx context.Context) ([]Group, error)
	// Get returns a server group. The error is ErrNotFound if the ID does not exist.
	Get(ctx context.Context, id string) (Group, error)
	// Create creates a server group.
	Create(ctx context.Context, name, policy string) (Group, error)
	// Delete deletes a server group, or nothing if the ID does not exist. Its servers continue to run.
	Delete(ctx context.Context, id string) error
	// Metadata returns the metadata of a server, which are the labels of a machine. The error is ErrNotFound if the ID does not exist.
	Metadata(ctx context.Context, server string) (map[string]string, error)
}

// ErrNotFound means that a server group or a server does not exist. It may be wrapped.
var ErrNotFound = errors.New("there is none with this ID")

// Pool is a worker pool that requests a server group.
type Pool struct {
	// Name of the pool. Names are unique among the pools of a Worker.
	Name string
	// Policy is serverGroup.policy of the pool's WorkerConfig.
	Policy string
	// Refers are the IDs of the server groups that the pool's machine classes refer to; nil for none.
	Refers []string
}

// Names are the parts of server group names.
type Names struct {
	// TechnicalID is status.technicalID of the Shoot, the name of its namespace in the seed. Old group names begin with it, and servers
	// have it in their metadata.
	TechnicalID string
	// UID is metadata.uid of the Shoot. The names of new groups begin with it.
	UID string
}

const (
	uidLength       = 18
	hashLength      = 8
	oldSuffixLength = 10

	hexadecimal = "0123456789abcdef"
	oldSuffix   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// check returns an error if the names would not be unique to the Shoot.
func (n Names) check() error {
	switch {
	case n.TechnicalID == "":
		return problem("the Shoot of the Worker has no technical ID; server groups cannot be told from those of others without it")
	case len(n.UID) < uidLength:
		return problem(fmt.Sprintf("the UID of the Worker's Shoot is %q; at least %d characters are needed to name server groups",
			n.UID, uidLength))
	}
	return nil
}

// prefix returns the beginning of all server group names of this Shoot and of no other.
func (n Names) prefix() string { return n.UID[:uidLength] + "-" }

// of returns the name of a pool's server group.
func (n Names) of(pool Pool) string {
	sum := sha256.Sum256([]byte("pool=" + pool.Name + ",policy=" + pool.Policy))
	return n.prefix() + hex.EncodeToString(sum[:])[:hashLength]
}

// isOwn reports whether a name is a result of of for some pool of the Shoot.
func (n Names) isOwn(name string) bool {
	hash, found := strings.CutPrefix(name, n.prefix())
	return found && len(hash) == hashLength && strings.Trim(hash, hexadecimal) == ""
}

// mayBeOld reports whether a name has the form that provider-openstack gave to the pool's server groups in the past. A pool of another
// Shoot can have a group of the same name.
func (n Names) mayBeOld(name string, pool Pool) bool {
	random, found := strings.CutPrefix(name, n.TechnicalID+"-"+pool.Name+"-")
	return found && len(random) == oldSuffixLength && strings.Trim(random, oldSuffix) == ""
}

// label returns the metadata key that all servers of this Shoot have, and no servers of others.
func (n Names) label() string { return "kubernetes.io-cluster-" + n.TechnicalID }
