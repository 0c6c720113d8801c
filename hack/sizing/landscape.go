// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/garden"
)

const (
	// configSize is that of the provider config; with the part of core the object has about 1 MiB as JSON.
	configSize = 740 << 10
	zone       = "zone-a"
	project    = "demo"
)

// landscape is what is in the garden.
type landscape struct {
	client   client.Client
	spec     *v1beta1.CloudProfileSpec
	shoot    *v1beta1.Shoot
	size     int // of a CloudProfile, as JSON
	profiles int
	shoots   int
}

func newLandscape(ctx context.Context, g *garden.Garden, writer client.Client) (*landscape, error) {
	if _, err := g.NewProject(ctx, project); err != nil {
		return nil, err
	}
	l := &landscape{client: writer, spec: profileSpec()}
	images := make([]string, 0, len(l.spec.MachineImages))
	for _, image := range l.spec.MachineImages {
		images = append(images, image.Name)
	}
	if err := g.NewRegistration(ctx, "openstack", "openstack", "cilium", images...); err != nil {
		return nil, err
	}
	if err := g.Apply(ctx, "hack/garden/demo/setup.yaml"); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(l.profile(0))
	if err != nil {
		return nil, err
	}
	l.size = len(raw)
	l.shoot, err = fittingShoot(l.spec)
	return l, err
}

// profileSpec returns a spec that Gardener's API server accepts.
func profileSpec() *v1beta1.CloudProfileSpec {
	spec := generate.OpenStack(configSize)
	spec.Kubernetes.Versions = []v1beta1.ExpirableVersion{{Version: "1.33.2"}}
	for i := range spec.MachineTypes {
		t := &spec.MachineTypes[i]
		t.CPU, t.GPU, t.Memory = resource.MustParse("4"), resource.MustParse("0"), resource.MustParse("8Gi")
	}
	for i := range spec.MachineImages {
		for j := range spec.MachineImages[i].Versions {
			spec.MachineImages[i].Versions[j].CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
		}
	}
	for i := range spec.Regions {
		spec.Regions[i].Zones = []v1beta1.AvailabilityZone{{Name: zone}}
	}
	spec.VolumeTypes = []v1beta1.VolumeType{{Name: "default", Class: "standard"}}
	return spec
}

// fittingShoot returns the Shoot of the examples with a worker pool that gets an image.
func fittingShoot(spec *v1beta1.CloudProfileSpec) (*v1beta1.Shoot, error) {
	content, err := os.ReadFile("example/shoot.yaml")
	if err != nil {
		return nil, err
	}
	shoot := &v1beta1.Shoot{}
	if err := yaml.Unmarshal(content, shoot); err != nil {
		return nil, err
	}
	compiled, _ := check.CloudProfile(openstack.Provider{}, &v1beta1.CloudProfile{Spec: *spec})
	shoot.Spec.Region = spec.Regions[0].Name
	config := shoot.Spec.Provider.InfrastructureConfig
	config.Raw = bytes.ReplaceAll(config.Raw, []byte("fp-pool-1"), []byte("FloatingIP-external-1"))
	shoot.Spec.Provider.Workers = shoot.Spec.Provider.Workers[:1]
	worker := &shoot.Spec.Provider.Workers[0]
	worker.Zones, worker.Volume = []string{zone}, &v1beta1.Volume{Type: ptr.To("default"), VolumeSize: "20Gi"}
	for _, image := range spec.MachineImages {
		for _, machine := range spec.MachineTypes {
			version := image.Versions[0].Version
			worker.Machine = v1beta1.Machine{Type: machine.Name, Image: &v1beta1.ShootMachineImage{Name: image.Name, Version: &version}}
			if architectures := machine.Capabilities["architecture"]; len(architectures) == 1 {
				worker.Machine.Architecture = &architectures[0]
			}
			if report := check.Shoot(compiled, shoot, nil); len(report.Errors) == 0 {
				return shoot, nil
			}
		}
	}
	return nil, errors.New("no worker pool gets an image")
}

// profile returns one of the CloudProfiles.
func (l *landscape) profile(n int) *v1beta1.CloudProfile {
	return &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("profile-%d", n)}, Spec: *l.spec.DeepCopy()}
}

// newShoot returns one of the Shoots. They use the profiles in turns.
func (l *landscape) newShoot(n int) *v1beta1.Shoot {
	shoot := l.shoot.DeepCopy()
	shoot.Name, shoot.Namespace = fmt.Sprintf("shoot-%d", n), "garden-"+project
	shoot.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: fmt.Sprintf("profile-%d", n%max(1, l.profiles))}
	return shoot
}

// grow creates what is missing.
func (l *landscape) grow(ctx context.Context, profiles, shoots int) error {
	for ; l.profiles < profiles; l.profiles++ {
		if err := l.client.Create(ctx, l.profile(l.profiles)); err != nil {
			return err
		}
	}
	for ; l.shoots < shoots; l.shoots++ {
		if err := l.client.Create(ctx, l.newShoot(l.shoots)); err != nil {
			return err
		}
	}
	return nil
}

// slowest is how long the slowest write of each kind took.
type slowest struct {
	mu             sync.Mutex
	shoot, profile time.Duration
}

func (s *slowest) note(of *time.Duration, begin time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*of = max(*of, time.Since(begin))
}

// write writes for a while, without changing anything, at the same pace however long the writes take, and calls look with each
// one. If there is no profile yet, it creates one, and no Shoots.
func (l *landscape) write(ctx context.Context, duration time.Duration, look func() error) (*slowest, error) {
	ticker := time.NewTicker(time.Minute / perMinute)
	defer ticker.Stop()
	writes, ctx := errgroup.WithContext(ctx)
	s := &slowest{}
	for n := range int(perMinute * duration / time.Minute) {
		select {
		case <-ctx.Done():
			return nil, errors.Join(writes.Wait(), context.Cause(ctx))
		case <-ticker.C:
		}
		if err := look(); err != nil {
			return nil, errors.Join(err, writes.Wait())
		}
		begin := time.Now()
		switch {
		case n%perProfile == 0:
			writes.Go(func() error {
				defer s.note(&s.profile, begin)
				return l.writeProfile(ctx, n/perProfile)
			})
		case l.profiles > 0:
			writes.Go(func() error {
				defer s.note(&s.shoot, begin)
				return l.client.Create(ctx, l.newShoot(1000000+n), client.DryRunAll)
			})
		}
	}
	return s, writes.Wait()
}

// writeProfile updates one of the profiles, or would create one if there is none.
func (l *landscape) writeProfile(ctx context.Context, n int) error {
	profile := l.profile(n % max(1, l.profiles))
	profile.Spec.MachineTypes[0].Memory = resource.MustParse(fmt.Sprintf("%dGi", 8+n%8))
	if l.profiles == 0 {
		return l.client.Create(ctx, profile, client.DryRunAll)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"machineTypes": profile.Spec.MachineTypes}})
	if err != nil {
		return err
	}
	return l.client.Patch(ctx, profile, client.RawPatch(types.MergePatchType, patch), client.DryRunAll)
}
