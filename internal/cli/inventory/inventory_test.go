// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/inventory"
	"github.com/capkit/capkit/internal/cli/inventory/openstack/fakecloud"
	"github.com/capkit/capkit/internal/cli/report"
	format "github.com/capkit/capkit/pkg/inventory"
)

func run(t testing.TB, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &command.Call{Stdin: strings.NewReader(stdin), Stdout: report.NewWriter(&out), Stderr: report.NewWriter(&errs)}
	cmd := inventory.Command(c)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(c.Stdout)
	err = cmd.ExecuteContext(t.Context())
	c.Flush()
	return out.String(), errs.String(), err
}

// environment sets OS_* for a cloud.
func environment(t testing.TB, cloud *fakecloud.Cloud) {
	t.Helper()
	t.Cleanup(cloud.Close)
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OS_") {
			t.Setenv(name, "")
		}
	}
	for _, name := range []string{"AUTH_URL", "USERNAME", "PASSWORD", "PROJECT_NAME", "USER_DOMAIN_NAME", "PROJECT_DOMAIN_NAME"} {
		t.Setenv("OS_"+name, cloud.Environment("OS_"+name))
	}
}

// The output format does not affect the messages, and the same cloud gives the same inventory.
func TestOpenStack(t *testing.T) {
	cloud := fakecloud.Start("europe", "asia", "africa")
	cloud.Without = []string{"africa/compute", "africa/lb"}
	environment(t, cloud)
	before := time.Now().Add(-time.Second)
	var all []format.Inventory
	for _, args := range []string{"", "-o yaml", "-o json", "--region europe,asia,africa", "--timeout 5m"} {
		stdout, stderr, err := run(t, "", append([]string{"openstack"}, strings.Fields(args)...)...)
		if err != nil {
			t.Fatal(err)
		}
		want := "note: region africa: machineTypes, zones and serverGroupPolicies could not be read: Nova is not in the catalogue: " +
			"there is no public endpoint of type compute\n" +
			"note: region africa: loadBalancerProviders could not be read: Octavia is not in the catalogue: there is no public endpoint of type load-balancer\n"
		if diff := cmp.Diff(want, stderr); diff != "" {
			t.Error(diff)
		}
		if json.Valid([]byte(stdout)) != (args == "-o json") {
			t.Error(stdout)
		}
		var i format.Inventory
		if err := yaml.UnmarshalStrict([]byte(stdout), &i); err != nil {
			t.Fatal(err)
		}
		if i.Taken.Before(before.Truncate(time.Second)) || i.APIVersion != format.APIVersion || i.Kind != format.Kind ||
			i.Provider != "openstack" || len(i.Regions) != 3 {
			t.Errorf("%+v", i)
		}
		i.Taken = time.Time{}
		all = append(all, i)
		if strings.Contains(stdout+stderr, fakecloud.Password) || strings.Contains(stdout+stderr, "secret") {
			t.Error("a secret is in the output")
		}
	}
	for _, i := range all[1:] {
		if diff := cmp.Diff(all[0], i); diff != "" {
			t.Error(diff)
		}
	}
}

func TestOpenStackFails(t *testing.T) {
	cloud := fakecloud.Start("europe", "asia")
	environment(t, cloud)
	for args, want := range map[string]string{
		"openstack production":      "inventory openstack takes no arguments: use --os-cloud NAME for a cloud of clouds.yaml",
		"openstack --timeout 0s":    "invalid --timeout 0s: use a duration like 30s",
		"openstack -o text=x":       "; to write into a file, use -o text > x",
		"openstack --region africa": "the environment: there is no region africa; its regions are asia and europe",
		"nothing":                   "say what to read: inventory openstack, or inventory import",
		"import": "name a cloud, aws, azure, gcp or openstack, and files\n" +
			"--region is missing: name the region that the files are about, as the CloudProfile does",
		"import aws --region r":        "name the files that the command of aws has written, or - for standard input",
		"import awz --region r x":      "unknown cloud awz: use aws, azure, gcp or openstack; did you mean aws?",
		"import aws --region r - -":    "standard input, -, is named twice: it can be read once only",
		"import aws --region r no.txt": "open no.txt: no such file or directory",
	} {
		stdout, _, err := run(t, "", strings.Fields(args)...)
		if err == nil || !strings.HasSuffix(err.Error(), want) || stdout != "" {
			t.Errorf("%s: %v, %s", args, err, stdout)
		}
	}
}

// An inventory without any data is an error.
func TestNothingCouldBeRead(t *testing.T) {
	cloud := fakecloud.Start("europe")
	environment(t, cloud)
	cloud.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			fakecloud.Fail(w, http.StatusForbidden, "no")
		}
		return r.Method == http.MethodGet
	}
	stdout, stderr, err := run(t, "", "openstack")
	if err == nil || err.Error() != "nothing could be read of any region" || stdout != "" || !strings.Contains(stderr, "Glance answers 403") {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
}

func TestImport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flavors.json")
	if err := os.WriteFile(file, []byte(`[]`), 0o600); err != nil {
		t.Fatal(err)
	}
	const zones = `[{"Zone Name": "a", "Zone Status": "available"}]`
	stdout, stderr, err := run(t, zones, "import", "openstack", "--region", "europe", file, "-")
	if err != nil || stderr != "" {
		t.Fatal(err, stderr)
	}
	want := "apiVersion: capkit/v1\nkind: Inventory\nprovider: openstack\ntaken: T\nregions:\n- name: europe\n" +
		"  machineTypes: []\n  zones:\n  - {name: a, available: true}\n"
	if diff := cmp.Diff(want, regexp.MustCompile(`taken: .*`).ReplaceAllString(stdout, "taken: T")); diff != "" {
		t.Error(diff)
	}
}

// Names survive a round trip, even if a terminal or a CI runner would interpret them.
func TestNamesThatAreHarmful(t *testing.T) {
	for _, name := range []string{"##[group]x", "::error::x", "\x1b[31mred", "\u202egnp", "a\u00a0b", "\U000e0001", "a\nb", "\u200b", "\ufeff", "é"} {
		file, err := json.Marshal([]map[string]string{{"Zone Name": name, "Zone Status": "available"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, output := range []string{"yaml", "json"} {
			stdout, _, err := run(t, string(file), "import", "openstack", "--region", name, "-", "-o", output)
			if err != nil {
				t.Fatal(err)
			}
			var i format.Inventory
			if output == "json" {
				err = json.Unmarshal([]byte(stdout), &i)
			} else {
				err = yaml.Unmarshal([]byte(stdout), &i)
			}
			if err != nil || i.Regions[0].Name != name || i.Regions[0].Zones[0].Name != name || !report.Harmless(stdout) {
				t.Errorf("%q: %v in\n%s", name, err, stdout)
			}
		}
	}
}

// BenchmarkRegions reads 30 regions with 3,000 images each.
func BenchmarkRegions(b *testing.B) {
	var names []string
	for _, first := range "abc" {
		for _, second := range "0123456789" {
			names = append(names, string(first)+string(second))
		}
	}
	cloud := fakecloud.Start(names...)
	cloud.Images = 3000
	environment(b, cloud)
	b.ReportAllocs()
	for b.Loop() {
		stdout, _, err := run(b, "", "openstack")
		if n := strings.Count(stdout, "- {id: "); err != nil || n != 90000 {
			b.Fatal(err, n)
		}
	}
}
