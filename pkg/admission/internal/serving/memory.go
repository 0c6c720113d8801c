// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/go-logr/logr"
)

// collectedShare is the share of the container's memory limit that the process uses before it collects garbage more often. The
// rest is for what Go does not count: the program itself, which is mapped from its file, and what sockets hold.
const collectedShare = 0.7

// BoundMemory has Go collect garbage in time for a memory limit, which of a container is memlimit.FromCgroup. Otherwise the process
// takes twice what it needs, whatever the limit is. The environment variable GOMEMLIMIT says how much to use instead; without it
// and a limit nothing changes.
func BoundMemory(log logr.Logger, limit memlimit.Provider) {
	log = log.WithName("memory")
	switch goal, err := memlimit.Set(memlimit.WithRatio(collectedShare), memlimit.WithProvider(limit)); {
	case err != nil:
		log.Info("Garbage is collected as without a memory limit, which is not known", "reason", err.Error())
	case goal < math.MaxInt64:
		log.Info("Garbage is collected in time for the memory limit", "goal", goal)
	}
}
