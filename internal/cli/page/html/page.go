// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package page is what the command report writes for people: one HTML file that needs no network, with what worker pools
// boot, why, what lint found and what maintenance does.
//
// Start reading at [Report], which is the data of the page, and [Write]. Nothing is decided here, and nothing in the
// browser: who makes a Report has asked for every answer. Texts that many answers share stand once in [Report].Texts, and
// the script puts together again what the command explain prints from them.
package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// Report is the data of a page. Its JSON is for the script of the same page only, and may change with it. An index of a
// text is one into Texts, of which the first is empty, for nothing.
type Report struct {
	// Version of the command.
	Version string `json:"version"`
	// Texts that others refer to by their index; see [Texts].
	Texts    []Lines   `json:"texts"`
	Profiles []Profile `json:"profiles"`
	// Findings are those of lint, or some of them, and Summary what it says of all.
	Findings []report.Finding `json:"findings"`
	Summary  string           `json:"summary"`
	// Totals says how many findings there are of each rule, by "error RULE", "warning RULE" or "silenced RULE"; nil if all are
	// among Findings.
	Totals map[string]int `json:"totals,omitempty"`
	// Shoots is how many there are that are not being deleted, and Unknown for how many of them it cannot be told what maintenance
	// does: lint says why.
	Shoots  int `json:"shoots"`
	Unknown int `json:"unknown,omitempty"`
	// Maintenance says what the next maintenance does to worker pools, or to the first of them, the worst first.
	Maintenance []Pools `json:"maintenance"`
	// More are the other worker pools, without names and reasons; nil if all are in Maintenance.
	More []Crowd `json:"more,omitempty"`
	// Kubernetes says what the next maintenance does to versions of Kubernetes.
	Kubernetes []string `json:"kubernetes"`
	// Notes are remarks about where answers come from.
	Notes []string `json:"notes"`
}

// Profile is what there is to ask about one profile, and all answers.
type Profile struct {
	// Name is [NAMESPACE/]NAME.
	Name string `json:"name"`
	// Order of preference, and the other one.
	Order      string    `json:"order"`
	OtherOrder string    `json:"otherOrder"`
	Regions    []string  `json:"regions"`
	Groups     []Group   `json:"groups"`
	Versions   []Version `json:"versions"`
	// Inputs are the last words of the command that explains a cell: the files with the profile, or FILE where that was
	// standard input, and the flags for a cluster.
	Inputs   []string  `json:"inputs"`
	Requests []Request `json:"requests"`
	// Preferences are what comparisons of two flavors come to.
	Preferences []Preference `json:"preferences"`
}

// Group is machine types that get the same answers.
type Group struct {
	Types []string `json:"types"`
	// Unusable are those of Types that new worker pools cannot have.
	Unusable []string `json:"unusable,omitempty"`
	// Capabilities of the first of them.
	Capabilities string `json:"capabilities"`
}

// Version is an image version.
type Version struct {
	Image string `json:"image"`
	Name  string `json:"name"`
	// State is the classification of a version that is not simply supported: preview, deprecated, expired or unavailable.
	State string `json:"state,omitempty"`
	// Kind is the index of the blocks in the answers.
	Kind    int      `json:"kind"`
	Flavors []Flavor `json:"flavors"`
}

// Flavor is a flavor of an image version.
type Flavor struct {
	// Key is the index of the outcomes in the answers: flavors with one key get the same ones.
	Key int `json:"key"`
	// Declared and Supports are texts: what it declares, and that with omissions filled in.
	Declared int `json:"declared"`
	Supports int `json:"supports"`
	// References are what is booted, for each region; empty where there is nothing. Missing are texts that say so.
	References []string `json:"references"`
	Missing    []int    `json:"missing"`
}

// Request is what worker pools may ask for.
type Request struct {
	// Label says what: empty for nothing special.
	Label string `json:"label"`
	// Flag of explain that asks for it, with its value; and the manifest in the file workerconfig.yaml that it names, empty
	// without that.
	Flag   string `json:"flag,omitempty"`
	Config Lines  `json:"config,omitempty"`
	// Answers are those for the groups.
	Answers []Answers `json:"answers"`
}

// Answers are those of a group of machine types, for one request.
type Answers struct {
	// Settings that ask, as explain repeats them; and those of them that count, by which worker pools are known that ask for
	// the same.
	Settings string   `json:"settings,omitempty"`
	Asks     []string `json:"asks"`
	// Blocks are texts about the machine types of the group, for each kind of version.
	Blocks []Block `json:"blocks"`
	// Outcomes are by the key of a flavor.
	Outcomes []Outcome `json:"outcomes"`
	// Pairs have the index of a preference, by the keys of two flavors with a comma between them.
	Pairs map[string]int `json:"pairs"`
	// Chosen has a character for each cell, which are those of the regions of a version, one version after the other: the
	// flavor, from '1' on, or '.' if nothing boots.
	Chosen string `json:"chosen"`
	// Other has the flavor that the other order chooses, by the index of the cell, where that is another one.
	Other map[int]int `json:"other,omitempty"`
	// Whole are texts that say why flavors are not looked at, by the index of the version.
	Whole map[int]int `json:"whole,omitempty"`
	// Suggestions are texts about what would work, for each cell in which nothing boots.
	Suggestions []int `json:"suggestions,omitempty"`
}

// Block is what explain says before the flavors.
type Block struct {
	// Sides is set if it shows what machine type and worker pool say side by side.
	Sides bool `json:"sides,omitempty"`
	// Types are the texts for the machine types of the group.
	Types []int `json:"types"`
}

// Outcome is what becomes of a flavor on a machine type, wherever it has an image. Clause is a text that says why it is
// out; 0 if it fits.
type Outcome struct {
	Lines  int `json:"l"`
	Clause int `json:"c"`
}

// Preference is what the comparison of two flavors comes to.
type Preference struct {
	// Message is a text, in which [Winner] stands for the letter of the winner.
	Message int `json:"m"`
	// Sign is positive if the second flavor is the better one, and 0 if both are the same.
	Sign int `json:"s"`
}

// Winner stands for the letter of the flavor that wins a comparison.
const Winner = "{winner}"

// Pools are worker pools to which maintenance does the same.
type Pools struct {
	// Profile as [Profile].Name names it, and the cell that the pools are in.
	Profile     string `json:"profile"`
	Image       string `json:"image"`
	From        string `json:"from"`
	MachineType string `json:"machineType"`
	Region      string `json:"region"`
	// Asks is what the pools ask for, in the words of [Answers].Asks and in any order; empty for nothing special. It is nil if
	// that is not known, because their providerConfig cannot be read.
	Asks []string `json:"asks"`
	// Boots is what they boot in that cell; empty if that is nothing, or not known.
	Boots string `json:"boots,omitempty"`
	// To, Action, Core and Reason are as in the JSON of the command maintenance.
	To     string `json:"to"`
	Action string `json:"action"`
	Core   string `json:"core,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Names are some of the pools, or none, and Count is how many there are.
	Names []string `json:"names"`
	Count int      `json:"count"`
}

// Crowd are worker pools of one image version and region that ask for the same, boot the same and to which the same action
// happens. The fields are as those of [Pools].
type Crowd struct {
	Profile string   `json:"profile"`
	Image   string   `json:"image"`
	From    string   `json:"from"`
	Region  string   `json:"region"`
	Asks    []string `json:"asks"`
	Boots   string   `json:"boots,omitempty"`
	Action  string   `json:"action"`
	// MachineTypes says how many there are on each machine type.
	MachineTypes map[string]int `json:"machineTypes"`
}

// Lines is a text that may have several lines. Any other text of a page is a single one: in it, the end of a line is written as an
// escape sequence, as everything is that is not printable.
type Lines string

// Texts are texts, each of which stands once. The zero Texts has the empty text, with the index 0.
type Texts struct {
	all   []Lines
	index map[Lines]int
}

// Add returns the index of a text of one line, which it adds if it is new.
func (t *Texts) Add(text string) int { return t.AddLines(Lines(words.Printable(text))) }

// AddLines does so for a text of several lines.
func (t *Texts) AddLines(text Lines) int {
	if t.index == nil {
		t.all, t.index = []Lines{""}, map[Lines]int{"": 0}
	}
	i, found := t.index[text]
	if !found {
		i = len(t.all)
		t.all, t.index[text] = append(t.all, text), i
	}
	return i
}

// All returns the texts by their indices. They belong to t.
func (t *Texts) All() []Lines {
	t.Add("")
	return t.all
}

//go:embed page.html style.css script
var files embed.FS

// parts of the script, in their order. They share one scope.
var parts = []string{"answers", "matrix", "why", "address", "lists", "start"}

var layout = template.Must(template.ParseFS(files, "page.html"))

// asShown writes JSON with texts that are printable, and without a < in it, so that no text ends the element.
var asShown = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(true), json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(func(out *jsontext.Encoder, text string) error {
		return out.WriteToken(jsontext.String(words.Printable(text)))
	}),
	json.MarshalToFunc(func(out *jsontext.Encoder, text Lines) error {
		return out.WriteToken(jsontext.String(words.PrintableLines(string(text))))
	}),
)))

// Write writes the page. It is the same for the same report. The error is about writing, or a value that has no JSON.
func Write(w io.Writer, r *Report) error {
	data, err := json.Marshal(r, asShown)
	if err != nil {
		return err
	}
	style, code := content("style.css"), script()
	return layout.Execute(w, map[string]any{
		"Policy": "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + source(style) + "; script-src " + source(code),
		"Style":  template.CSS(style), "Script": template.JS(code), "Data": template.JS(report.EscapedJSON(data)),
	})
}

// script returns the script of the page.
func script() string {
	var text strings.Builder
	text.WriteString("'use strict';\n(() => {\n")
	for _, part := range parts {
		text.WriteString(content("script/" + part + ".js"))
	}
	text.WriteString("})();\n")
	return text.String()
}

func content(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// source is how a content security policy names an inline element.
func source(content string) string {
	hash := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}
