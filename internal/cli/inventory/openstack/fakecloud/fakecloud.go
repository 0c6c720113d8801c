// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package fakecloud is a test server with the APIs of OpenStack, for any number of regions. It fails on request. Tests with the real
// services are in test/openstack.
package fakecloud

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Cloud is a running fake cloud. Set its fields before the first request.
type Cloud struct {
	*httptest.Server
	// Regions are the names of its regions. Each has all services, except for the entries of Without, for example "REGION/volume".
	Regions []string
	Without []string
	// Images is the number of images in each region, and Page the number of images per page.
	Images, Page int
	// Fault may answer a request instead of the cloud, and reports whether it did.
	Fault func(w http.ResponseWriter, r *http.Request) bool

	mutex    sync.Mutex
	requests []string
	tokens   int
	valid    string
}

// Start starts a cloud. The caller closes it.
func Start(regions ...string) *Cloud {
	c := &Cloud{Regions: regions, Images: 2, Page: 1000}
	c.Server = httptest.NewServer(c)
	return c
}

// StartTLS starts a cloud with HTTPS and an untrusted certificate. The caller closes it.
func StartTLS(regions ...string) *Cloud {
	c := &Cloud{Regions: regions, Images: 2, Page: 1000}
	c.Server = httptest.NewUnstartedServer(c)
	c.Server.Config.ErrorLog = log.New(io.Discard, "", 0)
	c.Server.StartTLS()
	return c
}

// The credentials of the only user, and the user's project.
const (
	User     = "reader"
	Password = "correct horse" //nolint:gosec // of a cloud that is none
	Project  = "gardener"
)

// Environment returns the value of an OS_* variable for this cloud and its user; empty for other variables.
func (c *Cloud) Environment(name string) string {
	return map[string]string{
		"OS_AUTH_URL": c.URL + "/v3", "OS_USERNAME": User, "OS_PASSWORD": Password, "OS_PROJECT_NAME": Project,
		"OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_NAME": "Default",
	}[name]
}

// Requests returns all requests so far as "GET /path", sorted.
func (c *Cloud) Requests() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Sorted(slices.Values(c.requests))
}

// Expire invalidates the latest token.
func (c *Cloud) Expire() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.valid = ""
}

// ServeHTTP answers a request.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	c.requests = append(c.requests, r.Method+" "+r.URL.Path)
	valid := c.valid != "" && r.Header.Get("X-Auth-Token") == c.valid
	c.mutex.Unlock()
	if c.Fault != nil && c.Fault(w, r) {
		return
	}
	region, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/v3/auth/tokens" && r.Method == http.MethodPost:
		c.token(w, r)
	case !valid:
		Fail(w, http.StatusUnauthorized, "The request you have made requires authentication.")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		Fail(w, http.StatusMethodNotAllowed, "")
	case path == "image/v2/images":
		c.images(w, r, region)
	default:
		answer, found := answers[path]
		if !found {
			Fail(w, http.StatusNotFound, "")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	}
}

// Fail writes an error in the format of OpenStack's services.
func Fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message}})
}

// answers are the answers of the services, by the path below the region.
var answers = map[string]string{
	"compute/v2.1/": `{"version": {"id": "v2.1", "status": "CURRENT", "version": "2.93", "min_version": "2.1"}}`,
	"compute/v2.1/flavors/detail": `{"flavors": [
		{"id": "1", "name": "small", "vcpus": 2, "ram": 4096, "disk": 20, "os-flavor-access:is_public": true, "extra_specs": {}},
		{"id": "2", "name": "gpu", "vcpus": 8, "ram": 65536, "disk": 0, "os-flavor-access:is_public": false,
			"extra_specs": {"pci_passthrough:alias": "a100:2", "trait:HW_ARCH_AARCH64": "required"}},
		{"id": "3", "name": "old", "vcpus": 1, "ram": 512, "disk": 1, "os-flavor-access:is_public": true, "OS-FLV-DISABLED:disabled": true}]}`,
	"compute/v2.1/os-availability-zone": `{"availabilityZoneInfo": [
		{"zoneName": "b", "zoneState": {"available": false}, "hosts": null}, {"zoneName": "a", "zoneState": {"available": true}, "hosts": null}]}`,
	"volume/v3/types":         `{"volume_types": [{"id": "1", "name": "default"}]}`,
	"network/v2.0/networks":   `{"networks": [{"id": "1", "name": "fip", "router:external": true, "shared": false}]}`,
	"lb/v2.0/lbaas/providers": `{"providers": [{"name": "amphora", "description": ""}]}`,
}

// places are the paths of the services below a region, by their types in the catalogue.
var places = map[string]string{"compute": "compute/v2.1", "image": "image", "network": "network", "volumev3": "volume/v3", "load-balancer": "lb"}

// token issues a token if the password is correct.
func (c *Cloud) token(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Auth struct {
			Identity struct {
				Password struct {
					User struct{ Name, Password string }
				}
			}
		}
	}
	if json.NewDecoder(r.Body).Decode(&request) != nil || request.Auth.Identity.Password.User.Password != Password {
		Fail(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	catalog := []map[string]any{}
	for kind, place := range places {
		endpoints := []map[string]any{}
		for _, region := range c.Regions {
			service, _, _ := strings.Cut(place, "/")
			if !slices.Contains(c.Without, region+"/"+service) {
				endpoints = append(endpoints, map[string]any{"interface": "public", "region": region, "region_id": region, "url": c.URL + "/" + region + "/" + place})
			}
		}
		catalog = append(catalog, map[string]any{"type": kind, "name": kind, "endpoints": endpoints})
	}
	c.mutex.Lock()
	c.tokens++
	c.valid = "secret-token-" + strconv.Itoa(c.tokens)
	w.Header().Set("X-Subject-Token", c.valid)
	c.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{"token": map[string]any{"catalog": catalog, "expires_at": "2100-01-01T00:00:00.000000Z"}})
}

// images writes a page of images. None of them is hidden, or a community image.
func (c *Cloud) images(w http.ResponseWriter, r *http.Request, region string) {
	query := r.URL.Query()
	first, _ := strconv.Atoi(query.Get("marker")) // the ID of an image is its number, and they begin with 1
	count := min(c.Page, c.Images-first)
	if query.Get("os_hidden") == "true" || query.Get("visibility") == "community" {
		count = 0
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"images": [`)
	for i := range count {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, `{"id": "%d", "name": "gl-%d", "status": "active", "visibility": "public", "os_hash_algo": "sha512", "os_hash_value": %q,
			"checksum": "d41d8cd98f00b204e9800998ecf8427e", "min_disk": 10, "min_ram": 0, "size": 12884901888, "virtual_size": null, "tags": [],
			"protected": false, "os_hidden": false, "owner": "operator", "container_format": "bare", "disk_format": "raw",
			"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "file": "/v2/images/1/file", "schema": "/v2/schemas/image",
			"direct_url": "swift+https://account:secret@store/1", "hw_architecture": "x86_64", "hypervisor_type": "baremetal",
			"os_secure_boot": "required"}`, first+i+1, first+i+1, fmt.Sprintf("%s%0127d", region[:1], first+i+1))
	}
	fmt.Fprint(w, `], "schema": "/v2/schemas/images", "first": "/v2/images"`)
	if first+count < c.Images && count > 0 {
		query.Set("marker", strconv.Itoa(first+count))
		fmt.Fprintf(w, `, "next": "/v2/images?%s"`, query.Encode())
	}
	fmt.Fprint(w, "}")
}
