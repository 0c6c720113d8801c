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

// probePeriod is how often the front asks replicas whether they are ready.
const probePeriod = 50 * time.Millisecond

// front leads connections to the replicas of the component, as the Service of a cluster does: to those that were
// ready when they were last asked, in turns. It looks at each connection once, when it is made. Without a replica
// that is ready it closes connections.
type front struct {
	proxy    tcpproxy.Proxy
	listener net.Listener

	mu       sync.Mutex
	replicas []*replica
	ready    map[*replica]bool
	open     map[*replica]int // connections
	turn     int
}

// newFront returns a front that is closed when the suite ends.
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

// lead leads new connections to these replicas.
func (f *front) lead(replicas ...*replica) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replicas = replicas
}

// leads reports whether connections are led to a replica, or may be.
func (f *front) leads(r *replica) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ready[r] || f.open[r] > 0
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
	(&tcpproxy.DialProxy{Addr: r.Address, DialTimeout: time.Minute, OnDialError: closing}).HandleConn(conn)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[r]--
}

// choose returns a replica that is ready, and counts a connection to it; nil if there is none.
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

// probe asks all replicas whether they are ready.
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
