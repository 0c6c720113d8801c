// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// side is one of two that are compared: what it takes of the processors, and what it allocates.
type side struct {
	work func()
	// times is how often it works in a turn, so that a turn is long enough to be measured; 0 before the first turn.
	times int
	cpu   []time.Duration
	bytes []uint64
	// allocations is their number.
	allocations []uint64
}

// least is how much of a processor a turn takes at least.
const least = 100 * time.Millisecond

// turns is how many there are at least: one alone may have been disturbed.
const turns = 5

// turn lets the side work. Whatever else the machine has to do does not count, and collecting the garbage of this process does.
func (s *side) turn() {
	if s.times == 0 {
		s.times = 1 // the first time nothing is in any cache
		s.measure()
		took := max(s.measure(), 1)
		s.times = max(1, int(least/took))
		s.cpu, s.bytes, s.allocations = nil, nil, nil
	}
	s.measure()
}

func (s *side) measure() time.Duration {
	runtime.GC() // the garbage of the other side is none of ours
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := used()
	for range s.times {
		s.work()
	}
	took := (used() - start) / time.Duration(s.times)
	runtime.ReadMemStats(&after)
	s.cpu = append(s.cpu, took)
	s.bytes = append(s.bytes, (after.TotalAlloc-before.TotalAlloc)/uint64(s.times))
	s.allocations = append(s.allocations, (after.Mallocs-before.Mallocs)/uint64(s.times))
	return took
}

// used is how long the processors have worked for this process, for itself and in the kernel.
func used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// compare lets both take turns, so that they meet the same conditions, and reports the ratios of their medians: how much of
// the other side's processor time and bytes the first one takes.
func compare(b *testing.B, other string, ours, theirs func()) {
	b.Helper()
	a, z := &side{work: ours}, &side{work: theirs}
	for b.Loop() {
		for range turns {
			a.turn()
			z.turn()
		}
	}
	b.ReportMetric(0, "ns/op") // a turn of both is nothing that anyone wants to know
	b.ReportMetric(float64(median(a.cpu))/float64(max(1, median(z.cpu))), "cpu/"+other)
	b.ReportMetric(float64(median(a.bytes))/float64(max(1, median(z.bytes))), "bytes/"+other)
	b.ReportMetric(float64(median(a.cpu))/float64(time.Microsecond), "cpu-µs")
	b.ReportMetric(float64(median(a.allocations)), "allocations")
}

func median[T time.Duration | uint64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
