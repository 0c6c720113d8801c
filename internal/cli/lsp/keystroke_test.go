// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package lsp_test

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// large returns a profile of about 1 MiB: an image with many versions, whose images have IDs as long as UUIDs.
func large() string {
	const count, regions = 310, 8
	var core, config strings.Builder
	for i := range count {
		fmt.Fprintf(&core, "    - version: %d.0.0\n      capabilityFlavors:\n", 1000+i)
		fmt.Fprintf(&config, "      - version: %d.0.0\n        capabilityFlavors:\n", 1000+i)
		for k := range 4 {
			architecture, hypervisor := []string{"amd64", "arm64"}[k/2], []string{"virtualized", "baremetal"}[k%2]
			fmt.Fprintf(&core, "      - architecture: [%s]\n        hypervisor: [%s]\n", architecture, hypervisor)
			fmt.Fprintf(&config, "        - capabilities:\n            architecture: [%s]\n            hypervisor: [%s]\n          regions:\n", architecture, hypervisor)
			for r := range regions {
				fmt.Fprintf(&config, "          - name: region-%d\n            id: %08d-0000-4000-8000-%012d\n", r, i, k)
			}
		}
	}
	var types, places strings.Builder
	for i := range 60 {
		fmt.Fprintf(&types, "  - name: m%d\n    cpu: \"4\"\n    gpu: \"0\"\n    memory: 8Gi\n    capabilities:\n      architecture: [amd64]\n", i)
	}
	for r := range regions {
		fmt.Fprintf(&places, "  - name: region-%d\n", r)
	}
	return `apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata:
  name: large
spec:
  type: openstack
  machineCapabilities:
  - name: architecture
    values: [amd64, arm64]
  - name: hypervisor
    values: [virtualized, baremetal]
  kubernetes:
    versions:
    - version: 1.33.2
  machineTypes:
` + types.String() + "  regions:\n" + places.String() + "  machineImages:\n  - name: gardenlinux\n    versions:\n" + core.String() + `  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    keystoneURL: https://keystone.example.com/v3/
    constraints:
      floatingPools:
      - name: fp-pool-1
      loadBalancerProviders:
      - name: haproxy
    machineImages:
    - name: gardenlinux
      versions:
` + config.String()
}

// spent returns the processor time of this process.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measured reports the processor time of each round, and the memory still in use.
func measured(b *testing.B, round func(i int)) {
	b.Helper()
	before, i := spent(b), 0
	for b.Loop() {
		round(i)
		i++
	}
	b.ReportMetric(float64((spent(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "live-MiB")
}

// BenchmarkKeystroke measures a change of a profile of 1 MiB until it is checked. It also measures a completion right after a change,
// which does not wait for the check.
func BenchmarkKeystroke(b *testing.B) {
	text := large()
	e := begin(b, map[string]string{})
	e.open("p.yaml", text)
	e.codes("p.yaml")
	at := of(b, text, "memory: 8Gi", 0)
	at.Character += len("memory: ") - 1
	digit := func(i int) {
		e.change("p.yaml", map[string]any{"range": span{at, position{at.Line, at.Character + 1}}, "text": number(8 + i%2)})
	}
	b.Run("diagnostics", func(b *testing.B) {
		measured(b, func(i int) {
			digit(i)
			e.codes("p.yaml")
		})
	})
	b.Run("key", func(b *testing.B) { // misspelt every second time
		end := of(b, text, "memory: 8Gi", 0)
		end.Character += len("memory") - 2 // the last letter
		measured(b, func(i int) {
			letter, found := "x", []string{"unknown-field"}
			if i%2 == 1 {
				letter, found = "y", nil
			}
			e.change("p.yaml", map[string]any{"range": span{end, position{end.Line, end.Character + 1}}, "text": letter})
			e.codes("p.yaml", found...)
		})
	})
	region := of(b, text, "name: region-3\n            id", 0)
	b.Run("completion", func(b *testing.B) {
		measured(b, func(i int) {
			digit(i)
			if len(e.complete("p.yaml", position{region.Line, region.Character + 8})) != 8 {
				b.Fatal("no regions")
			}
		})
	})
}

// BenchmarkQuickFix requests code actions for a repairable line of a profile of 1 MiB, right after a change.
func BenchmarkQuickFix(b *testing.B) {
	text := strings.Replace(large(), "keystoneURL", "keyStoneURL", 1)
	e := begin(b, map[string]string{})
	e.open("p.yaml", text)
	digit, mistake := of(b, text, "memory: 8Gi", 0), of(b, text, "keyStoneURL", 0)
	digit.Character += len("memory: ") - 1
	measured(b, func(i int) {
		e.change("p.yaml", map[string]any{"range": span{digit, position{digit.Line, digit.Character + 1}}, "text": number(8 + i%2)})
		if fixes := e.actions("p.yaml", mistake.Line); len(fixes) != 2 || fixes[0].Kind != "quickfix" {
			b.Fatalf("%d: %v", i, fixes)
		}
	})
}

// BenchmarkMinified changes a profile on one line of JSON, with an error in each of 1,240 flavors. 1,000 are reported, and their number.
func BenchmarkMinified(b *testing.B) {
	minified, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(large(), "- name: region-3\n            id", "- name: region-3\n            idd")))
	if err != nil {
		b.Fatal(err)
	}
	text := string(minified)
	e := begin(b, map[string]string{})
	e.open("p.json", text)
	checked := func() {
		e.until("p.json is checked", func() bool {
			told := e.told["p.json"]
			return told.Version != nil && *told.Version == e.versions["p.json"] && len(told.List) > 500
		})
	}
	checked()
	at := of(b, text, `"memory":"8Gi"`, 0)
	at.Character += len(`"memory":"`) - 1
	measured(b, func(i int) {
		e.change("p.json", map[string]any{"range": span{at, position{at.Line, at.Character + 1}}, "text": number(8 + i%2)})
		checked()
	})
}
