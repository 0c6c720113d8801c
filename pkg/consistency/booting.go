// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import "github.com/capkit/capkit/pkg/provider"

// Boots returns a function that reports whether a worker pool would boot a version of an image if it named that in place
// of its own: what [Profile.ResolvePool] answers for it, without its texts. It is for questions about many versions:
// what the pool asks for, and what its machine type supports, is found out once. Nil: the pool's providerConfig cannot
// be read, so that nobody knows what it asks for. Safe for concurrent use.
func (p *Profile[R]) Boots(pool provider.Pool) func(image, version string) bool {
	r, request, _ := p.ask(pool)
	if len(r.Further) > 0 {
		return nil
	}
	return func(image, version string) bool {
		request := request
		request.Image, request.Version = image, version
		return r.Reason == "" && p.boots(request)
	}
}
