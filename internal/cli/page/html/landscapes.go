// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"html/template"
	"io"
	"time"
)

// Landscapes is the data of a page that compares several landscapes and contains the page of each. Its JSON is only for the script of the
// same page. The JSON of [Overview] and [Compared] is also the output of report for programs, and an interface: published fields keep
// their names and meanings.
type Landscapes struct {
	// Version of the command, and Made the time of the answers. Date is Made in words, and Soon the last day on which a version counts as
	// expiring soon.
	Version string    `json:"version"`
	Made    time.Time `json:"-"`
	Date    string    `json:"date"`
	Soon    string    `json:"soon"`
	// Filter selects the worker pools of the page, as flags; empty for all.
	Filter string `json:"filter"`
	// Landscapes are in display order. Profiles are the profiles of all landscapes.
	Landscapes []Landscape `json:"landscapes"`
	Profiles   []Compared  `json:"compared"`
}

// Landscape is one of the compared landscapes.
type Landscape struct {
	Name     string `json:"name"`
	Source   string `json:"source"`
	Overview `json:"overview"`
	// Page is the result of [Pack] for its report.
	Page string `json:"-"`
}

// Overview has the counts that operators need first. They are at the top of the landscape's page.
type Overview struct {
	Profiles int `json:"profiles"`
	Shoots   int `json:"shoots"`
	// UnknownShoots counts the Shoots for which the effect of maintenance is unknown.
	UnknownShoots int `json:"unknownShoots"`
	Pools         int `json:"pools"`
	// WithoutMachines counts the worker pools for which the profile has no image now. Running ones keep theirs (semantics S14).
	WithoutMachines int `json:"withoutMachines"`
	// The effects of the next maintenance on worker pools. BootNothing counts pools that get an image which does not boot; they are also
	// in another count.
	Fails       int `json:"fails"`
	Stuck       int `json:"stuck"`
	Forced      int `json:"forced"`
	Updated     int `json:"updated"`
	BootNothing int `json:"bootNothing"`
	// Expiring counts the image versions that expire within 30 days, and ExpiringPools the worker pools that use them.
	Expiring      int `json:"expiring"`
	ExpiringPools int `json:"expiringPools"`
	// Gaps counts the pairs of image version and region without a fitting image.
	Gaps int `json:"gaps"`
	// Errors and Warnings count the findings of lint.
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
}

// Compared is a profile with its contents in each landscape that has it.
type Compared struct {
	// Profile is [NAMESPACE/]NAME.
	Profile    string   `json:"profile"`
	Landscapes []string `json:"landscapes"`
	Rows       []Row    `json:"rows"`
}

// Row is an entry of a profile in some landscape.
type Row struct {
	// Kind is one of the constants below.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Differs reports whether it differs between the landscapes that have the profile.
	Differs bool `json:"differs"`
	// In maps the landscapes that have it to its contents.
	In map[string]Entry `json:"in"`
}

// Entry is the contents of a row in one landscape.
type Entry struct {
	// Classification of a version, and the day on which it expires; empty if not set.
	Classification string `json:"classification,omitempty"`
	Expires        string `json:"expires,omitempty"`
	// Detail is the size and the capabilities of a machine type, or the values of a capability.
	Detail string `json:"detail,omitempty"`
	// Unusable reports whether new worker pools cannot use the machine type.
	Unusable bool `json:"unusable,omitempty"`
	// Gaps are the regions in which an image version lacks an image for machine types that it fits.
	Gaps []string `json:"gaps,omitempty"`
	// Pools counts the worker pools that use the image version or machine type, or are in the region.
	Pools int `json:"pools,omitempty"`
}

// The kinds of rows. They are part of the command line's JSON.
const (
	ImageVersion = "image-version"
	MachineType  = "machine-type"
	Kubernetes   = "kubernetes"
	Region       = "region"
	Capability   = "capability"
)

// Pack returns a report in the form of [Landscape].Page. The error is about a value without a JSON form.
func Pack(r *Report) (string, error) {
	r.Date, r.Soon = dateOf(r.Made), SoonAfter(r.Made)
	return packed(r)
}

// WriteLandscapes writes the page. The error is about writing, or about a value without a JSON form.
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
