// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"strings"

	"github.com/capkit/capkit/pkg/capability"
)

// Settings names what is asked for.
func Settings(requested []capability.Requirement) string {
	names := make([]string, 0, len(requested))
	for i := range requested {
		names = append(names, requested[i].Setting)
	}
	return strings.Join(names, ", ")
}
