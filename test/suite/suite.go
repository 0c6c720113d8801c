// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package suite is what the ginkgo suites of this repository have in common: how they run, the garden that all specs
// of a suite share, and what a failure shows.
//
// A suite has one Test function, which calls Run, and a BeforeSuite that calls StartGarden. Its specs run in any
// order: each uses objects with names of its own.
package suite

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// patience is how long Eventually waits unless it is told otherwise: long enough for a machine that is busy. Nothing
	// that comes to pass takes that long, so it only ends what would hang.
	patience = 5 * time.Minute
	// period is the time between two looks of Eventually and Consistently.
	period = 50 * time.Millisecond
	// calm is how long Consistently looks, unless it is told otherwise.
	calm = time.Second
)

// reports is the folder of the JUnit reports, one file for each suite, below the root of the repository.
const reports = "bin/reports"

// Run runs the specs of a package, in random order. folder is that of the package, below the root of the repository:
// the suite is named after it. The labels are those of every spec in it.
func Run(t *testing.T, folder string, labels ...string) {
	t.Helper()
	gomega.RegisterFailHandler(ginkgo.Fail)
	gomega.SetDefaultEventuallyTimeout(patience)
	gomega.SetDefaultEventuallyPollingInterval(period)
	gomega.SetDefaultConsistentlyDuration(calm)
	gomega.SetDefaultConsistentlyPollingInterval(period)
	gomega.EnforceDefaultTimeoutsWhenUsingContexts()
	log.SetLogger(ginkgo.GinkgoLogr)

	suite, reporter := ginkgo.GinkgoConfiguration()
	for _, focus := range suite.FocusStrings { // ginkgo would panic
		if _, err := regexp.Compile(focus); err != nil {
			t.Fatalf("the focus is not a regular expression: %v", err)
		}
	}
	suite.RandomizeAllSpecs = true
	reporter.NoColor = true // the output of go test is no terminal
	if reporter.JUnitReport == "" {
		root := strings.Repeat("../", strings.Count(folder, "/")+1)
		if err := os.MkdirAll(filepath.Join(root, reports), 0o755); err != nil {
			t.Fatal(err)
		}
		reporter.JUnitReport = filepath.Join(root, reports, strings.ReplaceAll(folder, "/", "-")+".xml")
	}
	ginkgo.RunSpecs(t, folder, ginkgo.Label(labels...), suite, reporter)
}
