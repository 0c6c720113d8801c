// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// distance matches times relative to now.
var distance = regexp.MustCompile(`^\+(\d{1,4})([hdw])$`)

// units are the units of a distance.
var units = map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// ParseTime parses the value of a flag: a time as in RFC 3339, a date, which means its beginning in UTC, or a distance from now. The
// error names the flag.
func ParseTime(flag, value string, now time.Time) (time.Time, error) {
	if match := distance.FindStringSubmatch(value); match != nil {
		n, _ := strconv.Atoi(match[1])
		return now.Add(time.Duration(n) * units[match[2]]), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, value); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("invalid %s %q: use a date like 2027-01-31, a time like 2027-01-31T22:00:00Z, or a distance like +7d",
		flag, value)
}
