// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/klog/v2"

	"github.com/capkit/capkit/internal/cli/cluster/fakegarden"
	"github.com/capkit/capkit/pkg/cli"
)

// If a profile in a garden has a lifecycle, the garden has the feature gate for it, unless a flag says otherwise.
func TestLifecyclesOfACluster(t *testing.T) {
	api := exampleGarden(t)
	api.CloudProfiles[0].Spec.Kubernetes.Versions[0].Lifecycle = []v1beta1.LifecycleStage{{Classification: v1beta1.ClassificationSupported}}
	live := []string{"lint", "-A", "--kubeconfig", api.Start(t)}
	note := "Gardener's feature gate VersionClassificationLifecycle is assumed to be on, because CloudProfile openstack of the cluster has a lifecycle; " +
		"if it is not, use --feature-gates VersionClassificationLifecycle=false"
	for flag, want := range map[string]struct {
		status int
		notes  int
	}{"": {0, 1}, "VersionClassificationLifecycle=true": {0, 0}, "VersionClassificationLifecycle=false": {1, 0}} {
		args := live
		if flag != "" {
			args = append(slices.Clone(live), "--feature-gates="+flag)
		}
		if r := run(t, "", args...); r.status != want.status || strings.Count(r.stderr, note) != want.notes {
			t.Errorf("%s: status %d, %s%s", flag, r.status, r.stdout, r.stderr)
		}
	}
}

// fullDisk fails every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// An answer that cannot be written is an error, whatever the command's findings.
func TestAnswersThatCannotBeWritten(t *testing.T) {
	profile, shoot := examples+"/cloudprofile.yaml", examples+"/shoot.yaml"
	other := filepath.Join(t.TempDir(), "other.yaml")
	write(t, other, strings.ReplaceAll(read(t, profile), "id: 1234-amd64-virt", "id: changed"))
	for _, args := range []string{
		"plan " + profile + " " + other, "plan --fail-on=change -o=markdown " + profile + " " + other, "migrate " + legacyProfile,
		"maintenance " + profile + " " + shoot, "maintenance --until=+9d -o=ics " + profile + " " + shoot,
		"lint " + broken + "/field-type.yaml", "lint --fix " + broken + "/field-type.yaml",
		"select " + profile + " " + shoot, "report " + profile, "version", "rules", "plan --help",
	} {
		var stderr strings.Builder
		status := cli.Run(append([]string{"capkit"}, strings.Fields(args)...), nil, fullDisk{}, &stderr, providers...)
		if status != 2 || !strings.HasSuffix(stderr.String(), "capkit: no space left on device\n") {
			t.Errorf("%s: status %d: %s", args, status, stderr.String())
		}
	}
}

// The Kubernetes client's log output is discarded, because the command reports its errors.
func TestClientLogsNothing(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000") // more than it sends
	}))
	defer server.Close()
	var logged bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&logged)
	r := run(t, "", "lint", "-A", "--kubeconfig", fakegarden.Kubeconfig(t, server))
	klog.Flush()
	if r.status != 2 || logged.Len() > 0 {
		t.Errorf("status %d: %s%s", r.status, r.stderr, logged.String())
	}
	contains(t, r.stderr, "broke off in the middle of its answer")
}

// A page is not written to a terminal: the error comes before anything is read. Output for programs may go there.
func TestNoPageOnATerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	for _, tc := range []struct {
		args   string
		status int
		stderr string
	}{
		{
			"nowhere.yaml", 2, "capkit: -o html writes a page, and standard output is a terminal: write it into a file, as in " +
				"capkit report ... > report.html, or say -o json\n",
		},
		{"-o json nowhere.yaml", 2, "nowhere.yaml: no such file or directory"},
	} {
		var stderr bytes.Buffer
		status := cli.Run(append([]string{"capkit", "report"}, strings.Fields(tc.args)...), nil, terminal, &stderr)
		if status != tc.status || !strings.Contains(stderr.String(), tc.stderr) {
			t.Errorf("%s: status %d: %s", tc.args, status, stderr.String())
		}
	}
}
