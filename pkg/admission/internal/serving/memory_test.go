// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/go-logr/logr/funcr"
)

func TestMemoryIsBound(t *testing.T) {
	const limit = 1 << 40 // so high that it does not affect other tests
	unlimited := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(unlimited)
	t.Setenv("GOMEMLIMIT", "") // restores it in the end
	if err := os.Unsetenv("GOMEMLIMIT"); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name  string
		limit memlimit.Provider
		goal  int64
		logs  string
	}{
		{"no limit", func() (uint64, error) { return 0, memlimit.ErrNoLimit }, 1<<63 - 1, ""},
		{"a limit", memlimit.Limit(limit), limit * 7 / 10, "in time"},
		{"not known", func() (uint64, error) { return 0, errors.New("no such file") }, 1<<63 - 1, "no such file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			debug.SetMemoryLimit(1<<63 - 1)
			var logged strings.Builder
			BoundMemory(funcr.New(func(_, line string) { logged.WriteString(line) }, funcr.Options{}), row.limit)
			if goal := debug.SetMemoryLimit(-1); goal != row.goal {
				t.Errorf("the goal is %d; it should be %d", goal, row.goal)
			}
			if got := logged.String(); !strings.Contains(got, row.logs) || (got == "") != (row.logs == "") {
				t.Errorf("logged: %q; it should be about %q", got, row.logs)
			}
		})
	}
}
