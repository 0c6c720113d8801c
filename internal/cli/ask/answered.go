// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ask

import (
	"io"
	"iter"
	"strings"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/report"
)

// answered is a question with its answers.
type answered struct {
	answers iter.Seq[Answer]
	how     how
}

// how is the kind of a question.
type how int

const (
	// ofShoots: about each worker pool of the input Shoots.
	ofShoots how = iota
	// single: about one worker pool that the flags describe.
	single
	// partial: about all combinations that the flags leave open.
	partial
)

// none reports whether there are no answers. It computes the first one.
func (all *answered) none() bool {
	next, stop := iter.Pull(all.answers)
	first, found := next()
	all.answers = func(yield func(Answer) bool) {
		defer stop()
		for a, more := first, found; more && yield(a); {
			a, more = next()
		}
	}
	return !found
}

// print prints the answers in a format, with their reasons if reasons is set. It returns the number of answers with
// an image and without one.
func (all *answered) print(w io.Writer, format string, reasons bool) (boots, refused int, err error) {
	wanted := func(yield func(Answer) bool) {
		for a := range all.answers {
			if a.selected != nil {
				boots++
			} else {
				refused++
			}
			if !reasons {
				a.reasoning = nil
			}
			if !yield(a) {
				return
			}
		}
	}
	switch {
	case command.IsTable(format):
		skip := 0
		if all.how != ofShoots {
			skip = 2 // Shoot and pool
		}
		err = command.PrintTable(w, format, answerColumns[skip:], rowsOf(wanted, skip))
	case all.how == single:
		for a := range wanted {
			err = command.PrintAs(w, format, a, func(w io.Writer) { printNextAnswer(w, 0, a) })
		}
	case all.how == partial && format == "text" && !reasons:
		err = command.PrintEach(w, format, "pools", joined(wanted), printNextAnswer)
	default:
		err = command.PrintEach(w, format, "pools", wanted, printNextAnswer)
	}
	return boots, refused, err
}

// joined joins answers without an image that follow each other and say the same about different combinations.
func joined(answers iter.Seq[Answer]) iter.Seq[Answer] {
	return func(yield func(Answer) bool) {
		var last *Answer
		for a := range answers {
			if last != nil && last.refused != nil && a.refused != nil && says(last) == says(&a) {
				last.also = append(last.also, questionText(&a))
				continue
			}
			if last != nil && !yield(*last) {
				return
			}
			last = &a
		}
		if last != nil {
			yield(*last)
		}
	}
}

// says returns the text of an answer without its question.
func says(a *Answer) string {
	var text strings.Builder
	w := report.NewWriter(&text)
	printOutcome(w, a)
	_ = w.Flush() // a Builder never fails
	return text.String()
}
