// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/garden/samples"
)

// step is one step of the demo.
type step struct {
	// title says what the step tries, and why.
	title string
	// kubectl has the arguments of kubectl, or capkit those of capkit.
	kubectl, capkit []string
	// refused is set if the API server must refuse it.
	refused bool
	// says are texts that the output must contain.
	says []string
	// eventually is set if the expected result may take a moment.
	eventually bool
	// again has arguments of kubectl to repeat before each further try, because a controller may have acted before it saw the writes of
	// earlier steps.
	again []string
}

func apply(file string) []string { return []string{"apply", "-f", file} }

// maintenanceOf requests the maintenance of a Shoot, and eventsOf the admission component's Events about one.
func maintenanceOf(shoot string) []string {
	return []string{"annotate", "shoot", shoot, "-n", "garden-demo", "gardener.cloud/operation=maintain"}
}

func eventsOf(shoot string) []string {
	return []string{"get", "events", "-n", "garden-demo", "--field-selector", "involvedObject.name=" + shoot + ",reportingComponent=" + extension.Name}
}

// maintain requests the maintenance of the Shoot with trusted launch.
var maintain = maintenanceOf("bank")

// images is the first chapter of the demo for OpenStack: profiles, and Shoots without an image. A demo fails if a step has an unexpected
// result.
var images = []step{
	{title: "The example CloudProfile: core and provider config agree one to one. It is admitted.",
		kubectl: apply("example/cloudprofile.yaml"), says: []string{"created"}},
	{title: "The provider config lacks a flavor that core lists. Refused, with the place and the repair.",
		kubectl: apply("example/broken/provider-flavor-missing.yaml"), refused: true,
		says: []string{"capabilityFlavors[", "add it under"}},
	{title: "The provider config has a flavor that core does not list. Refused.",
		kubectl: apply("example/broken/provider-flavor-unexpected.yaml"), refused: true,
		says: []string{"spec.providerConfig.machineImages[", "Forbidden"}},
	{title: "A flavor has no image in one of the regions. That may be meant: admitted, with a warning.",
		kubectl: apply("hack/garden/demo/cloudprofile-gap.yaml"), says: []string{"Warning: ", "asia", "created"}},
	{title: "A NamespacedCloudProfile adds an image version of its own, for one project.",
		kubectl: apply("hack/garden/demo/namespacedcloudprofile.yaml"), says: []string{"created"}},
	{title: "Admission has filled in the flavors that core needs.",
		kubectl: []string{"get", "namespacedcloudprofile", "preview", "-n", "garden-demo", "-o", `jsonpath={.spec.machineImages[0].versions[*].capabilityFlavors}{"\n"}`},
		says:    []string{"virtualized"}},
	{title: "Gardener renders it into a CloudProfile, and admission merges the images of the provider config.",
		kubectl: []string{"get", "namespacedcloudprofile", "preview", "-n", "garden-demo", "-o",
			`jsonpath={range .status.cloudProfileSpec.providerConfig.machineImages[*].versions[*]}{.version}{": "}{.capabilityFlavors[*].regions[*].id}{"\n"}{end}`},
		says: []string{"1877.5.0: ", "2000.0.0: 2000-amd64-virt 2001-amd64-virt"}, eventually: true},
	{title: "A Shoot in asia, on the machine type whose flavor has no image there. Refused, with what would work.",
		kubectl: apply("hack/garden/demo/shoot-bare.yaml"), refused: true,
		says: []string{"no image fits machine type bare_8_16", "would work:", "medium_4_8"}},
	{title: "The same Shoot on the machine type that was suggested. It is admitted.",
		kubectl: apply("hack/garden/demo/shoot-virtual.yaml"), says: []string{"created"}},
}

// launch is the chapter on trusted launch, which a worker pool requests by a setting.
var launch = []step{
	{title: "A CloudProfile registers trusted launch. One image version has a flavor for it, an older one has not.",
		kubectl: apply("example/cloudprofile-trusted-launch.yaml"), says: []string{"created"}},
	{title: "A Shoot asks for it, with the older version. What an image does not declare it does not have. Refused, with what would work.",
		kubectl: apply("hack/garden/demo/shoot-launch-old.yaml"), refused: true,
		says: []string{"worker pool ledger: trustedLaunch.enabled: true asks for", "does not declare openstack-trustedLaunch", "would work: version 1877.5.0"}},
	{title: "The same Shoot with the version that was suggested. It is admitted.",
		kubectl: apply("example/shoot-trusted-launch.yaml"), says: []string{"created"}},
	{title: "The worker pool that asks boots the flavor for trusted launch, the other one does not. The command line tells which, without a garden.",
		capkit: []string{"select", "example/shoot-trusted-launch.yaml", "example/cloudprofile-trusted-launch.yaml"},
		says:   []string{"worker pool ledger: ", "(trustedLaunch.enabled: true) boots id 1234-amd64-trusted", "worker pool web: ", "boots id 1234-amd64\n"}},
	{title: "The operator adds a newer image version, without a flavor for trusted launch yet, and a newer Kubernetes.",
		kubectl: []string{"patch", "cloudprofile", "openstack-trusted-launch", "--type=json",
			"--patch-file=hack/garden/demo/newer-versions.yaml"},
		says: []string{"patched"}},
	{title: "A user gives that version to ledger, the worker pool that asks. Refused, as before.",
		kubectl: []string{"patch", "shoot", "bank", "-n", "garden-demo", "--type=json", "-p",
			`[{"op":"replace","path":"/spec/provider/workers/0/machine/image/version","value":"1877.6.0"}]`},
		refused: true, eventually: true, // until the API server and admission have seen the version
		says: []string{"no flavor of gardenlinux@1877.6.0", "does not declare openstack-trustedLaunch",
			"would work: version 1877.5.0"}},
	{title: "Gardener's maintenance does not look at that, and chooses it for both worker pools. Maintain the Shoot now.",
		kubectl: maintain, says: []string{"annotated"}},
	{title: "It succeeds: admission replaces a version that does not boot if Gardener, and not a user, has chosen it.",
		kubectl: []string{"wait", "shoot", "bank", "-n", "garden-demo", "--timeout=10s",
			"--for=jsonpath={.status.lastMaintenance.state}=Succeeded"},
		says: []string{"condition met"}, eventually: true, again: maintain},
	{title: "ledger stays on the newest version that boots with trusted launch. web and Kubernetes are updated.",
		kubectl: []string{"get", "shoot", "bank", "-n", "garden-demo", "-o",
			`jsonpath={range .spec.provider.workers[*]}{.name}{": "}{.machine.image.version}{"\n"}{end}` +
				`{"Kubernetes: "}{.spec.kubernetes.version}{"\n"}`},
		says: []string{"ledger: 1877.5.0\n", "web: 1877.6.0\n", "Kubernetes: 1.33.3\n"}, eventually: true},
	{title: "An Event of the admission component on the Shoot says so, and why.",
		kubectl: eventsOf("bank"),
		says: []string{"shoot/bank", "ledger stays on gardenlinux@1877.5.0: maintenance chose gardenlinux@1877.6.0",
			"does not declare openstack-trustedLaunch"}, eventually: true},
}

// demo starts a garden and an admission component, runs the steps, and stops everything.
func demo(ctx context.Context, c extension.Component) error {
	before, after := []step(nil), slices.Concat(images, launch)
	if c != extension.OpenStack {
		made, err := samples.Of(".", c.Component)
		if err != nil {
			return err
		}
		if before, after, err = stepsOf(made); err != nil {
			return err
		}
	}
	if err := show(ctx, c, garden.Options{}, before, after); err != nil {
		return err
	}
	fmt.Println("make up leaves such a garden running, to try more.")
	return nil
}

// show starts a garden, runs the steps before, starts an admission component, runs the steps after, and stops everything.
func show(ctx context.Context, c extension.Component, o garden.Options, before, after []step) (err error) {
	program, err := c.Build(ctx)
	if err != nil {
		return err
	}
	if _, err := capkit(ctx, "--version"); err != nil { // compiled now instead of between the steps
		return err
	}
	fmt.Fprintln(os.Stderr, "starting etcd, kube-apiserver, gardener-apiserver and gardener-controller-manager")
	begin := time.Now()
	g, err := garden.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Stop()) }()
	if err := project(ctx, g, c); err != nil {
		return err
	}
	if err := runAll(ctx, g, before); err != nil {
		return err
	}
	if _, err := c.Run(ctx, g, program); err != nil {
		return err
	}
	fmt.Printf("\nA garden with the %s is ready, after %.0f seconds.\n", c.Short(), time.Since(begin).Seconds())
	if err := runAll(ctx, g, after); err != nil {
		return err
	}
	fmt.Println("\nAll of this went as it should.")
	return nil
}

func runAll(ctx context.Context, g *garden.Garden, steps []step) error {
	for _, s := range steps {
		if err := s.run(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// project creates the project of the examples, with credentials, and registers the cloud, so that the garden accepts its Shoots.
func project(ctx context.Context, g *garden.Garden, c extension.Component) error {
	if _, err := g.NewProject(ctx, "demo"); err != nil {
		return err
	}
	made, err := samples.Of(".", c.Component)
	if err != nil {
		return err
	}
	return errors.Join(samples.Register(ctx, g, made), samples.Apply(ctx, g.Client(), made.Credentials()...))
}

// run runs a step and prints it like a terminal session.
func (s step) run(ctx context.Context, g *garden.Garden) error {
	program, args, do := "kubectl", s.kubectl, g.Kubectl
	if s.capkit != nil {
		program, args, do = goRun, s.capkit, capkit
	}
	fmt.Printf("\n# %s\n$ %s %s\n", s.title, program, command(args))
	output, err := do(ctx, args...)
	wrong := s.wrong(output, err)
	deadline := time.Now().Add(2 * time.Minute)
	for s.eventually && wrong != nil && ctx.Err() == nil && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		if s.again != nil {
			if _, err := g.Kubectl(ctx, s.again...); err != nil {
				return err
			}
		}
		output, err = do(ctx, args...)
		wrong = s.wrong(output, err)
	}
	fmt.Print(output)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return wrong
}

// wrong returns the first deviation of the output from the expected one; nil if there is none.
func (s step) wrong(output string, err error) error {
	switch {
	case s.refused && err == nil:
		return errors.New("this should have been refused")
	case !s.refused && err != nil:
		return errors.New("this should have been accepted")
	}
	for _, text := range s.says {
		if !strings.Contains(output, text) {
			return fmt.Errorf("this should have said %q", text)
		}
	}
	return nil
}

// goRun is the demo's command for capkit, which also works in a fresh clone.
const goRun = "go run ./cmd/capkit"

func capkit(ctx context.Context, args ...string) (string, error) {
	words := append(strings.Fields(goRun), args...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), errors.Join(context.Cause(ctx), err), output)
	}
	return string(output), err
}

// command formats arguments for a shell.
func command(args []string) string {
	quoted := make([]string, 0, len(args))
	for _, arg := range args {
		if strings.ContainsAny(arg, " {}\"*$") {
			arg = "'" + arg + "'"
		}
		quoted = append(quoted, arg)
	}
	return strings.Join(quoted, " ")
}
