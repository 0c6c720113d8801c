// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/provider"
)

// HashData returns what of a pool's providerConfig the names of its machine classes depend on: the additionalData of WorkerPoolHash
// in Gardener's worker library. Rolling is what [provider.Workers.Rolling] returns for the pool, in its order: so a setting that
// the provider lists in RollingUpdate replaces machines when it changes, without a word in the worker controller. Otherwise, new
// machines of a pool that asks for secure boot from now on would boot another image, and the old ones stay.
//
// A setting that the pool does not have adds nothing. So a provider can get one more, and no machine of a pool without it is
// replaced. Own says for fields of Rolling what is hashed instead of their value, in its order: what a controller has hashed before
// it used this function, or what the cloud made of the setting, such as the ID of a server group. An empty list adds nothing. A
// field that rolling does not have is an error: its change would replace machines, and nobody would have been told. Own may be nil.
//
// It is not for pools that are updated in place: Gardener hashes what counts for these, and nothing replaces their machines.
// WorkerPoolHash takes this list for the others only. The caller owns the list; it is nil if there is nothing.
func HashData(rolling []provider.Rolling, own map[string][]string) ([]string, error) {
	var data []string
	missing := maps.Clone(own)
	for _, part := range rolling {
		delete(missing, part.Field)
		switch values, is := own[part.Field]; {
		case is:
			data = append(data, values...)
		case part.Value != "":
			data = append(data, "providerConfig."+part.Field+"="+part.Value)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the provider does not list %s in RollingUpdate",
			strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
	}
	return data, nil
}
