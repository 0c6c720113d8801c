// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import "github.com/capkit/capkit/pkg/provider"

// Image returns what a worker pool boots, and whether it boots anything: what [Profile.ResolvePool] answers, without its texts.
// Safe for concurrent use.
func (p *Profile[R]) Image(pool provider.Pool) (ref R, found bool) {
	if flavor := p.bootedBy(pool); flavor != nil {
		return flavor.Reference(pool.Region)
	}
	return ref, false
}
