// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// apiAccess is one replica's proxy to the API server, which a spec can block.
type apiAccess struct {
	// kubeconfig is the path of a kubeconfig for this proxy.
	kubeconfig string

	mu      sync.Mutex
	refuses func(*http.Request) bool
	refused int
	open    map[*http.Request]context.CancelFunc
}

// newAPIAccess returns a proxy to the API server of the virtual garden, with the component's identity.
func newAPIAccess() *apiAccess {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", installation.GardenKubeconfig)
	Expect(err).NotTo(HaveOccurred())
	transport, err := rest.TransportFor(config)
	Expect(err).NotTo(HaveOccurred())
	target, err := url.Parse(config.Host)
	Expect(err).NotTo(HaveOccurred())
	a := &apiAccess{open: map[*http.Request]context.CancelFunc{}, kubeconfig: filepath.Join(GinkgoT().TempDir(), "kubeconfig")}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // for watches
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, done := a.begin(r)
		defer done()
		if ctx.Err() != nil {
			http.Error(w, "refused by the test", http.StatusInternalServerError)
			return
		}
		proxy.ServeHTTP(w, r.WithContext(ctx))
	}))
	DeferCleanup(func() {
		a.refuse(func(*http.Request) bool { return true })
		server.CloseClientConnections()
		server.Close()
	})
	kubeconfig := api.NewConfig()
	kubeconfig.Clusters["garden"] = &api.Cluster{Server: server.URL}
	kubeconfig.Contexts["garden"] = &api.Context{Cluster: "garden"}
	kubeconfig.CurrentContext = "garden"
	Expect(clientcmd.WriteToFile(*kubeconfig, a.kubeconfig)).To(Succeed())
	return a
}

// begin returns the context of a request, which is already cancelled if the request is refused, and a function to call at its end.
func (a *apiAccess) begin(r *http.Request) (context.Context, func()) {
	ctx, cancel := context.WithCancel(r.Context())
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refuses != nil && a.refuses(r) {
		a.refused++
		cancel()
		return ctx, func() {}
	}
	a.open[r] = cancel
	return ctx, func() {
		cancel()
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.open, r)
	}
}

// newReplica returns a replica that uses this proxy, and is not running yet.
func (a *apiAccess) newReplica(args ...string) *replica {
	GinkgoHelper()
	r := newReplica(args...)
	r.Env = []string{"GARDEN_KUBECONFIG=" + a.kubeconfig}
	return r
}

// refuse answers matching requests with status 500, and cancels running ones. nil refuses none.
func (a *apiAccess) refuse(which func(*http.Request) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refuses, a.refused = which, 0
	for r, cancel := range a.open {
		if which != nil && which(r) {
			cancel()
		}
	}
}

// refusals returns the number of requests refused since the last call of refuse.
func (a *apiAccess) refusals() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}
