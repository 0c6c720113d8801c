// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/internal/testing/cases"
)

func TestLandscapes(t *testing.T) { cases.Run(t, "testdata/landscapes.txtar", commands(providers)) }

// A single landscape has the same page as its files, whatever its name.
func TestOneLandscapeIsItsFiles(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400")
	for _, format := range []string{"html", "json"} {
		alone := runFor(table, "", "report", "-o", format, examples)
		if named := runFor(table, "", "report", "-o", format, "--landscape", "live="+examples); named != alone || alone.status != 0 {
			t.Errorf("%s: status %d and %d, %d and %d bytes: %s", format, alone.status, named.status, len(alone.stdout), len(named.stdout), named.stderr)
		}
	}
}

// dataOf returns the data of one landscape, by index, in a page about several landscapes.
func dataOf(t *testing.T, r result, index string) html.Report {
	t.Helper()
	r.stdout = strings.Replace(strings.ReplaceAll(r.stdout, `id="data"`, ""), `id="data-`+index+`"`, `id="data"`, 1)
	return pageData[shownReport](t, r).Report
}

// A page about several landscapes contains each landscape's own page, and is reproducible.
func TestLandscapesHaveTheirPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400")
	live, err := filepath.Abs(examples)
	if err != nil {
		t.Fatal(err)
	}
	stdin := read(t, broken+"/provider-flavor-missing.yaml")
	inFolder(t, map[string]string{"dev.yaml": read(t, examples+"/cloudprofile.yaml")})
	args := []string{"report", "--landscape=dev=dev.yaml", "--landscape", "live=" + live, "--landscape=test=-"}
	r := runFor(table, stdin, args...)
	if again := runFor(table, stdin, args...); again != r || r.status != 1 {
		t.Fatalf("status %d, and the same again: %t: %s", r.status, again == r, r.stderr)
	}
	for index, arg := range map[string]string{"0": "dev.yaml", "1": live, "2": "-"} {
		alone := pageData[shownReport](t, runFor(table, stdin, "report", arg)).Report
		if diff := cmp.Diff(alone, dataOf(t, r, index)); diff != "" {
			t.Errorf("%s: %s", arg, diff)
		}
	}
	for _, said := range []string{
		"landscape dev:\n1 object checked", "landscape live:\n", "landscape test:\nnote: CloudProfile provider-flavor-missing has 1 error",
	} {
		if !strings.Contains(r.stderr, said) {
			t.Errorf("%q is not in %s", said, r.stderr)
		}
	}
}

// Each landscape has its own settings, unless flags override them.
func TestLandscapesHaveTheirSettings(t *testing.T) {
	inFolder(t, map[string]string{
		"dev/profile.yaml": read(t, broken+"/provider-flavor-missing.yaml"), "live/profile.yaml": read(t, broken+"/provider-flavor-missing.yaml"),
		"dev/.capkit.yaml": "inputs: [nowhere.yaml]\ndisable:\n- {rule: provider-flavor-missing, reason: in May}\n",
		".capkit.yaml":     "failOn: warning\n", "none.yaml": "",
	})
	for flags, want := range map[string]string{
		"--landscape dev=dev --landscape live=live":                              "1 dev 0 live 1",
		"--landscape dev=dev --landscape live=dev":                               "0 dev 0 live 0",
		"--landscape dev=dev":                                                    "0",
		"--landscape live=live":                                                  "1",
		"--no-config --landscape dev=dev --landscape live=live":                  "1 dev 1 live 1",
		"--config none.yaml --landscape dev=dev --landscape live=live":           "1 dev 1 live 1",
		"--disable provider-flavor-missing --landscape a=dev --landscape b=live": "0 a 0 b 0",
	} {
		r := run(t, "", append([]string{"report"}, strings.Fields(flags)...)...)
		got := string(rune('0' + r.status))
		for _, found := range regexp.MustCompile(`landscape (\w+):\n(?:note.*\n)*.* (no|\d) errors?,`).FindAllStringSubmatch(r.stderr, -1) {
			got += " " + found[1] + " " + strings.ReplaceAll(found[2], "no", "0")
		}
		if got != want {
			t.Errorf("%s: %s, want %s: %s", flags, got, want, r.stderr)
		}
	}
	if err := os.Rename("dev/.capkit.yaml", "dev/.capkit.yml"); err != nil {
		t.Fatal(err)
	}
	r := run(t, "", "report", "--landscape=dev=dev", "--landscape=live=live")
	const want = "capkit: landscape dev: dev/.capkit.yml is not read, because the settings have the name .capkit.yaml"
	if r.status != 2 || !strings.HasPrefix(r.stderr, want) {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
}

// Each landscape has its own Gardener version, unless flags set one for all.
func TestLandscapesHaveTheirGardener(t *testing.T) {
	profile, shoot := read(t, examples+"/cloudprofile-trusted-launch.yaml"), read(t, examples+"/shoot-in-place.yaml")
	inFolder(t, map[string]string{
		"dev/profile.yaml": profile, "dev/shoot.yaml": shoot, "live/profile.yaml": profile, "live/shoot.yaml": shoot,
		"dev/.capkit.yaml":  "gardener:\n  version: v1.149.3\n  featureGates: {InPlaceNodeUpdates: true}\n",
		"live/.capkit.yaml": "gardener:\n  featureGates: {}\n",
	})
	for flags, want := range map[string]string{
		"": "live",
		"--feature-gates=InPlaceNodeUpdates=true":                                "",
		"--feature-gates=InPlaceNodeUpdates=false,CloudProfileCapabilities=true": "dev live",
		"--gardener-version=v1.145.0":                                            "dev live", // where capabilities need a feature gate
	} {
		r := run(t, "", append([]string{"report", "--landscape", "dev=dev", "--landscape", "live=live", "-o", "json"}, strings.Fields(flags)...)...)
		var wrong []string
		for _, name := range []string{"dev", "live"} {
			if strings.Contains(r.stderr, name+"/shoot.yaml:") || strings.Contains(r.stderr, name+"/profile.yaml:") {
				wrong = append(wrong, name)
			}
		}
		if strings.Join(wrong, " ") != want {
			t.Errorf("%s: status %d, %s", flags, r.status, r.stderr)
		}
	}
}

// A landscape may be a kubeconfig context, whose cluster is read completely.
func TestLandscapesInClusters(t *testing.T) {
	api := exampleGarden(t)
	kubeconfig := api.Start(t)
	config := read(t, kubeconfig)
	context := regexp.MustCompile(`current-context: (\S+)`).FindStringSubmatch(config)
	if context == nil {
		t.Fatalf("no context in %s", config)
	}
	r := run(t, "", "report", "-o", "json", "--kubeconfig", kubeconfig, "--landscape", "dev="+examples+"/cloudprofile.yaml",
		"--landscape", "live=context:"+context[1])
	type answer struct {
		Landscapes []struct {
			Name     string
			Overview map[string]int
		}
	}
	got := decoded[answer](t, r)
	if len(got.Landscapes) != 2 || got.Landscapes[0].Overview["shoots"] != 0 || got.Landscapes[1].Overview["shoots"] != 2 ||
		got.Landscapes[1].Overview["profiles"] != 2 || r.status != 0 {
		t.Errorf("status %d, %v: %s", r.status, got, r.stderr)
	}
	r = run(t, "", "report", "--kubeconfig", kubeconfig, "--landscape", "dev="+examples+"/cloudprofile.yaml", "--landscape", "live=context:nowhere")
	if r.status != 2 || !strings.Contains(r.stderr, "capkit: landscape live: ") || !strings.Contains(r.stderr, "nowhere") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
}

// The figures of a landscape are its own.
func TestLandscapesHaveTheirFigures(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400")
	args, want := []string{"report", "-o", "json"}, []string{}
	for _, l := range [][2]string{
		{"capability-unregistered", "errors:1 gaps:1 profiles:1"},
		{"cloudprofile-name-ignored", "errors:1 pools:1 profiles:1 shoots:1 updated:1"},
		{"no-image-fits", "errors:1 forced:1 pools:1 profiles:1 shoots:1 withoutMachines:1"},
		{"no-longer-offered", "forced:1 pools:1 profiles:1 shoots:1 warnings:3"},
		{"unknown-image", "errors:1 pools:1 profiles:1 shoots:1 stuck:1 withoutMachines:1"},
		{"unknown-region", "errors:1 profiles:1 shoots:1 unknownShoots:1"},
	} {
		args, want = append(args, "--landscape", l[0]+"="+broken+"/"+l[0]+".yaml"), append(want, "map["+l[1]+"]")
	}
	var got []string
	for _, l := range decoded[struct {
		Landscapes []struct{ Overview map[string]int }
	}](t, runFor(table, "", args...)).Landscapes {
		maps.DeleteFunc(l.Overview, func(_ string, count int) bool { return count == 0 })
		got = append(got, fmt.Sprint(l.Overview))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The size of a page grows linearly with the number of landscapes.
func TestLandscapesAreLinear(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400")
	size := func(n int) int {
		args := []string{"report"}
		for i := range n {
			args = append(args, "--landscape", string(rune('a'+i))+"="+examples+"/cloudprofile.yaml")
		}
		return len(bytes.TrimSpace([]byte(runFor(table, "", args...).stdout)))
	}
	two, four, eight := size(2), size(4), size(8)
	if more := four - two; eight-four > 2*more+more/4 {
		t.Errorf("%d bytes for 2, %d for 4, %d for 8", two, four, eight)
	}
}

// Errors in one landscape do not hide errors in the next ones.
func TestLandscapesAreAllToldAbout(t *testing.T) {
	child := read(t, examples+"/namespacedcloudprofile.yaml")
	profile := read(t, examples+"/cloudprofile.yaml")
	inFolder(t, map[string]string{"a.yaml": child, "b.yaml": profile, "c.yaml": strings.Replace(child, "name: team", "name: tim", 1)})
	args := []string{"report", "--landscape=a=a.yaml", "--landscape=b=b.yaml", "--landscape=c=c.yaml"}
	told := []string{"a.yaml:11:5: error: ", "\nlandscape a: there is no profile", "\nc.yaml:11:5: error: ", "\nlandscape c: there is no profile"}
	r := runFor(table, "", args...)
	contains(t, r.stderr, told...)
	if r.status != 1 || r.stdout != "" {
		t.Errorf("%+v", r)
	}
	r = runFor(table, "", append(args, "--landscape=d=d.yaml", "--landscape=e=e.yaml")...)
	contains(t, r.stderr, append(told, "\ncapkit: landscape d: d.yaml: no such file", "\ncapkit: landscape e: e.yaml: no such file")...)
	if r.status != 2 || r.stdout != "" {
		t.Errorf("%+v", r)
	}
}
