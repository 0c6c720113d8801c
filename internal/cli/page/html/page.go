// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package html is what the command report writes for people: one HTML file that needs no network, with what worker pools
// boot, why, what lint found and what maintenance does.
//
// Start reading at [Report], which is the data of the page, and [Write]. Nothing is decided here, and nothing in the
// browser: who makes a Report has asked for every answer. The data is JSON that the browser unpacks, so texts may stand in it
// as often as they are needed. The script puts together from them what the command explain prints.
package html

import (
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/capkit/capkit/internal/cli/maintain"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// Report is the data of a page. Its JSON is for the script of the same page only, and may change with it. Lists and maps that
// are nil are empty ones there.
type Report struct {
	// Version of the command.
	Version string `json:"version"`
	// Made says when the answers are from, and Source of what.
	Made   time.Time `json:"-"`
	Source string    `json:"source"`
	// Date is Made in words, and Soon the day up to which the page counts what expires.
	Date     string    `json:"date"`
	Soon     string    `json:"soon"`
	Profiles []Profile `json:"profiles"`
	// Findings are those of lint, or some of them, and Summary what it says of all.
	Findings []report.Finding `json:"findings"`
	Summary  string           `json:"summary"`
	// Totals says how many findings there are of each rule, by "error RULE", "warning RULE" or "silenced RULE"; nil if all are
	// among Findings.
	Totals map[string]int `json:"totals"`
	// Shoots is how many there are that are not being deleted, and Unknown for how many of them it cannot be told what maintenance
	// does: lint says why.
	Shoots  int `json:"shoots"`
	Unknown int `json:"unknown"`
	// Filter says in flags which worker pools the page is about; empty for all.
	Filter string `json:"filter"`
	// Maintenance says what the next maintenance does to worker pools, or to the first of them, the worst first.
	Maintenance []Pools `json:"maintenance"`
	// More are the other worker pools, without names and reasons, and with To as From; nil if all are in Maintenance.
	More []Pools `json:"more"`
	// Kubernetes says what the next maintenance does to versions of Kubernetes.
	Kubernetes []string `json:"kubernetes"`
	// Calendar are the days up to Until on which maintenance does something, or the worst of it.
	Calendar []Day  `json:"calendar"`
	Until    string `json:"until"`
	// Notes are remarks about where answers come from.
	Notes []string `json:"notes"`
}

// Profile is what there is to ask about one profile, and all answers.
type Profile struct {
	// Name is [NAMESPACE/]NAME.
	Name string `json:"name"`
	// Order of preference, and the other one.
	Order      string `json:"order"`
	OtherOrder string `json:"otherOrder"`
	// ByFlag says that the order is not that of the extension, so that a command has to name it.
	ByFlag  bool     `json:"byFlag,omitempty"`
	Regions []string `json:"regions"`
	// Unavailable are the machine types that zones of a region do not have, with the names of these zones, by region and type.
	Unavailable map[string]map[string]string `json:"unavailable"`
	Groups      []Group                      `json:"groups"`
	Versions    []Version                    `json:"versions"`
	// Inputs are the last words of the command that explains a cell: the files with the profile, or FILE where that was
	// standard input, and the flags for a cluster.
	Inputs   []string  `json:"inputs"`
	Requests []Request `json:"requests"`
}

// Group is machine types that get the same answers.
type Group struct {
	Types []string `json:"types"`
	// Unusable are those of Types that new worker pools cannot have.
	Unusable []string `json:"unusable"`
	// Capabilities of the first of them.
	Capabilities string `json:"capabilities"`
}

// Version is an image version.
type Version struct {
	Image string `json:"image"`
	Name  string `json:"name"`
	// State is the classification of a version that is not simply supported: preview, deprecated, expired or unavailable.
	State string `json:"state"`
	// Since and Expires are the days on which that begins and on which it expires; empty if they are not said.
	Since   string `json:"since"`
	Expires string `json:"expires"`
	// Next are the stages that follow, but for the expiration, in words; empty if there are none.
	Next string `json:"next,omitempty"`
	// Kind tells it apart from versions about which explain shows other capabilities.
	Kind    string   `json:"kind"`
	Flavors []Flavor `json:"flavors"`
}

// Flavor is a flavor of an image version.
type Flavor struct {
	// Declared is what it declares, and Supports that with omissions filled in.
	Declared string `json:"declared"`
	Supports string `json:"supports"`
	// References are what is booted, for each region; empty where there is nothing. Missing then says why.
	References []string `json:"references"`
	Missing    []string `json:"missing"`
}

// Request is what worker pools may ask for.
type Request struct {
	// Label says what: empty for nothing special.
	Label string `json:"label"`
	// Flag of explain that asks for it, with its value; and the manifest in the file workerconfig.yaml that it names, empty
	// without that. Rolling is what explain says of the settings there whose change replaces machines.
	Flag    string `json:"flag"`
	Config  Lines  `json:"config"`
	Rolling Lines  `json:"rolling"`
	// Answers yields those for the groups. They are most of a page, and asked for when it is written.
	Answers iter.Seq[Answers] `json:"answers"`
}

// Answers are those of a group of machine types, for one request.
type Answers struct {
	// Settings that ask, as explain repeats them; and those of them that count, by which worker pools are known that ask for
	// the same.
	Settings string   `json:"settings"`
	Asks     []string `json:"asks"`
	// Kinds are by the kind of a version.
	Kinds map[string]Kind `json:"kinds"`
	// Whole says why flavors are not looked at, by the index of the version.
	Whole map[int]string `json:"whole"`
	// Cells are by version and region.
	Cells [][]Cell `json:"cells"`
}

// Kind is what explain says of versions of one kind.
type Kind struct {
	// Support is about each machine type of the group. Sides is set if it shows what machine type and worker pool say side by side.
	Support []Lines `json:"support"`
	Sides   bool    `json:"sides"`
	// Outcomes are by what a flavor declares, and Comparisons by what two of them declare, one after the other.
	Outcomes    map[string]Outcome    `json:"outcomes"`
	Comparisons map[string]Preference `json:"comparisons"`
}

// Outcome is what becomes of a flavor on a machine type, wherever it has an image.
type Outcome struct {
	Lines Lines `json:"lines"`
	// Clause says why it is out; empty if it fits.
	Clause string `json:"clause"`
}

// Preference is what the comparison of two flavors comes to.
type Preference struct {
	// Message has [Winner] for the letter of the winner.
	Message string `json:"message"`
	// Sign is positive if the second flavor is the better one, and 0 if both are the same.
	Sign int `json:"sign"`
}

// soon is how many days ahead a page counts what expires.
const soon = 30

// Winner stands for the letter of the flavor that wins a comparison.
const Winner = "{winner}"

// Cell is what an image version boots in a region.
type Cell struct {
	// Flavor is the index of what boots, -1 if that is nothing; and Other of what the other order chooses.
	Flavor int `json:"flavor"`
	Other  int `json:"other"`
	// Advice says what would work where nothing boots.
	Advice Lines `json:"advice,omitempty"`
}

// Day is one of the calendar.
type Day struct {
	Date string `json:"date"`
	// Events are what maintenance does on it, the worst first. They have no cell, and Kubernetes for an image if they are about that.
	Events []Pools `json:"events"`
}

// Pools are worker pools to which maintenance does the same. They have neither Shoot nor Pool.
type Pools struct {
	maintain.MaintainedPool
	// Breaks is set if they boot nothing with the version that they get.
	Breaks bool `json:"breaks,omitzero"`
	// Profile as [Profile].Name names it, and the rest of the cell that the pools are in.
	Profile     string `json:"profile"`
	MachineType string `json:"machineType"`
	Region      string `json:"region"`
	// Asks is what the pools ask for, in the words of [Answers].Asks and in any order; empty for nothing special. It is nil, and
	// not in the JSON, if that is not known, because their providerConfig cannot be read.
	Asks []string `json:"asks,omitzero"`
	// Boots is what they boot in that cell; empty if that is nothing, or not known.
	Boots string `json:"boots"`
	// Names are some of the pools, or none, and Count is how many there are.
	Names []string `json:"names"`
	Count int      `json:"count"`
}

// Lines is a text that may have several lines. Any other text of a page is a single one: in it, the end of a line is written as an
// escape sequence, as everything is that is not printable.
type Lines string

//go:embed page.html style.css script
var files embed.FS

// parts of the script, in their order. They share one scope.
var parts = []string{"elements", "theme", "data", "answers", "matrix", "why", "address", "lists", "overview", "csv", "landscapes", "start"}

var layout = template.Must(template.ParseFS(files, "page.html"))

// asShown writes JSON with texts that are printable.
var asShown = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(out *jsontext.Encoder, text string) error {
			return out.WriteToken(jsontext.String(words.Printable(text)))
		}),
		json.MarshalToFunc(func(out *jsontext.Encoder, text Lines) error {
			return out.WriteToken(jsontext.String(words.PrintableLines(string(text))))
		}),
		json.MarshalToFunc(func(out *jsontext.Encoder, all iter.Seq[Answers]) error {
			err := out.WriteToken(jsontext.BeginArray)
			for answers := range all {
				err = cmp.Or(err, json.MarshalEncode(out, answers))
			}
			return cmp.Or(err, out.WriteToken(jsontext.EndArray))
		}),
	)))

// Write writes the page. It is the same for the same report. The error is about writing, or a value that has no JSON.
func Write(w io.Writer, r *Report) error {
	data, err := Pack(r)
	if err != nil {
		return err
	}
	return write(w, r.Date, data, nil)
}

// dateOf returns a time in words.
func dateOf(made time.Time) string { return made.UTC().Format("2006-01-02 15:04 UTC") }

// SoonAfter returns the day up to which a page of a time counts what expires.
func SoonAfter(made time.Time) string {
	return made.UTC().AddDate(0, 0, soon).Format(time.DateOnly)
}

// write writes a page of a date with its data, which are packed: those that it opens with, and those that these link to.
func write(w io.Writer, date, data string, others []template.HTML) error {
	style, code := strings.ReplaceAll(content("style.css"), "{date}", date), script()
	return layout.Execute(w, map[string]any{
		"Policy": "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + source(style) + "; script-src " + source(code),
		"Style":  template.CSS(style), "Script": template.JS(code), "Data": template.HTML(data), "Others": others,
	})
}

// packed returns the JSON of data as the script unpacks it: gzip in base64.
func packed(data any) (string, error) {
	var text strings.Builder
	encoder := base64.NewEncoder(base64.StdEncoding, &text)
	zipped := gzip.NewWriter(encoder) // without a time
	err := cmp.Or(json.MarshalWrite(zipped, data, asShown), zipped.Close(), encoder.Close())
	return text.String(), err
}

// script returns the script of the page.
func script() string {
	var text strings.Builder
	text.WriteString("'use strict';\n(async () => {\n")
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
