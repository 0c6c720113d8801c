// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// front leads connections to the replicas of the component, as the Service of a cluster does: to one that is ready, and to
// any if none is. It looks at each connection once, when it is made.
type front struct {
	listener net.Listener
	mu       sync.Mutex
	replicas []*replica
}

func newFront() (*front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{listener: listener}
	go func() {
		for {
			conn, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go f.handle(conn)
			}
		}
	}()
	return f, nil
}

func (f *front) address() string { return f.listener.Addr().String() }

func (f *front) close() { _ = f.listener.Close() }

// lead leads new connections to these replicas.
func (f *front) lead(replicas ...*replica) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replicas = replicas
}

func (f *front) handle(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	f.mu.Lock()
	replicas := slices.Clone(f.replicas)
	f.mu.Unlock()
	slices.SortStableFunc(replicas, func(a, b *replica) int { return unready(a) - unready(b) })
	for _, r := range replicas {
		backend, err := net.DialTimeout("tcp", r.Address, time.Second)
		if err != nil {
			continue
		}
		go func() {
			_, _ = io.Copy(backend, conn)
			_ = backend.Close()
		}()
		_, _ = io.Copy(conn, backend)
		return
	}
}

var healthClient = &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// unready is 0 for a replica that is ready and 1 for any other.
func unready(r *replica) int {
	response, err := healthClient.Get("http://" + r.HealthAddress + "/readyz")
	if err != nil {
		return 1
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 1
	}
	return 0
}
