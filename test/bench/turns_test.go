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

// side is one side of a comparison, with its processor time and its allocated memory.
type side struct {
	work func()
	// times is the number of repetitions in a turn, which make it long enough to measure. It is 0 before the first turn.
	times       int
	cpu         []time.Duration
	bytes       []uint64
	allocations []uint64
}

// least is the minimum processor time of a turn.
const least = 100 * time.Millisecond

// turns is the minimum number of turns, because a single one may have been disturbed.
const turns = 5

// turn runs the side's work. It excludes the load of other processes, and includes this process's garbage collection.
func (s *side) turn() {
	if s.times == 0 {
		s.times = 1 // the first run meets cold caches
		s.measure()
		took := max(s.measure(), 1)
		s.times = max(1, int(least/took))
		s.cpu, s.bytes, s.allocations = nil, nil, nil
	}
	s.measure()
}

func (s *side) measure() time.Duration {
	runtime.GC() // do not charge the other side's garbage
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

// used returns the processor time of this process, in user and kernel mode.
func used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// compare runs both sides in alternating turns, so under the same conditions. It reports the ratios of their medians: the processor time
// and bytes of the first side, relative to the other's.
func compare(b *testing.B, other string, ours, theirs func()) {
	b.Helper()
	a, z := &side{work: ours}, &side{work: theirs}
	for b.Loop() {
		for range turns {
			a.turn()
			z.turn()
		}
	}
	b.ReportMetric(0, "ns/op") // the duration of both turns together has no meaning
	b.ReportMetric(float64(median(a.cpu))/float64(max(1, median(z.cpu))), "cpu/"+other)
	b.ReportMetric(float64(median(a.bytes))/float64(max(1, median(z.bytes))), "bytes/"+other)
	b.ReportMetric(float64(median(a.cpu))/float64(time.Microsecond), "cpu-µs")
	b.ReportMetric(float64(median(a.allocations)), "allocations")
}

func median[T time.Duration | uint64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
