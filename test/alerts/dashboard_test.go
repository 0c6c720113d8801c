// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package alerts

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// dashboard is what is used here of Grafana's format.
type dashboard struct {
	Title      string `json:"title"`
	UID        string `json:"uid"`
	Templating struct {
		List []struct {
			Name  string `json:"name"`
			Type  string `json:"type"`
			Query string `json:"query"`
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		ID          int    `json:"id"`
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Datasource  string `json:"datasource"`
		GridPos     struct {
			X, Y, W, H int
		} `json:"gridPos"`
		Targets []struct {
			Expr         string `json:"expr"`
			LegendFormat string `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
}

// TestDashboard reads the dashboard as Prometheus and Grafana will: each panel has a place of its own and asks for what is
// there.
func TestDashboard(t *testing.T) {
	content, err := os.ReadFile(chart + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	board := dashboard{}
	if err := json.Unmarshal(content, &board); err != nil {
		t.Fatal(err)
	}
	if board.Title == "" || board.UID == "" || len(board.Panels) == 0 {
		t.Error("it has no title, no uid or no panels")
	}
	if l := board.Templating.List; len(l) != 1 || l[0].Name != "datasource" || l[0].Type != "datasource" || l[0].Query != "prometheus" {
		t.Errorf("variables: %v", l)
	}
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, panel := range board.Panels {
		if ids[panel.ID] || panel.Title == "" || panel.Description == "" || len(panel.Targets) == 0 || panel.Datasource != "$datasource" {
			t.Errorf("panel %d, %q: the id is there twice, or something is missing", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		if !slices.Contains([]string{"timeseries", "stat"}, panel.Type) {
			t.Errorf("%s: Plutono may not know panels of type %s", panel.Title, panel.Type)
		}
		for x := range panel.GridPos.W {
			for y := range panel.GridPos.H {
				place := [2]int{panel.GridPos.X + x, panel.GridPos.Y + y}
				if places[place] != "" || place[0] >= 24 {
					t.Fatalf("%s is on top of %q at %v, or outside", panel.Title, places[place], place)
				}
				places[place] = panel.Title
			}
		}
		for _, target := range panel.Targets {
			known(t, panel.Title, parse(t, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")))
		}
	}
}
