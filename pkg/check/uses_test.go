// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
)

// use is a Shoot that uses a profile.
type use struct {
	Namespace, Name string
	Pools           []provider.Pool
}

// effects returns what admission warns about an update, but for maintenance, which needs whole Shoots.
func effects[R any](before, after *profile.Profile[R], uses []use) finding.List {
	users := make([]update.User, 0, len(uses))
	for _, u := range uses {
		shoot := &v1beta1.Shoot{}
		shoot.Namespace, shoot.Name = u.Namespace, u.Name
		shoot.Spec.Provider.Workers = make([]v1beta1.Worker, len(u.Pools))
		users = append(users, update.User{Shoot: shoot, Pools: u.Pools})
	}
	changes := update.Of(update.View[R]{Before: before, After: after, Users: users})
	changes.Blocked = nil
	return slices.Clip(check.Effects(before, after, &changes, false))
}
