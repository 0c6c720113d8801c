// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/inetaf/tcpproxy"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// probePeriod is the interval of the front's readiness probes.
const probePeriod = 50 * time.Millisecond

// front forwards connections to the replicas of the component, like the Service of a cluster: in turns to those whose last
// probe was successful. It chooses once per connection. If no replica is ready, it closes connections.
type front struct {
	proxy    tcpproxy.Proxy
	listener net.Listener

	mu       sync.Mutex
	replicas []*replica
	ready    map[*replica]bool
	open     map[*replica]int // connections
	turn     int
}

// newFront returns a front that is closed at the end of the suite.
func newFront() *front {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	f := &front{listener: listener, ready: map[*replica]bool{}, open: map[*replica]int{}}
	f.proxy.ListenFunc = func(string, string) (net.Listener, error) { return listener, nil }
	f.proxy.AddRoute(f.address(), f)
	Expect(f.proxy.Start()).To(Succeed())
	DeferCleanup(f.proxy.Close)
	repeat(1, probePeriod, func() error { f.probe(); return nil })
	return f
}

func (f *front) address() string { return f.listener.Addr().String() }

// lead sets the replicas for new connections.
func (f *front) lead(replicas ...*replica) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replicas = replicas
}

// leads reports whether a replica has connections, or may get some.
func (f *front) leads(r *replica) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready[r] || f.open[r] > 0
}

func (f *front) HandleConn(conn net.Conn) {
	r := f.choose()
	if r == nil { // none was ready at the last probe
		f.probe()
		r = f.choose()
	}
	if r == nil {
		_ = conn.Close()
		return
	}
	closing := func(conn net.Conn, _ error) { _ = conn.Close() }
	(&tcpproxy.DialProxy{Addr: r.Address, DialTimeout: time.Minute, OnDialError: closing}).HandleConn(conn)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[r]--
}

// choose returns a ready replica and counts a connection to it, or returns nil if none is ready.
func (f *front) choose() *replica {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range f.replicas {
		f.turn++
		if r := f.replicas[f.turn%len(f.replicas)]; f.ready[r] {
			f.open[r]++
			return r
		}
	}
	return nil
}

// probe updates the readiness of all replicas.
func (f *front) probe() {
	f.mu.Lock()
	replicas := slices.Clone(f.replicas)
	f.mu.Unlock()
	var probes sync.WaitGroup
	for _, r := range replicas {
		probes.Go(func() {
			status, _ := r.probe("readyz")
			f.mu.Lock()
			defer f.mu.Unlock()
			f.ready[r] = status == http.StatusOK
		})
	}
	probes.Wait()
}
