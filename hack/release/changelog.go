// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// unreleased is the heading of unreleased changes, and upgrade the heading of upgrade instructions.
const (
	unreleased = "## [Unreleased]\n"
	upgrade    = "### Upgrade\n"
)

// entry matches an entry; a section needs at least one.
var entry = regexp.MustCompile(`(?m)^- `)

// change matches the headings of changes that affect existing users.
var change = regexp.MustCompile(`(?m)^### (Changed|Deprecated|Removed)$`)

// released returns a changelog whose unreleased section has become that of a version, with a date.
func released(text, version, date string) (string, error) {
	var faults []error
	if _, found := section(text, version); found {
		faults = append(faults, fmt.Errorf("there is a section %s already", version))
	}
	section, found := section(text, "Unreleased")
	switch {
	case !found:
		faults = append(faults, fmt.Errorf("there is no %q", strings.TrimSpace(unreleased)))
	case !entry.MatchString(section):
		faults = append(faults, errors.New("nothing is unreleased: say what is new"))
	case change.MatchString(section) && !strings.Contains(section, upgrade):
		faults = append(faults, fmt.Errorf("something has changed, and %q does not say what to do", strings.TrimSpace(upgrade)))
	}
	return strings.Replace(text, unreleased, fmt.Sprintf("## [%s] - %s\n", version, date), 1), errors.Join(faults...)
}

// section returns the text below the heading of a version, or of Unreleased, up to the next heading.
func section(text, version string) (content string, found bool) {
	_, after, found := strings.Cut("\n"+text, "\n## ["+version+"]")
	_, after, _ = strings.Cut(after, "\n")
	content, _, _ = strings.Cut(after, "\n## [")
	return strings.TrimSpace(content) + "\n", found
}

// begun returns a changelog with a new unreleased section above the newest version.
func begun(text string) (string, error) {
	before, after, found := strings.Cut(text, "\n## [")
	if !found || strings.Contains(text, unreleased) {
		return "", errors.New("what is not released goes above the newest version: there is none, or such a section already")
	}
	return before + "\n" + unreleased + "\n## [" + after, nil
}
