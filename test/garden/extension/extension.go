// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package extension installs the charts of the admission component of this project,
// gardener-extension-admission-openstack, in a garden, and runs it beside the garden: as a process of its own with
// the arguments of the Deployment and the rights of the charts' ServiceAccounts, and no others.
//
//   - install.go: the charts, and who the component is
//   - extension.go: its processes
package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	// What the program is made of, so that go test runs a test again after a change of it: it does not see what Build
	// builds.
	_ "github.com/capkit/capkit/pkg/admission"
	_ "github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/garden"
)

// The names by which the component is known in a garden.
const (
	// Name is that of the component and of its webhook configurations.
	Name = "gardener-extension-admission-openstack"
	// Namespace is where the component keeps its certificates and its lease. Every garden has it.
	Namespace = "garden"
)

// Replica is how one process of the component is configured.
type Replica struct {
	// Path of the program; Build makes it.
	Path string
	// Address, as host:port, at which the webhooks are served, and HealthAddress that of /healthz and /readyz.
	Address, HealthAddress string
	// RegisteredAddress is where the API server sends requests to; empty for Address.
	RegisteredAddress string
	// CertificateFolder is a folder of this replica alone.
	CertificateFolder string
	// Args are further flags, and Env further environment variables.
	Args, Env []string

	installation *Installation
}

// Build compiles the program, and returns its path.
func Build(ctx context.Context) (string, error) {
	return garden.Compile(ctx, os.Stderr, "./cmd/"+Name, Name)
}

// New returns a replica of the program at this path, with addresses on loopback that are free.
func (i *Installation) New(path string) (Replica, error) {
	address, err := FreeAddress()
	if err != nil {
		return Replica{}, err
	}
	health, err := FreeAddress()
	if err != nil {
		return Replica{}, err
	}
	_, port, _ := net.SplitHostPort(address)
	return Replica{
		Path: path, Address: address, HealthAddress: health, CertificateFolder: filepath.Join(i.folder, "certificates-"+port), installation: i,
	}, nil
}

// FreeAddress returns an address on loopback that is free.
func FreeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// Program returns how to start the replica: like the container of the Deployment, but for the addresses.
func (r Replica) Program() garden.Program {
	host, port, _ := net.SplitHostPort(r.Address)
	registered := r.RegisteredAddress
	if registered == "" {
		registered = r.Address
	}
	// Of two flags of a name the last one counts.
	args := slices.Concat(r.installation.args, []string{
		"--webhook-config-url=" + registered,
		"--webhook-config-server-host=" + host,
		"--webhook-config-server-port=" + port,
		"--webhook-config-cert-dir=" + r.CertificateFolder,
		"--health-bind-address=" + r.HealthAddress,
		"--metrics-bind-address=0",
		"--shutdown-delay-duration=1s",
	}, r.Args)
	return garden.Program{Name: Name, Path: r.Path, Args: args, Env: slices.Concat(r.installation.env, r.Env)}
}

// Run installs the charts in a garden, starts one replica of the program at this path, and waits until the API server
// asks it.
func Run(ctx context.Context, g *garden.Garden, path string) (*garden.Process, error) {
	installation, err := Install(ctx, g)
	if err != nil {
		return nil, err
	}
	replica, err := installation.New(path)
	if err != nil {
		return nil, err
	}
	process, err := Start(ctx, g, replica)
	if err != nil {
		return nil, err
	}
	return process, WaitUntilInstalled(ctx, g)
}

// Start starts a replica, whose logs go to a file named after its port, and waits until it is ready.
func Start(ctx context.Context, g *garden.Garden, r Replica) (*garden.Process, error) {
	program := r.Program()
	process, err := g.StartProcess(context.WithoutCancel(ctx), garden.ProcessOptions{
		Path: program.Path, Args: program.Args, Env: program.Env, LogFile: LogFile(g, r),
	})
	if err != nil {
		return nil, err
	}
	ready, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-process.Done():
			cancel(errors.New("it has ended"))
		case <-ready.Done():
		}
	}()
	if err := r.WaitUntilReady(ready); err != nil {
		log, _ := os.ReadFile(LogFile(g, r))
		return nil, errors.Join(fmt.Errorf("%w; its log:\n%s", err, log), process.Kill())
	}
	return process, nil
}

// LogFile is where Start puts the logs of a replica.
func LogFile(g *garden.Garden, r Replica) string {
	_, port, _ := net.SplitHostPort(r.Address)
	return filepath.Join(g.Logs(), Name+"-"+port+".log")
}

// WaitUntilReady waits until /readyz says that all is well.
func (r Replica) WaitUntilReady(ctx context.Context) error { return waitUntil(ctx, "ready", r.ready) }

// waitUntil waits until a check finds nothing wrong. The error says what it found last.
func waitUntil(ctx context.Context, what string, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		if err == nil || ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s is not %s: %w", Name, what, errors.Join(context.Cause(ctx), err, last))
	}
	return nil
}

func (r Replica) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.HealthAddress+"/readyz?verbose", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		checks, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: %s", response.Status, checks)
	}
	return nil
}

// WaitUntilInstalled waits until the API server asks the component: until the webhooks are registered with a
// certificate, and a CloudProfile that only the component refuses is refused.
func WaitUntilInstalled(ctx context.Context, g *garden.Garden) error {
	return waitUntil(ctx, "installed", func(ctx context.Context) error { return installed(ctx, g) })
}

func installed(ctx context.Context, g *garden.Garden) error {
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := g.Client().Get(ctx, client.ObjectKey{Name: Name}, config); err != nil {
		return err
	}
	probe := &v1beta1.CloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec: v1beta1.CloudProfileSpec{
			Type:         "openstack",
			Kubernetes:   v1beta1.KubernetesSettings{Versions: []v1beta1.ExpirableVersion{{Version: "1.33.2"}}},
			MachineTypes: []v1beta1.MachineType{{Name: "small", CPU: resource.MustParse("2"), GPU: resource.MustParse("0"), Memory: resource.MustParse("4Gi")}},
			MachineImages: []v1beta1.MachineImage{{Name: "gardenlinux", Versions: []v1beta1.MachineImageVersion{{
				ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"}, CRI: []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}},
			}}}},
			Regions: []v1beta1.Region{{Name: "eu"}},
		},
	}
	err := g.Client().Create(ctx, probe, client.DryRunAll)
	if apierrors.IsInvalid(err) && strings.Contains(err.Error(), "spec.providerConfig: Required") {
		return nil
	}
	return fmt.Errorf("a CloudProfile without provider config was answered with: %w", err)
}

// Review returns the request of the API server whether an object, given as JSON, may be created.
func Review(object []byte) ([]byte, error) {
	return json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "5b1a", Operation: admissionv1.Create, Name: "direct", Object: runtime.RawExtension{Raw: object},
		},
	})
}
