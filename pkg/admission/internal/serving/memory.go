// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/go-logr/logr"
)

// collectedShare is the share of the container's memory limit at which the process starts to collect garbage more often. The rest is for
// memory that Go does not count: the mapped program file and socket buffers.
const collectedShare = 0.7

// BoundMemory sets Go's memory limit to a share of limit, which is memlimit.FromCgroup for a container. Otherwise the process would use up
// to twice the memory that it needs, whatever its limit is. The environment variable GOMEMLIMIT takes precedence. If neither exists,
// nothing changes.
func BoundMemory(log logr.Logger, limit memlimit.Provider) {
	log = log.WithName("memory")
	switch goal, err := memlimit.Set(memlimit.WithRatio(collectedShare), memlimit.WithProvider(limit)); {
	case err != nil:
		log.Info("Garbage is collected as without a memory limit, which is not known", "reason", err.Error())
	case goal < math.MaxInt64:
		log.Info("Garbage is collected in time for the memory limit", "goal", goal)
	}
}
