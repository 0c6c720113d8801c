// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups

import (
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/words"
)

// failure is an error with Gardener's error codes.
type failure struct {
	text  string
	codes []v1beta1.ErrorCode
	// away means that further calls of the service are pointless at present.
	away bool
	// causes are the wrapped errors; nil if there are none.
	causes []error
}

// Error returns the text in printable form, whatever names it contains.
func (f *failure) Error() string { return words.Printable(f.text) }

// Codes returns Gardener's error codes, sorted. It is nil if none fits.
func (f *failure) Codes() []v1beta1.ErrorCode { return f.codes }

// Unwrap returns the causes.
func (f *failure) Unwrap() []error { return f.causes }

// problem returns an error whose cause is in the configuration.
func problem(text string) error {
	return &failure{text: text, codes: []v1beta1.ErrorCode{v1beta1.ErrorConfigurationProblem}}
}

// about returns an error that says which operation failed, with the codes of its cause.
func about(doing string, cause error) error {
	return &failure{text: doing + ": " + cause.Error(), codes: codesOf(cause), away: isAway(cause), causes: []error{cause}}
}

// codesOf returns the error codes of an error and of all errors that it wraps, sorted and without duplicates.
func codesOf(err error) []v1beta1.ErrorCode {
	var codes []v1beta1.ErrorCode
	switch e := err.(type) { //nolint:errorlint // this walks the tree itself: errors.As finds the first only
	case interface{ Codes() []v1beta1.ErrorCode }:
		codes = slices.Clone(e.Codes())
	case interface{ Unwrap() error }:
		codes = codesOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			codes = append(codes, codesOf(one)...)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// join returns one error for all in their order, or nil if there are none.
func join(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	joined := &failure{causes: errs}
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, err.Error())
		joined.codes = append(joined.codes, codesOf(err)...)
		joined.away = joined.away || isAway(err)
	}
	slices.Sort(joined.codes)
	joined.text, joined.codes = strings.Join(texts, "; "), slices.Compact(joined.codes)
	return joined
}

// isAway reports whether an error means that the service is unusable at present.
func isAway(err error) bool {
	f, ok := err.(*failure) //nolint:errorlint // those that wrap others say it themselves
	return ok && f.away
}

// grouped collects errors about subjects of one kind, in the order of their occurrence.
type grouped struct {
	// one and many are prefixes of the error, for one and for several subjects.
	one, many string
	errs      []subjectError
}

type subjectError struct {
	subject string
	err     error
}

// ofPools returns an empty collection of errors about worker pools.
func ofPools() grouped { return grouped{one: "worker pool ", many: "worker pools "} }

func (g *grouped) add(subject string, err error) {
	g.errs = append(g.errs, subjectError{subject, err})
}

// has reports whether there is an error about a subject.
func (g *grouped) has(subject string) bool {
	return slices.ContainsFunc(g.errs, func(e subjectError) bool { return e.subject == subject })
}

// join returns one error for all, or nil if there are none. Errors with the same text become one that names all of their subjects.
func (g *grouped) join() error {
	var errs []error
	for i, first := range g.errs {
		same := func(other subjectError) bool { return other.err.Error() == first.err.Error() }
		if slices.ContainsFunc(g.errs[:i], same) {
			continue
		}
		var subjects []string
		for _, other := range g.errs[i:] {
			if same(other) {
				subjects = append(subjects, other.subject)
			}
		}
		begin := g.one
		if len(subjects) > 1 {
			begin = g.many
		}
		errs = append(errs, about(begin+strings.Join(subjects, ", "), first.err))
	}
	return join(errs)
}
