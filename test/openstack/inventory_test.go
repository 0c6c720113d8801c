// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build openstack

package openstack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gophercloud/gophercloud/v2"
	gopher "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/endpoints"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/test/openstack"
)

// recorder forwards requests to the services by the port at the start of the path, and records them.
type recorder struct {
	sync.Mutex
	requests []string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	port, path, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/"), "/")
	r.Lock()
	r.requests = append(r.requests, request.Method+" /"+path)
	r.Unlock()
	target := &url.URL{Scheme: "http", Host: "127.0.0.1:" + port}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(target)
		p.Out.URL.Path, p.Out.URL.RawPath = "/"+path, ""
	}}
	proxy.ServeHTTP(w, request)
}

// through points the catalogue's admin endpoints to the recorder, and returns the recorder's URL for Keystone.
func (r *recorder) through(ctx context.Context, server string) string {
	GinkgoHelper()
	identity, err := gopher.NewIdentityV3(admin(ctx), gophercloud.EndpointOpts{})
	Expect(err).NotTo(HaveOccurred())
	pages, err := endpoints.List(identity, endpoints.ListOpts{Availability: gophercloud.AvailabilityAdmin}).AllPages(ctx)
	Expect(err).NotTo(HaveOccurred())
	all, err := endpoints.ExtractEndpoints(pages)
	Expect(err).NotTo(HaveOccurred())
	Expect(all).To(HaveLen(8))
	recorded := func(address string) string { return strings.Replace(address, "http://127.0.0.1:", server+"/", 1) }
	for _, e := range all {
		if strings.Contains(e.URL, "/v3") && strings.Contains(e.URL, fmt.Sprint(o.Ports.Keystone)) {
			continue // the services themselves use it
		}
		Expect(endpoints.Update(ctx, identity, e.ID, endpoints.UpdateOpts{URL: recorded(e.URL)}).Err).NotTo(HaveOccurred())
	}
	return recorded(o.Keystone())
}

// run runs the command, which must end with this status, and returns its output.
func run(status int, args ...string) (stdout, stderr string) {
	GinkgoHelper()
	var out, err bytes.Buffer
	got := cli.Run(append([]string{"capkit"}, args...), strings.NewReader(""), &out, &err, clouds.All()...)
	Expect(got).To(Equal(status), "%s%s", out.String(), err.String())
	return out.String(), err.String()
}

// taken returns an inventory of the cloud, its text, and the notes on standard error.
func taken(args ...string) (inventory.Inventory, string, string) {
	GinkgoHelper()
	text, notes := run(0, append([]string{"inventory", "openstack"}, args...)...)
	var i inventory.Inventory
	Expect(yaml.UnmarshalStrict([]byte(text), &i)).To(Succeed())
	return i, text, notes
}

// asAdmin sets the administrator's environment, whose requests go through the recorder.
func asAdmin(keystone string) {
	for name, value := range map[string]string{
		"OS_AUTH_URL": keystone, "OS_USERNAME": "admin", "OS_PASSWORD": openstack.AdminPassword, "OS_PROJECT_NAME": "admin", "OS_INTERFACE": "admin",
		"OS_CLOUD": "", "OS_CLIENT_CONFIG_FILE": "",
	} {
		GinkgoT().Setenv(name, value)
	}
}

// found returns the findings without their messages: severity, rule and the text that they point to.
func found(profile, inventoryFile string) (all []string) {
	GinkgoHelper()
	var out, errs bytes.Buffer
	cli.Run([]string{"capkit", "verify", "-o", "json", profile, "--inventory", inventoryFile}, strings.NewReader(""), &out, &errs, clouds.All()...)
	var report struct {
		Findings []struct {
			Severity, Rule, Field, Message string
		}
	}
	Expect(json.Unmarshal(out.Bytes(), &report)).To(Succeed(), "%s%s", out.String(), errs.String())
	all = []string{}
	for _, f := range report.Findings {
		all = append(all, f.Severity+" "+f.Rule+" "+f.Field)
	}
	slices.Sort(all)
	return all
}

var _ = Describe("An inventory", Serial, Ordered, func() {
	var w *world
	var requests recorder
	var keystone string

	BeforeAll(func(ctx SpecContext) {
		w = newWorld(ctx)
		server := httptest.NewServer(&requests)
		DeferCleanup(server.Close)
		DeferCleanup(func(ctx SpecContext) { w.remove(ctx) })
		keystone = requests.through(ctx, server.URL)
	})

	BeforeEach(func() { asAdmin(keystone) })

	It("has what the services have, and asks them for nothing else", func() {
		requests.requests = nil
		i, text, notes := taken()
		Expect(i.Provider).To(Equal("openstack"))
		Expect(i.Regions).To(HaveLen(2))
		asia, europe := i.Regions[0], i.Regions[1]
		Expect(asia.Unread).To(Equal([]string{"machineTypes", "zones", "volumeTypes", "networks", "loadBalancerProviders", "serverGroupPolicies"}))
		Expect(europe.Unread).To(BeEmpty())
		Expect(notes).To(ContainSubstring("region asia: volumeTypes could not be read: Cinder is not in the catalogue"))
		image := func(r inventory.Region, name string) inventory.Image {
			at := slices.IndexFunc(r.Images, func(i inventory.Image) bool { return i.Name == name })
			Expect(at).NotTo(BeNumerically("<", 0), name)
			return r.Images[at]
		}
		bare := image(europe, "bare")
		Expect(bare).To(And(
			HaveField("ID", w.id("europe", "bare")), HaveField("Status", "active"), HaveField("Visibility", "public"), HaveField("Architecture", "amd64"),
			HaveField("Checksum", MatchRegexp("^sha512:[0-9a-f]{128}$")), HaveField("MinDiskGiB", HaveValue(BeEquivalentTo(1))),
			HaveField("Properties", And(HaveKeyWithValue("hypervisor_type", "baremetal"), Not(HaveKey("owner"))))))
		Expect(image(asia, "named").Checksum).To(Equal(image(europe, "named").Checksum))
		Expect(image(europe, "community").Visibility).To(Equal("community"))
		Expect(image(europe, "hidden").Visibility).To(Equal("public"))
		Expect(europe.MachineTypes).To(ContainElements(
			And(HaveField("Name", "gpu_2_2"), HaveField("GPU", HaveValue(BeEquivalentTo(2))), HaveField("MemoryMiB", HaveValue(BeEquivalentTo(2048))),
				HaveField("Properties", HaveKeyWithValue("pci_passthrough:alias", "a100:2"))),
			And(HaveField("Name", "secret_1_1"), HaveField("Public", HaveValue(BeFalse())))))
		Expect(europe.Zones).To(HaveLen(1))
		Expect(europe.VolumeTypes).To(ContainElements(HaveField("Name", "default"), HaveField("Name", "premium")))
		Expect(europe.Networks).To(ContainElement(And(HaveField("Name", "fp-pool-1"), HaveField("External", HaveValue(BeTrue())))))
		Expect(europe.LoadBalancerProviders).To(ConsistOf(HaveField("Name", "amphora")))
		Expect(europe.ServerGroupPolicies).To(ConsistOf("affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"))
		for _, request := range requests.requests {
			Expect(request).To(Or(HavePrefix("GET /"), HavePrefix("HEAD /"), Equal("POST /v3/auth/tokens")))
		}
		Expect(len(requests.requests)).To(BeNumerically(">", 10))

		By("another time, and as JSON")
		_, again, _ := taken()
		at := regexp.MustCompile(`taken: .*`)
		Expect(at.ReplaceAllString(again, "")).To(Equal(at.ReplaceAllString(text, "")))
		asJSON, _ := run(0, "inventory", "openstack", "-o", "json", "--region", "asia")
		var one inventory.Inventory
		Expect(json.Unmarshal([]byte(asJSON), &one)).To(Succeed())
		Expect(one.Regions).To(Equal([]inventory.Region{asia}))
	})

	It("is what a role without rights may read", func() {
		for name, value := range map[string]string{
			"OS_USERNAME": openstack.User, "OS_PASSWORD": openstack.Password, "OS_PROJECT_NAME": openstack.Project,
		} {
			GinkgoT().Setenv(name, value)
		}
		i, text, notes := taken("--region", "europe")
		Expect(i.Regions[0].Unread).To(Equal([]string{"loadBalancerProviders"}))
		Expect(notes).To(And(ContainSubstring("region europe: loadBalancerProviders could not be read: Octavia answers 403, so the role may not read it"),
			Not(ContainSubstring(openstack.Password))))
		Expect(text).NotTo(ContainSubstring(openstack.Password))
		Expect(i.Regions[0].MachineTypes).NotTo(ContainElement(HaveField("Name", "secret_1_1")))
		Expect(i.Regions[0].Images).NotTo(BeEmpty())
	})

	It("needs credentials", func() {
		GinkgoT().Setenv("OS_PASSWORD", "not-it")
		_, said := run(2, "inventory", "openstack")
		Expect(said).To(And(ContainSubstring("answers 401, so it does not accept who asks"), Not(ContainSubstring("not-it"))))
		GinkgoT().Setenv("OS_PASSWORD", openstack.AdminPassword)
		_, said = run(2, "inventory", "openstack", "--region", "europa,asia,africa")
		Expect(said).To(And(ContainSubstring("no region europa"), ContainSubstring("no region africa")))
	})

	It("shows each lie of a profile, by its rule at its place", func(ctx SpecContext) {
		folder := GinkgoT().TempDir()
		file, profile := filepath.Join(folder, "inventory.yaml"), filepath.Join(folder, "profile.yaml")
		take := func() {
			GinkgoHelper()
			_, text, _ := taken()
			Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		}
		verify := func(change func(string) string) []string {
			GinkgoHelper()
			text := w.profile()
			if change != nil {
				changed := change(text)
				Expect(changed).NotTo(Equal(text))
				text = changed
			}
			Expect(os.WriteFile(profile, []byte(text), 0o600)).To(Succeed())
			return found(profile, file)
		}
		take()
		Expect(verify(nil)).To(BeEmpty(), "the truth")
		told := map[string]bool{}
		var believed []string
		check := func(what string, got, want []string) {
			GinkgoHelper()
			slices.Sort(want)
			if !slices.Equal(got, want) {
				believed = append(believed, fmt.Sprintf("%s: %q, want %q", what, got, want))
			}
			GinkgoWriter.Printf("| %s | %s |\n", what, strings.Join(got, ", "))
			Expect(told[what]).To(BeFalse(), what)
			told[what] = true
		}
		for _, l := range toTheProfile {
			check(l.what, verify(func(text string) string { return strings.Replace(text, w.fill(l.of), w.fill(l.by), 1) }), l.wants)
		}
		for _, l := range toTheCloud {
			By(l.what)
			undo := l.do(ctx, w)
			take()
			check(l.what, verify(nil), l.wants)
			undo(ctx)
		}
		take()
		Expect(verify(nil)).To(BeEmpty(), "the truth again")
		Expect(len(told)).To(BeNumerically(">=", 50))
		Expect(believed).To(BeEmpty())
	})
})
