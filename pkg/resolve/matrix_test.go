// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"iter"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// A matrix gives the same answers as the profile to each single question. Machine types of a group get the same answers.
func TestMatrixAnswersAsTheProfile(t *testing.T) {
	booted, refused, asked, grouped := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		cloud, spec := given.DrawProfile(t)
		p, _ := profile.Compile(cloud, spec, field.NewPath("spec"))
		p = p.ByOrder(given.DrawOrder(t))
		m := resolve.NewMatrix(p)
		groups := m.Groups()
		for of, request := range questions(m) {
			checkMatrix(t, m, p, of, request)
			asked += min(request, 1)
			if m.Choose(of, request) >= 0 {
				booted++
			} else {
				refused++
			}
			for _, group := range groups {
				if i := slices.Index(group, of.MachineType); i > 0 {
					grouped++
					checkGroup(t, m, of, group[0], request)
				}
			}
		}
	})
	if min(booted, refused, asked, grouped) == 0 {
		t.Errorf("booted %d, refused %d, asked %d, grouped %d", booted, refused, asked, grouped)
	}
}

// questions yields all questions to a matrix.
func questions(m *resolve.Matrix[string]) iter.Seq2[resolve.Combination, int] {
	return func(yield func(resolve.Combination, int) bool) {
		for _, of := range m.Versions() {
			for _, of.MachineType = range m.MachineTypes() {
				for _, of.Region = range m.Regions() {
					for request := range m.Requests() {
						if !yield(of, request) {
							return
						}
					}
				}
			}
		}
	}
}

// checkGroup checks that a machine type gets the answers of its group's first one.
func checkGroup(t *rapid.T, m *resolve.Matrix[string], of resolve.Combination, name string, request int) {
	first := of
	first.MachineType = name
	chosen := m.Choose(of, request)
	if chosen != m.Choose(first, request) || chosen < 0 && !reflect.DeepEqual(m.Suggest(of, request), m.Suggest(first, request)) {
		t.Fatalf("%v and %v are in one group, request %d, and get other answers", of, first, request)
	}
}

// checkMatrix compares the answers to one question. A request by a providerConfig setting cannot be put to the profile without a config,
// so then the matrix is only compared with itself.
func checkMatrix(
	t *rapid.T, m *resolve.Matrix[string], p *profile.Profile[string], of resolve.Combination, request int,
) {
	got := m.Explain(of, request)
	if chosen := m.Choose(of, request); chosen != got.Decision.Chosen || chosen != m.ChooseBy(p.Order(), of, request) {
		t.Fatalf("%v: Choose says %d, Explain %d, ChooseBy %d", of, chosen, got.Decision.Chosen, m.ChooseBy(p.Order(), of, request))
	}
	if got.Err != nil && !reflect.DeepEqual(got.Suggestions, m.Suggest(of, request)) {
		t.Fatalf("%v: Suggest says %v, Explain %v", of, m.Suggest(of, request), got.Suggestions)
	}
	var requested []capability.Requirement
	for _, r := range got.Requirements {
		if !r.Implied {
			requested = append(requested, r)
		}
	}
	if !reflect.DeepEqual(requested, m.Requested(of.MachineType, request)) {
		t.Fatalf("%v: Requested says %v, Explain %v", of, m.Requested(of.MachineType, request), requested)
	}
	for i, set := range m.Supported(of) {
		if i < len(got.Decision.Verdicts) && got.Decision.Verdicts[i].Set != set {
			t.Fatalf("%v: flavor %d supports %v, and %v", of, i, set, got.Decision.Verdicts[i].Set)
		}
	}
	worker, more := m.Settings(request)
	if len(more) > 0 {
		return
	}
	want := resolve.Explain(p, provider.Pool{
		Image: of.Image, Version: of.Version, MachineType: of.MachineType, Region: of.Region, Worker: worker,
	})
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, request %d: %+v, and the profile says %+v", of, request, got, want)
	}
}
