// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/http"
	"time"
)

// delayed returns a context that is done some time after ctx.
func delayed(ctx context.Context, delay time.Duration) context.Context {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(delay, cancel) })
	return later
}

// unhurried returns the context of a request that has arrived, with as much time as the API server gives it. The context
// that the server hands out is done as soon as the server is to stop, and what the request still has to read would fail.
func unhurried(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), time.Duration(timeoutSeconds)*time.Second)
}

// drained returns a handler that serves as another one does, and asks clients to close their connections once ctx is done.
// A server that stops closes connections that are idle; with HTTP/1.1, which API servers use for Services, a request that
// is on its way at that moment fails.
func drained(ctx context.Context, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}
