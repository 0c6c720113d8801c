// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/inventory/openstack"
	"github.com/capkit/capkit/internal/cli/inventory/openstack/fakecloud"
	"github.com/capkit/capkit/pkg/inventory"
)

// waits records a client's waiting times instead of waiting.
type waits struct {
	sync.Mutex
	all []time.Duration
}

func (w *waits) sleep(_ context.Context, d time.Duration) error {
	w.Lock()
	defer w.Unlock()
	w.all = append(w.all, d)
	return nil
}

// connect returns a session with a cloud.
func connect(t testing.TB, cloud *fakecloud.Cloud, options openstack.Options) *openstack.Session {
	t.Helper()
	t.Cleanup(cloud.Close)
	found, err := openstack.Find("", cloud.Environment)
	if err != nil {
		t.Fatal(err)
	}
	if options.Sleep == nil {
		options.Sleep = (&waits{}).sleep
	}
	session, err := openstack.Connect(t.Context(), found, options)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// read reads all regions of a cloud.
func read(t testing.TB, session *openstack.Session) (results []openstack.Result) {
	t.Helper()
	regions, err := session.Regions(nil)
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Int64
	for result, err := range session.Read(t.Context(), regions, func() { done.Add(1) }) {
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, result)
	}
	if int(done.Load()) != len(regions) {
		t.Errorf("%d regions are done", done.Load())
	}
	return results
}

// notes describes the unread lists.
func notes(results ...openstack.Result) (all []string) {
	for _, r := range results {
		for _, u := range r.Unread {
			all = append(all, u.Region+": "+strings.Join(u.Lists, ",")+": "+u.Why)
		}
	}
	return all
}

func TestReadsAllThatThereIs(t *testing.T) {
	cloud := fakecloud.Start("europe", "asia")
	results := read(t, connect(t, cloud, openstack.Options{}))
	if len(results) != 2 || results[0].Region.Name != "asia" || len(notes(results...)) != 0 {
		t.Fatalf("%+v", results)
	}
	yes, no, n := true, false, func(n int64) *int64 { return &n }
	want := inventory.Region{
		Name: "europe",
		Images: []inventory.Image{
			{
				ID: "1", Name: "gl-1", Status: "active", Visibility: "public", Architecture: "amd64", MinDiskGiB: n(12),
				Checksum:   "sha512:e" + strings.Repeat("0", 126) + "1",
				Properties: map[string]string{"hw_architecture": "x86_64", "hypervisor_type": "baremetal", "os_secure_boot": "required"},
			},
			{
				ID: "2", Name: "gl-2", Status: "active", Visibility: "public", Architecture: "amd64", MinDiskGiB: n(12),
				Checksum:   "sha512:e" + strings.Repeat("0", 126) + "2",
				Properties: map[string]string{"hw_architecture": "x86_64", "hypervisor_type": "baremetal", "os_secure_boot": "required"},
			},
		},
		MachineTypes: []inventory.MachineType{
			{
				Name: "gpu", CPU: n(8), MemoryMiB: n(65536), GPU: n(2), DiskGiB: n(0), Architecture: "arm64", Public: &no,
				Properties: map[string]string{"pci_passthrough:alias": "a100:2", "trait:HW_ARCH_AARCH64": "required"},
			},
			{Name: "small", CPU: n(2), MemoryMiB: n(4096), GPU: n(0), DiskGiB: n(20), Public: &yes, Properties: map[string]string{}},
		},
		Zones: []inventory.Zone{{Name: "a", Available: &yes}, {Name: "b", Available: &no}}, VolumeTypes: []inventory.VolumeType{{Name: "default"}},
		Networks:              []inventory.Network{{Name: "fip", External: &yes, Shared: &no}},
		LoadBalancerProviders: []inventory.LoadBalancerProvider{{Name: "amphora"}},
		ServerGroupPolicies:   []string{"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"},
	}
	if diff := cmp.Diff(want, results[1].Region); diff != "" {
		t.Error(diff)
	}
	for _, request := range cloud.Requests() {
		if !strings.HasPrefix(request, "GET /") && request != "POST /v3/auth/tokens" {
			t.Error(request)
		}
	}
}

// Lists omit some bootable resources unless they are requested. These are hidden images, community images, hidden community images, and
// private resources for a user who may see all projects.
func TestReadsWhatListsLeaveOut(t *testing.T) {
	cloud := fakecloud.Start("europe")
	cloud.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		query := r.URL.Query()
		switch strings.TrimPrefix(r.URL.Path, "/europe/") {
		case "image/v2/images":
			fmt.Fprintf(w, `{"images": [{"id": %q}]}`, "image "+query.Get("visibility")+query.Get("member_status")+query.Get("os_hidden"))
		case "compute/v2.1/flavors/detail":
			fmt.Fprintf(w, `{"flavors": [{"name": %q}]}`, "flavor "+query.Get("is_public"))
		case "volume/v3/types":
			fmt.Fprintf(w, `{"volume_types": [{"name": %q}]}`, "volume type "+query.Get("is_public"))
		default:
			return false
		}
		return true
	}
	region := read(t, connect(t, cloud, openstack.Options{}))[0].Region
	want := []string{"image all", "image alltrue", "image community", "image communitytrue", "flavor None", "volume type None"}
	var found []string
	for _, image := range region.Images {
		found = append(found, image.ID)
	}
	found = append(found, region.MachineTypes[0].Name, region.VolumeTypes[0].Name)
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// A failing list is marked as unread, with its reason, and the others are still read.
func TestFaults(t *testing.T) {
	answer := func(path string, status int, header ...string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, path) {
				return false
			}
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			fakecloud.Fail(w, status, "Policy does not allow it to\n"+fakecloud.Password+" and "+r.Header.Get("X-Auth-Token")+".")
			return true
		}
	}
	said := ": Policy does not allow it to … and …."
	once := func(fault func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
		var times atomic.Int64
		return func(w http.ResponseWriter, r *http.Request) bool {
			return times.Load() == 0 && fault(w, r) && times.Add(1) > 0
		}
	}
	for name, tc := range map[string]struct {
		fault func(http.ResponseWriter, *http.Request) bool
		notes string
		waits []time.Duration
	}{
		"403": {answer("/europe/volume", 403), "europe: volumeTypes: Cinder answers 403, so the role may not read it" + said, nil},
		"401": {
			answer("/europe/network", 401), "europe: networks: Neutron answers 401, so it does not accept who asks" + said, nil,
		},
		"404": {answer("/europe/lb", 404), "europe: loadBalancerProviders: Octavia answers 404, so there is no such API" + said, nil},
		"500": {
			answer("/europe/image", 500), "europe: images: Glance answers 500" + said, []time.Duration{500 * time.Millisecond, time.Second},
		},
		"500 once": {once(answer("/europe/image", 500)), "", []time.Duration{500 * time.Millisecond}},
		"429": {
			answer("/europe/image", 429, "Retry-After", "7"),
			"europe: images: Glance answers 429, so it is asked too often; it asks to wait 7 s" + said, []time.Duration{7 * time.Second, 7 * time.Second},
		},
		"429 once":     {once(answer("/europe/image", 429, "Retry-After", "7")), "", []time.Duration{7 * time.Second}},
		"503 once":     {once(answer("/europe/image", 503, "Retry-After", "1")), "", []time.Duration{time.Second}},
		"429, nothing": {once(answer("/europe/image", 429)), "", []time.Duration{500 * time.Millisecond}},
		"429, an hour": {
			answer("/europe/image", 429, "Retry-After", "3600"),
			"europe: images: Glance answers 429, so it is asked too often; it asks to wait 3600 s" + said, nil,
		},
		"429, three centuries": {
			answer("/europe/image", 429, "Retry-After", "10000000000"),
			"europe: images: Glance answers 429, so it is asked too often; it asks to wait 10000000000 s" + said, nil,
		},
		"no JSON": {
			func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/europe/volume/v3/types" {
					fmt.Fprint(w, "<html>")
					return true
				}
				return false
			},
			"europe: volumeTypes: Cinder answers with something other than JSON: invalid character '<' looking for beginning of value", nil,
		},
		"no list": {
			func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/europe/volume/v3/types" {
					fmt.Fprint(w, "{}")
					return true
				}
				return false
			},
			`europe: volumeTypes: Cinder answers without "volume_types"`, nil,
		},
		"no name": {
			func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/europe/volume/v3/types" {
					fmt.Fprint(w, `{"volume_types": [{"name": "a"}, {"name": "a"}, {}, null]}`)
					return true
				}
				return false
			},
			"europe: volumeTypes: Cinder answers with what no inventory can have: volumeTypes[0].name: it needs a name", nil,
		},
		"null for a list": {
			func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/europe/volume/v3/types" {
					fmt.Fprint(w, `{"volume_types": null}`)
					return true
				}
				return false
			},
			`europe: volumeTypes: Cinder answers without "volume_types"`, nil,
		},
		"other pages for ever": {
			func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/europe/volume/v3/types" {
					fmt.Fprintf(w, `{"volume_types": [{"name": "a"}], "volume_type_links": [{"rel": "next", "href": "?marker=%sx"}]}`, r.URL.Query().Get("marker"))
					return true
				}
				return false
			},
			"europe: volumeTypes: Cinder answers with more than 1000 pages, or 256 MiB", nil,
		},
		"one page for ever": {
			func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/europe/volume/v3/types" {
					fmt.Fprint(w, `{"volume_types": [{"name": "a"}], "volume_type_links": [{"rel": "next", "href": "http://elsewhere/v3/types?limit=1000"}]}`)
					return true
				}
				return false
			},
			"europe: volumeTypes: Cinder answers with the same page again and again", nil,
		},
		"another host": {
			func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/europe/volume/v3/types" {
					http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
					return true
				}
				return false
			},
			"europe: volumeTypes: Cinder cannot be reached: it sends the token to another host, elsewhere.invalid", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cloud, w := fakecloud.Start("europe", "asia"), &waits{}
			cloud.Fault = tc.fault
			results := read(t, connect(t, cloud, openstack.Options{Sleep: w.sleep}))
			if diff := cmp.Diff(tc.notes, strings.Join(notes(results...), "\n")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.waits, w.all); diff != "" {
				t.Error(diff)
			}
			list, _, _ := strings.Cut(strings.TrimPrefix(tc.notes, "europe: "), ":")
			for _, r := range results {
				for _, l := range inventory.Lists() {
					unread := r.Region.Name == "europe" && l == list
					if slices.Contains(r.Region.Unread, l) != unread || (lengthOf(r.Region, l) == 0) != unread {
						t.Errorf("%s of %s: %+v", l, r.Region.Name, r.Region)
					}
				}
			}
		})
	}
}

// lengthOf returns the length of a region's list.
func lengthOf(r inventory.Region, list string) int {
	return map[string]int{
		"images": len(r.Images), "machineTypes": len(r.MachineTypes), "zones": len(r.Zones), "volumeTypes": len(r.VolumeTypes),
		"networks": len(r.Networks), "loadBalancerProviders": len(r.LoadBalancerProviders), "serverGroupPolicies": len(r.ServerGroupPolicies),
	}[list]
}

// The reasons of several regions are recorded concurrently: for the race detector.
func TestNothingCanBeRead(t *testing.T) {
	cloud := fakecloud.Start("africa", "asia", "europe")
	cloud.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			return false
		}
		fakecloud.Fail(w, http.StatusForbidden, fakecloud.Password+r.Header.Get("X-Auth-Token"))
		return true
	}
	for _, note := range notes(read(t, connect(t, cloud, openstack.Options{}))...) {
		if !strings.HasSuffix(note, " answers 403, so the role may not read it: ……") {
			t.Error(note)
		}
	}
}

func TestServiceThatIsDown(t *testing.T) {
	cloud := fakecloud.Start("europe")
	cloud.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/europe/compute") {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	results := read(t, connect(t, cloud, openstack.Options{}))
	want := "europe: machineTypes,zones,serverGroupPolicies: Nova cannot be reached: EOF"
	if diff := cmp.Diff(want, strings.Join(notes(results...), "\n")); diff != "" {
		t.Error(diff)
	}
}

// A service that does not answer is asked three times, each time until the client's timeout.
func TestSlowService(t *testing.T) {
	t.Parallel()
	cloud := fakecloud.Start("europe")
	var asked atomic.Int64
	cloud.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/europe/volume") {
			asked.Add(1)
			<-r.Context().Done()
			return true
		}
		return false
	}
	results := read(t, connect(t, cloud, openstack.Options{Timeout: 5 * time.Second}))
	want := "europe: volumeTypes: Cinder does not answer within 5s, asked 3 times"
	if diff := cmp.Diff(want, strings.Join(notes(results...), "\n")); diff != "" || asked.Load() != 3 {
		t.Errorf("asked %d times: %s", asked.Load(), diff)
	}
}

func TestPages(t *testing.T) {
	cloud := fakecloud.Start("europe")
	cloud.Images, cloud.Page = 3210, 250
	results := read(t, connect(t, cloud, openstack.Options{}))
	seen := map[string]bool{}
	for _, image := range results[0].Region.Images {
		seen[image.ID] = true
	}
	if len(seen) != 3210 || len(results[0].Region.Images) != 3210 {
		t.Errorf("%d images, %d of them different", len(results[0].Region.Images), len(seen))
	}
}

// Part of a list would look like all of it.
func TestPageThatIsMissing(t *testing.T) {
	cloud := fakecloud.Start("europe")
	cloud.Images, cloud.Page = 3000, 1000
	cloud.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("marker") == "2000" {
			fakecloud.Fail(w, 500, "")
			return true
		}
		return false
	}
	results := read(t, connect(t, cloud, openstack.Options{}))
	if diff := cmp.Diff([]string{"europe: images: Glance answers 500"}, notes(results...)); diff != "" || results[0].Region.Images != nil {
		t.Errorf("%s, %d images", diff, len(results[0].Region.Images))
	}
}

func TestRegionWithoutCinder(t *testing.T) {
	cloud := fakecloud.Start("asia", "europe")
	cloud.Without = []string{"asia/volume"}
	want := []string{"asia: volumeTypes: Cinder is not in the catalogue: there is no public endpoint of type block-storage"}
	if diff := cmp.Diff(want, notes(read(t, connect(t, cloud, openstack.Options{}))...)); diff != "" {
		t.Error(diff)
	}
}

// A token that expires during the reading is replaced once for all requests.
func TestTokenExpires(t *testing.T) {
	cloud := fakecloud.Start("a", "b", "c", "d", "e", "f")
	cloud.Images, cloud.Page = 50, 10
	var pages atomic.Int64
	cloud.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/images") && pages.Add(1)%20 == 0 {
			cloud.Expire()
		}
		return false
	}
	results := read(t, connect(t, cloud, openstack.Options{}))
	if said := notes(results...); said != nil {
		t.Errorf("%v", said)
	}
	tokens := 0
	for _, request := range cloud.Requests() {
		if request == "POST /v3/auth/tokens" {
			tokens++
		}
	}
	if tokens < 2 {
		t.Errorf("%d tokens", tokens)
	}
	for _, r := range results {
		if len(r.Region.Images) != 50 {
			t.Errorf("%d images in %s", len(r.Region.Images), r.Region.Name)
		}
	}
}

func TestTokenThatIsNotGivenAgain(t *testing.T) {
	cloud := fakecloud.Start("europe")
	session := connect(t, cloud, openstack.Options{})
	cloud.Expire()
	cloud.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			fakecloud.Fail(w, 401, "The account is locked for user: "+fakecloud.User+".")
			return true
		}
		return false
	}
	for _, note := range notes(read(t, session)...) {
		if !strings.HasSuffix(note, "no longer accepts the token, and there is no new one: "+
			"Keystone answers 401, so it does not accept who asks: The account is locked for user: reader.") {
			t.Error(note)
		}
	}
}

func TestNoToken(t *testing.T) {
	for name, tc := range map[string]struct {
		fault func(http.ResponseWriter, *http.Request) bool
		want  string
	}{
		"401": {
			func(w http.ResponseWriter, _ *http.Request) bool {
				fakecloud.Fail(w, 401, "No: "+fakecloud.Password)
				return true
			},
			"answers 401, so it does not accept who asks: No: …",
		},
		"500": {func(w http.ResponseWriter, _ *http.Request) bool { fakecloud.Fail(w, 500, ""); return true }, "answers 500"},
		"a long message": {
			func(w http.ResponseWriter, _ *http.Request) bool {
				fakecloud.Fail(w, 400, strings.Repeat("x", 195)+fakecloud.Password)
				return true
			},
			"answers 400: " + strings.Repeat("x", 195) + "…",
		},
		"several messages": {
			func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"b": {"message": "2"}, "c": {"message": "3"}, "a": {"message": "1"}, "d": {"message": "4"}}`)
				return true
			},
			"answers 400: 1",
		},
		"no services": {
			func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("X-Subject-Token", "x")
				w.WriteHeader(http.StatusCreated)
				fmt.Fprint(w, `{"token": {}}`)
				return true
			},
			"has no public endpoint of any service that an inventory is about; is the token for a project?",
		},
	} {
		cloud := fakecloud.Start("europe")
		cloud.Fault = tc.fault
		found, err := openstack.Find("", cloud.Environment)
		if err != nil {
			t.Fatal(err)
		}
		_, err = openstack.Connect(t.Context(), found, openstack.Options{Sleep: (&waits{}).sleep})
		cloud.Close()
		if err == nil || !strings.HasSuffix(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "the environment: ") {
			t.Errorf("%s: %v", name, err)
		}
		_, err = openstack.Connect(t.Context(), found, openstack.Options{Sleep: (&waits{}).sleep})
		if err == nil || !strings.Contains(err.Error(), "cannot be reached: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBothArchitectures(t *testing.T) {
	for range 100 {
		m := inventory.MachineType{Properties: map[string]string{"trait:HW_ARCH_X86_64": "required", "trait:HW_ARCH_AARCH64": "required"}}
		if openstack.Complete(&m); m.Architecture != "amd64" {
			t.Fatal(m.Architecture)
		}
	}
}

// A command shows the number of finished regions until it gets the last one.
func TestDoneBeforeItIsReturned(t *testing.T) {
	session := connect(t, fakecloud.Start("africa", "asia", "europe"), openstack.Options{})
	var done atomic.Int64
	returned := int64(0)
	for _, err := range session.Read(t.Context(), []string{"africa", "asia", "europe"}, func() {
		time.Sleep(10 * time.Millisecond)
		done.Add(1)
	}) {
		if returned++; done.Load() < returned || err != nil {
			t.Errorf("%d are done, and %d returned; %v", done.Load(), returned, err)
		}
	}
}

func TestRegions(t *testing.T) {
	session := connect(t, fakecloud.Start("europe", "asia"), openstack.Options{})
	if names, err := session.Regions([]string{"europe", "europe"}); err != nil || !slices.Equal(names, []string{"europe"}) {
		t.Error(names, err)
	}
	_, err := session.Regions([]string{"europa", "africa"})
	want := "the environment: there is no region europa; its regions are asia and europe; did you mean europe?\n" +
		"the environment: there is no region africa; its regions are asia and europe"
	if err == nil || err.Error() != want {
		t.Error(err)
	}
}

// If the context ends, no partial inventory is returned.
func TestContextEnds(t *testing.T) {
	cloud := fakecloud.Start("a", "b", "c", "d", "e", "f")
	session := connect(t, cloud, openstack.Options{})
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cloud.Fault = func(http.ResponseWriter, *http.Request) bool { cancel(stop); return false }
	var last error
	for _, err := range session.Read(ctx, []string{"a", "b", "c", "d", "e", "f"}, func() {}) {
		last = err
	}
	if !errors.Is(last, stop) {
		t.Error(last)
	}
}
