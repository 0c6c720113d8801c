// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/inetaf/tcpproxy"
)

// probePeriod is how often the front asks replicas whether they are ready.
const probePeriod = 50 * time.Millisecond

// front leads connections to the replicas of the component, as the Service of a cluster does: to those that were ready when
// they were last asked, in turns. It looks at each connection once, when it is made. Without a replica that is ready it
// closes connections.
type front struct {
	proxy    tcpproxy.Proxy
	listener net.Listener
	stop     chan struct{}

	mu       sync.Mutex
	replicas []*replica
	ready    map[*replica]bool
	turn     int
}

func newFront() (*front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{listener: listener, stop: make(chan struct{}), ready: map[*replica]bool{}}
	f.proxy.ListenFunc = func(string, string) (net.Listener, error) { return listener, nil }
	f.proxy.AddRoute(f.address(), f)
	go func() {
		for period := time.NewTicker(probePeriod); ; {
			select {
			case <-period.C:
				f.probe()
			case <-f.stop:
				return
			}
		}
	}()
	return f, f.proxy.Start()
}

func (f *front) address() string { return f.listener.Addr().String() }

func (f *front) close() {
	close(f.stop)
	_ = f.proxy.Close()
}

// lead leads new connections to these replicas.
func (f *front) lead(replicas ...*replica) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replicas = replicas
}

// leads tells whether connections may be led to a replica.
func (f *front) leads(r *replica) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready[r]
}

// HandleConn serves a connection.
func (f *front) HandleConn(conn net.Conn) {
	r := f.choose()
	if r == nil { // none was ready when it was last asked
		f.probe()
		r = f.choose()
	}
	if r == nil {
		_ = conn.Close()
		return
	}
	closing := func(conn net.Conn, _ error) { _ = conn.Close() }
	(&tcpproxy.DialProxy{Addr: r.Address, DialTimeout: time.Second, OnDialError: closing}).HandleConn(conn)
}

// choose returns a replica that is ready; nil if there is none.
func (f *front) choose() *replica {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range f.replicas {
		f.turn++
		if r := f.replicas[f.turn%len(f.replicas)]; f.ready[r] {
			return r
		}
	}
	return nil
}

// probe asks all replicas whether they are ready.
func (f *front) probe() {
	f.mu.Lock()
	replicas := slices.Clone(f.replicas)
	f.mu.Unlock()
	var probes sync.WaitGroup
	for _, r := range replicas {
		probes.Go(func() {
			response, err := probing.Get("http://" + r.HealthAddress + "/readyz")
			if os.IsTimeout(err) { // nothing is known, on a machine that is busy
				return
			}
			if err == nil {
				_ = response.Body.Close()
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.ready[r] = err == nil && response.StatusCode == http.StatusOK
		})
	}
	probes.Wait()
}

var probing = &http.Client{Timeout: 300 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
