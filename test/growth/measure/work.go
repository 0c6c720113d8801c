// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"runtime/coverage"

	"github.com/capkit/capkit/test/growth"
)

// costOf does a piece of work and returns what it took. The program has to be compiled with counters, which other goroutines must
// leave alone meanwhile.
func costOf(work func()) (growth.Cost, error) {
	if err := coverage.ClearCounters(); err != nil {
		return growth.Cost{}, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	var written bytes.Buffer
	if err := coverage.WriteCounters(&written); err != nil {
		return growth.Cost{}, err
	}
	blocks, err := sum(written.Bytes())
	return growth.Cost{Blocks: blocks, Bytes: int64(after.TotalAlloc - before.TotalAlloc)}, err
}

// sum adds up the counters that a program has written, in the format of the package internal/coverage: a header of 32 bytes, whose
// byte 24 is 2 for numbers in LEB128; a segment header with the number of functions and the lengths of two tables, which follow; and,
// from the next multiple of four, for each function the number of its counters, two more numbers, and the counters.
func sum(written []byte) (int64, error) {
	const header, segment, flavor, leb128 = 32, 16, 24, 2
	if len(written) < header+segment || written[flavor] != leb128 {
		return 0, errors.New("the counters are in another format")
	}
	functions := binary.LittleEndian.Uint64(written[header:])
	tables := binary.LittleEndian.Uint32(written[header+8:]) + binary.LittleEndian.Uint32(written[header+12:])
	rest := written[(header+segment+int(tables)+3)&^3:]
	total, broken := int64(0), false
	next := func() uint64 {
		number, n := binary.Uvarint(rest)
		if n <= 0 {
			broken = true
			return 0
		}
		rest = rest[n:]
		return number
	}
	for ; functions > 0 && !broken; functions-- {
		counters := next()
		next()
		next()
		for ; counters > 0 && !broken; counters-- {
			total += int64(next())
		}
	}
	if broken {
		return 0, errors.New("the counters end too early")
	}
	return total, nil
}
