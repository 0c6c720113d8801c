// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/test/authors/acme"
)

// GEP-0033 prefers the second of the two flavors, and the gardener library the first.
const orders = `
apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata: {name: orders}
spec:
  type: acme
  machineCapabilities:
  - {name: architecture, values: [amd64]}
  - {name: storage, values: [NVMe, SCSI]}
  - {name: network, values: [accelerated, basic]}
  machineTypes: [{name: m, cpu: "4", gpu: "0", memory: 16Gi, capabilities: {architecture: [amd64]}}]
  machineImages:
  - name: linux
    versions:
    - version: 1.0.0
      capabilityFlavors:
      - {architecture: [amd64], storage: [NVMe, SCSI], network: [basic]}
      - {architecture: [amd64], storage: [NVMe], network: [accelerated]}
  kubernetes: {versions: [{version: 1.33.2}]}
  regions: [{name: north}]
  providerConfig:
    apiVersion: acme.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImages:
    - name: linux
      versions:
      - version: 1.0.0
        capabilityFlavors:
        - capabilities: {architecture: [amd64], storage: [NVMe, SCSI], network: [basic]}
          regions: [{name: north, template: tpl-00000001}]
        - capabilities: {architecture: [amd64], storage: [NVMe], network: [accelerated]}
          regions: [{name: north, template: tpl-00000002}]
`

func parsed(t *testing.T, text string) *v1beta1.CloudProfile {
	t.Helper()
	object := &v1beta1.CloudProfile{}
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// Command, worker controller and warnings follow the provider's preference order. Only a flag of the command overrides it.
func TestTheOrderIsThatOfTheProvider(t *testing.T) {
	for name, c := range map[string]struct {
		cloud       provider.Provider[acme.Template]
		want, other string
		flag        string
		warning     string
		redirects   bool
	}{
		"by default": {acme.Provider{}, "tpl-00000002", "tpl-00000001", "--order=gardener", "the order of GEP-0033, which is used here", true},
		"converted": {
			acme.Converted{}, "tpl-00000001", "tpl-00000002", "--order=gep33", "the order of the gardener library, which is used here", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := parsed(t, orders)
			compiled, report := check.CloudProfile(c.cloud, object)
			if len(report.Errors) > 0 || !strings.Contains(texts(report.Warnings), c.warning) {
				t.Error(report)
			}
			if got := selected(t, c.cloud); got != c.want {
				t.Errorf("select says %s", got)
			}
			if got := selected(t, c.cloud, c.flag); got != c.other {
				t.Errorf("select %s says %s", c.flag, got)
			}
			w := &extensionsv1alpha1.Worker{}
			w.Spec.Region = "north"
			w.Spec.Pools = []extensionsv1alpha1.WorkerPool{{
				Name: "pool", MachineType: "m", MachineImage: extensionsv1alpha1.MachineImage{Name: "linux", Version: "1.0.0"},
			}}
			image, err := worker.NewImages(compiled, nil).Of(worker.Question[acme.Template]{Pool: worker.PoolsOf(w)[0], Names: []string{"class"}})
			if err != nil || image.Reference.ID != c.want {
				t.Errorf("the worker controller boots %v, %v", image, err)
			}

			// The update adds the second flavor: only under GEP-0033 do pools on the first one boot another image.
			alone, _ := profile.Compile(c.cloud, &withoutTheSecond(t).Spec, field.NewPath("spec"))
			if redirects := len(update.Redirected(alone, compiled)) > 0; redirects != c.redirects {
				t.Errorf("new machines boot another flavor: %t", redirects)
			}
		})
	}
}

// Core has one of two flavors. If core follows the provider config, as the webhook ensures, the command reports nothing.
func TestCoreFollowsByThePolicyOfTheProvider(t *testing.T) {
	const both = "      - {architecture: [amd64], storage: [NVMe], network: [accelerated]}\n"
	text := strings.Replace(orders, both, "", 1)
	for name, c := range map[string]struct {
		cloud  provider.Provider[acme.Template]
		filled int
		status int
	}{"by default": {acme.Provider{}, 0, 1}, "converted": {acme.Converted{}, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			filled := profile.FillCloudProfile(c.cloud, &parsed(t, text).Spec)
			if len(filled) != c.filled {
				t.Errorf("filled in: %v", filled)
			}
			status, out := run(t, c.cloud, text, "lint")
			if status != c.status || c.status == 1 && !strings.Contains(out, "[provider-flavor-unexpected]") {
				t.Errorf("exit status %d: %s", status, out)
			}
			if status, out := run(t, c.cloud, text, "lint", "--webhook=false"); status != 1 {
				t.Errorf("without a webhook: exit status %d: %s", status, out)
			}
		})
	}
}

// Plan and report follow the provider's preference order.
func TestPlanAndReportFollowTheOrderOfTheProvider(t *testing.T) {
	before := filepath.Join(t.TempDir(), "before.yaml")
	object := withoutTheSecond(t)
	object.APIVersion, object.Kind = "core.gardener.cloud/v1beta1", "CloudProfile"
	if err := os.WriteFile(before, encode(t, object), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cloud     provider.Provider[acme.Template]
		redirects bool
		other     string
	}{"by default": {acme.Provider{}, true, "gardener"}, "converted": {acme.Converted{}, false, "gep33"}} {
		t.Run(name, func(t *testing.T) {
			for _, flags := range [][]string{nil, {"--order", c.other}} {
				redirects := c.redirects == (flags == nil)
				_, out := run(t, c.cloud, orders, "plan", append([]string{before, "--compare", "-o", "json"}, flags...)...)
				if strings.Contains(out, `"kind": "other-image"`) != redirects {
					t.Errorf("plan %v: %s", flags, out)
				}
				_, out = run(t, c.cloud, orders, "report", append([]string{"-o", "json"}, flags...)...)
				if strings.Contains(out, "tpl-00000002") != redirects {
					t.Errorf("report %v: %s", flags, out)
				}
			}
			if status, out := run(t, c.cloud, orders, "report", "--order="); status != 2 || !strings.Contains(out, "--order is empty") {
				t.Errorf("an empty order: exit status %d: %s", status, out)
			}
		})
	}
}

// texts returns the messages of findings.
func texts(found finding.List) (all string) {
	for _, f := range found {
		all += f.Detail + "\n"
	}
	return all
}

// withoutTheSecond returns the CloudProfile without its second flavor.
func withoutTheSecond(t *testing.T) *v1beta1.CloudProfile {
	t.Helper()
	var kept strings.Builder
	for line := range strings.Lines(orders) {
		if !strings.Contains(line, "network: [accelerated]") && !strings.Contains(line, "tpl-00000002") {
			kept.WriteString(line)
		}
	}
	return parsed(t, kept.String())
}

// selected returns the template that the command selects.
func selected(t *testing.T, cloud provider.Provider[acme.Template], flags ...string) string {
	t.Helper()
	status, out := run(t, cloud, orders, "select",
		append([]string{"--image=linux", "--version=1.0.0", "--machine-type=m", "--region=north", "-o", "json"}, flags...)...)
	for _, id := range []string{"tpl-00000001", "tpl-00000002"} {
		if status == 0 && strings.Contains(out, id) {
			return id
		}
	}
	return out
}

// run runs a command on a profile, and returns its exit status and output.
func run(t *testing.T, cloud provider.Provider[acme.Template], text, command string, flags ...string) (status int, out string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "profile.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := append([]string{"capkit-acme", command, file}, flags...)
	status = cli.Run(args, strings.NewReader(""), &stdout, &stderr, cli.For(cloud))
	return status, stdout.String() + stderr.String()
}

func encode(t *testing.T, object any) []byte {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
