// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package onetoone

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/words"
)

// reportDuplicate reports a flavor that equals the first one. The error is silenced if the reason is that the image is listed again.
func (c *Comparison[R]) reportDuplicate(flavor *imageselector.Flavor[R], set capability.Set, first *imageselector.Flavor[R]) {
	listed := c.Image.String()
	again := c.Image != nil && fieldpath.Above(listed, first.Path.String()) && !fieldpath.Above(listed, flavor.Path.String())
	ReportUnless(again, &c.Report, c.duplicate(flavor, set, first))
}

// duplicate returns the error about a flavor that equals the first one.
func (c *Comparison[R]) duplicate(
	flavor *imageselector.Flavor[R], set capability.Set, first *imageselector.Flavor[R],
) finding.Finding {
	repair := "remove one of the two"
	if len(flavor.Regional) > 0 {
		repair += ", or put their regions together"
	}
	again := ruleFlavorDuplicate.Fault(field.ErrorTypeDuplicate, flavor.Path, c.Vocabulary.Format(flavor.Capabilities),
		"%s: %s is the same flavor as %s; %s", c.Name, c.format(flavor.Capabilities, set), first.Path, repair)
	again.Place = c.repeats(equalFlavors{set, false}, writtenFlavor{first.Capabilities, first.Path}, writtenFlavor{flavor.Capabilities, flavor.Path})
	return again
}

// repeats returns the path that identifies the error about a flavor that equals the first one. Flavors that are written differently may
// be equal, and their order may change. So the errors about equal flavors are identified by all of them but the one in the least text.
func (c *Comparison[R]) repeats(all equalFlavors, first, flavor writtenFlavor) fieldpath.Path {
	least, found := c.least[all]
	if !found {
		least = first
	}
	if flavor.text() < least.text() {
		flavor, least = least, flavor
	}
	c.least[all] = least
	return fieldpath.Of(flavor.at)
}

// leastOf returns the path that identifies an error about the first of equal flavors.
func (c *Comparison[R]) leastOf(all equalFlavors, first *field.Path) fieldpath.Path {
	if least, repeated := c.least[all]; repeated {
		return fieldpath.Of(least.at)
	}
	return fieldpath.Of(first)
}

// text formats the capabilities regardless of the vocabulary, and of the order and repetition of values.
func (f writtenFlavor) text() string {
	written := v1beta1.Capabilities{}
	for name, values := range f.capabilities {
		written[name] = slices.Compact(slices.Sorted(slices.Values(values)))
	}
	return fmt.Sprint(written)
}

// IsRepeated reports whether an error is about a flavor that occurs twice in the provider config.
func IsRepeated(f finding.Finding) bool { return f.Origin == ruleFlavorDuplicate.Name }

// reportUnexpected reports a provider flavor that core does not list. The error is silenced if core may mean this flavor. The second of two
// equal flavors is a duplicate.
func (c *Comparison[R]) reportUnexpected(flavor *imageselector.Flavor[R], set capability.Set) {
	if c.LeavesOut() {
		return
	}
	if first := c.stray[set]; first != nil {
		c.reportDuplicate(flavor, set, first)
		return
	}
	c.stray[set] = flavor
	asCore := c.AsCore(flavor.Capabilities, set)
	c.openEntry = c.openEntry || c.imageless
	explained := c.unclearCore || c.imageless || c.lacking.Has(asCore) || mayBeOneOf(c.refused, set)
	c.lacking.Insert(asCore)
	c.atEnd = append(c.atEnd, func() {
		unexpected := c.unexpected(flavor, set)
		unexpected.Place = c.leastOf(equalFlavors{set, false}, flavor.Path)
		ReportUnless(explained, &c.Report, unexpected)
	})
}

func (c *Comparison[R]) unexpected(flavor *imageselector.Flavor[R], set capability.Set) finding.Finding {
	ofCore := c.format(Carried(c.Vocabulary, flavor.Capabilities, c.carried()), c.AsCore(flavor.Capabilities, set))
	return ruleFlavorUnexpected.Fault(field.ErrorTypeForbidden, flavor.Path, c.Vocabulary.Format(flavor.Capabilities),
		"%s: spec.machineImages does not list a flavor %s, only %s; add it to %s, or remove it here", c.Name, ofCore, list(c.Core), c.list)
}

// ReportMissing reports core flavors without a provider flavor. It silences errors about flavors that core refuses, or that a flavor with
// errors may mean, and all if there are entries but none has an image, which is already reported.
func (c *Comparison[R]) ReportMissing() {
	imageless := len(c.Entries) > 0 && !slices.ContainsFunc(c.Entries, c.hasImage)
	if !slices.ContainsFunc(c.Core, (*CoreFlavor[R]).alone) || !imageless && c.reportDifferent() {
		return
	}
	where := c.Where(c.Entries)
	for _, core := range c.Core {
		if !core.alone() || c.LeavesOut() {
			continue
		}
		missing := ruleFlavorMissing.Fault(field.ErrorTypeRequired, core.At, nil,
			"%s: no provider image for %s; add it %s", c.Name, c.format(core.written, core.Set), where)
		missing.Place = c.leastOf(equalFlavors{core.Set, true}, core.At)
		ReportUnless(imageless || core.refused || c.openEntry || core.At == c.At && c.unclearCore || mayBeOneOf(c.unclear, core.Set), &c.Report, missing)
	}
}

// hasImage reports whether an entry has an image. An entry in the legacy format may have a flavor without a reference.
func (c *Comparison[R]) hasImage(entry *imageselector.Version[R]) bool {
	return slices.ContainsFunc(entry.Flavors, func(f imageselector.Flavor[R]) bool {
		return !entry.Legacy || c.Derive != nil || len(f.Regional) > 0 || f.Global != nil && !imageselector.IsEmpty(f.Global.Ref)
	})
}

// reportDifferent replaces two errors by one if exactly one core flavor and one provider flavor lack a counterpart, and a machine type may
// fit both. They are probably the same flavor, written differently. It reports whether it handled the flavors.
func (c *Comparison[R]) reportDifferent() bool {
	alone := slices.DeleteFunc(slices.Clone(c.Core), func(core *CoreFlavor[R]) bool { return !core.alone() })
	if len(alone) != 1 || alone[0].refused || alone[0].At == c.At || len(c.stray) != 1 || len(c.unclear)+len(c.refused) > 0 || c.unclearCore || c.LeavesOut() {
		return false
	}
	core := alone[0]
	for set, flavor := range c.stray {
		i := slices.IndexFunc(c.Report.Errors, func(f finding.Finding) bool {
			return f.Origin == ruleFlavorUnexpected.Name && f.Field == flavor.Path.String()
		})
		if i < 0 || c.Vocabulary.Legacy() || c.Entries[0].Legacy || !core.Set.Compatible(set) {
			return false
		}
		c.Report.Silenced = append(c.Report.Silenced, c.Report.Errors[i])
		c.Report.Errors = append(slices.Delete(c.Report.Errors, i, i+1), ruleFlavorMissing.Fault(field.ErrorTypeRequired, core.At, nil,
			"%s: no provider image for %s, but %s has one for %s, which spec.machineImages does not list: write the same capabilities in both",
			c.Name, c.format(core.written, core.Set), flavor.Path, c.format(flavor.Capabilities, set)))
	}
	return true
}

// maxUnclear bounds the flavors with errors that are compared one by one. If there are more, errors about missing flavors are silenced.
const maxUnclear = 16

// MayFit reports whether a flavor, which may be understood only in part, does not conflict with a machine type and a request.
func MayFit(set, machine, worker capability.Set) bool {
	excludes := func(c capability.Conflict) bool { return len(c.Offer) > 0 }
	return !slices.ContainsFunc(set.Conflicts(machine, worker), excludes)
}

// mayBeOneOf reports whether a flavor with errors could equal a flavor of the other side once it is repaired.
func mayBeOneOf(unclear []capability.Set, other capability.Set) bool {
	return len(unclear) > maxUnclear || slices.ContainsFunc(unclear, func(one capability.Set) bool {
		return MayFit(one, other, capability.Set{})
	})
}

// format formats capabilities as written. If the supported values are written differently, it adds them.
func (c *Comparison[R]) format(written v1beta1.Capabilities, set capability.Set) string {
	short := c.Vocabulary.Format(written)
	switch full := set.String(); {
	case len(full) < len(short): // it declares redundant values
		return short + " (the same as " + full + ")"
	case full != short:
		return short + " (in full " + full + ")"
	}
	return short
}

// maxCoreFlavors is the number of core flavors that a message lists.
const maxCoreFlavors = 5

// list names the first few core flavors. It formats only these, because many findings may each list many flavors.
func list[R any](flavors []*CoreFlavor[R]) string {
	names := make([]string, 0, maxCoreFlavors)
	for _, flavor := range flavors[:min(len(flavors), maxCoreFlavors)] {
		names = append(names, flavor.Set.String())
	}
	return words.JoinFirst(len(flavors), names, ", ")
}

// reportAll reports an entry in the wrong format, after which the version is not checked further. The finding's extent covers the version
// on both sides.
func (c *Comparison[R]) reportAll(
	rule finding.Rule, kind field.ErrorType, entry *imageselector.Version[R], format string, args ...any,
) {
	if c.LeavesOut() {
		return
	}
	if c.extent == nil {
		c.extent = []fieldpath.Path{fieldpath.Of(c.At)}
		for _, entry := range c.Entries {
			c.extent = append(c.extent, fieldpath.Of(entry.Path))
		}
	}
	wrong := rule.Fault(kind, entry.Path.Child("capabilityFlavors"), nil, format, args...)
	wrong.Extent = c.extent
	c.Report.Errors = append(c.Report.Errors, About(c.Name, finding.List{wrong})...)
}

// About prefixes the details of findings with the name of an image version. It modifies the findings.
func About(name string, findings finding.List) finding.List {
	for _, err := range findings {
		err.Detail = name + ": " + err.Detail
	}
	return findings
}

// ReportUnless adds errors to a report, or records that they were left out if it is full. If other errors explain them, they are silenced.
func ReportUnless(explained bool, report *finding.Report, errs ...finding.Finding) {
	if len(errs) > 0 && report.LeavesOut() {
		return
	}
	list := &report.Errors
	if explained {
		list = &report.Silenced
	}
	*list = append(*list, errs...)
}
