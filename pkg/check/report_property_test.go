// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
)

// text prints everything in a report that a reader may see.
func text(r finding.Report) string {
	var b strings.Builder
	for _, list := range []finding.List{r.Errors, r.Warnings} {
		for _, err := range list {
			fmt.Fprintf(&b, "%s %s %s\n", err.Origin, err.Type, err)
		}
		b.WriteString("--\n")
	}
	return b.String()
}

func TestReportsAreTheSameOnEveryRunAndSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := given.DrawSpec(t)
		before := spec.DeepCopy()
		_, first := check.CloudProfile(local.Provider{}, &v1beta1.CloudProfile{Spec: *spec})
		if !reflect.DeepEqual(before, spec) {
			t.Fatalf("the profile was changed: %s", gocmp.Diff(before, spec))
		}
		_, second := check.CloudProfile(local.Provider{}, &v1beta1.CloudProfile{Spec: *before})
		if diff := gocmp.Diff(text(first), text(second)); diff != "" {
			t.Fatal(diff)
		}
		for _, list := range []finding.List{first.Errors, first.Warnings} {
			catalogue.Check(t, list)
		}
	})
}

var catalogue = given.CatalogueOf(check.Rules(), openstack.Provider{}.Rules())
