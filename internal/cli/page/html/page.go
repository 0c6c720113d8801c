// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package html writes the report for people: one HTML file that needs no network. It shows the images that worker pools boot, the
// reasons, the findings of lint, and the effects of maintenance.
//
// Start reading at [Report], the data of the page, and [Write]. Neither this package nor the browser decides anything: the caller of this
// package has computed every answer. The data is compressed JSON, so texts may be repeated in it as often as necessary. The script
// composes the output of the command explain from them.
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

// Report is the data of a page. Its JSON is only for the script of the same page, and may change with it. Nil lists and maps are written
// as empty ones.
type Report struct {
	// Version of the command.
	Version string `json:"version"`
	// Made is the time of the answers, and Source their subject.
	Made   time.Time `json:"-"`
	Source string    `json:"source"`
	// Date is Made in words, and Soon the last day on which a version counts as expiring soon.
	Date     string    `json:"date"`
	Soon     string    `json:"soon"`
	Profiles []Profile `json:"profiles"`
	// Findings are the findings of lint, or some of them. Summary is its summary of all.
	Findings []report.Finding `json:"findings"`
	Summary  string           `json:"summary"`
	// Totals maps "error RULE", "warning RULE" and "silenced RULE" to the number of findings; nil if Findings is complete.
	Totals map[string]int `json:"totals"`
	// Shoots counts the Shoots that are not being deleted, and Unknown those for which the effect of maintenance is unknown; lint reports
	// the reasons.
	Shoots  int `json:"shoots"`
	Unknown int `json:"unknown"`
	// Filter selects the worker pools of the page, as flags; empty for all.
	Filter string `json:"filter"`
	// Maintenance lists the effects of the next maintenance on worker pools, worst first. It may be truncated.
	Maintenance []Pools `json:"maintenance"`
	// More are the remaining worker pools, without names and reasons, and with To equal to From; nil if Maintenance is complete.
	More []Pools `json:"more"`
	// Kubernetes lists the effects of the next maintenance on Kubernetes versions.
	Kubernetes []string `json:"kubernetes"`
	// Calendar lists the days up to Until on which maintenance has effects. It may be truncated to the worst.
	Calendar []Day  `json:"calendar"`
	Until    string `json:"until"`
	// Notes are remarks about the sources of answers.
	Notes []string `json:"notes"`
}

// Profile contains all questions about one profile with their answers.
type Profile struct {
	// Name is [NAMESPACE/]NAME.
	Name string `json:"name"`
	// Order is the preference order, and OtherOrder the other one.
	Order      string `json:"order"`
	OtherOrder string `json:"otherOrder"`
	// ByFlag reports whether Order differs from that of the extension, so that commands have to name it.
	ByFlag  bool     `json:"byFlag,omitempty"`
	Regions []string `json:"regions"`
	// Unavailable maps region and machine type to the names of the zones that lack the machine type.
	Unavailable map[string]map[string]string `json:"unavailable"`
	Groups      []Group                      `json:"groups"`
	Versions    []Version                    `json:"versions"`
	// Inputs are the last arguments of the command that explains a cell: the files with the profile, with FILE for standard input, and
	// the flags for a cluster.
	Inputs   []string  `json:"inputs"`
	Requests []Request `json:"requests"`
}

// Group is a set of machine types with the same answers.
type Group struct {
	Types []string `json:"types"`
	// Unusable are the Types that new worker pools cannot use.
	Unusable []string `json:"unusable"`
	// Capabilities of the first type.
	Capabilities string `json:"capabilities"`
}

// Version is an image version.
type Version struct {
	Image string `json:"image"`
	Name  string `json:"name"`
	// State is the classification of a version, if it is not just supported: preview, deprecated, expired or unavailable.
	State string `json:"state"`
	// Since is the day on which State began, and Expires the day of expiration; empty if not set.
	Since   string `json:"since"`
	Expires string `json:"expires"`
	// Next describes the later stages except the expiration; empty if there are none.
	Next string `json:"next,omitempty"`
	// Kind distinguishes it from versions for which explain shows other capabilities.
	Kind    string   `json:"kind"`
	Flavors []Flavor `json:"flavors"`
	// Undeclared is explain's text about capabilities that flavors do not declare; empty if there are none.
	Undeclared Lines `json:"undeclared,omitempty"`
}

// Flavor is a flavor of an image version.
type Flavor struct {
	// Declared are the capabilities that it declares, and Supports the same with omissions filled in.
	Declared string `json:"declared"`
	Supports string `json:"supports"`
	// References are the images for each region; empty where there is none. Missing then has the reason.
	References []string `json:"references"`
	Missing    []string `json:"missing"`
}

// Request is a possible request of worker pools.
type Request struct {
	// Label describes the request; empty for none.
	Label string `json:"label"`
	// Flag is the flag of explain for this request, with its value. Config is the content of the file workerconfig.yaml that the flag
	// names; empty otherwise. Rolling is explain's text about settings in Config whose change replaces machines.
	Flag    string `json:"flag"`
	Config  Lines  `json:"config"`
	Rolling Lines  `json:"rolling"`
	// Answers yields an element for each group. They are the largest part of a page, and computed while it is written.
	Answers iter.Seq[Answers] `json:"answers"`
}

// Answers are the answers for a group of machine types and one request.
type Answers struct {
	// Settings are the requesting settings as in explain. Asks are those that matter, which identify the worker pools with the same
	// request.
	Settings string   `json:"settings"`
	Asks     []string `json:"asks"`
	// Kinds maps the kind of a version to its texts.
	Kinds map[string]Kind `json:"kinds"`
	// Whole maps the index of a version to the reason why its flavors are not considered.
	Whole map[int]string `json:"whole"`
	// Cells are indexed by version and region.
	Cells [][]Cell `json:"cells"`
}

// Kind has the texts of explain for versions of one kind.
type Kind struct {
	// Support has a text for each machine type of the group. Sides reports whether it shows machine type and worker pool side by side.
	Support []Lines `json:"support"`
	Sides   bool    `json:"sides"`
	// Outcomes are keyed by the capabilities of a flavor, and Comparisons by those of two flavors, concatenated.
	Outcomes    map[string]Outcome    `json:"outcomes"`
	Comparisons map[string]Preference `json:"comparisons"`
}

// Outcome is the result for a flavor on a machine type, in every region where the flavor has an image.
type Outcome struct {
	Lines Lines `json:"lines"`
	// Clause is the reason why it does not fit; empty if it fits.
	Clause string `json:"clause"`
}

// Preference is the result of comparing two flavors.
type Preference struct {
	// Message contains [Winner] in place of the winner's letter.
	Message string `json:"message"`
	// Sign is positive if the second flavor is better, negative if the first is, and 0 if both are equal.
	Sign int `json:"sign"`
}

// soon is the number of days within which a version counts as expiring soon.
const soon = 30

// Winner is the placeholder for the letter of the flavor that wins a comparison.
const Winner = "{winner}"

// Cell is the image that an image version boots in a region.
type Cell struct {
	// Flavor is the index of the flavor that boots, or -1 for none. Other is the choice of the other order.
	Flavor int `json:"flavor"`
	Other  int `json:"other"`
	// Advice describes what would work if nothing boots.
	Advice Lines `json:"advice,omitempty"`
}

// Day is a day of the calendar.
type Day struct {
	Date string `json:"date"`
	// Events are the effects of maintenance on this day, worst first. They have no cell. Image is Kubernetes for Kubernetes versions.
	Events []Pools `json:"events"`
}

// Pools are worker pools on which maintenance has the same effect. They have neither Shoot nor Pool.
type Pools struct {
	maintain.MaintainedPool
	// Breaks reports whether they boot nothing with the new version.
	Breaks bool `json:"breaks,omitzero"`
	// Profile is the [Profile].Name of the pools' cell; the following fields are the rest of the cell.
	Profile     string `json:"profile"`
	MachineType string `json:"machineType"`
	Region      string `json:"region"`
	// Asks are the pools' requests, in the words of [Answers].Asks and in any order; empty for none. It is nil, and absent from the JSON,
	// if the requests are unknown because the providerConfig has errors.
	Asks []string `json:"asks,omitzero"`
	// Boots is the image that they boot in that cell; empty if there is none, or if it is unknown.
	Boots string `json:"boots"`
	// Names are some of the pools, or none, and Count is their number.
	Names []string `json:"names"`
	Count int      `json:"count"`
}

// Lines is a text that may have several lines. Other texts of a page are single lines, in which line breaks and other unprintable
// characters become escape sequences.
type Lines string

//go:embed page.html style.css script
var files embed.FS

// parts are the files of the script, in order. They share one scope.
var parts = []string{"elements", "theme", "data", "answers", "matrix", "why", "address", "lists", "overview", "csv", "landscapes", "start"}

var layout = template.Must(template.ParseFS(files, "page.html"))

// asShown are options for JSON with printable texts.
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

// Write writes the page. Equal reports result in equal pages. The error is about writing, or about a value without a JSON form.
func Write(w io.Writer, r *Report) error {
	data, err := Pack(r)
	if err != nil {
		return err
	}
	return write(w, r.Date, data, nil)
}

// dateOf formats a time for people.
func dateOf(made time.Time) string { return made.UTC().Format("2006-01-02 15:04 UTC") }

// SoonAfter returns the last day on which a version counts as expiring soon, for a page made at a time.
func SoonAfter(made time.Time) string {
	return made.UTC().AddDate(0, 0, soon).Format(time.DateOnly)
}

// write writes a page with a date and packed data. others are the packed pages that it links to.
func write(w io.Writer, date, data string, others []template.HTML) error {
	style, code := strings.ReplaceAll(content("style.css"), "{date}", date), script()
	return layout.Execute(w, map[string]any{
		"Policy": "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + source(style) + "; script-src " + source(code),
		"Style":  template.CSS(style), "Script": template.JS(code), "Data": template.HTML(data), "Others": others,
	})
}

// packed returns data as base64-encoded gzip of its JSON, which the script decodes.
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

// source returns the source expression for an inline element in a content security policy.
func source(content string) string {
	hash := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}
