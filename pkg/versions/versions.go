// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package versions says which versions of an image, or of Kubernetes, to advise to somebody who has to write another one, and what
// that person has to know of each.
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExpiryOf returns when a version expires; nil if it does not. Beside a lifecycle an expiration date is ignored, as for
// Gardener. Time zones are left out.
func ExpiryOf(v v1beta1.ExpirableVersion) *time.Time {
	var at *metav1.Time
	for _, stage := range AsLifecycle(v) {
		if stage.Classification == v1beta1.ClassificationExpired {
			at = stage.StartTime
		}
	}
	if at == nil {
		return nil
	}
	return new(at.UTC())
}

// Choice is a version that somebody can write.
type Choice struct {
	Version string
	// Remark is what one has to know of it, "deprecated, expires 2027-01-31" for example; empty if there is nothing.
	Remark string
	// Supported says that it is neither deprecated nor a preview.
	Supported bool

	class  class
	parsed *semver.Version
}

// String returns the version with the remark, as messages have it.
func (c Choice) String() string {
	if c.Remark == "" {
		return c.Version
	}
	return c.Version + " (" + c.Remark + ")"
}

// class is how good a version is, the best first.
type class int

const (
	supported class = iota
	deprecated
	preview
)

// Choices are versions of one image, or of Kubernetes. They are not changed any more.
type Choices struct {
	// good are those that are supported, then those that are deprecated, each the newest first. What is not semantic comes last.
	good [deprecated + 1][]Choice
	// previews are the others, which nobody should be advised to take who can have one of the good ones.
	previews []Choice
}

// NewChoices returns those of the versions that are active.
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

// Near returns a number of versions at most for somebody who has another one: those that are supported before those that are
// deprecated; of each the nearest newer one first, and after all newer ones the nearest older one. If the other version is not a
// full one, the newest comes first. There are no previews among them.
func (c Choices) Near(version string, most int) []Choice {
	var all []Choice
	for _, list := range c.good {
		all = near(all, list, version, most)
	}
	return all
}

// Previews returns in the same order a number of versions at most that are previews.
func (c Choices) Previews(version string, most int) []Choice {
	return near(nil, c.previews, version, most)
}

// NewestFirst compares two versions for a list with the newest first. What is no version comes last.
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

// near appends those of a list, which has the newest first, in the order of Near until there are enough.
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

// Advised returns all versions in the order of Near; the previews if there are no others.
func (c Choices) Advised(version string) []Choice {
	all := c.Near(version, len(c.good[supported])+len(c.good[deprecated]))
	if len(all) == 0 {
		return c.Previews(version, len(c.previews))
	}
	return all
}
