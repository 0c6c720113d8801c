// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func cpu() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func marshal(t testing.TB, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (o *object) request(t testing.TB, document, old []byte) admission.Request {
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{UID: "1", Operation: admissionv1.Create, Kind: o.kind, SubResource: o.subresource,
		Name: "x", Namespace: "garden-demo", Object: apiruntime.RawExtension{Raw: document}}}
	if old != nil {
		req.Operation, req.OldObject = admissionv1.Update, apiruntime.RawExtension{Raw: old}
	}
	return req
}

type result struct {
	what         string
	bytes1, bytes4 int64
	cpu4 int64
	ratio float64
}

func TestExplore(t *testing.T) {
	n := 100
	var results []result
	count := 0
	for _, c := range clouds {
		if only := os.Getenv("CLOUD"); only != "" && c.name != only {
			continue
		}
		handlers := c.handlers(t, c.garden(t))
		for _, o := range c.objects(t) {
			base := marshal(t, o.document)
			changed := func(doc []byte) []byte {
				var d map[string]any
				_ = json.Unmarshal(doc, &d)
				o.change.set(d, "changed")
				return marshal(t, d)
			}
			for _, hook := range o.webhooks() {
				h := handlers[hook]
				if h == nil {
					continue
				}
				run := func(req admission.Request) (int64, int64) {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					start := cpu()
					h.Handle(t.Context(), req)
					used := cpu() - start
					runtime.ReadMemStats(&after)
					return int64(after.TotalAlloc - before.TotalAlloc), used
				}
				for _, op := range []string{"create", "update"} {
					req := func(doc []byte) admission.Request {
						if op == "create" {
							return o.request(t, doc, nil)
						}
						return o.request(t, changed(doc), doc)
					}
					run(req(base))
					f0, _ := run(req(base))
					for _, at := range o.places() {
						value := at.in(o.document)
						for _, how := range modesOf(value) {
							count++
							grow := func(n int) []byte {
								at.set(o.document, grown(value, how, n))
								raw := marshal(t, o.document)
								at.set(o.document, value)
								return raw
							}
							f1, _ := run(req(grow(n)))
							f4, c4 := run(req(grow(4 * n)))
							r := result{fmt.Sprintf("%s %s %s %s %s %s", c.name, o.name, hook, op, at, how), f1 - f0, f4 - f0, c4, float64(f4-f0) / float64(max(f1-f0, 20000))}
							results = append(results, r)
						}
					}
				}
			}
		}
	}
	sort.Slice(results, func(i, j int) bool { return results[i].ratio > results[j].ratio })
	var out strings.Builder
	for _, r := range results[:min(len(results),400)] {
		fmt.Fprintf(&out, "%6.1f %9d %9d %6.1fms %s\n", r.ratio, r.bytes1/1000, r.bytes4/1000, float64(r.cpu4)/1e6, r.what)
	}
	os.WriteFile("/tmp/ratio.txt", []byte(out.String()), 0o644)
	out.Reset()
	sort.Slice(results, func(i, j int) bool { return results[i].cpu4 > results[j].cpu4 })
	for _, r := range results[:min(len(results),400)] {
		fmt.Fprintf(&out, "%6.1f %9d %9d %6.1fms %s\n", r.ratio, r.bytes1/1000, r.bytes4/1000, float64(r.cpu4)/1e6, r.what)
	}
	os.WriteFile("/tmp/cpu.txt", []byte(out.String()), 0o644)
	t.Logf("%d places and modes", count)
}
