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

// HashData returns the parts of a pool's providerConfig that its machine class names depend on: the additionalData of WorkerPoolHash in
// Gardener's worker library. rolling is the result of [provider.Workers.Rolling] for the pool, and sets the order. So a change of a setting
// that the provider lists in RollingUpdate replaces the machines, without any code in the worker controller. Otherwise, if a pool turned on
// secure boot, its new machines would boot another image while the old ones stay.
//
// A setting that the pool does not have adds nothing. So a provider can add a setting without replacing machines of pools that do not use
// it. own maps fields of rolling to the values to hash instead, in their order: values that a controller hashed before it used this
// function, or values that the cloud derives from the setting, such as the ID of a server group. An empty list adds nothing. A field that
// rolling lacks is an error, because its change would replace machines without any warning. own may be nil.
//
// Do not use it for pools that are updated in place: Gardener hashes their settings itself, and nothing replaces their machines.
// WorkerPoolHash accepts this list only for other pools. The caller owns the result; it is nil if it is empty.
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
