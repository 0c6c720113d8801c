// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/maintain"
	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/pkg/maintenance"
)

// shownReport is the data of a page, with the answers in its script's format.
type shownReport struct {
	html.Report
	Profiles []struct {
		Regions  []string
		Versions []html.Version
		Requests []struct {
			Label   string
			Answers []html.Answers
		}
	} `json:"profiles"`
}

// The reasons against flavors, and the comparisons between the others, lead to the image of each cell, in the words of explain.
func TestReportHasReasonsForEachCell(t *testing.T) {
	const inPlace, excluded = "../../test/browser/testdata/in-place.yaml", "excluded by the region"
	for _, file := range append(exampleProfiles(t), inPlace) {
		for _, p := range pageData[shownReport](t, runFor(table, "", "report", file)).Profiles {
			for _, q := range p.Requests {
				for _, a := range q.Answers {
					checkReasons(t, file+", "+q.Label, a, p.Versions, p.Regions)
				}
			}
		}
	}
	explained := runFor(table, "", "explain", "--image=gardenlinux", "--version=2.0.0", "--machine-type=medium", "--region=asia",
		"--update-strategy=AutoInPlaceUpdate", inPlace)
	contains(t, explained.stdout, excluded+": it has no image in region asia")
	if page := runFor(table, "", "report", inPlace); !strings.Contains(page.stdout, excluded) { // the script composes the text
		t.Errorf("the page does not say %q", excluded)
	}
}

// checkReasons checks that the texts of a page about each version in each region name the flavor that boots as the best one.
func checkReasons(t *testing.T, what string, a html.Answers, versions []html.Version, regions []string) {
	t.Helper()
	for i := range versions {
		for k, region := range regions {
			if best, boots := bestOf(a, i, &versions[i], k), a.Cells[i][k].Flavor; best != boots {
				t.Errorf("%s, %s in %s: flavor %d boots, and by the reasons %d", what, versions[i].Name, region, boots, best)
			}
		}
	}
}

// bestOf returns the index of the flavor that the texts of a page name as the best one, or -1.
func bestOf(a html.Answers, version int, v *html.Version, region int) int {
	best, kind := -1, a.Kinds[v.Kind]
	for i, f := range v.Flavors {
		switch {
		case a.Whole[version] != "" || kind.Outcomes[f.Declared].Clause != "" || f.Missing[region] != "":
		case best < 0 || kind.Comparisons[v.Flavors[best].Declared+f.Declared].Sign > 0:
			best = i
		}
	}
	return best
}

// A page with only a part of the maintenance results still knows which cells worker pools use, and their number.
func TestReportOfManyPools(t *testing.T) {
	shoot := read(t, examples+"/shoot.yaml")
	var shoots []string
	const many = 600
	for i := range many {
		shoots = append(shoots, strings.NewReplacer("name: shop", fmt.Sprintf("name: shop-%d", i), "medium_4_8", fmt.Sprintf("gone-%d", i)).Replace(shoot))
	}
	inFolder(t, map[string]string{"shoots.yaml": strings.Join(shoots, "\n---\n"), "profile.yaml": read(t, examples+"/cloudprofile.yaml")})
	r := pageData[shownReport](t, runFor(providers, "", "report", "profile.yaml", "shoots.yaml"))
	named := 0
	for _, e := range r.Maintenance {
		named += e.Count
	}
	want := []html.Pools{{
		MaintainedPool: maintain.MaintainedPool{Image: "gardenlinux", From: "1877.5.0", To: "1877.5.0", Action: maintenance.Stays},
		Profile:        "openstack", MachineType: "bare_8_16", Region: "europe",
		Asks: []string{}, Boots: "id 1234-amd64-bare", Names: []string{}, Count: 2*many - named,
	}}
	if diff := cmp.Diff(want, r.More); diff != "" || len(r.Maintenance) != 1000 {
		t.Errorf("%d entries, and %s", len(r.Maintenance), diff)
	}
}

// A worker pool's request is named like the view for it, together with the image there.
func TestReportOfWhatPoolsAskFor(t *testing.T) {
	shoot := read(t, examples+"/shoot-trusted-launch.yaml")
	const trusted = "trustedLaunch:\n          enabled: true"
	unread := strings.NewReplacer("name: bank", "name: unread", "enabled: true", "enabled: maybe").Replace(shoot)
	twice := strings.NewReplacer("name: bank", "name: twice", trusted, trusted+"\n        trustedLaunch: {}").Replace(shoot)
	inFolder(t, map[string]string{
		"profile.yaml": read(t, examples+"/cloudprofile-trusted-launch.yaml"), "shoots.yaml": shoot + "\n---\n" + unread + "\n---\n" + twice,
	})
	r := pageData[shownReport](t, runFor(providers, "", "report", "profile.yaml", "shoots.yaml"))
	got := map[string]string{}
	for _, e := range r.Maintenance {
		for _, name := range e.Names {
			got[strings.TrimPrefix(name, "garden-demo/")] = fmt.Sprintf("%q %t %s", e.Asks, e.Asks == nil, e.Boots)
		}
	}
	want := map[string]string{}
	for _, shoot := range []string{"bank", "unread", "twice"} {
		want[shoot+", worker pool web"] = "[] false id 1234-amd64"
		want[shoot+", worker pool ledger"] = "[] true "
	}
	want["bank, worker pool ledger"] = `["trustedLaunch.enabled: true"] false id 1234-amd64-trusted`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	labels := []string{}
	for _, request := range r.Profiles[0].Requests {
		labels = append(labels, fmt.Sprintf("%s %q", request.Label, request.Answers[0].Asks))
	}
	if len(labels) != 4 || labels[0] != " []" || labels[3] != `trustedLaunch.enabled: true ["trustedLaunch.enabled: true"]` {
		t.Errorf("%q", labels)
	}
}

// A Shoot without predictions is still listed.
func TestReportOfUnknownShoots(t *testing.T) {
	shoot := read(t, examples+"/shoot.yaml")
	other := func(name, field, value string) string {
		return "\n---\n" + strings.NewReplacer("name: shop", "name: "+name, field, value).Replace(shoot)
	}
	inFolder(t, map[string]string{
		"profile.yaml": read(t, examples+"/cloudprofile.yaml"),
		"shoots.yaml": shoot + other("lost", "name: openstack", "name: elsewhere") + other("unreadable", "workers:", "workers: 3\n    more:") +
			other("going", "metadata:", "metadata:\n  deletionTimestamp: 2026-01-01T00:00:00Z"),
	})
	r := pageData[shownReport](t, runFor(providers, "", "report", "profile.yaml", "shoots.yaml"))
	if r.Shoots != 3 || r.Unknown != 2 || len(r.Maintenance) != 2 || len(r.Findings) < 2 {
		t.Errorf("%d Shoots, %d unknown, %d entries: %v", r.Shoots, r.Unknown, len(r.Maintenance), r.Findings)
	}
}

// A filter selects the worker pools on the page. It affects neither the matrix nor lint's findings.
func TestReportOfSomePools(t *testing.T) {
	shoot := read(t, examples+"/shoot.yaml")
	bank := strings.NewReplacer("name: shop", "name: bank", "region: europe", "region: asia", "europe-1a", "asia-1a", "europe-1b", "asia-1a").Replace(shoot)
	inFolder(t, map[string]string{
		"profile.yaml": read(t, examples+"/cloudprofile.yaml"), "other.yaml": read(t, examples+"/cloudprofile-full.yaml"),
		"shoots.yaml": shoot + "\n---\n" + bank + "\n---\n" + strings.ReplaceAll(bank, "name: bank", "name: lost") + "  cloudProfileName: 3\n",
	})
	all := pageData[shownReport](t, runFor(providers, "", "report", "profile.yaml", "other.yaml", "shoots.yaml"))
	for flags, want := range map[string]string{
		"":                                "3 Shoots, 1 unknown: shop web shop db bank web bank db",
		"--pool=web":                      "3 Shoots, 1 unknown: shop web bank web",
		"--shoot=bank":                    "1 Shoots, 0 unknown: bank web bank db",
		"--shoot=garden-demo/shop":        "1 Shoots, 0 unknown: shop web shop db",
		"--region=asia --pool=db":         "1 Shoots, 0 unknown: bank db",
		"--machine-type=bare_8_16":        "3 Shoots, 1 unknown: shop db bank db",
		"--profile=openstack --pool=db":   "2 Shoots, 0 unknown: shop db bank db",
		"--profile=openstack-full":        "0 Shoots, 0 unknown: ",
		"--shoot=shop --version=1877.5.0": "1 Shoots, 0 unknown: shop web shop db",
	} {
		r := runFor(providers, "", append(append([]string{"report"}, strings.Fields(flags)...), "profile.yaml", "other.yaml", "shoots.yaml")...)
		page := pageData[shownReport](t, r)
		var names []string
		for _, e := range page.Maintenance {
			for _, name := range e.Names {
				names = append(names, strings.ReplaceAll(strings.TrimPrefix(name, "garden-demo/"), ", worker pool", ""))
			}
		}
		if got := fmt.Sprintf("%d Shoots, %d unknown: %s", page.Shoots, page.Unknown, strings.Join(names, " ")); got != want {
			t.Errorf("%s: %s, want %s", flags, got, want)
		}
		if page.Filter != strings.ReplaceAll(flags, "=", " ") || !cmp.Equal(all.Findings, page.Findings) {
			t.Errorf("%s: the page says %q, and has %d findings of %d", flags, page.Filter, len(page.Findings), len(all.Findings))
		}
		if profiles := 2 - strings.Count(flags, "--profile"); len(page.Profiles) != profiles {
			t.Errorf("%s: %d profiles", flags, len(page.Profiles))
		}
	}
}
