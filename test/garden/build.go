// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/capkit/capkit/test/garden/internal/overlay"
	"github.com/capkit/capkit/test/garden/internal/process"
	"github.com/capkit/capkit/test/garden/internal/repository"
)

// serverPackage is compiled into a program of the name serverName.
const (
	serverPackage = "./test/garden/server"
	serverName    = "garden-server"
)

// buildControlPlane returns the folder of etcd, kube-apiserver and kubectl, and builds them if they are not there,
// which takes minutes and is told to progress. hack/controlplane.sh says where it looks.
func buildControlPlane(ctx context.Context, progress io.Writer) (folder string, err error) {
	root, err := repository.Root()
	if err != nil {
		return "", err
	}
	output, err := run(ctx, progress, root, filepath.Join(root, "hack", "controlplane.sh"))
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return filepath.Abs(lines[len(lines)-1])
}

// build returns the path of the server and the folder of the control plane, both up to date.
func build(ctx context.Context, progress io.Writer) (server, assets string, err error) {
	if assets, err = buildControlPlane(ctx, progress); err != nil {
		return "", "", err
	}
	server, err = Compile(ctx, progress, serverPackage, serverName)
	return server, assets, err
}

// Compile compiles a package of this repository into a program of this name in the folder bin, and returns its path.
// Its flags are those of the Makefile, so that nothing is compiled that was compiled before for something else. Variables, as
// NAME=VALUE, are for the environment of the compiler. What hack/test.sh has compiled for another suite is not looked at again.
func Compile(ctx context.Context, progress io.Writer, source, name string, variables ...string) (path string, err error) {
	root, err := repository.Root()
	if err != nil {
		return "", err
	}
	path = filepath.Join(root, "bin", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	unlock, err := exclusively(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	from := os.Getenv("CAPKIT_SOURCES")
	if from != "" && compiledFrom(path, from) {
		return path, nil
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(progress, "compiling %s, which takes minutes the first time\n", name)
	}
	args := slices.Concat(variables, []string{"CGO_ENABLED=0", "go", "build", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false",
		"-ldflags=-s -w", "-o", path, source})
	if _, err := run(ctx, progress, root, "env", args...); err != nil || from == "" {
		return path, err
	}
	return path, os.WriteFile(path+sourcesSuffix, []byte(from), 0o600)
}

// sourcesSuffix is that of a file which says what a program was compiled from.
const sourcesSuffix = ".sources"

// compiledFrom reports whether a program was last written by Compile, from the sources of this name.
func compiledFrom(path, sources string) bool {
	content, err := os.ReadFile(path + sourcesSuffix)
	if err != nil || string(content) != sources {
		return false
	}
	program, err := os.Stat(path)
	if err != nil {
		return false
	}
	written, err := os.Stat(path + sourcesSuffix)
	return err == nil && !written.ModTime().Before(program.ModTime())
}

// run runs a command to its end, and returns its standard output. If ctx ends, so does the command, with its children.
func run(ctx context.Context, progress io.Writer, folder, path string, args ...string) (string, error) {
	var stdout bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = folder
	cmd.Stdout, cmd.Stderr = &stdout, progress
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	p, err := process.Run(cmd)
	if err == nil {
		err = p.Wait()
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), errors.Join(context.Cause(ctx), err))
	}
	return stdout.String(), nil
}

// exclusively waits until nobody else has locked the file, and locks it.
func exclusively(name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}

// APIServers are the versions of gardener-apiserver, besides that of go.mod, that a garden can have: those for which hack/apiservers has a module.
var APIServers = []string{"v1.146.0", "v1.149.3"}

// apiServer returns the path of the gardener-apiserver that the options ask for, which is built if it is not there. It is empty if they
// ask for none: the server of the garden has the one of go.mod.
func apiServer(ctx context.Context, o Options) (path string, err error) {
	switch {
	case o.Version != "" && o.AcceptsReserved:
		return "", fmt.Errorf("there is no gardener-apiserver %s that accepts reserved capabilities, only one of the version in go.mod", o.Version)
	case o.Version != "":
		return buildAPIServer(ctx, o.Progress, o.Version)
	case o.AcceptsReserved:
		return buildAcceptingAPIServer(ctx, o.Progress)
	}
	return "", nil
}

// buildAPIServer returns the path of a gardener-apiserver of a version, which is built if it is not in the cache.
func buildAPIServer(ctx context.Context, progress io.Writer, version string) (path string, err error) {
	if !slices.Contains(APIServers, version) {
		return "", fmt.Errorf("there is no module for gardener-apiserver %s, only for %s", version, strings.Join(APIServers, ", "))
	}
	root, err := repository.Root()
	if err != nil {
		return "", err
	}
	module := filepath.Join(root, "hack", "apiservers", version)
	return cachedAPIServer(progress, version, module, []string{"go.mod", "go.sum"}, func(path string) error {
		// Most versions of modules are those of go.mod: what they have in common is compiled once.
		return compileAPIServer(ctx, progress, path, version, module, []string{"GOWORK=off"}, nil)
	})
}

// buildAcceptingAPIServer returns the path of a gardener-apiserver of the version in go.mod which accepts in the vocabulary of a
// CloudProfile the capabilities that Gardener defines by GEP-0054. It is built if it is not in the cache. Package overlay says how it
// differs from Gardener's.
func buildAcceptingAPIServer(ctx context.Context, progress io.Writer) (path string, err error) {
	root, err := repository.Root()
	if err != nil {
		return "", err
	}
	files := slices.Concat([]string{"go.mod", "go.sum", "test/go.mod", "test/go.sum"}, overlay.Files)
	return cachedAPIServer(progress, "that accepts reserved capabilities", root, files, func(path string) error {
		folder, err := os.MkdirTemp(filepath.Dir(path), "source-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(folder) }()
		source, err := overlay.Write(ctx, root, folder)
		if err != nil {
			return err
		}
		return compileAPIServer(ctx, progress, path, source.Version, root, source.Env, source.Flags)
	})
}

// cachedAPIServer returns the path of a gardener-apiserver in the cache, in a folder for this platform, this version of Go, what is said
// of it in words, and the content of files in a folder. If it is not there, build builds it at another path. That takes a minute or two,
// and is told to progress.
func cachedAPIServer(progress io.Writer, which, folder string, files []string, build func(path string) error) (path string, err error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH, which)
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		hash.Write(content)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "capkit", "apiservers", fmt.Sprintf("%x", hash.Sum(nil)[:8]))
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(cache, "gardener-apiserver")
	unlock, err := exclusively(path + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fmt.Fprintf(progress, "building gardener-apiserver %s, which is done once and takes minutes\n", which)
	if err := build(path + ".new"); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

// compileAPIServer compiles gardener-apiserver, which then says that it is of a version, in the module or workspace around a folder. Its
// flags are those of the Makefile, and further ones.
func compileAPIServer(ctx context.Context, progress io.Writer, path, version, folder string, env, flags []string) error {
	args := slices.Concat(env, []string{"GOFLAGS=", "CGO_ENABLED=0", "GOGC=400", "go", "build", "-trimpath", "-buildvcs=false",
		"-gcflags=all=-dwarf=false"}, flags,
		[]string{"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=" + version, "-o", path, "github.com/gardener/gardener/cmd/gardener-apiserver"})
	_, err := run(ctx, progress, folder, "env", args...)
	return err
}
