// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package fakegarden is a test server with the parts of a garden's API that the command reads. It lists CloudProfiles,
// NamespacedCloudProfiles and Shoots in pages, as protobuf, and can refuse to.
package fakegarden

import (
	"cmp"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/client/core/clientset/versioned/scheme"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
)

// Secret is the token in kubeconfigs. The command must never show it.
const Secret = "swordfish"

// API is a fake API server. Set its fields before Start. Its methods are safe for concurrent use.
type API struct {
	// The objects, in the order in which they are listed.
	CloudProfiles           []v1beta1.CloudProfile
	NamespacedCloudProfiles []v1beta1.NamespacedCloudProfile
	Shoots                  []v1beta1.Shoot
	Mutating                []admissionregistrationv1.MutatingWebhookConfiguration
	// GardenerInfo is the entry for gardener-apiserver in the ConfigMap gardener-info; empty for v1.150.0.
	GardenerInfo string
	// Page is the maximum page size; 0 for no maximum.
	Page int
	// Endless makes each page of a list lead to the same one.
	Endless bool
	// Refuse returns the error for a request, by its path and page token, which is empty for the first page. It returns nil for no error, and
	// may be nil.
	Refuse func(path, token string) *apierrors.StatusError

	t        testing.TB
	mu       sync.Mutex
	requests []string
}

// Start starts the API server, for as long as the test runs, and returns the path of a kubeconfig for it: see [Kubeconfig].
func (a *API) Start(t testing.TB) (kubeconfig string) {
	t.Helper()
	a.t = t
	server := httptest.NewTLSServer(a) // clients send credentials only with TLS
	t.Cleanup(server.Close)
	return Kubeconfig(t, server)
}

// Kubeconfig writes a kubeconfig for a server with TLS and returns its path. Its contexts are "here", the current one,
// and "there", which is in the namespace garden-there.
func Kubeconfig(t testing.TB, server *httptest.Server) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "kubeconfig")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
clusters:
- {name: one, cluster: {server: %q, certificate-authority-data: %s}}
contexts:
- {name: here, context: {cluster: one, user: me}}
- {name: there, context: {cluster: one, user: me, namespace: garden-there}}
users:
- {name: me, user: {token: %s}}
`, server.URL, base64.StdEncoding.EncodeToString(authority), Secret)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Requests returns the requests so far, as METHOD PATH[?TOKEN].
func (a *API) Requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, a.requests...)
}

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("continue")
	a.mu.Lock()
	a.requests = append(a.requests, strings.TrimSuffix(r.Method+" "+r.URL.Path+"?"+token, "?"))
	a.mu.Unlock()
	if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer "+Secret || !strings.HasPrefix(r.UserAgent(), "capkit/") {
		a.t.Errorf("%s %s, headers %v", r.Method, r.URL.Path, r.Header)
	}
	if a.Refuse != nil {
		if refused := a.Refuse(r.URL.Path, token); refused != nil {
			a.write(w, r, int(refused.ErrStatus.Code), &refused.ErrStatus)
			return
		}
	}
	answer := a.list(r, token)
	if list, err := meta.ListAccessor(answer); err == nil && a.Endless {
		list.SetContinue("again")
	}
	a.write(w, r, http.StatusOK, answer)
}

// list returns the requested page of objects.
func (a *API) list(r *http.Request, token string) runtime.Object {
	namespace, kind := "", r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if _, rest, found := strings.Cut(r.URL.Path, "/namespaces/"); found {
		namespace, _, _ = strings.Cut(rest, "/")
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if a.Page > 0 {
		limit = min(limit, a.Page)
	}
	switch kind {
	case "cloudprofiles":
		items, next := page(a.CloudProfiles, "", token, limit)
		return &v1beta1.CloudProfileList{ListMeta: metav1.ListMeta{Continue: next}, Items: items}
	case "namespacedcloudprofiles":
		items, next := page(a.NamespacedCloudProfiles, namespace, token, limit)
		return &v1beta1.NamespacedCloudProfileList{ListMeta: metav1.ListMeta{Continue: next}, Items: items}
	case "shoots":
		items, next := page(a.Shoots, namespace, token, limit)
		return &v1beta1.ShootList{ListMeta: metav1.ListMeta{Continue: next}, Items: items}
	}
	switch kind {
	case "mutatingwebhookconfigurations":
		return &admissionregistrationv1.MutatingWebhookConfigurationList{Items: a.Mutating}
	case "gardener-info":
		info := cmp.Or(a.GardenerInfo, "version: v1.150.0\nworkloadIdentityIssuerURL: https://issuer.example.com\n")
		return &corev1.ConfigMap{Data: map[string]string{"gardenerAPIServer": info}}
	}
	a.t.Errorf("unexpected request to %s", r.URL.Path)
	return &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}
}

// page returns the items of a namespace, or of all if it is empty, from a token on, and the next token.
func page[T any](all []T, namespace, token string, limit int) (items []T, next string) {
	from, _ := strconv.Atoi(token)
	for i := from; i < len(all); i++ {
		if namespace != "" && any(&all[i]).(metav1.Object).GetNamespace() != namespace {
			continue
		}
		if len(items) == limit {
			return items, strconv.Itoa(i)
		}
		items = append(items, all[i])
	}
	return items, ""
}

func (a *API) write(w http.ResponseWriter, r *http.Request, code int, object runtime.Object) {
	mediaType, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	info, found := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !found || mediaType != runtime.ContentTypeProtobuf {
		a.t.Errorf("asked for %q", r.Header.Get("Accept"))
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(code)
	group, codecs := v1beta1.SchemeGroupVersion, scheme.Codecs
	switch object.(type) {
	case *metav1.Status:
		group = schema.GroupVersion{Version: "v1"}
	case *admissionregistrationv1.MutatingWebhookConfigurationList:
		group, codecs = admissionregistrationv1.SchemeGroupVersion, kubernetes.Codecs
	case *corev1.ConfigMap:
		group, codecs = corev1.SchemeGroupVersion, kubernetes.Codecs
	}
	if err := codecs.EncoderForVersion(info.Serializer, group).Encode(object, w); err != nil {
		a.t.Error(err)
	}
}
