// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package debian has programs of Debian's packages for tests, in folders of the user's cache: no rights are needed, and
// nothing of the machine changes.
package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

// suitable returns an error if packages cannot be had on this machine.
func suitable() error {
	for _, program := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("this needs packages of Debian: %w; use a machine or a container with Debian", err)
		}
	}
	return nil
}

// Extract downloads packages, and what they depend on as far as that is not installed on this machine, from the package
// sources of the machine, and extracts them into the folder root. Their scripts are not run. say receives what is being done.
func Extract(ctx context.Context, packages []string, root string, say func(string)) error {
	if err := suitable(); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "packages-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	say("downloading packages")
	archives, err := download(ctx, packages, scratch)
	if err != nil {
		return err
	}
	say(fmt.Sprintf("extracting %d packages", len(archives)))
	return extract(ctx, archives, root)
}

// Cached returns the folder of the user's cache that has packages under a name. They are downloaded and extracted if it is not there.
func Cached(ctx context.Context, name string, packages []string, say func(string)) (root string, err error) {
	return Once(name, func(folder string) error { return Extract(ctx, packages, folder, say) })
}

// Once returns the folder of the user's cache that has a name. If it is not there, build makes its content in another one, which becomes
// that folder when it is complete.
func Once(name string, build func(folder string) error) (folder string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(cache, "capkit", name)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", err
	}
	building, err := os.MkdirTemp(filepath.Dir(folder), "building-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(building) }()
	if err := build(building); err != nil {
		return "", err
	}
	if err := os.Rename(building, folder); err != nil {
		if _, other := os.Stat(folder); other != nil { // somebody else may have been faster
			return "", err
		}
	}
	return folder, nil
}

// Libraries returns the folders below root that the packages have shared libraries in, as LD_LIBRARY_PATH has them.
func Libraries(root string) string {
	machine := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	return strings.Join([]string{
		filepath.Join(root, "usr", "lib", machine), filepath.Join(root, "usr", "lib"), filepath.Join(root, "lib", machine),
	}, ":")
}

// download downloads packages. apt keeps everything in the folder, so that it needs no rights, and neither sees nor
// disturbs another one.
func download(ctx context.Context, packages []string, folder string) ([]string, error) {
	lists, archives := filepath.Join(folder, "lists"), filepath.Join(folder, "archives")
	for _, partial := range []string{lists, archives} {
		if err := os.MkdirAll(filepath.Join(partial, "partial"), 0o755); err != nil {
			return nil, err
		}
	}
	settings := fmt.Sprintf(`Dir::State %q;
Dir::State::lists %q;
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache %q;
Dir::Cache::archives %q;
Debug::NoLocking "true";
APT::Sandbox::User "";
APT::Install-Recommends "false";
APT::Update::Error-Mode "any";
`, folder, lists, folder, archives)
	file := filepath.Join(folder, "apt.conf")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"-q", "update"}, append([]string{"-q", "--yes", "--download-only", "install"}, packages...)} {
		if err := Run(ctx, []string{"APT_CONFIG=" + file, "LC_ALL=C"}, "apt-get", args...); err != nil {
			return nil, fmt.Errorf("%w\nThe packages are from the package sources of this machine, in /etc/apt: can it reach them?", err)
		}
	}
	return filepath.Glob(filepath.Join(archives, "*.deb"))
}

// extract extracts packages, several at once.
func extract(ctx context.Context, archives []string, root string) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, archive := range archives {
		group.Go(func() error { return Run(ctx, nil, "dpkg-deb", "--extract", archive, root) })
	}
	return group.Wait()
}

// Run runs a program to its end. The error has the end of what it printed.
func Run(ctx context.Context, environment []string, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), environment...)
	output, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	const most = 4000
	if len(output) > most {
		output = output[len(output)-most:]
	}
	return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), errors.Join(context.Cause(ctx), err), output)
}
