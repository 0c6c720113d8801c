// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package fakenova is an in-memory OpenStack with the parts that server groups of worker pools need: the identity service, and server
// groups and server metadata of the compute service. It answers like the real services, including microversions and pages. Any request
// can be made to fail.
package fakenova

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Group is a server group.
type Group struct {
	ID, Name, Policy string
	// Members are the IDs of servers.
	Members []string
}

// Fault describes the failure of a request.
type Fault struct {
	// Status and Body are those of the response. If Status is 0, the connection is closed in the middle of the response.
	Status int
	Body   string
	// Done means that the request takes effect before it fails.
	Done bool
}

// OpenStack is a running OpenStack. Its methods are safe for concurrent use. Its fields may only be set before the first request.
type OpenStack struct {
	*httptest.Server

	// Region is the region of the compute service in the catalog.
	Region string
	// Minor is the compute service's highest microversion: 64 stands for 2.64.
	Minor int
	// Quota is the maximum number of server groups.
	Quota int
	// Page is the maximum number of server groups in a response.
	Page     int
	mutex    sync.Mutex
	fault    func(number int, method, path string) *Fault
	created  int
	number   int
	groups   []*Group
	servers  map[string]map[string]string
	requests []string
}

// Credentials that the identity service accepts, as in the data of a Secret. It refuses others.
const (
	Domain   = "domain"
	Tenant   = "tenant"
	User     = "user"
	Password = "pass-word-17"

	ApplicationID     = "application-id"
	ApplicationName   = "application-name"
	ApplicationSecret = "application-secret-17"

	// Token is the token for these credentials.
	Token = "token-17"
)

// New starts an OpenStack, with TLS if secure is set, and stops it at the end of the test.
func New(t testing.TB, secure bool) *OpenStack {
	o := Start(secure)
	t.Cleanup(o.Close)
	return o
}

// Start starts an OpenStack, with TLS if secure is set. The caller must stop it with Close.
func Start(secure bool) *OpenStack {
	o := &OpenStack{Region: "europe", Minor: 93, Quota: 1000, Page: 1000, servers: map[string]map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /identity/v3/auth/tokens", o.login)
	mux.HandleFunc("GET /compute/v2.1/os-server-groups", o.compute(o.list))
	mux.HandleFunc("POST /compute/v2.1/os-server-groups", o.compute(o.create))
	mux.HandleFunc("GET /compute/v2.1/os-server-groups/{id}", o.compute(o.get))
	mux.HandleFunc("DELETE /compute/v2.1/os-server-groups/{id}", o.compute(o.delete))
	mux.HandleFunc("GET /compute/v2.1/servers/{id}/metadata", o.compute(o.metadata))
	o.Server = httptest.NewUnstartedServer(mux)
	o.Config.ErrorLog = log.New(io.Discard, "", 0) // clients may not trust its certificate
	if secure {
		o.StartTLS()
	} else {
		o.Start()
	}
	return o
}

// Keystone returns the URL of the identity service.
func (o *OpenStack) Keystone() string { return o.URL + "/identity/v3" }

// Secret returns the data of a Secret with a user and a password.
func (o *OpenStack) Secret() map[string][]byte {
	return map[string][]byte{
		"domainName": []byte(Domain), "tenantName": []byte(Tenant), "username": []byte(User), "password": []byte(Password),
		"authURL": []byte(o.Keystone()),
	}
}

// Break sets the function that decides on failures of the compute service's requests, or nil for none. The request proceeds normally if
// the function returns nil. number counts the requests from 1. Calls are serialized, and must not use methods of o.
func (o *OpenStack) Break(fault func(number int, method, path string) *Fault) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.fault = fault
}

// Put adds a server group on behalf of another user, and returns its ID.
func (o *OpenStack) Put(name, policy string, members ...string) string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.put(name, policy, members...).ID
}

// PutAs adds a server group with this ID on behalf of another user.
func (o *OpenStack) PutAs(id, name, policy string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.put(name, policy).ID = id
}

func (o *OpenStack) put(name, policy string, members ...string) *Group {
	o.created++
	g := &Group{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", o.created), Name: name, Policy: policy, Members: members}
	o.groups = append(o.groups, g)
	return g
}

// Boot adds a server with this metadata, and returns its ID.
func (o *OpenStack) Boot(metadata map[string]string) string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.created++
	id := fmt.Sprintf("11111111-0000-4000-8000-%012d", o.created)
	o.servers[id] = maps.Clone(metadata)
	return id
}

// Join adds a server to a group.
func (o *OpenStack) Join(group, server string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if g := o.find(group); g != nil {
		g.Members = append(g.Members, server)
	}
}

// Kill removes a server, also from its group.
func (o *OpenStack) Kill(server string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.servers, server)
	for _, g := range o.groups {
		g.Members = slices.DeleteFunc(g.Members, func(m string) bool { return m == server })
	}
}

// Remove removes a server group on behalf of another user.
func (o *OpenStack) Remove(id string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.groups = slices.DeleteFunc(o.groups, func(g *Group) bool { return g.ID == id })
}

// Groups returns the server groups in the order of their creation.
func (o *OpenStack) Groups() []Group {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	groups := make([]Group, 0, len(o.groups))
	for _, g := range o.groups {
		groups = append(groups, Group{g.ID, g.Name, g.Policy, slices.Clone(g.Members)})
	}
	return groups
}

// Requests returns the method and path of each request to the compute service since its last call.
func (o *OpenStack) Requests() []string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	requests := o.requests
	o.requests = nil
	return requests
}

func (o *OpenStack) find(id string) *Group {
	if i := slices.IndexFunc(o.groups, func(g *Group) bool { return g.ID == id }); i >= 0 {
		return o.groups[i]
	}
	return nil
}

// answer is a response. A nil body stands for no body.
type answer struct {
	status int
	body   any
}

// fault returns a response in the format of the compute service's errors.
func fault(status int, name, message string) answer {
	return answer{status, map[string]any{name: map[string]any{"code": status, "message": message}}}
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	if a.body != nil {
		_ = json.NewEncoder(w).Encode(a.body)
	}
}

// login handles requests to the identity service.
func (o *OpenStack) login(w http.ResponseWriter, r *http.Request) {
	type named struct {
		Name string
	}
	type user struct {
		Name, Password string
		Domain         named
	}
	var body struct {
		Auth struct {
			Identity struct {
				Methods     []string
				Password    struct{ User user }
				Application struct {
					ID, Name, Secret string
					User             user
				} `json:"application_credential"`
			}
			Scope *struct {
				Project struct {
					Name   string
					Domain named
				}
			}
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	identity, known := body.Auth.Identity, false
	switch scope := body.Auth.Scope; strings.Join(identity.Methods, ",") {
	case "password":
		known = identity.Password.User == user{User, Password, named{Domain}} &&
			scope != nil && scope.Project.Name == Tenant && scope.Project.Domain.Name == Domain
	case "application_credential":
		a := identity.Application
		known = scope == nil && a.Secret == ApplicationSecret &&
			(a.ID == ApplicationID || a.Name == ApplicationName && a.User.Name == User && a.User.Domain.Name == Domain)
	}
	if !known {
		fault(http.StatusUnauthorized, "error", "The request you have made requires authentication.").write(w)
		return
	}
	w.Header().Set("X-Subject-Token", Token)
	endpoint := func(kind, path string) map[string]any {
		return map[string]any{"type": kind, "name": kind, "endpoints": []map[string]any{
			{"id": kind + "-i", "interface": "internal", "region": o.Region, "region_id": o.Region, "url": "http://internal.invalid"},
			{"id": kind + "-p", "interface": "public", "region": o.Region, "region_id": o.Region, "url": o.URL + path},
		}}
	}
	answer{http.StatusCreated, map[string]any{"token": map[string]any{
		"expires_at": "2999-01-01T00:00:00.000000Z",
		"catalog":    []any{endpoint("identity", "/identity/v3"), endpoint("compute", "/compute/v2.1")},
	}}}.write(w)
}

// compute returns a handler of the compute service that checks the token and microversion, and applies faults.
func (o *OpenStack) compute(handle func(r *http.Request, minor int) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		if r.Header.Get("X-Auth-Token") != Token {
			fault(http.StatusUnauthorized, "error", "The request you have made requires authentication.").write(w)
			return
		}
		minor, version := 1, strings.TrimPrefix(r.Header.Get("OpenStack-API-Version"), "compute 2.")
		if version != "" {
			minor, _ = strconv.Atoi(version)
		}
		if minor > o.Minor {
			fault(http.StatusNotAcceptable, "computeFault", fmt.Sprintf(
				"Version 2.%d is not supported by the API. Minimum is 2.1 and maximum is 2.%d.", minor, o.Minor)).write(w)
			return
		}
		o.number++
		path := strings.TrimPrefix(r.URL.Path, "/compute/v2.1")
		o.requests = append(o.requests, r.Method+" "+path)
		if o.fault != nil {
			if f := o.fault(o.number, r.Method, path); f != nil {
				f.become(w, func() { handle(r, minor) })
				return
			}
		}
		handle(r, minor).write(w)
	}
}

// become makes a request fail.
func (f *Fault) become(w http.ResponseWriter, do func()) {
	if f.Done {
		do()
	}
	if f.Status == 0 { // without any response a client may retry by itself
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("{"))
		return
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(f.Body))
}

func shown(g *Group, minor int) map[string]any {
	members := slices.Clone(g.Members)
	if members == nil {
		members = []string{}
	}
	m := map[string]any{"id": g.ID, "name": g.Name, "members": members}
	if minor >= 64 {
		m["policy"], m["rules"] = g.Policy, map[string]any{}
	} else {
		m["policies"], m["metadata"] = []string{g.Policy}, map[string]any{}
	}
	return m
}

func (o *OpenStack) list(r *http.Request, minor int) answer {
	query := r.URL.Query()
	offset, _ := strconv.Atoi(query.Get("offset"))
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = o.Page
	}
	offset = min(offset, len(o.groups))
	page := o.groups[offset:min(offset+min(limit, o.Page), len(o.groups))]
	groups := make([]any, 0, len(page))
	for _, g := range page {
		groups = append(groups, shown(g, minor))
	}
	return answer{http.StatusOK, map[string]any{"server_groups": groups}}
}

func (o *OpenStack) create(r *http.Request, minor int) answer {
	var body struct {
		ServerGroup struct {
			Name, Policy string
			Policies     []string
		} `json:"server_group"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return fault(http.StatusBadRequest, "badRequest", err.Error())
	}
	asked := body.ServerGroup
	if minor < 64 && len(asked.Policies) == 1 {
		asked.Policy = asked.Policies[0]
	} else if minor < 64 || asked.Policies != nil {
		asked.Policy = ""
	}
	known := []string{"affinity", "anti-affinity"}
	if minor >= 15 {
		known = append(known, "soft-affinity", "soft-anti-affinity")
	}
	switch {
	case !slices.Contains(known, asked.Policy):
		return fault(http.StatusBadRequest, "badRequest", "Invalid input for field/attribute policy.")
	case len(o.groups) >= o.Quota:
		return fault(http.StatusForbidden, "forbidden", "Quota exceeded, too many server groups.")
	}
	return answer{http.StatusOK, map[string]any{"server_group": shown(o.put(asked.Name, asked.Policy), minor)}}
}

func (o *OpenStack) get(r *http.Request, minor int) answer {
	if g := o.find(r.PathValue("id")); g != nil {
		return answer{http.StatusOK, map[string]any{"server_group": shown(g, minor)}}
	}
	return fault(http.StatusNotFound, "itemNotFound", "Instance group "+r.PathValue("id")+" could not be found.")
}

func (o *OpenStack) delete(r *http.Request, minor int) answer {
	found := o.get(r, minor)
	if found.status != http.StatusOK {
		return found
	}
	o.groups = slices.DeleteFunc(o.groups, func(g *Group) bool { return g.ID == r.PathValue("id") })
	return answer{http.StatusNoContent, nil}
}

func (o *OpenStack) metadata(r *http.Request, _ int) answer {
	metadata, found := o.servers[r.PathValue("id")]
	if !found {
		return fault(http.StatusNotFound, "itemNotFound", "Instance "+r.PathValue("id")+" could not be found.")
	}
	return answer{http.StatusOK, map[string]any{"metadata": metadata}}
}
