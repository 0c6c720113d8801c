// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package versions suggests image or Kubernetes versions to users who must choose another one, with the caveats of each. It also evaluates
// lifecycles.
//
// Start reading at [NewChoices] or [StagesOf]. The package imports nothing of this module.
package versions

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// ExpiryOf returns the time when a version expires, in UTC; nil if it does not. As in Gardener, an expiration date beside a lifecycle is
// ignored.
func ExpiryOf(v v1beta1.ExpirableVersion) *time.Time {
	var at time.Time
	for _, stage := range AsLifecycle(v) {
		if stage.Classification == v1beta1.ClassificationExpired {
			at = startOf(stage)
		}
	}
	if at.IsZero() {
		return nil
	}
	return &at
}

// Choice is a suggested version.
type Choice struct {
	Version string
	// Remark has the version's caveats, for example "deprecated, expires 2027-01-31"; empty if there are none.
	Remark string
	// Supported is set if the version is neither deprecated nor a preview.
	Supported bool

	class  class
	parsed *semver.Version
}

// String returns the version with its remark, as in messages.
func (c Choice) String() string {
	if c.Remark == "" {
		return c.Version
	}
	return c.Version + " (" + c.Remark + ")"
}

// class is the quality of a version, the best first.
type class int

const (
	supported class = iota
	deprecated
	preview
)

// Choices are the suggestible versions of one image, or of Kubernetes. They are immutable.
type Choices struct {
	// good has the supported versions, then the deprecated ones, each list with the newest first. Versions that are not semantic come last.
	good [deprecated + 1][]Choice
	// previews are only suggested if there are no good versions.
	previews []Choice
}

// NewChoices returns the active versions.
func NewChoices(all []v1beta1.ExpirableVersion) Choices {
	var c Choices
	for _, v := range all {
		if !Active(v) {
			continue
		}
		if one := choiceOf(v); one.class == preview {
			c.previews = append(c.previews, one)
		} else {
			c.good[one.class] = append(c.good[one.class], one)
		}
	}
	for _, list := range [][]Choice{c.good[supported], c.good[deprecated], c.previews} {
		slices.SortFunc(list, func(a, b Choice) int {
			return cmp.Or(b.parsed.Compare(a.parsed), cmp.Compare(a.Version, b.Version))
		})
	}
	return c
}

func choiceOf(v v1beta1.ExpirableVersion) Choice {
	c := Choice{Version: v.Version}
	var remarks []string
	switch classification := Classification(v); classification {
	case v1beta1.ClassificationDeprecated:
		c.class, remarks = deprecated, append(remarks, string(classification))
	case v1beta1.ClassificationPreview:
		c.class, remarks = preview, append(remarks, string(classification))
	default:
		c.Supported = true
	}
	if expiry := ExpiryOf(v); expiry != nil {
		remarks = append(remarks, "expires "+expiry.Format(time.DateOnly))
	}
	c.Remark = strings.Join(remarks, ", ")
	parsed, err := semver.NewVersion(v.Version)
	if err != nil {
		parsed = &semver.Version{}
	}
	c.parsed = parsed
	return c
}

// Near returns at most the given number of versions for a user of another version: supported ones before deprecated ones. In each group,
// the nearest newer one comes first, and the nearest older one after all newer ones. If the other version is not a full semantic version,
// the newest comes first. Previews are left out.
func (c Choices) Near(version string, most int) []Choice {
	var all []Choice
	for _, list := range c.good {
		all = near(all, list, version, most)
	}
	return all
}

// Previews returns at most the given number of previews, in the same order.
func (c Choices) Previews(version string, most int) []Choice {
	return near(nil, c.previews, version, most)
}

// NewestFirst compares two versions for a list with the newest first. Invalid versions come last.
func NewestFirst(a, b string) int {
	x, errOfX := semver.NewVersion(a)
	y, errOfY := semver.NewVersion(b)
	switch {
	case errOfX == nil && errOfY == nil:
		return y.Compare(x)
	case errOfX == nil:
		return -1
	case errOfY == nil:
		return 1
	}
	return 0
}

// near appends versions of a list with the newest first, in the order of Near, up to the given number.
func near(all, list []Choice, version string, most int) []Choice {
	newer := 0
	if from, err := semver.StrictNewVersion(version); err == nil {
		newer, _ = slices.BinarySearchFunc(list, from, func(c Choice, from *semver.Version) int { return from.Compare(c.parsed) })
	}
	for i := newer - 1; i >= 0 && len(all) < most; i-- {
		all = append(all, list[i])
	}
	for i := newer; i < len(list) && len(all) < most; i++ {
		all = append(all, list[i])
	}
	return all
}

// Advised returns all versions in the order of Near, or the previews if there are no others.
func (c Choices) Advised(version string) []Choice {
	all := c.Near(version, len(c.good[supported])+len(c.good[deprecated]))
	if len(all) == 0 {
		return c.Previews(version, len(c.previews))
	}
	return all
}
