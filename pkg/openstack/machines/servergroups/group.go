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

// Group is a server group as it is in OpenStack.
type Group struct {
	// ID and Name of the group. Names are not unique in OpenStack, and cannot be changed.
	ID, Name string
	// Policy by which servers are placed, anti-affinity for example. It cannot be changed.
	Policy string
	// Members are the IDs of the servers in the group, without deleted ones, in no particular order. Empty: none.
	Members []string
}

// Compute is what is needed of OpenStack's compute service, in one project of one region. [Connect] returns one that is
// safe for concurrent use. Its errors say which service failed and what to check, and expose Gardener's error codes
// with a method Codes.
type Compute interface {
	// List returns all server groups of the project, in the order of the service. The caller owns the slice.
	List(ctx context.Context) ([]Group, error)
	// Get returns a server group; the error is ErrNotFound if there is none with this ID.
	Get(ctx context.Context, id string) (Group, error)
	// Create creates a server group.
	Create(ctx context.Context, name, policy string) (Group, error)
	// Delete deletes a server group; it is no error if there is none with this ID. Its servers live on.
	Delete(ctx context.Context, id string) error
	// Metadata returns the metadata of a server, which are the labels of a machine; the error is ErrNotFound if there is
	// no server with this ID.
	Metadata(ctx context.Context, server string) (map[string]string, error)
}

// ErrNotFound is the error about a server group or a server that does not exist, possibly wrapped.
var ErrNotFound = errors.New("there is none with this ID")

// Pool is a worker pool that asks for a server group.
type Pool struct {
	// Name of the pool. Names are unique among the pools of a Worker.
	Name string
	// Policy is the policy of serverGroup in the pool's WorkerConfig.
	Policy string
	// Refers are the IDs of the server groups that the machine classes of the pool refer to; nil for a pool without any, or for none.
	Refers []string
}

// Names are what names of server groups are made of.
type Names struct {
	// TechnicalID of the Shoot, status.technicalID, which is the name of its namespace in the seed. Old names begin with
	// it, and servers have it in their metadata.
	TechnicalID string
	// UID of the Shoot, metadata.uid. The names of groups that are created begin with it.
	UID string
}

const (
	uidLength       = 18
	hashLength      = 8
	oldSuffixLength = 10

	hexadecimal = "0123456789abcdef"
	oldSuffix   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// check returns an error if the names could be those of somebody else.
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

// prefix is what the names of all server groups of the Shoot begin with, and of no other Shoot.
func (n Names) prefix() string { return n.UID[:uidLength] + "-" }

// of returns the name of the server group of a pool.
func (n Names) of(pool Pool) string {
	sum := sha256.Sum256([]byte("pool=" + pool.Name + ",policy=" + pool.Policy))
	return n.prefix() + hex.EncodeToString(sum[:])[:hashLength]
}

// isOwn reports whether a name is one that of returns for some pool of the Shoot.
func (n Names) isOwn(name string) bool {
	hash, found := strings.CutPrefix(name, n.prefix())
	return found && len(hash) == hashLength && strings.Trim(hash, hexadecimal) == ""
}

// mayBeOld reports whether a name has the form that provider-openstack gave to server groups of the pool in the past. A
// pool of another Shoot can have the same.
func (n Names) mayBeOld(name string, pool Pool) bool {
	random, found := strings.CutPrefix(name, n.TechnicalID+"-"+pool.Name+"-")
	return found && len(random) == oldSuffixLength && strings.Trim(random, oldSuffix) == ""
}

// label is the key that the metadata of all servers of the Shoot has, and of no other Shoot's.
func (n Names) label() string { return "kubernetes.io-cluster-" + n.TechnicalID }
