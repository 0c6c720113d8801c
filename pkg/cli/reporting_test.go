// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/testing/cases"
)

// cells is the JSON output of report for programs.
type cells struct {
	Profiles []struct {
		Name  string
		Cells []map[string]any
	}
}

// exampleProfiles returns the files with example profiles of all clouds.
func exampleProfiles(t *testing.T) []string {
	t.Helper()
	files := profilesIn(examples)
	for _, p := range table {
		files = append(files, profilesIn(filepath.Join(examples, p.Type()))...)
	}
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasPrefix(filepath.Base(file), "namespaced") })
	if len(files) < 15 {
		t.Fatalf("only %v", files)
	}
	return files
}

// Each cell equals the answer of select to the same question.
func TestReportIsSelectForAll(t *testing.T) {
	checked := map[string]int{}
	for _, file := range append(exampleProfiles(t), guide+"openstack-new-repaired.yaml", broken+"/provider-version-missing.yaml") {
		r := runFor(table, "", "report", "-o", "json", file)
		for _, p := range decoded[cells](t, r).Profiles {
			for _, c := range p.Cells {
				checkReported(t, checked, file, c)
			}
		}
	}
	for _, kind := range []string{"reference", "error", "requested", "unavailable"} {
		if checked[kind] < 4 {
			t.Errorf("%s was checked %d times", kind, checked[kind])
		}
	}
}

// The commands and files on a page name the inputs that it was made from, with FILE for standard input.
func TestReportSaysWhatToEnter(t *testing.T) {
	type shown struct {
		Profiles []struct {
			Inputs   []string
			Requests []struct{ Flag, Config string }
		}
	}
	p := pageData[shown](t, runFor(table, read(t, examples+"/gcp/cloudprofile.yaml"), "report", "-")).Profiles[0]
	if !slices.Equal(p.Inputs, []string{"FILE"}) {
		t.Errorf("%q", p.Inputs)
	}
	configs := map[string]string{}
	for _, request := range p.Requests {
		configs[request.Flag] = request.Config
	}
	// A setting that is not a field with a single value cannot be written.
	want := "apiVersion: gcp.provider.extensions.gardener.cloud/v1alpha1\nkind: WorkerConfig\n# add gpu.acceleratorType: nvidia-*\n"
	if configs["--worker-config workerconfig.yaml"] != want || configs[""] != "" {
		t.Errorf("%q", configs)
	}
}

// The commands on a page set the preference order if it is not the extension's.
func TestReportSaysWhichOrderToEnter(t *testing.T) {
	type shown struct {
		Profiles []struct {
			Order, OtherOrder string
			ByFlag            bool
		}
	}
	for flag, want := range map[string]string{
		"": "gep33, not gardener: false", "gep33": "gep33, not gardener: false", "gardener": "gardener, not gep33: true",
	} {
		args := []string{"report", examples + "/gcp/cloudprofile.yaml"}
		if flag != "" {
			args = append(args, "--order", flag)
		}
		p := pageData[shown](t, runFor(table, "", args...)).Profiles[0]
		if got := fmt.Sprintf("%s, not %s: %t", p.Order, p.OtherOrder, p.ByFlag); got != want {
			t.Errorf("--order %q: %s", flag, got)
		}
	}
}

// The jq command in the documents prints everything that distinguishes cells. Without the requests, it would list a combination as
// failing that boots.
func TestReportedCellsAreToldApart(t *testing.T) {
	page := read(t, "../../docs/commands/report.md")
	_, line, found := strings.Cut(page, "| select(.error) | [")
	line, _, closed := strings.Cut(line, "| join")
	if !found || !closed {
		t.Fatal("there is no line for jq")
	}
	fields := regexp.MustCompile(`\.(\w+)(?:\[\]\.setting)?[,\]]`).FindAllStringSubmatch(line, -1)
	r := decoded[cells](t, runFor(providers, "", "report", "-o", "json", examples+"/cloudprofile-full.yaml"))
	seen, printed := map[string]bool{}, []string{}
	for _, c := range r.Profiles[0].Cells {
		var words []string
		for _, field := range fields {
			switch value := c[field[1]].(type) {
			case string:
				words = append(words, value)
			case []any:
				for _, q := range value {
					words = append(words, q.(map[string]any)["setting"].(string))
				}
			default:
				t.Fatalf("%s of %v", field[1], c)
			}
		}
		key := strings.Join(words, " ")
		if seen[key] {
			t.Errorf("%s is said of two cells", key)
		}
		seen[key] = true
		if c["error"] != nil {
			printed = append(printed, key)
		}
	}
	want := []string{}
	for _, of := range []string{"1877.5.0 medium_4_8_arm", "1592.9.0 medium_4_8", "1592.9.0 medium_4_8_arm"} {
		for _, region := range []string{"europe", "asia"} {
			want = append(want, "gardenlinux "+of+" "+region+" trustedLaunch.enabled: true")
		}
	}
	if diff := cmp.Diff(want, printed); diff != "" {
		t.Error(diff)
	}
}

// checkReported checks one cell, and counts its kind.
func checkReported(t *testing.T, checked map[string]int, file string, c map[string]any) {
	t.Helper()
	text := func(name string) string { return c[name].(string) }
	args := []string{
		"select", "-o", "json", "--image", text("image"), "--version", text("version"), "--machine-type", text("machineType"),
		"--region", text("region"), file,
	}
	for _, q := range c["requested"].([]any) {
		setting := q.(map[string]any)["setting"].(string)
		flag, known := map[string][]string{
			"secure boot": {"--secure-boot"}, "update strategy AutoInPlaceUpdate": {"--update-strategy=AutoInPlaceUpdate"},
			"trustedLaunch.enabled: true":               {"--worker-config=" + examples + "/../docs/examples/workerconfig-trusted-launch.yaml"},
			"machine type Standard_DC* or Standard_EC*": nil,
		}[setting]
		if !known {
			checked["by another setting"]++
			return
		}
		checked["requested"]++
		args = append(args, flag...)
	}
	answer := decoded[map[string]any](t, runFor(table, "", args...))
	for _, kind := range []string{"reference", "error"} {
		if _, found := c[kind]; found {
			checked[kind]++
		}
		if diff := cmp.Diff(answer[kind], c[kind]); diff != "" {
			t.Errorf("%v: %s of select and of report: %s", args, kind, diff)
		}
	}
	var zones any // the zones in which select reports the machine type as missing
	if lacking, _ := answer["unavailable"].([]any); len(lacking) > 0 {
		checked["unavailable"]++
		zones = lacking[0].(map[string]any)["zones"]
	}
	if diff := cmp.Diff(zones, c["unavailableZones"]); diff != "" {
		t.Errorf("%v: zones of select and of report: %s", args, diff)
	}
	delete(c, "unavailableZones")
	keys := []string{}
	for key := range c {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	want := []string{"image", "machineType", "reference", "region", "requested", "version"}
	if c["reference"] == nil {
		want = []string{"error", "image", "machineType", "region", "requested", "version"}
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("%v: %s", args, diff)
	}
}

// The exit status and messages of report.
func TestReportEnds(t *testing.T) {
	profile, shoot := examples+"/cloudprofile.yaml", examples+"/shoot.yaml"
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{profile, 0, "<!doctype html>", "1 object checked: no errors, no warnings"},
		{"-o json " + profile, 0, `"name": "openstack"`, "1 object checked"},
		{"-o json --order=gardener " + profile, 0, `"reference"`, ""},
		{"-o json " + broken + "/provider-flavor-missing.yaml", 1, `"cells"`, "[provider-flavor-missing]"},
		{broken + "/provider-flavor-missing.yaml", 1, "<!doctype html>", "1 error"},
		{"-o json --profile team " + profile + " " + examples + "/namespacedcloudprofile.yaml", 0, `"name": "garden-demo/team"`, ""},
		{"-o json " + profile + " " + examples + "/namespacedcloudprofile.yaml", 0, `"name": "garden-demo/team"`, ""},
		{"-o json " + profile + " " + broken + "/provider-unknown.yaml", 0, `"name": "openstack"`, "answers are based on core alone"},
		{"-o json --allow-empty -", 0, `"profiles": []`, ""},
		{"-o json " + shoot, 2, "", "no CloudProfile or NamespacedCloudProfile among the inputs"},
		{"-o text " + profile, 2, "", "use one of html, json"},
		{"--order=best " + profile, 2, "", "best"},
		{"--profile= " + profile, 2, "", "--profile is empty"},
		{"--domain= " + profile, 2, "", "--domain is empty"},
		{"--profile=other " + profile, 2, "", "CloudProfile other is not among the inputs"},
		{broken + "/provider-unknown.yaml", 0, "<!doctype html>", "answers are based on core alone"},
		{broken + "/syntax.yaml", 1, "", "[syntax]\nthere is no profile to report on, and nothing is written: repair these first\n"},
		{"", 2, "", "no FILE given"},
	} {
		r := runFor(providers, "", append([]string{"report"}, strings.Fields(tc.args)...)...)
		if r.status != tc.status || !strings.Contains(r.stdout, tc.stdout) || !strings.Contains(r.stderr, tc.stderr) ||
			(tc.stdout == "") != (r.stdout == "") {
			t.Errorf("report %s: status %d, %.200s, %s", tc.args, r.status, r.stdout, r.stderr)
		}
	}
}

// With very many findings, a page shows some of every rule, in order, and their number.
func TestReportOfManyFindings(t *testing.T) {
	inFolder(t, map[string]string{
		"many.yaml": strings.Repeat("a: b\n---\n", 6000), "wrong.yaml": read(t, broken+"/provider-flavor-missing.yaml"),
	})
	r := runFor(providers, "", "report", "many.yaml", "wrong.yaml")
	page := pageData[struct {
		Findings []struct {
			Rule string
			Line int
		}
		Totals map[string]int
		Notes  []string
	}](t, r)
	if diff := cmp.Diff(map[string]int{"error not-an-object": 6000, "error provider-flavor-missing": 1}, page.Totals); diff != "" {
		t.Error(diff)
	}
	if last := page.Findings[len(page.Findings)-1]; len(page.Findings) != 2000 || last.Rule != "provider-flavor-missing" {
		t.Errorf("%d findings, the last is %v", len(page.Findings), last)
	}
	for i, f := range page.Findings[:1999] {
		if f.Line != 2*i+1 {
			t.Fatalf("finding %d is in line %d", i, f.Line)
		}
	}
	if !slices.Contains(page.Notes, "of 6001 findings 2000 are shown, some of every rule: capkit lint says all") {
		t.Errorf("notes %q", page.Notes)
	}
}

// report silences the same findings as lint, finds the same, and ends with the same status.
func TestReportEndsAsLint(t *testing.T) {
	wrong := read(t, broken+"/provider-flavor-missing.yaml")
	inFolder(t, map[string]string{
		"wrong.yaml":     wrong,
		"warning.yaml":   unknownRegion(t),
		"commented.yaml": "# capkit:ignore provider-flavor-missing: in May\n" + wrong,
		"unused.yaml":    "# capkit:ignore region-unknown: in May\n" + wrong,
		"off.yaml":       "inputs: [wrong.yaml]\ndisable:\n- {rule: provider-flavor-missing, reason: in May}\n",
		"strict.yaml":    "failOn: warning\n",
	})
	for args, status := range map[string]int{
		"wrong.yaml":     1,
		"commented.yaml": 0,
		"unused.yaml":    1,
		"--disable=provider-flavor-missing wrong.yaml":            0,
		"--config=off.yaml wrong.yaml":                            0,
		"--config=off.yaml":                                       0,
		"warning.yaml":                                            0,
		"--config=strict.yaml warning.yaml":                       1,
		"--fail-on=warning warning.yaml":                          1,
		"--fail-on=warning --disable=region-unknown warning.yaml": 0,
		"--disable=regon-unknown wrong.yaml":                      2,
		"--config=off.yaml --no-config wrong.yaml":                2,
	} {
		linted := run(t, "", append([]string{"lint", "-o", "json"}, strings.Fields(args)...)...)
		for _, format := range []string{"html", "json"} {
			r := run(t, "", append([]string{"report", "-o", format}, strings.Fields(args)...)...)
			if r.status != status || linted.status != status {
				t.Errorf("%s: lint ends with %d, report -o %s with %d, instead of %d: %s", args, linted.status, format, r.status, status, r.stderr)
			}
			if last := lastLine(linted.stderr); last != lastLine(r.stderr) {
				t.Errorf("%s: lint says %q, report %q", args, last, lastLine(r.stderr))
			}
			if note := "still refused by admission"; strings.Contains(linted.stderr, note) != strings.Contains(r.stderr, note) {
				t.Errorf("%s: lint says %s, report %s", args, linted.stderr, r.stderr)
			}
		}
		if status == 2 {
			continue
		}
		shown := pageData[struct{ Findings []report.Finding }](t, run(t, "", append([]string{"report"}, strings.Fields(args)...)...))
		if diff := cmp.Diff(decoded[report.Report](t, linted).Findings, shown.Findings); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}

// pageData returns the data of a page's script.
func pageData[T any](t *testing.T, r result) T {
	t.Helper()
	_, data, _ := strings.Cut(r.stdout, `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	zipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		t.Fatal(err, r.stderr)
	}
	raw, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	return decoded[T](t, result{stdout: string(raw), stderr: r.stderr})
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// The page is reproducible, and texts from manifests cannot end any of its elements.
func TestReportPage(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400")
	args := []string{"report", examples}
	first := runFor(table, "", args...)
	if again := runFor(table, "", args...); again.stdout != first.stdout || first.status != 0 {
		t.Errorf("status %d, and the same on the second run: %t", first.status, again.stdout == first.stdout)
	}
	for element, n := range map[string]int{"<script": 2, "</script>": 2, "<style>": 1, "</style>": 1} {
		if found := strings.Count(first.stdout, element); found != n {
			t.Errorf("%s is there %d times", element, found)
		}
	}
	awful := strings.ReplaceAll(read(t, examples+"/cloudprofile.yaml"), "name: gardenlinux", `name: '</script><!--<script>"{{.}}'`)
	page := runFor(table, awful, "report", "-")
	name := pageData[struct {
		Profiles []struct{ Versions []struct{ Image string } }
	}](t, page).Profiles[0].Versions[0].Image
	if strings.Count(page.stdout, "</script>") != 2 || strings.Contains(page.stdout, "<!--") || !strings.HasPrefix(name, "</script><!--") {
		t.Errorf("%.300s %s", page.stdout, page.stderr)
	}
}

// vectors are profiles with which others can check their own programs, each with its cells.
var vectors = map[string]string{
	"capabilities":            "example/cloudprofile.yaml",
	"legacy":                  "example/cloudprofile-legacy.yaml",
	"mixed":                   "example/cloudprofile-mixed.yaml",
	"worker-capability":       "example/cloudprofile-trusted-launch.yaml",
	"machine-types-only":      "example/cloudprofile-bare-metal.yaml",
	"worker-capability-plain": "docs/examples/trusted-launch-disabled.yaml",
	"omission":                "docs/examples/omission.yaml",
	"preference":              "docs/examples/tie-break.yaml",
	"preference-narrowed":     "docs/examples/tie-break-narrowed.yaml",
	"preference-reordered":    "docs/examples/tie-break-reordered.yaml",
	"in-place-updates":        "example/cloudprofile-local.yaml",
	"gep-0054":                "docs/examples/gep-0054.yaml",
	"gep-0054-registered":     "docs/examples/gep-0054-registered.yaml",
	"gep-0054-first-text":     "docs/examples/gep-0054-first-text.yaml",
	"aws":                     "example/aws/cloudprofile.yaml",
	"azure":                   "example/azure/cloudprofile.yaml",
	"gcp":                     "example/gcp/cloudprofile.yaml",
	"alicloud":                "example/alicloud/cloudprofile.yaml",
}

// reportArgs returns the arguments of report for a vector. One vector is for a Gardener that accepts reserved capabilities in core.
func reportArgs(vector, file string) []string {
	args := []string{"report", "-o", "json", file}
	if vector == "gep-0054-registered" {
		args = append(args, "--reserved-in-core")
	}
	return args
}

// The vectors in docs/vectors equal the output of report for their profiles.
func TestVectors(t *testing.T) {
	const folder = "../../docs/vectors"
	for name, file := range vectors {
		path := filepath.Join(folder, name+".json")
		if cases.Update() {
			r := runFor(table, "", reportArgs(name, "../../"+file)...)
			write(t, path, vector(t, file, manifestOf(t, file), r.stdout))
		}
		var v struct {
			Profile json.RawMessage
			Cells   json.RawMessage
		}
		if err := json.Unmarshal([]byte(read(t, path)), &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		r := runFor(table, string(v.Profile), reportArgs(name, "-")...)
		if diff := cmp.Diff(read(t, path), vector(t, file, manifestOf(t, file), r.stdout)); diff != "" || r.status != 0 {
			t.Errorf("%s is not what report says about %s (run go test with -update after a change that is meant): %s", path, file, diff)
		}
	}
	kept, err := filepath.Glob(folder + "/*")
	if err != nil || len(kept) != len(vectors)+1 { // and README.md
		t.Errorf("%v, %d files for %d vectors", err, len(kept), len(vectors))
	}
}

// manifestOf returns a profile in the repository as JSON.
func manifestOf(t *testing.T, file string) (profile any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, "../../"+file)), &profile); err != nil {
		t.Fatal(err)
	}
	return profile
}

// vector returns the text of a vector.
func vector(t *testing.T, source string, profile any, reported string) string {
	t.Helper()
	found := decoded[cells](t, result{stdout: reported})
	if len(found.Profiles) != 1 {
		t.Fatalf("%s has %d profiles", source, len(found.Profiles))
	}
	text, err := json.MarshalIndent(struct {
		Source  string `json:"source"`
		Profile any    `json:"profile"`
		Cells   any    `json:"cells"`
	}{source, profile, found.Profiles[0].Cells}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// A cluster is reported like files. With -n, the report covers the profiles that its Shoots use.
func TestReportOfACluster(t *testing.T) {
	api := exampleGarden(t)
	live := []string{"report", "-o", "json", "--kubeconfig", api.Start(t)}
	files := run(t, "", "report", "-o", "json", examples+"/cloudprofile.yaml", examples+"/namespacedcloudprofile.yaml",
		examples+"/shoot.yaml", examples+"/shoot-namespaced.yaml")
	for _, flags := range [][]string{{"-A"}, {"-n", "garden-demo"}} {
		r := run(t, "", append(live, flags...)...)
		if r.status != 0 || r.stdout != files.stdout {
			t.Errorf("%v: status %d, %s", flags, r.status, r.stderr)
		}
	}
	// The page names the given flags for the cluster, and files for contents of files.
	kubeconfig := live[len(live)-1]
	page := []string{"report", "--kubeconfig", kubeconfig, "-n", "garden-demo", "--profile", "garden-demo/team", examples + "/cloudprofile.yaml"}
	p := pageData[struct{ Profiles []struct{ Inputs []string } }](t, run(t, "", page...))
	want := []string{"--profile", "garden-demo/team", "--kubeconfig=" + kubeconfig, "--namespace=garden-demo", examples + "/cloudprofile.yaml"}
	if len(p.Profiles) != 1 || !slices.Equal(p.Profiles[0].Inputs, want) {
		t.Errorf("%q", p.Profiles)
	}
	if r := run(t, "", append(live, "-n", "garden-other")...); r.status != 2 || !strings.Contains(r.stderr, "no CloudProfile") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
}

// For a landscape, a page shows a part of its findings, the worst first, and their number.
func TestReportOfALandscape(t *testing.T) {
	const shoots = 2100
	shoot := read(t, examples+"/shoot.yaml")
	var text strings.Builder
	for i := range shoots {
		text.WriteString("---\n" + strings.NewReplacer(
			"name: shop", fmt.Sprintf("name: shop%d", i), "1877.5.0", fmt.Sprintf("1000.%d.0", i)).Replace(shoot))
	}
	r := run(t, text.String(), "report", "-", examples+"/cloudprofile.yaml")
	page := pageData[struct {
		Maintenance []struct{ Action string }
		Calendar    []struct{ Events []struct{ Action string } }
		Notes       []string
	}](t, r)
	if len(page.Maintenance) != 1000 || page.Maintenance[0].Action == "stays" {
		t.Errorf("%d entries", len(page.Maintenance))
	}
	notes := strings.Join(page.Notes, "\n")
	contains(t, notes, "different things that maintenance does, 1000 are shown, the worst first")
	contains(t, notes, "different things that maintenance does within 90 days, 500 are shown, the worst first: capkit maintenance --until +90d says all")
	events := 0
	for _, day := range page.Calendar {
		events += len(day.Events)
	}
	if events != 500 {
		t.Errorf("%d events", events)
	}
}

// The page depends on a time, for expirations and maintenance, and names it and its inputs. Programs get no time.
func TestReportIsOfATime(t *testing.T) {
	inFolder(t, map[string]string{
		"profile.yaml": strings.Replace(read(t, examples+"/cloudprofile.yaml"), "      classification: deprecated\n",
			"      lifecycle:\n      - classification: deprecated\n        startTime: 2026-12-01T00:00:00Z\n"+
				"      - classification: expired\n        startTime: 2027-02-01T00:00:00Z\n", 1),
		"shoot.yaml": strings.ReplaceAll(read(t, examples+"/shoot.yaml"), "1877.5.0", "1592.9.0"),
	})
	type shown struct {
		Date, Soon, Source, Until string
		Profiles                  []struct {
			Versions []struct{ State, Since, Next, Expires string }
		}
		Maintenance []struct{ Action string }
		Calendar    []html.Day
	}
	for day, want := range map[string][]string{ // the text about the older version, and the fate of the pools that use it
		"2026-11-26": {"2026-12-26", "2027-02-24", "unavailable", "", "deprecated on 2026-12-01", "stays", "2027-02-01"},
		"2026-12-24": {"2027-01-23", "2027-03-24", "deprecated", "2026-12-01", "", "stays", "2027-02-01"},
		"2027-02-03": {"2027-03-05", "2027-05-04", "expired", "2027-02-01", "", "forced", "2027-02-03"},
	} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("SOURCE_DATE_EPOCH", strconv.FormatInt(at.Unix(), 10))
		r := runFor(providers, "", "report", "profile.yaml", "shoot.yaml")
		page := pageData[shown](t, r)
		old := page.Profiles[0].Versions[1]
		got := []string{page.Soon, page.Until, old.State, old.Since, old.Next, page.Maintenance[0].Action}
		for _, day := range page.Calendar {
			got = append(got, day.Date)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", day, diff)
		}
		if page.Date != day+" 00:00 UTC" || page.Source != "profile.yaml, shoot.yaml" || old.Expires != "2027-02-01" {
			t.Errorf("%s: %+v", day, page)
		}
		if again := runFor(providers, "", "report", "profile.yaml", "shoot.yaml"); again.stdout != r.stdout {
			t.Errorf("%s: the page is another one the next time", day)
		}
	}
	for _, wrong := range []string{"yesterday", "-1", "99999999999"} {
		t.Setenv("SOURCE_DATE_EPOCH", wrong)
		r := runFor(providers, "", "report", "profile.yaml")
		if want := fmt.Sprintf("invalid SOURCE_DATE_EPOCH %q", wrong); r.status != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("status %d, %s", r.status, r.stderr)
		}
		// Its lifecycle is only an error of lint.
		if r := runFor(providers, "", "report", "-o", "json", "profile.yaml"); r.status != 1 || !strings.HasPrefix(r.stdout, "{") {
			t.Errorf("status %d, %s", r.status, r.stderr)
		}
	}
}
