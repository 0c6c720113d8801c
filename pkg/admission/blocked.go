// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/provider"
)

// user is a Shoot that uses a profile.
type user struct {
	consistency.Use
	shoot *v1beta1.Shoot
	// through is the NamespacedCloudProfile by which it uses a CloudProfile; nil if it does so directly.
	through *v1beta1.NamespacedCloudProfile
}

// usesOf returns what package consistency has to know of the users of a profile.
func usesOf(users []user) []consistency.Use {
	uses := make([]consistency.Use, 0, len(users))
	for _, u := range users {
		uses = append(uses, u.Use)
	}
	return uses
}

// following returns the pools, without the images of those whose machine type, or any version of their image, is not as
// the CloudProfile has it.
func (u *user) following() []provider.Pool {
	if u.through == nil {
		return u.Pools
	}
	pools := slices.Clone(u.Pools)
	for i := range pools {
		changes := func(image v1beta1.MachineImage) bool { return image.Name == pools[i].Image }
		if pools[i].MachineType == "" || slices.ContainsFunc(u.through.Spec.MachineImages, changes) {
			pools[i].Image = ""
		}
	}
	return pools
}

// blockedPools are worker pools for which maintenance would choose a version that they do not boot.
type blockedPools struct {
	// pools is how many there are, shoots those that they belong to, in order.
	pools  int
	shoots []string
	// example names one of them, and says why it does not boot the version.
	example string
}

// blockedMaintenance warns about versions that Gardener's maintenance chooses by the updated profile, and not by the one
// before, for worker pools that do not boot them (semantics S9, S15).
func (c *component[R]) blockedMaintenance(stored, updated *compiled[R], users []user) finding.List {
	users = slices.SortedFunc(slices.Values(users), func(a, b user) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	workers := c.provider.Workers()
	was := maintenance.NewForecast(stored.spec, workers, stored.profile.Boots)
	is := was.After(updated.spec, updated.profile.Boots)
	found := map[maintenance.Blocked]*blockedPools{}
	for _, u := range users {
		pools := u.following()
		before := sync.OnceValue(func() []maintenance.Blocked { return was.Blocked(u.shoot, pools) })
		for i, now := range is.Blocked(u.shoot, pools) {
			if now == (maintenance.Blocked{}) || now == before()[i] {
				continue
			}
			if found[now] == nil {
				chosen := pools[i]
				chosen.Version = now.Image.Version
				found[now] = &blockedPools{example: updated.profile.ResolvePool(chosen).Message}
			}
			found[now].pools++
			found[now].shoots = append(found[now].shoots, u.Namespace+"/"+u.Name)
		}
	}
	var report finding.Report
	for blocked, those := range found {
		shoots := slices.Compact(those.shoots)
		report.Found(consistency.RuleMaintenanceBlocked, field.ErrorTypeForbidden, field.NewPath("spec", "machineImages"),
			blocked.Image.String(), "%s: Gardener's maintenance is going to choose it for worker pools of %s %s (%s), which "+
				"do not boot it: %s; %s; give the version what they need, or classify it as preview",
			blocked.Image, finding.Plural(shoots, "Shoot"), finding.Few(shoots), finding.Count(those.pools, "pool"), those.example,
			c.then(blocked))
	}
	return report.Sorted().Warnings
}

// then says what becomes of worker pools whose maintenance is blocked.
func (c *component[R]) then(blocked maintenance.Blocked) string {
	switch {
	case !c.corrects || len(*c.maintainers) == 0:
		return "the maintenance of these Shoots then fails as a whole"
	case blocked.Instead != "":
		return fmt.Sprintf("they are updated to %s instead", blocked.Instead)
	}
	return "they stay on the versions that they have"
}

// blockedByNamespaced does the same for what an update of a NamespacedCloudProfile makes of its parent.
func (c *component[R]) blockedByNamespaced(
	ctx context.Context, parent *compiled[R], object, old *v1beta1.NamespacedCloudProfile, users []user,
) (finding.List, error) {
	if len(users) == 0 {
		return nil, nil
	}
	above := &v1beta1.CloudProfile{Spec: *parent.spec}
	made := func(profile *v1beta1.NamespacedCloudProfile) *compiled[R] {
		spec, _ := namespaced.Render(c.provider, profile, above) // an unreadable config is left out, as in the status
		compilation, _ := consistency.Compile(c.provider, spec, nil)
		return &compiled[R]{spec, compilation}
	}
	before := made(old)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.blockedMaintenance(before, made(object), users), nil
}
