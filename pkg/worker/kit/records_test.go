// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
)

func TestInFormat(t *testing.T) {
	fast := v1beta1.Capabilities{"net": {"fast"}}
	records := []worker.Record[template]{
		{Image: "gl", Architecture: "arm64", Implied: fast},
		{Image: "gl", Capabilities: v1beta1.Capabilities{"architecture": {"arm64", "amd64"}, "net": {"fast"}}},
		{Image: "gl", Capabilities: fast},
		{Image: "gl"},
	}
	legacy := []worker.Record[template]{
		records[0], {Image: "gl", Architecture: "arm64"}, records[2], records[3],
	}
	capable := []worker.Record[template]{
		{Image: "gl", Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}, Implied: fast}, records[1], records[2], records[3],
	}
	before := append([]worker.Record[template]{}, records...)
	for format, want := range map[bool][]worker.Record[template]{true: legacy, false: capable} {
		got := kit.InFormat(records, format)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("legacy is %t: %s", format, diff)
		}
		if diff := cmp.Diff(got, kit.InFormat(got, format)); diff != "" {
			t.Errorf("legacy is %t, again: %s", format, diff)
		}
	}
	if diff := cmp.Diff(before, records); diff != "" {
		t.Error("changed", diff)
	}
}

func TestReadStatus(t *testing.T) {
	for raw, want := range map[string]string{
		``: "",
		`{"apiVersion":"made.up/v1","kind":"WorkerStatus","templates":[{"id":"a"}],"later":1}`: "",
		`{"apiVersion":"made.up/v1","kind":"WorkerStatus","templates":1}`:                      "cannot be read",
		`{"apiVersion":"made.up/v2","kind":"WorkerStatus"}`:                                    `"made.up/v2"`,
		`{"apiVersion":"made.up/v1","kind":"Other"}`:                                           `"Other"; only WorkerStatus of made.up/v1 can be read`,
		`{}`: `apiVersion ""`,
	} {
		status := &workerStatus{}
		err := kit.ReadStatus(&runtime.RawExtension{Raw: []byte(raw)}, statusKind, status)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", raw, err)
		}
		if strings.Contains(raw, "later") && len(status.Templates) != 1 {
			t.Errorf("%s: %v", raw, status)
		}
	}
	check(t, kit.ReadStatus(nil, statusKind, &workerStatus{}))
}

// Only a changed provider status is written, and no other part of the status.
func TestPatchStatus(t *testing.T) {
	w := aWorker("")
	s := seedWith(t, w)
	s.get(t, w)
	stale := w.DeepCopy()
	w.Status.LastOperation = &v1beta1.LastOperation{Type: v1beta1.LastOperationTypeReconcile}
	check(t, s.Status().Update(t.Context(), w))
	status := func() *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(`{"a":1}`)} }
	s.refuses = errAway
	if err := kit.PatchStatus(t.Context(), s, stale, status()); !errors.Is(err, errAway) {
		t.Error(err)
	}
	s.refuses = nil
	check(t, kit.PatchStatus(t.Context(), s, stale, status()))
	s.expectWrites(t, 1, "at first, and after it could not be written")
	check(t, kit.PatchStatus(t.Context(), s, stale, status()))
	s.expectWrites(t, 0, "again")
	s.get(t, w)
	if string(w.Status.ProviderStatus.Raw) != `{"a":1}` || w.Status.LastOperation == nil {
		t.Errorf("%v", w.Status)
	}
}
