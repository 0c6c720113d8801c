// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package garden starts a garden on this machine: etcd, kube-apiserver, gardener-apiserver with the admission plugins
// that it has by default, and gardener-controller-manager. There are no seeds: Shoots are accepted and kept, and
// nobody creates them. Tests use it, and hack/garden for people.
//
// It needs nothing but Go and this repository. The first Start builds what is missing, which takes minutes; from then
// on a garden is ready within seconds.
//
//   - garden.go: Start, Stop
//   - life.go: gardens that outlive the process which started them
//   - build.go: the programs and where they come from
//   - use.go: clients, kubectl, objects that nearly every test needs
//   - seen.go: writes that wait until caches have seen the writes before
//   - process.go: other programs beside the garden, for example an admission component
//   - address.go: where such programs listen
//   - server/: the process that the garden is
package garden

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden/internal/process"
	"github.com/capkit/capkit/test/garden/internal/protocol"
)

// stopTimeout is what a garden is given to stop by itself, before its processes are killed.
const stopTimeout = 3 * time.Minute

var (
	// ErrRunning is what Start returns if a garden runs in the folder already.
	ErrRunning = errors.New("a garden runs in this folder already")
	// ErrNotRunning is what Open returns if no garden runs in the folder, or if it is not ready yet.
	ErrNotRunning = errors.New("no garden that is ready runs in this folder")
)

// Options say how to start a garden. The zero value is good for tests.
type Options struct {
	// Folder is where the garden keeps its kubeconfig and its logs; it is created if it does not exist, and kept. The logs
	// of a garden before are removed. If Folder is empty the garden has a temporary one, which is removed when it stops.
	// There can be one garden in a folder. If the folder is removed the garden stops.
	Folder string
	// Progress receives what there is to say while programs are built. nil is os.Stderr.
	Progress io.Writer
	// FeatureGates are the feature gates of gardener-apiserver that are not as they are by default.
	FeatureGates map[string]bool
	// Version is that of gardener-apiserver, one of APIServers: then it is a program of its own, which is built before if it is not
	// there. If it is empty, the version is that of go.mod. gardener-controller-manager always has that one.
	Version string
	// AcceptsReserved has a gardener-apiserver of the version in go.mod with one rule replaced, as a program of its own: in the
	// vocabulary of a CloudProfile it accepts the reserved capabilities that Gardener defines by GEP-0054, gardener-update-type and
	// gardener-boot-type, with their values, and no others with that prefix. Gardener v1.150 accepts none.
	AcceptsReserved bool
	// CRDs are absolute paths of files with CustomResourceDefinitions. If there are any, it is not a garden that starts but
	// only etcd and kube-apiserver, with these: what package seed needs.
	CRDs []string
	// Audit makes kube-apiserver, through which every request comes, write down each one: in the file that AuditLog names.
	Audit bool
}

// Program is a program that belongs to a garden, see Detach: its Name, which is also that of its log file, its absolute
// Path, its Args and Env.
type Program = protocol.Program

// Garden is a garden that is ready. Its methods may be called from several goroutines.
type Garden struct {
	folder    string
	temporary bool
	assets    string
	config    *rest.Config
	client    client.Client
	seen      *seen

	server *process.Process // nil if Open was called
	life   io.WriteCloser   // the server stops when this is closed; nil if it was opened or detached
	alive  *os.File         // locked by the processes of the garden, see package protocol

	stop      func() error
	mu        sync.Mutex // guards what follows, and life
	processes []*Process // that StartProcess has started
	detached  bool       // or opened: the server does not stop when life is closed
}

// Start starts a garden and waits until it is ready. The garden stops when Stop is called, and also when this process
// ends without that, in whatever way. ctx is for the start only: if it ends before the garden is ready, Start stops
// what it has started and returns the error. It leaves nothing behind if it fails.
func Start(ctx context.Context, o Options) (*Garden, error) {
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	server, assets, err := build(ctx, o.Progress)
	if err != nil {
		return nil, err
	}
	program, err := apiServer(ctx, o)
	if err != nil {
		return nil, err
	}
	g := &Garden{folder: o.Folder, temporary: o.Folder == "", assets: assets}
	g.stop = sync.OnceValue(g.stopAll)
	if err := g.makeFolder(); err != nil {
		return nil, err
	}
	switch err := g.startServer(ctx, server, program, o); {
	case err == nil:
	case errors.Is(err, ErrRunning):
		return nil, errors.Join(err, g.alive.Close())
	case ctx.Err() != nil:
		return nil, errors.Join(err, g.Stop())
	default:
		err = fmt.Errorf("start a garden: %w; the last lines of its log:\n%s", err, g.logTail(20))
		return nil, errors.Join(err, g.Stop())
	}
	if err := g.connect(); err != nil {
		return nil, errors.Join(err, g.Stop())
	}
	return g, nil
}

// makeFolder makes the folder, and opens the file by which the processes show that they live.
func (g *Garden) makeFolder() (err error) {
	if g.temporary {
		g.folder, err = os.MkdirTemp("", "garden-")
	} else if g.folder, err = filepath.Abs(g.folder); err == nil {
		err = os.MkdirAll(g.folder, 0o700)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(g.Logs(), 0o700); err != nil {
		return err
	}
	g.alive, err = os.OpenFile(filepath.Join(g.folder, protocol.Alive), os.O_RDWR|os.O_CREATE, 0o600)
	return err
}

// startServer starts the server process and waits until it has answered.
func (g *Garden) startServer(ctx context.Context, path, apiServer string, o Options) error {
	log, err := os.OpenFile(g.serverLog(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// A session of its own: what the terminal says to this process, Ctrl-C for example, is not for the server. It ends
	// when its input does.
	cmd := exec.Command(path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = log
	// The garden, with its API servers, collects garbage half as often, unless the caller's environment sets GOGC.
	cmd.Env = append([]string{"GOGC=200"}, os.Environ()...)
	life, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	// Not StdoutPipe, which Wait closes, perhaps before the answer has been read.
	answer, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answer.Close()
	cmd.Stdout = stdout
	g.server, err = process.Run(cmd)
	_ = stdout.Close()
	if err != nil {
		return err
	}
	g.life = life
	defer context.AfterFunc(ctx, func() { _ = life.Close() })()

	config := protocol.Config{
		Folder: g.folder, Assets: g.assets, Remove: g.temporary, FeatureGates: o.FeatureGates, APIServer: apiServer, CRDs: o.CRDs, Audit: o.Audit,
	}
	if err := json.NewEncoder(life).Encode(config); err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return g.readReply(ctx, answer)
}

// readReply waits for the answer of the server, whose output ends also if it ends itself.
func (g *Garden) readReply(ctx context.Context, answer io.Reader) error {
	var reply protocol.Reply
	line, err := bufio.NewReader(answer).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &reply)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("the server has ended without an answer: %w", g.server.Wait())
	case reply.Running:
		return ErrRunning
	case reply.Error != "":
		return errors.New(reply.Error)
	}
	return nil
}

// connect makes the client from the kubeconfig.
func (g *Garden) connect() (err error) {
	if g.config, err = clientcmd.BuildConfigFromFlags("", g.Kubeconfig()); err != nil {
		return err
	}
	g.config.QPS, g.config.Burst = -1, -1 // no limit: nobody else uses this garden
	g.config.ContentType = runtime.ContentTypeJSON
	g.seen = &seen{}
	g.config.Wrap(g.seen.wrap)
	g.client, err = client.New(g.config, client.Options{Scheme: scheme})
	return err
}

// Stop stops the garden and everything that StartProcess has started, and waits until every process is gone. If it was
// in a temporary folder nothing of it remains. Stop may be called several times; each call returns the same.
func (g *Garden) Stop() error { return g.stop() }

func (g *Garden) stopAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	g.mu.Lock()
	processes, life := g.processes, g.life
	g.mu.Unlock()
	var errs []error
	for i := len(processes) - 1; i >= 0; i-- {
		errs = append(errs, processes[i].Stop(ctx))
	}
	switch {
	case life != nil:
		_ = life.Close()
		select {
		case <-g.server.Done():
		case <-ctx.Done():
			errs = append(errs, errors.New("the server of the garden did not stop, and was killed"), g.server.Kill())
		}
	case g.detached:
		_, err := stopFolder(ctx, g.folder)
		errs = append(errs, err)
	}
	errs = append(errs, waitUntilGone(g.alive), g.alive.Close())
	if g.temporary {
		errs = append(errs, os.RemoveAll(g.folder))
	}
	return errors.Join(errs...)
}
