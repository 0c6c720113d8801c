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

// measure adds one turn. It starts without garbage, so neither side pays for collecting the other's; mostly it does not
// pay for its own either, which flatters the library.
func (s *samples) measure(times int, work func(i int)) {
	runtime.GC()
	start := time.Now()
	for i := range times {
		work(i)
	}
	*s = append(*s, time.Since(start)/time.Duration(times))
}

// best is the turn that was disturbed least by whatever else the machine had to do.
func (s samples) best() time.Duration { return slices.Min(s) }

// BenchmarkRatio lets both sides take turns, so that they meet the same conditions on a machine that has other things to
// do, and compares the best turns.
func BenchmarkRatio(b *testing.B) {
	for _, p := range profiles {
		b.Run(p.name, func(b *testing.B) { p.compare(b) })
	}
}

func (p *profile) compare(b *testing.B) {
	var selection, library, unmarshal, check, compile samples
	for b.Loop() {
		selection.measure(16*len(p.requests), func(i int) { _, _ = p.catalog.Select(p.requests[i%len(p.requests)]) })
		library.measure(len(p.questions)/2, func(i int) {
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
	faster := ratio(library.best(), selection.best())
	checking, compiling := ratio(check.best(), unmarshal.best()), ratio(compile.best(), unmarshal.best())
	b.ReportMetric(0, "ns/op") // a turn of everything is nothing that anyone wants to know
	b.ReportMetric(faster, "x-faster")
	b.ReportMetric(checking, "check/unmarshal")
	b.ReportMetric(compiling, "decode+check/unmarshal")

	allocations := testing.AllocsPerRun(100, func() { _, _ = p.catalog.Select(p.requests[0]) })
	p.line = fmt.Sprintf("%6s (%d flavors): select %v with %v allocations, %.0f times as fast as the gardener library (%v); "+
		"one-to-one check %v, %.2f of json.Unmarshal (%v); strict decoding and check %v, %.2f of it",
		p.name, p.flavors, selection.best(), allocations, faster, library.best().Round(time.Nanosecond*10),
		check.best().Round(time.Microsecond), checking, unmarshal.best().Round(time.Microsecond), compile.best().Round(time.Microsecond), compiling)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
