// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/extensions/pkg/util"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/worker"
)

// A status of provider-openstack is decoded and encoded again byte for byte.
func TestStatusBothWays(t *testing.T) {
	for name, tc := range map[string]struct {
		legacy bool
		raw    string
	}{
		"capabilities": {false, `{"kind":"WorkerStatus","apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","machineImages":[` +
			`{"name":"gl","version":"1","id":"a","capabilities":{"architecture":["amd64"]}},{"name":"gl","version":"1","image":"b"}],` +
			`"serverGroupDependencies":[{"poolName":"p","id":"1","name":"n"}]}`},
		"legacy": {true, `{"kind":"WorkerStatus","apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","machineImages":[` +
			`{"name":"gl","version":"1","id":"a","architecture":"arm64"},{"name":"gl","version":"1","image":"b","architecture":"amd64"}]}`},
		"empty": {false, `{"kind":"WorkerStatus","apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			status, err := readStatus(&runtime.RawExtension{Raw: []byte(tc.raw)})
			if err != nil {
				t.Fatal(err)
			}
			var images []worker.Image[openstack.Image]
			for _, r := range recordsOf(status) {
				images = append(images, worker.Image[openstack.Image]{Record: r})
			}
			status.MachineImages = machineImages(worker.Records(images), tc.legacy)
			written, err := writeStatus(status)
			if err != nil || string(written.Raw) != tc.raw {
				t.Errorf("%v, got\n%s\nwant\n%s", err, written.Raw, tc.raw)
			}
		})
	}
}

// Records in the other format are written in the profile's format, the only one that provider-openstack reads.
func TestMachineImagesInTheFormatOfTheProfile(t *testing.T) {
	old := v1alpha1.MachineImage{Name: "gl", Version: "1", ID: ptr.To("a"), Architecture: ptr.To("arm64")}
	capable := v1alpha1.MachineImage{
		Name: "gl", Version: "1", ID: ptr.To("a"), Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}},
	}
	records := recordsOf(&v1alpha1.WorkerStatus{MachineImages: []v1alpha1.MachineImage{old, capable}})
	if diff := cmp.Diff([]v1alpha1.MachineImage{old, old}, machineImages(records, true)); diff != "" {
		t.Error("legacy", diff)
	}
	if diff := cmp.Diff([]v1alpha1.MachineImage{capable, capable}, machineImages(records, false)); diff != "" {
		t.Error("capabilities", diff)
	}
}

func TestStatusThatCannotBeRead(t *testing.T) {
	for raw, want := range map[string]string{
		`{"machineImages":1}`:     "cannot be read",
		`{"kind":"WorkerStatus"}`: `of apiVersion ""`,
		`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"Other"}`:  `kind "Other"`,
		`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v2","kind":"WorkerStatus"}`: "only WorkerStatus of",
	} {
		if _, err := readStatus(&runtime.RawExtension{Raw: []byte(raw)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestInfrastructureThatCannotBeUsed(t *testing.T) {
	const known = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"InfrastructureStatus"`
	const used = known + `,"node":{"keyName":"k"},"networks":{"id":"n","subnets":[`
	for raw, want := range map[string]string{
		``:                 "is missing",
		`null`:             "is missing",
		`{"networks":1}`:   "cannot be read",
		`{"kind":"Other"}`: `kind "Other"`,
		`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v2","kind":"InfrastructureStatus"}`: "update this controller",
		known + `}`: "no networks.id",
		known + `,"networks":{"id":"n","subnets":[{"id":"a","purpose":"nodes"}]},"securityGroups":[{"name":"s","purpose":"nodes"}]}`: "no node.keyName",
		used + `]}}`: "no subnet of purpose nodes",
		used + `{"id":"a","purpose":"nodes-ipv6"}]}}`:                                             "no subnet of purpose nodes",
		used + `{"purpose":"nodes"}]}}`:                                                           "no subnet of purpose nodes",
		used + `{"id":"a","purpose":"nodes"}]}}`:                                                  "no security group of purpose nodes",
		used + `{"id":"a","purpose":"nodes"}]},"securityGroups":[{"name":"","purpose":"nodes"}]}`: "no security group of purpose nodes",
	} {
		s := situationOf(t, seven)
		s.worker.Spec.InfrastructureProviderStatus = &runtime.RawExtension{Raw: []byte(raw)}
		p, err := s.plan()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "worker pools plain, zones, labels") {
			t.Errorf("%s: %v", raw, err)
		}
		if len(p.pools) > 0 {
			t.Errorf("%s: %d pools", raw, len(p.pools))
		}
	}
}

// Gardener's error codes are found in OpenStack's messages about machines.
func TestKnownCodes(t *testing.T) {
	for want, texts := range map[v1beta1.ErrorCode][]string{
		v1beta1.ErrorInfraUnauthenticated: {
			"The request you have made requires authentication. (HTTP 401)",
			"Expected HTTP response code [201] when accessing [POST http://n/v2.1/servers], but got 401 instead: {}",
			"Could not find Application Credential: 0b2d.",
		},
		v1beta1.ErrorInfraUnauthorized: {
			"Policy doesn't allow os_compute_api:servers:create to be performed",
		},
		v1beta1.ErrorInfraQuotaExceeded: {
			"Quota exceeded for cores: Requested 8, but already used 96 of 100 cores",
			"Quota exceeded, too many servers in group",
			"VolumeSizeExceedsAvailableQuota: Requested volume exceeds allowed gigabytes quota",
			`Expected HTTP response code [202] when accessing [POST http://n/v2.1/servers], but got 403 instead: {"forbidden": {"message": "Quota exceeded for cores"}}`,
		},
		v1beta1.ErrorInfraResourcesDepleted: {
			"No valid host was found. There are not enough hosts available.",
		},
		v1beta1.ErrorInfraRateLimitsExceeded: {
			"This request was rate-limited. Too Many Requests",
			"Expected HTTP response code [202] when accessing [POST http://n/v2.1/servers], but got 429 instead",
		},
		v1beta1.ErrorConfigurationProblem: {
			"Image 7a1d could not be found.",
			"The requested availability zone is not available",
			"Invalid key_name provided: keypair shoot not found",
			"Flavor m1.tiny could not be found.",
			"Security group with name or ID 'default' not found for project",
			`Network "a b" could not be found`,
		},
		// These are not about configuration, and must be retried.
		"": {
			"machine creation timed out",
			"Timeout while waiting for the network. Server 7a1d could not be found",
			"connecting to the network node: dial tcp: lookup keystone: host not found",
			"image download was interrupted; machine shoot--p--s-web-z1-401ab is not found among the servers",
			"machine shoot--p--s-web-z1-7f401-5c429 with server ID 00000401-0429-4000-8500-000000000503 timed out",
		},
		v1beta1.ErrorRetryableInfraDependencies: {
			"Expected HTTP response code [201] when accessing [POST http://n/v2.1/servers], but got 409 instead: {}",
			"Expected HTTP response code [201] when accessing [POST http://n/v2.1/servers], but got 503 instead: {}",
			"Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/",
		},
		v1beta1.ErrorRetryableConfigurationProblem: {
			`error while evicting pod "a": pod disruption budget default/b is misconfigured and requires zero voluntary evictions`,
		},
	} {
		var codes []v1beta1.ErrorCode
		if want != "" {
			codes = []v1beta1.ErrorCode{want}
		}
		for _, text := range texts {
			if diff := cmp.Diff(codes, util.DetermineErrorCodes(errorOf(text), knownCodes)); diff != "" {
				t.Errorf("%s: %s", text, diff)
			}
		}
	}
}

type errorOf string

func (e errorOf) Error() string { return string(e) }
