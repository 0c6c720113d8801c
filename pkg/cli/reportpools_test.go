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

// shownReport is the data of a page, with the answers as its script reads them.
type shownReport struct {
	html.Report
	Profiles []struct {
		Requests []struct {
			Label   string
			Answers []html.Answers
		}
	} `json:"profiles"`
}

// A page that has a part of what maintenance does still knows which cells worker pools use, and how many there are.
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

// What a worker pool asks for is said in the words of the view that is about it, together with what it boots there.
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

// A Shoot for which nothing can be told is not one that is not there.
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
