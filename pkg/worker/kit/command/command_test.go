// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/worker/kit/command"
)

// errAdded is the error of adding the controller in these tests.
var errAdded = errors.New("added")

// acme is a controller that is never run; added receives its options.
func acme(added *command.Options) command.Controller {
	return command.Controller{
		Program: "gardener-extension-provider-acme", Component: "provider-acme-worker", Type: "acme",
		Add: func(_ context.Context, _ manager.Manager, o command.Options) error {
			*added = o
			return errAdded
		},
	}
}

// kubeconfig writes a kubeconfig for an unused server.
func kubeconfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	const content = `{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}],
clusters: [{name: x, cluster: {server: "https://127.0.0.1:1"}}], users: [{name: x, user: {token: x}}]}`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// environment sets the variables that the program reads.
func environment(t *testing.T, namespace, garden string) {
	t.Helper()
	t.Setenv("LEADER_ELECTION_NAMESPACE", namespace)
	t.Setenv("GARDEN_KUBECONFIG", garden)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
}

// run runs the command, which ends before it contacts a server.
func run(t *testing.T, added *command.Options, args ...string) error {
	t.Helper()
	cmd := command.New(acme(added))
	cmd.SetArgs(args)
	return cmd.ExecuteContext(t.Context())
}

func TestNames(t *testing.T) {
	environment(t, "extension-acme", "")
	cmd := command.New(acme(&command.Options{}))
	if cmd.Use != "gardener-extension-provider-acme" {
		t.Error(cmd.Use)
	}
	for flag, want := range map[string]string{
		"leader-election": "true", "leader-election-id": "provider-acme-worker-leader-election", "leader-election-namespace": "extension-acme",
		"heartbeat-namespace": "extension-acme", "heartbeat-renew-interval-seconds": "30", "worker-max-concurrent-reconciles": "5",
		"ignore-operation-annotation": "false", "extension-classes": "[shoot]", "self-hosted-shoot-cluster": "false",
	} {
		if got := cmd.Flag(flag); got == nil || got.DefValue != want {
			t.Errorf("--%s is %+v, want %s", flag, got, want)
		}
	}
	if usage := cmd.UsageString(); strings.Contains(usage, "webhook") || !strings.Contains(usage, "--disable-controllers") {
		t.Error(usage)
	}
}

// If the seed check refuses, the controller is not added, and nothing starts. A disabled controller is not checked.
func TestACheckRefuses(t *testing.T) {
	environment(t, "extension-acme", "")
	refused, added := errors.New("refused"), command.Options{}
	controller := acme(&added)
	controller.Check = func(context.Context, client.Reader) error { return refused }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for disabled, want := range map[string]error{"heartbeat": refused, "worker,heartbeat": nil} {
		cmd := command.New(controller)
		cmd.SetArgs([]string{
			"--kubeconfig=" + kubeconfig(t), "--metrics-bind-address=0", "--health-bind-address=0", "--leader-election=false",
			"--disable-controllers=" + disabled,
		})
		if err := cmd.ExecuteContext(ctx); !errors.Is(err, want) || added.ExtensionClasses != nil {
			t.Errorf("--disable-controllers=%s: %v; added with %+v", disabled, err, added)
		}
	}
}

// A dry run needs only the seed.
func TestDryRun(t *testing.T) {
	environment(t, "", "")
	added, controller := command.Options{}, acme(&command.Options{})
	if command.New(controller).Flag("dry-run") != nil {
		t.Error("there is a flag without effect")
	}
	said := errors.New("machines would be replaced")
	controller.DryRun = func(ctx context.Context, config *rest.Config, out io.Writer) error {
		if _, err := logr.FromContext(ctx); err != nil || config.QPS < 100 {
			t.Errorf("it logs nowhere (%v), or asks %v times a second", err, config.QPS)
		}
		fmt.Fprint(out, config.Host)
		return said
	}
	for args, want := range map[string]string{"--dry-run --kubeconfig=" + kubeconfig(t): "https://127.0.0.1:1", "--dry-run --kubeconfig=nowhere": ""} {
		cmd, out := command.New(controller), &strings.Builder{}
		cmd.SetArgs(strings.Fields(args))
		cmd.SetOut(out)
		err := cmd.ExecuteContext(t.Context())
		if out.String() != want || errors.Is(err, said) != (want != "") || err == nil || added.ExtensionClasses != nil {
			t.Errorf("%s: %s, %v", args, out, err)
		}
	}
}

// All errors are reported at once, with valid values.
func TestAllErrorsAtOnce(t *testing.T) {
	environment(t, "", "nowhere")
	added := command.Options{}
	err := run(t, &added, "--log-level=trace", "--log-format=xml", "--disable-controllers=workers", "--extension-classes=shoot,garden",
		"--metrics-bind-address=8080", "--health-bind-address=x:y:z", "--worker-max-concurrent-reconciles=0",
		"--leader-election-id=", "--heartbeat-renew-interval-seconds=0")
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		"the seed cannot be reached: ",
		"the kubeconfig of the garden, at the path in GARDEN_KUBECONFIG: stat nowhere: no such file or directory",
		`--log-level is "trace", and must be one of debug, info, error`,
		`--log-format is "xml", and must be one of json, text`,
		`--disable-controllers is "workers", and must be one of worker, heartbeat`,
		`--extension-classes is "garden", and must be one of shoot`,
		`--metrics-bind-address is "8080", and must be host:port, :port, or 0 for none`,
		`--health-bind-address is "x:y:z", and must be host:port, :port, or 0 for none`,
		"--worker-max-concurrent-reconciles is 0, and must be at least 1",
		"--leader-election-namespace or LEADER_ELECTION_NAMESPACE must name the namespace of the lease",
		"--leader-election-id must not be empty",
		"--heartbeat-namespace or LEADER_ELECTION_NAMESPACE must name the namespace of the heartbeat",
		"--heartbeat-renew-interval-seconds is 0, and must be at least 1",
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Errorf("%d lines, want %d:\n%v", len(lines), len(want), err)
	}
	for i, line := range lines[:min(len(lines), len(want))] {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("line %d is %q, want %q", i, line, want[i])
		}
	}
	if !strings.HasSuffix(lines[0], "give a kubeconfig with --kubeconfig or KUBECONFIG, or run in a pod of it") {
		t.Error(lines[0])
	}
}

func TestWhatIsNotNeededIsNotAskedFor(t *testing.T) {
	environment(t, "", "")
	added := command.Options{}
	err := run(t, &added, "--kubeconfig="+kubeconfig(t), "--leader-election=false", "--disable-controllers=heartbeat",
		"--metrics-bind-address=0", "--health-bind-address=0", "--heartbeat-renew-interval-seconds=0")
	if !errors.Is(err, errAdded) {
		t.Errorf("%v, want that the controller was added", err)
	}
	if added.GardenCluster != nil {
		t.Error("there is a garden, of which the program was told nothing")
	}
}

func TestOptionsOfTheController(t *testing.T) {
	environment(t, "extension-acme", kubeconfig(t))
	added := command.Options{}
	err := run(t, &added, "--kubeconfig="+kubeconfig(t), "--metrics-bind-address=0", "--health-bind-address=0",
		"--worker-max-concurrent-reconciles=7", "--ignore-operation-annotation", "--self-hosted-shoot-cluster")
	if !errors.Is(err, errAdded) {
		t.Fatal(err)
	}
	if added.GardenCluster == nil || added.Controller.MaxConcurrentReconciles != 7 || !added.IgnoreOperationAnnotation ||
		!added.SelfHostedShootCluster || len(added.ExtensionClasses) != 1 || added.ExtensionClasses[0] != "shoot" {
		t.Errorf("%+v", added)
	}
}

// A disabled controller is not added.
func TestDisabledControllers(t *testing.T) {
	environment(t, "extension-acme", "")
	added := command.Options{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // there is no server for leader election
	cmd := command.New(acme(&added))
	cmd.SetArgs([]string{
		"--kubeconfig=" + kubeconfig(t), "--metrics-bind-address=0", "--health-bind-address=0", "--leader-election=false", "--disable-controllers=worker,heartbeat",
	})
	if err := cmd.ExecuteContext(ctx); err != nil {
		t.Error(err)
	}
	if !slices.Equal(added.ExtensionClasses, nil) {
		t.Error("the controller was added")
	}
}
