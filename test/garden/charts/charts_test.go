// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"slices"
	"testing"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/test/garden/charts"
)

func TestRender(t *testing.T) {
	objects, err := charts.Render(components.OpenStack, charts.Runtime, "somewhere", nil)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, object := range objects {
		kinds = append(kinds, object.GetKind())
		if object.GetNamespace() != "somewhere" {
			t.Errorf("%s %s is in namespace %q", object.GetKind(), object.GetName(), object.GetNamespace())
		}
	}
	if account, deployment := slices.Index(kinds, "ServiceAccount"), slices.Index(kinds, "Deployment"); account < 0 || deployment < account {
		t.Errorf("not in the order of an installation: %v", kinds)
	}
	if _, err := charts.Render(components.OpenStack, charts.Application, "somewhere", nil); err == nil {
		t.Error("rendered without the values that are required")
	}
}
