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
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/go-logr/logr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/openstack/machines"
	"github.com/capkit/capkit/test/seed"
)

const (
	image, before, after = "gardenlinux", "1877.5.0", "2000.1.0"
	machineType          = "either_4_8"
	profileFile          = "hack/seed/demo/cloudprofile.yaml"
)

// add adds the worker controller of the demo.
func add(ctx context.Context, mgr manager.Manager) error {
	return machines.AddToManager(ctx, mgr, machines.AddOptions{})
}

// story is the life of the demo's shoot.
type story struct {
	ctx     context.Context
	shoot   *seed.Shoot
	profile *v1beta1.CloudProfile
	pools   []extensionsv1alpha1.WorkerPool
}

func title(format string, args ...any) { fmt.Printf("\n# "+format+"\n", args...) }

// demonstrate shows the life of a worker pool.
func demonstrate(ctx context.Context, s *seed.Seed) error {
	content, err := os.ReadFile(profileFile)
	if err != nil {
		return err
	}
	d := &story{ctx: ctx, profile: &v1beta1.CloudProfile{}}
	if err := yaml.UnmarshalStrict(content, d.profile); err != nil {
		return fmt.Errorf("%s: %w", profileFile, err)
	}
	if d.shoot, err = s.NewShoot(ctx, "shoot--demo--shop", seed.ShootOptions{Profile: d.profile}); err != nil {
		return err
	}
	stop, err := d.shoot.Run(nil, logr.Discard(), add)
	if err != nil {
		return err
	}
	for _, step := range []func() error{d.create, d.better, d.delist, d.roll} {
		if err := step(); err != nil {
			return errors.Join(err, stop())
		}
	}
	return stop()
}

// create creates a pool of two machines.
func (d *story) create() error {
	title("A Worker with a pool of two machines, web, on machine type %s with %s %s: the profile says what they boot.", machineType, image, before)
	if err := explain(); err != nil {
		return err
	}
	d.pools = []extensionsv1alpha1.WorkerPool{seed.Pool("web", machineType, image, before, seed.Size(2, 2),
		func(p *extensionsv1alpha1.WorkerPool) { p.Zones = []string{"europe-1a", "europe-1b"} })}
	if err := d.shoot.Create(d.ctx, d.shoot.Worker(d.pools...), ""); err != nil {
		return err
	}
	return errors.Join(succeeded(d.ctx, d.shoot), d.expect("1877-amd64-bare", "1877-amd64-bare"))
}

// better adds a flavor that ranks higher.
func (d *story) better() error {
	title("The operator adds a flavor of %s for virtual machines, which is ranked higher. Machines of web go on with the flavor\n"+
		"# that they have: nothing that decides about machines is written.", before)
	flavor := v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}}
	versions := d.profile.Spec.MachineImages[0].Versions
	versions[1].CapabilityFlavors = append(versions[1].CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: flavor})
	if err := d.configure(func(versions []any) []any {
		listed := versions[1].(map[string]any)
		listed["capabilityFlavors"] = append(listed["capabilityFlavors"].([]any), map[string]any{
			"capabilities": flavor, "regions": []any{map[string]any{"name": "europe", "id": "1877-amd64-virt"}},
		})
		return versions
	}); err != nil {
		return err
	}
	if err := d.unchanged(); err != nil {
		return err
	}
	title("A third machine of web boots what the others do. A new pool, fresh, gets the better flavor.")
	seed.Size(3, 3)(&d.pools[0])
	d.pools = append(d.pools, seed.Pool("fresh", machineType, image, before))
	return errors.Join(d.reconcile(), d.expect("1877-amd64-bare", "1877-amd64-bare", "1877-amd64-bare", "1877-amd64-virt"))
}

// delist removes the version from the profile.
func (d *story) delist() error {
	title("The operator takes %s off the profile. Nothing happens to the machines, and there can be more: fresh is scaled up.", before)
	d.profile.Spec.MachineImages[0].Versions = d.profile.Spec.MachineImages[0].Versions[:1]
	if err := d.configure(func(versions []any) []any { return versions[:1] }); err != nil {
		return err
	}
	if err := d.unchanged(); err != nil {
		return err
	}
	seed.Size(2, 2)(&d.pools[1])
	return errors.Join(d.reconcile(),
		d.expect("1877-amd64-bare", "1877-amd64-bare", "1877-amd64-bare", "1877-amd64-virt", "1877-amd64-virt"))
}

// roll updates web.
func (d *story) roll() error {
	title("A user updates web to %s %s: its machines are replaced, one after the other.", image, after)
	d.pools[0].MachineImage.Version, d.pools[0].NodeAgentSecretName = after, ptr.To("gardener-node-agent-web-fedcba9876543210")
	if err := d.shoot.Reconcile(d.ctx, func(w *extensionsv1alpha1.Worker) { w.Spec.Pools = d.pools }); err != nil {
		return err
	}
	return d.expect("1877-amd64-virt", "1877-amd64-virt", "2000-amd64-virt", "2000-amd64-virt", "2000-amd64-virt")
}

// configure changes the image versions in the provider config, and updates the profile in the Cluster.
func (d *story) configure(change func(versions []any) []any) error {
	raw := d.profile.Spec.ProviderConfig
	var config map[string]any
	if err := json.Unmarshal(raw.Raw, &config); err != nil {
		return err
	}
	images := config["machineImages"].([]any)[0].(map[string]any)
	images["versions"] = change(images["versions"].([]any))
	var err error
	raw.Raw, err = json.Marshal(config)
	return errors.Join(err, d.shoot.ChangeProfile(d.ctx, func(p *v1beta1.CloudProfile) { p.Spec = *d.profile.Spec.DeepCopy() }))
}

func (d *story) reconcile() error {
	err := d.shoot.Reconcile(d.ctx, func(w *extensionsv1alpha1.Worker) { w.Spec.Pools = d.pools })
	return errors.Join(err, succeeded(d.ctx, d.shoot))
}

// unchanged reconciles, and prints how many objects that decide about machines have changed. It fails if any has.
func (d *story) unchanged() error {
	was, err := d.shoot.Versions(d.ctx)
	if err != nil {
		return err
	}
	if err := d.reconcile(); err != nil {
		return err
	}
	is, err := d.shoot.Versions(d.ctx)
	if err != nil {
		return err
	}
	changed := was.Changed(is)
	fmt.Printf("reconciled: %d of %d objects changed (machine classes, their Secrets, machine deployments, machine sets, machines)\n",
		len(changed), len(was))
	if len(changed) > 0 {
		return fmt.Errorf("these should not have changed: %v", changed)
	}
	return nil
}

// expect waits until the machines boot these images, and prints the machines.
func (d *story) expect(images ...string) error { return expect(d.ctx, d.shoot, images...) }

// explain prints the command's explanation for a pool.
func explain() error {
	args := []string{"explain", "--image", image, "--version", before, "--machine-type", machineType, "--region", "europe", profileFile}
	var stdout, stderr bytes.Buffer
	if code := cli.Run(append([]string{"capkit"}, args...), strings.NewReader(""), &stdout, &stderr, clouds.All()...); code != 0 {
		return fmt.Errorf("capkit: %s%s", stdout.String(), stderr.String())
	}
	fmt.Printf("$ capkit %s\n%s\n", strings.Join(args, " "), strings.TrimSpace(stdout.String()))
	return nil
}
