// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resolvOptions are the options that resolv.conf(5) knows, those with a number also with the least and the greatest one
// that has an effect.
var resolvOptions = map[string][2]int{
	"debug": {}, "ndots": {0, 15}, "timeout": {1, 30}, "attempts": {1, 5}, "rotate": {}, "no-aaaa": {}, "no-check-names": {},
	"inet6": {}, "ip6-bytestring": {}, "ip6-dotint": {}, "no-ip6-dotint": {}, "edns0": {}, "single-request": {},
	"single-request-reopen": {}, "no-tld-query": {}, "use-vc": {}, "no-reload": {}, "trust-ad": {},
}

func (c *cloudProfile) resolvConfOptions(at *field.Path) {
	entries := seen[string]{}
	for i := range c.config.ResolvConfOptions {
		if option := &c.config.ResolvConfOptions[i]; c.notEmpty(option, at.Index(i)) {
			c.resolvConfOption(*option, at.Index(i), entries)
		}
	}
}

func (c *cloudProfile) resolvConfOption(option string, at *field.Path, entries seen[string]) {
	if strings.ContainsFunc(option, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		c.Found(ruleValueFormat, field.ErrorTypeInvalid, at, option,
			"the line break, or other control character, in %s would break the file; write one option in each entry",
			quote(option))
		return
	}
	words := strings.Fields(option)
	if words[0] == "options" {
		c.Found(ruleResolvConfOption, field.ErrorTypeInvalid, at, option,
			"%s begins with the word options, which is added to the file anyway; write the option alone, as in rotate",
			quote(option))
		return
	}
	if len(words) > 1 {
		c.Found(ruleResolvConfOption, field.ErrorTypeInvalid, at, option,
			"%s is more than one option; write one in each entry", quote(option))
	}
	for _, word := range words {
		if before := entries.before(word, at); before != nil {
			c.duplicate(ruleEntryRepeated, at, word, before, "has the option "+word)
		} else if problem := resolvProblem(word); problem != "" {
			c.Found(ruleResolvConfOption, field.ErrorTypeInvalid, at, word, "%s%s", quote(word), problem)
		}
	}
}

// resolvProblem says what is wrong with an option of resolv.conf, as what follows it; empty if it has an effect.
func resolvProblem(option string) string {
	name, number, numbered := strings.Cut(option, ":")
	bounds, known := resolvOptions[name]
	switch n, err := strconv.Atoi(number); {
	case !known:
		return " is no option of resolv.conf, so that it is ignored; " +
			cmp.Or(didYouMean(name, slices.Sorted(maps.Keys(resolvOptions))), "remove it")
	case bounds[1] == 0 && numbered:
		return ": this option takes no number; write " + name
	case bounds[1] > 0 && (err != nil || n < bounds[0] || n > bounds[1]):
		return fmt.Sprintf(": this option needs a number from %d to %d, as in %s:%d", bounds[0], bounds[1], name, bounds[0]+1)
	}
	return ""
}
