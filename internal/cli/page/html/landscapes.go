// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"html/template"
	"io"
	"time"
)

// Landscapes is the data of a page that puts several landscapes side by side, and has the page of each of them. Its JSON is for the script
// of the same page only; that of [Overview] and [Compared] is what report prints for programs as well, and an interface: a field once
// published keeps its name and meaning.
type Landscapes struct {
	// Version of the command, and Made when the answers are from; Date is that in words, and Soon the day up to which it is counted
	// what expires.
	Version string    `json:"version"`
	Made    time.Time `json:"-"`
	Date    string    `json:"date"`
	Soon    string    `json:"soon"`
	// Filter says in flags which worker pools the page is about; empty for all.
	Filter string `json:"filter"`
	// Landscapes are in the order in which they are shown, and Profiles those that any of them has.
	Landscapes []Landscape `json:"landscapes"`
	Profiles   []Compared  `json:"compared"`
}

// Landscape is one of several.
type Landscape struct {
	Name     string `json:"name"`
	Source   string `json:"source"`
	Overview `json:"overview"`
	// Page is what [Pack] returns of its report.
	Page string `json:"-"`
}

// Overview counts what an operator asks for first. It is what the page of the landscape says at its top.
type Overview struct {
	Profiles int `json:"profiles"`
	Shoots   int `json:"shoots"`
	// UnknownShoots are those of Shoots of which it is not known what maintenance does to them.
	UnknownShoots int `json:"unknownShoots"`
	Pools         int `json:"pools"`
	// WithoutMachines are the worker pools for which the profile has no image now. Those that run go on with theirs (semantics S14).
	WithoutMachines int `json:"withoutMachines"`
	// What the next maintenance does to worker pools. BootNothing are those that it moves to what boots nothing, among the others.
	Fails       int `json:"fails"`
	Stuck       int `json:"stuck"`
	Forced      int `json:"forced"`
	Updated     int `json:"updated"`
	BootNothing int `json:"bootNothing"`
	// Expiring are the image versions that expire within 30 days, and ExpiringPools the worker pools that have one.
	Expiring      int `json:"expiring"`
	ExpiringPools int `json:"expiringPools"`
	// Gaps are the image versions and regions without an image that would fit.
	Gaps int `json:"gaps"`
	// Errors and Warnings are what lint finds.
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

// Compared is a profile, and what those landscapes that have it have in it.
type Compared struct {
	// Profile is [NAMESPACE/]NAME.
	Profile    string   `json:"profile"`
	Landscapes []string `json:"landscapes"`
	Rows       []Row    `json:"rows"`
}

// Row is something that a profile has in some landscape.
type Row struct {
	// Kind is one of the constants.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Differs says that it is not the same in all landscapes with the profile.
	Differs bool `json:"differs"`
	// In says what it is in each landscape that has it, by name.
	In map[string]Entry `json:"in"`
}

// Entry is what something is in a landscape.
type Entry struct {
	// Classification of a version, and the day on which it expires; empty if none is said.
	Classification string `json:"classification,omitempty"`
	Expires        string `json:"expires,omitempty"`
	// Detail is the size of a machine type and what it supports, or the values of a capability.
	Detail string `json:"detail,omitempty"`
	// Unusable is set if new worker pools cannot have the machine type.
	Unusable bool `json:"unusable,omitempty"`
	// Gaps are the regions in which an image version has no image for machine types that it would fit.
	Gaps []string `json:"gaps,omitempty"`
	// Pools is how many worker pools have the image version or the machine type, or are in the region.
	Pools int `json:"pools,omitempty"`
}

// The kinds of rows, in their order. They are part of the command line's JSON.
const (
	ImageVersion = "image-version"
	MachineType  = "machine-type"
	Kubernetes   = "kubernetes"
	Region       = "region"
	Capability   = "capability"
)

// Pack returns a report as [Landscape] has it. The error is about a value that has no JSON.
func Pack(r *Report) (string, error) {
	r.Date, r.Soon = dateOf(r.Made), SoonAfter(r.Made)
	return packed(r)
}

// WriteLandscapes writes the page. The error is about writing.
func WriteLandscapes(w io.Writer, l *Landscapes) error {
	l.Date, l.Soon = dateOf(l.Made), SoonAfter(l.Made)
	data, err := packed(l)
	if err != nil {
		return err
	}
	var pages []template.HTML
	for i := range l.Landscapes {
		pages = append(pages, template.HTML(l.Landscapes[i].Page))
	}
	return write(w, l.Date, data, pages)
}
