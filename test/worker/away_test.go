// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/capkit/capkit/internal/testing/fakenova"
)

// line is a controller's connection to the API server that can be cut.
type line struct {
	server   string
	listener net.Listener

	mu   sync.Mutex
	cut  bool
	open map[net.Conn]bool
	// refused is the number of connection attempts while the line was cut.
	refused int
}

// newLine returns a line to the address of an API server. It is closed at the end of the test.
func newLine(t testing.TB, server string) *line {
	t.Helper()
	target, err := url.Parse(server)
	check(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	l := &line{server: target.Host, listener: listener, open: map[net.Conn]bool{}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.lead(conn)
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); l.set(true) })
	return l
}

// lead copies data in both directions until one side closes or the line is cut.
func (l *line) lead(conn net.Conn) {
	far, err := net.Dial("tcp", l.server)
	if err != nil || !l.add(conn, far) {
		_ = conn.Close()
		return
	}
	var sides sync.WaitGroup
	for _, side := range [][2]net.Conn{{conn, far}, {far, conn}} {
		sides.Go(func() {
			_, _ = io.Copy(side[0], side[1])
			_ = side[0].Close()
		})
	}
	sides.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, conn)
	delete(l.open, far)
}

func (l *line) add(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range conns {
		if l.cut {
			_ = conn.Close()
			continue
		}
		l.open[conn] = true
	}
	if l.cut {
		l.refused++
	}
	return !l.cut
}

// missed reports whether there were some connection attempts while the line was cut.
func (l *line) missed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused > 2
}

// set cuts or restores the line.
func (l *line) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if cut {
		for conn := range l.open {
			_ = conn.Close()
		}
	}
}

func TestTheAPIServerIsAway(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	api := theSeed(t).RESTConfig()
	l := newLine(t, api.Host)
	api.Host = "https://" + l.listener.Addr().String()
	runAt(t, api, shoot, ours)
	check(t, shoot.Create(t.Context(), shoot.Worker(pool("web", "virt", "1.0.0"), pool("arm", "arm", "1.0.0")), ""))
	eventually(t, func(ctx context.Context) error {
		classes, err := shoot.Classes(ctx)
		if len(classes) == 0 {
			return errors.Join(errors.New("there is no machine class"), err)
		}
		return nil
	})
	l.set(true)
	check(t, shoot.Reconcile(t.Context(), sized(2)))
	eventually(t, func(context.Context) error {
		// The reconciliation fails, unless it waits for an informer to start, which is retried.
		if !l.missed() {
			return errors.New("the controller has not noticed that the API server is away")
		}
		return nil
	})
	l.set(false)
	expectSucceeded(t, shoot)
	expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1"}, "arm": {"arm-1"}})
	expectUnchanged(t, shoot)
}

// While Nova is unavailable, a pool that needs it cannot be reconciled. No state is lost, and nothing is created twice.
func TestNovaIsAway(t *testing.T) {
	t.Parallel()
	openstack := fakenova.New(t, false)
	var away atomic.Bool
	openstack.Break(func(int, string, string) *fakenova.Fault {
		if away.Load() {
			return &fakenova.Fault{Status: http.StatusServiceUnavailable, Body: "no backend"}
		}
		return nil
	})
	shoot := newShoot(t, inOpenStack(t, openstack))
	run(t, shoot, ours)
	create(t, shoot, pool("group", "virt", "1.0.0", grouped("soft-anti-affinity")))
	before, groups := versionsOf(t, shoot), openstack.Groups()
	status := asJSON(t, providerStatus(t, mustGet(t, shoot)))

	away.Store(true)
	for range 2 {
		expectRefused(t, shoot, false, nil, "group", "the compute service at", "503")
	}
	if changed := before.Changed(versionsOf(t, shoot)); len(changed) > 0 {
		t.Errorf("without Nova there is a change of %v", changed)
	}
	if again := asJSON(t, providerStatus(t, mustGet(t, shoot))); again != status {
		t.Errorf("without Nova the status is %s and not %s", again, status)
	}
	away.Store(false)
	reconcile(t, shoot, nil)
	if again := openstack.Groups(); len(again) != 1 || again[0].ID != groups[0].ID {
		t.Errorf("the server groups were %v, and are %v", groups, again)
	}
	expectDeleted(t, shoot)
	if left := openstack.Groups(); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
