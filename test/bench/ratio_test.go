// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gardener/gardener/extensions/pkg/controller/worker"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack"
)

// samples are durations of the same work at different times.
type samples []time.Duration

// measure adds one turn. It starts without the garbage of others; it should be long enough for the work to pay for
// its own.
func (s *samples) measure(times int, work func(i int)) {
	runtime.GC()
	start := time.Now()
	for i := range times {
		work(i)
	}
	*s = append(*s, time.Since(start)/time.Duration(times))
}

// median is not moved by the rounds in which the machine was busy with something else.
func (s *samples) median() time.Duration {
	slices.Sort(*s)
	return (*s)[len(*s)/2]
}

// BenchmarkRatio lets both sides take turns, so that they meet the same conditions on a machine that has other things to
// do, and compares their medians. A turn is long enough for each side to pay for its own garbage.
func BenchmarkRatio(b *testing.B) {
	for _, p := range profiles {
		b.Run(p.name, func(b *testing.B) { p.compare(b) })
	}
}

func (p *profile) compare(b *testing.B) {
	var selection, best, unmarshal, check, compile samples
	for b.Loop() {
		selection.measure(64*len(p.requests), func(i int) { _, _ = p.catalog.Select(p.requests[i%len(p.requests)]) })
		best.measure(len(p.questions), func(i int) {
			q := &p.questions[i]
			_, _ = worker.FindBestImageFlavor(q.flavors, q.machine, p.spec.MachineCapabilities)
		})
		turns := 1 + (1<<20)/len(p.spec.ProviderConfig.Raw)
		unmarshal.measure(turns, func(int) {
			var config v1alpha1.CloudProfileConfig
			_ = json.Unmarshal(p.spec.ProviderConfig.Raw, &config)
		})
		check.measure(turns, func(int) { consistency.Compile(p.decoded, p.spec, spec) })
		compile.measure(turns, func(int) { consistency.Compile(openstack.Provider{}, p.spec, spec) })
	}
	faster := ratio(best.median(), selection.median())
	checking, compiling := ratio(check.median(), unmarshal.median()), ratio(compile.median(), unmarshal.median())
	b.ReportMetric(0, "ns/op") // a turn of everything is nothing that anyone wants to know
	b.ReportMetric(faster, "x-faster")
	b.ReportMetric(checking, "check/unmarshal")
	b.ReportMetric(compiling, "decode+check/unmarshal")

	allocations := testing.AllocsPerRun(100, func() { _, _ = p.catalog.Select(p.requests[0]) })
	p.line = fmt.Sprintf("%6s (%d flavors): select %v with %v allocations, %.0f times as fast as the gardener library (%v); "+
		"one-to-one check %v, %.2f of json.Unmarshal (%v); strict decoding and check %v, %.2f of it",
		p.name, p.flavors, selection.median(), allocations, faster, best.median().Round(time.Nanosecond*10),
		check.median().Round(time.Microsecond), checking, unmarshal.median().Round(time.Microsecond), compile.median().Round(time.Microsecond), compiling)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
