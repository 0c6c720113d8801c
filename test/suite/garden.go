// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/capkit/capkit/test/garden"
)

// shared is the garden of the suite; nil before StartGarden or Share.
var shared *garden.Garden

// StartGarden starts a garden, for a BeforeSuite. It stops with the suite.
func StartGarden(ctx context.Context, o garden.Options) *garden.Garden {
	ginkgo.GinkgoHelper()
	g, err := garden.Start(ctx, o)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	Share(g)
	return g
}

// Share makes a garden, or a seed, that of the suite: it stops with the suite, and failures show its logs.
func Share(g *garden.Garden) {
	ginkgo.DeferCleanup(func() error {
		shared = nil
		return g.Stop()
	})
	shared = g
}

// shownLines and shownBytes are how much of each log a failure shows: that many lines, and of each line that many
// bytes.
const (
	shownLines = 15
	shownBytes = 500
)

// positions are the ends of the logs when the spec began, by file.
var positions map[string]int64

var _ = ginkgo.BeforeEach(func() {
	positions = map[string]int64{}
	for _, log := range logs() {
		if info, err := os.Stat(log); err == nil {
			positions[log] = info.Size()
		}
	}
})

// What the component and the API servers have logged stands in the report of a spec that has failed.
var _ = ginkgo.JustAfterEach(func() {
	if !ginkgo.CurrentSpecReport().Failed() {
		return
	}
	for _, log := range logs() {
		if lines := tail(log, positions[log]); lines != "" {
			ginkgo.AddReportEntry(filepath.Base(log), ginkgo.ReportEntryVisibilityFailureOrVerbose, lines)
		}
	}
})

// logs returns the log files of the garden.
func logs() []string {
	if shared == nil {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(shared.Logs(), "*.log"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	slices.Sort(files)
	return files
}

// tail returns the last lines that a file has behind a position.
func tail(path string, from int64) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.NewSectionReader(file, from, 1<<40))
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	skipped := max(0, len(lines)-shownLines)
	lines = lines[skipped:]
	for i, line := range lines {
		lines[i] = line[:min(len(line), shownBytes)]
	}
	text := string(bytes.Join(lines, []byte("\n")))
	if skipped > 0 {
		text = fmt.Sprintf("... %d lines before\n%s", skipped, text)
	}
	return text
}
