// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"sync"
)

// Hearing notes what an API server warns about, as the handler of warnings of a client. It is safe for concurrent use.
type Hearing struct {
	lock     sync.Mutex
	warnings []string
}

// HandleWarningHeaderWithContext notes a warning.
func (h *Hearing) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if code == 299 {
		h.warnings = append(h.warnings, text)
	}
}

// Heard returns the warnings since the last call. The caller owns them.
func (h *Hearing) Heard() []string {
	h.lock.Lock()
	defer h.lock.Unlock()
	heard := h.warnings
	h.warnings = nil
	return heard
}
