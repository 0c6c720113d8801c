// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command sizing measures memory and CPU of the admission component, beside a real Gardener API, and prints the table of
// docs/operators/operations.md. The number of CloudProfiles of about 1 MiB grows, with a thousand writes a minute.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/go-logr/logr"
	"github.com/prometheus/procfs"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

const (
	// configSize is the size of the provider config; with the part of core, the object has about 1 MiB as JSON.
	configSize = 740 << 10
	// perMinute is the number of writes in a minute. One in perProfile is a CloudProfile, which calls two webhooks. The others are Shoots,
	// which call one.
	perMinute, perProfile = 1000, 50
)

// fitting adapts the Shoot of the examples to the profiles: its first worker pool gets an image.
var fitting = strings.NewReplacer("region: europe", "region: eu-de-1", "europe-1a", "zone-a", "fp-pool-1", "FloatingIP-external-1",
	"medium_4_8", "g_c2_m4\n        architecture: arm64", "1877.5.0", "1400.0.0")

// landscape has the contents of the garden, and writes there.
type landscape struct {
	client.Client
	spec             *v1beta1.CloudProfileSpec
	shoot            v1beta1.Shoot
	profiles, shoots int
}

func main() {
	duration := flag.Duration("duration", time.Minute, "how long to write at each stage")
	flag.Parse()
	log.SetLogger(logr.Discard()) // discard warnings
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *duration)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sizing:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, duration time.Duration) (err error) {
	program, err := extension.OpenStack.Build(ctx)
	if err != nil {
		return err
	}
	g, err := garden.Start(ctx, garden.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	process, err := extension.OpenStack.Run(ctx, g, program)
	if err != nil {
		return err
	}
	stat, err := procfs.NewProc(process.Pid())
	if err != nil {
		return err
	}
	l, err := newLandscape(ctx, g)
	if err != nil {
		return err
	}
	fmt.Println("| CloudProfiles | Shoots | memory at rest | memory under load | CPU under load | slowest write of a Shoot, of a CloudProfile |\n" +
		"|---|---|---|---|---|---|")
	for _, stage := range [][2]int{{0, 0}, {1, 0}, {10, 0}, {10, 1000}, {40, 1000}} {
		if err := l.grow(ctx, stage[0], stage[1]); err != nil {
			return err
		}
		time.Sleep(5 * time.Second) // until the component has read the new objects
		if err := l.measure(ctx, stat, duration); err != nil {
			return err
		}
	}
	return nil
}

// newLandscape registers images and provider, so that Gardener's API server accepts the profiles.
func newLandscape(ctx context.Context, g *garden.Garden) (*landscape, error) {
	l := &landscape{Client: g.Client(), spec: generate.OpenStack(configSize)}
	l.spec.Kubernetes.Versions = []v1beta1.ExpirableVersion{{Version: "1.33.2"}}
	l.spec.VolumeTypes = []v1beta1.VolumeType{{Name: "default", Class: "standard"}}
	for i := range l.spec.MachineTypes {
		t := &l.spec.MachineTypes[i]
		t.CPU, t.GPU, t.Memory = resource.MustParse("4"), resource.MustParse("0"), resource.MustParse("8Gi")
	}
	for i := range l.spec.Regions {
		l.spec.Regions[i].Zones = []v1beta1.AvailabilityZone{{Name: "zone-a"}}
	}
	var images []string
	for _, image := range l.spec.MachineImages {
		images = append(images, image.Name)
		for i := range image.Versions {
			image.Versions[i].CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
		}
	}
	example, err := os.ReadFile("example/shoot.yaml")
	if err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(fitting.Replace(string(example))), &l.shoot); err != nil {
		return nil, err
	}
	l.shoot.Spec.Provider.Workers = l.shoot.Spec.Provider.Workers[:1]
	_, err = g.NewProject(ctx, "demo")
	return l, errors.Join(err, g.NewRegistration(ctx, "openstack", "openstack", "cilium", images...),
		g.Apply(ctx, "hack/garden/demo/setup.yaml"))
}

// profile returns the nth CloudProfile.
func (l *landscape) profile(n int) *v1beta1.CloudProfile {
	return &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("profile-%d", n)}, Spec: *l.spec.DeepCopy()}
}

// newShoot returns the nth Shoot. Shoots use the profiles in turn.
func (l *landscape) newShoot(n int) *v1beta1.Shoot {
	shoot := l.shoot.DeepCopy()
	shoot.Name, shoot.Spec.CloudProfile.Name = fmt.Sprintf("shoot-%d", n), fmt.Sprintf("profile-%d", n%l.profiles)
	return shoot
}

// grow creates missing profiles and Shoots.
func (l *landscape) grow(ctx context.Context, profiles, shoots int) (err error) {
	for ; l.profiles < profiles && err == nil; l.profiles++ {
		err = l.Create(ctx, l.profile(l.profiles))
	}
	for ; l.shoots < shoots && err == nil; l.shoots++ {
		err = l.Create(ctx, l.newShoot(l.shoots))
	}
	return err
}

// write does the nth write, as a dry run. If there is no profile yet, it creates one instead of changing it, and no Shoots.
func (l *landscape) write(ctx context.Context, n int) error {
	switch {
	case n%perProfile > 0 && l.profiles > 0:
		return l.Create(ctx, l.newShoot(1000000+n), client.DryRunAll)
	case n%perProfile > 0:
		return nil
	case l.profiles == 0:
		return l.Create(ctx, l.profile(0), client.DryRunAll)
	}
	stored := l.profile(n / perProfile % l.profiles)
	changed := stored.DeepCopy()
	changed.Spec.MachineTypes[0].Memory = resource.MustParse(fmt.Sprintf("%dGi", 9+n/perProfile%8))
	return l.Patch(ctx, changed, client.MergeFrom(stored), client.DryRunAll)
}

// measure writes for a while, at a constant pace, and prints a line of the table.
func (l *landscape) measure(ctx context.Context, process procfs.Proc, duration time.Duration) error {
	before, err := process.Stat()
	if err != nil {
		return err
	}
	begin, now, most := time.Now(), before, before.ResidentMemory()
	var mu sync.Mutex
	slowest := map[bool]time.Duration{} // true: of CloudProfiles
	writes, ctx := errgroup.WithContext(ctx)
	for n := range int(perMinute * duration / time.Minute) {
		time.Sleep(time.Until(begin.Add(time.Duration(n) * time.Minute / perMinute)))
		writes.Go(func() error {
			begin := time.Now()
			err := l.write(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			slowest[n%perProfile == 0] = max(slowest[n%perProfile == 0], time.Since(begin))
			return err
		})
		if now, err = process.Stat(); err != nil || ctx.Err() != nil {
			break
		}
		most = max(most, now.ResidentMemory())
	}
	cpu := (now.CPUTime() - before.CPUTime()) / time.Since(begin).Seconds()
	size, _ := json.Marshal(l.profile(0)) // cannot fail
	fmt.Printf("| %d of %d KiB | %d | %d MiB | %d MiB | %.0f m | ",
		l.profiles, len(size)>>10, l.shoots, before.ResidentMemory()>>20, most>>20, 1000*cpu)
	if err := errors.Join(err, writes.Wait()); err != nil {
		return err
	}
	fmt.Printf("%d ms, %d ms |\n", slowest[false].Milliseconds(), slowest[true].Milliseconds())
	return nil
}
