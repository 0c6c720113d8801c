// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/generate"
)

// BenchmarkShootAdmissions sends the creation of 2000 Shoots, which use four CloudProfiles of 1 MiB. It reports the time
// for each, and how many profiles were compiled.
func BenchmarkShootAdmissions(b *testing.B) {
	const shoots, versions = 2000, 4
	reader, requests := &stored{profiles: map[string]*v1beta1.CloudProfile{}}, make([]admission.Request, versions)
	for i := range versions {
		profile := &v1beta1.CloudProfile{Spec: *generate.OpenStack(1 << 20)}
		profile.Name, profile.UID, profile.ResourceVersion = fmt.Sprintf("profile-%d", i), "a", fmt.Sprint(i)
		reader.profiles[profile.Name] = profile
		requests[i] = admission.Request{AdmissionRequest: *reviewed(b, "Shoot", fitting(b, profile), nil).Request}
	}
	for b.Loop() {
		provider := newCounting()
		rows := table(provider, &lookup[openstack.Image]{cached: reader, live: reader, profiles: newProfiles(provider)})
		handler := rows[2].webhook("openstack").Webhook
		start := time.Now()
		for i := range shoots {
			response := handler.Handle(b.Context(), requests[i%versions])
			if !response.Allowed {
				b.Fatal(response.Result)
			}
		}
		b.ReportMetric(float64(time.Since(start).Nanoseconds())/shoots, "ns/admission")
		b.ReportMetric(float64(provider.number.Load()), "compilations")
		if provider.number.Load() != versions {
			b.Errorf("%d compilations of %d profiles", provider.number.Load(), versions)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// fitting returns a Shoot with three worker pools, each of which gets an image.
func fitting(b *testing.B, profile *v1beta1.CloudProfile) *v1beta1.Shoot {
	b.Helper()
	shoot := example[v1beta1.Shoot](b, "shoot.yaml")
	shoot.Spec.CloudProfile.Name, shoot.Spec.Region = profile.Name, profile.Spec.Regions[0].Name
	config := shoot.Spec.Provider.InfrastructureConfig
	config.Raw = bytes.ReplaceAll(config.Raw, []byte("fp-pool-1"), []byte("FloatingIP-external-1"))
	profile.Spec.Regions[0].Zones = []v1beta1.AvailabilityZone{{Name: shoot.Spec.Provider.Workers[0].Zones[0]}}
	kept := newProfiles(openstack.Provider{}).get("CloudProfile", profile, &profile.Spec).profile
	var fit []v1beta1.Worker
	worker := shoot.Spec.Provider.Workers[0]
	image := profile.Spec.MachineImages[0]
	for _, machine := range profile.Spec.MachineTypes {
		for _, version := range image.Versions {
			worker.Name = fmt.Sprintf("pool-%d", len(fit))
			worker.Machine = v1beta1.Machine{Type: machine.Name, Image: &v1beta1.ShootMachineImage{Name: image.Name, Version: ptr.To(version.Version)}}
			if architectures := machine.Capabilities["architecture"]; len(architectures) == 1 {
				worker.Machine.Architecture = ptr.To(architectures[0])
			}
			shoot.Spec.Provider.Workers = []v1beta1.Worker{worker}
			if report := kept.ValidateShoot(shoot, nil); len(report.Errors) == 0 {
				fit = append(fit, worker)
				break
			}
		}
		if len(fit) == 3 {
			shoot.Spec.Provider.Workers = fit
			return shoot
		}
	}
	b.Fatalf("only %d pools get an image", len(fit))
	return nil
}
