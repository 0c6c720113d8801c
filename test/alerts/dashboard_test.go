// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package alerts

import (
	"encoding/json"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/hack/components"
)

// dashboard is the part of Grafana's format that the dashboard uses.
type dashboard struct {
	Title      string `json:"title"`
	UID        string `json:"uid"`
	Templating struct {
		List []variable `json:"list"`
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

// variable is a choice at the top of a dashboard.
type variable struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Query string `json:"query"`
}

// These specs read the dashboard like Prometheus and Grafana.
var _ = Describe("The dashboard", func() {
	var board dashboard

	BeforeEach(func() {
		board = dashboard{}
		Expect(json.Unmarshal(dashboardIn(components.OpenStack), &board)).To(Succeed())
		Expect(board.Panels).NotTo(BeEmpty())
	})

	It("has a title and an identity, and lets people choose the Prometheus", func() {
		Expect(board.Title).NotTo(BeEmpty())
		Expect(board.UID).NotTo(BeEmpty())
		Expect(board.Templating.List).To(ConsistOf(variable{Name: "datasource", Type: "datasource", Query: "prometheus"}))
	})

	It("has panels that are explained, and of types that Plutono knows", func() {
		ids := map[int]bool{}
		for _, panel := range board.Panels {
			Expect(ids).NotTo(HaveKey(panel.ID), panel.Title)
			ids[panel.ID] = true
			Expect(panel).To(And(
				HaveField("Title", Not(BeEmpty())), HaveField("Description", Not(BeEmpty())), HaveField("Targets", Not(BeEmpty())),
				HaveField("Datasource", "$datasource"), HaveField("Type", BeElementOf("timeseries", "stat")),
			))
		}
	})

	It("gives each panel a place of its own", func() {
		places := map[[2]int]string{}
		for _, panel := range board.Panels {
			for x := range panel.GridPos.W {
				for y := range panel.GridPos.H {
					place := [2]int{panel.GridPos.X + x, panel.GridPos.Y + y}
					Expect(places).NotTo(HaveKey(place), panel.Title)
					Expect(place[0]).To(BeNumerically("<", 24), panel.Title)
					places[place] = panel.Title
				}
			}
		}
	})

	It("asks for metrics that the component has", func() {
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				Expect(unknown(strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))).To(BeEmpty(), panel.Title)
			}
		}
	})

	It("is another one for each component, and shows nothing of other ones", func() {
		titles, identities := map[string]bool{}, map[string]bool{}
		for _, c := range components.All() {
			content := dashboardIn(c)
			board = dashboard{}
			Expect(json.Unmarshal(content, &board)).To(Succeed())
			Expect(titles).NotTo(HaveKey(board.Title))
			Expect(identities).NotTo(HaveKey(board.UID))
			titles[board.Title], identities[board.UID] = true, true
			for _, panel := range board.Panels {
				for _, target := range panel.Targets {
					Expect(providerTypes(target.Expr)).To(And(Not(BeEmpty()), HaveEach(c.Type)), panel.Title)
				}
			}
		}
	})
})

var providerType = regexp.MustCompile(`provider_type=\\?"([^"\\]*)\\?"`)

// providerTypes returns the provider types that queries select.
func providerTypes(text string) []string {
	var types []string
	for _, match := range providerType.FindAllStringSubmatch(text, -1) {
		types = append(types, match[1])
	}
	return types
}
