// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"path"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// Formerly returns which version of an image a combination was called by before a migration, from the specs of the profile before
// and after it, as they are rendered: a version with the suffix of the Fold is left out if it is gone, and on the
// machine types that support the Value of the Fold alone, the version without the suffix has been the one with it. Nil, without a
// Fold: all keep their names. The result is as an [update.View] has it, and safe for concurrent use.
func (o Options) Formerly(
	cloud provider.Provider[any], before, after *v1beta1.CloudProfileSpec,
) func(resolve.Combination) (version string, counts bool) {
	if o.Fold == nil {
		return nil
	}
	type version struct{ image, name string }
	was, is := &document{cloud: cloud, written: *before}, &document{cloud: cloud, written: *after}
	suffixed, plain := map[version]string{}, map[version]bool{} // of a version that is folded into, and those that are folded
	pairs, _ := was.foldable(o.Fold)
	for _, pair := range pairs {
		name := was.name(pair.suffixed)
		suffixed[version{pair.image, was.name(pair.to)}] = name
		_, stays := is.find(pair.image, name)
		plain[version{pair.image, name}] = stays
	}
	return func(c resolve.Combination) (string, bool) {
		if stays, folded := plain[version{c.Image, c.Version}]; folded {
			return c.Version, stays
		}
		if former, folded := suffixed[version{c.Image, c.Version}]; folded && matches(o.MachineTypes, c.MachineType) {
			return former, true
		}
		return c.Version, true
	}
}

// Folds returns the version that a version is folded into; false if its name does not say so.
func (f *Fold) Folds(version string) (plain string, folds bool) {
	plain, folds = strings.CutSuffix(version, f.Suffix)
	return plain, folds && plain != ""
}

// matches reports whether a name fits one of some patterns.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return Matches(pattern, name) })
}

// Matches reports whether the name of a machine type fits a pattern.
func Matches(pattern, name string) bool {
	fits, _ := path.Match(pattern, name)
	return fits
}
