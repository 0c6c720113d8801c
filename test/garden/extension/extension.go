// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package extension installs the charts of the admission components of this project in a garden, and runs them beside
// the garden: as processes of their own with the arguments of the Deployment and the rights of the charts'
// ServiceAccounts, and no others.
//
//   - component.go: which component it is
//   - install.go: the charts, and who the component is in a garden
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
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"

	// What the programs are made of, besides the providers, so that go test runs a test again after a change of it: it does
	// not see what Build builds.
	_ "github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/test/garden"
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

// New returns a replica of the program at this path, with addresses on loopback that are free.
func (i *Installation) New(path string) (Replica, error) {
	address, err := garden.FreeAddress()
	if err != nil {
		return Replica{}, err
	}
	health, err := garden.FreeAddress()
	if err != nil {
		return Replica{}, err
	}
	_, port, _ := net.SplitHostPort(address)
	return Replica{
		Path: path, Address: address, HealthAddress: health, CertificateFolder: filepath.Join(i.folder, "certificates-"+port), installation: i,
	}, nil
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
	return garden.Program{Name: r.installation.Name(), Path: r.Path, Args: args, Env: slices.Concat(r.installation.env, r.Env)}
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
	if err := WaitUntilReady(ctx, program.Name, process, r.HealthAddress, LogFile(g, r)); err != nil {
		return nil, errors.Join(err, process.Kill())
	}
	return process, nil
}

// WaitUntilReady waits until /readyz of a process says that all is well. It does not wait any longer if the process has ended. The error
// has what it has logged.
func WaitUntilReady(ctx context.Context, name string, process *garden.Process, healthAddress, logFile string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-process.Done():
			cancel(errors.New("it has ended"))
		case <-ctx.Done():
		}
	}()
	if err := waitUntilReady(ctx, name, healthAddress); err != nil {
		log, _ := os.ReadFile(logFile)
		return fmt.Errorf("%w; its log:\n%s", err, log)
	}
	return nil
}

func waitUntilReady(ctx context.Context, name, healthAddress string) error {
	return waitUntil(ctx, name+" is not ready", func(ctx context.Context) error { return ready(ctx, healthAddress) })
}

// LogFile is where Start puts the logs of a replica.
func LogFile(g *garden.Garden, r Replica) string {
	_, port, _ := net.SplitHostPort(r.Address)
	return filepath.Join(g.Logs(), r.installation.Name()+"-"+port+".log")
}

// WaitUntilReady waits until /readyz says that all is well.
func (r Replica) WaitUntilReady(ctx context.Context) error {
	return waitUntilReady(ctx, r.installation.Name(), r.HealthAddress)
}

// patience is for a machine whose API server may be kept from answering for a minute or two by others.
const patience = 5 * time.Minute

// waitUntil waits until a check finds nothing wrong. The error begins with what is wrong, and says what it found last.
func waitUntil(ctx context.Context, wrong string, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		if err == nil || ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", wrong, errors.Join(context.Cause(ctx), err, last))
	}
	return nil
}

func ready(ctx context.Context, healthAddress string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+healthAddress+"/readyz?verbose", nil)
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

// Review returns the request of the API server whether an object, given as JSON, may be created.
func Review(object []byte) ([]byte, error) {
	return json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "5b1a", Operation: admissionv1.Create, Name: "direct", Object: runtime.RawExtension{Raw: object},
		},
	})
}
