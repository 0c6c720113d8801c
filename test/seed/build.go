// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/capkit/capkit/test/garden"
)

const (
	// machinesPackage is compiled into a program of the name machinesName.
	machinesPackage = "./test/seed/machines"
	machinesName    = "seed-machines"

	gardenerModule = "github.com/gardener/gardener"
	machineModule  = "github.com/gardener/machine-controller-manager"
)

// crds are the files of the CustomResourceDefinitions: those of extensions and of machines.
var crds = []string{"10-crd-extensions.gardener.cloud_*.yaml", "10-crd-machine.sapcloud.io_*.yaml"}

// moduleFolder returns the folder of a module in the version that go.mod has, and downloads it if it is not there.
func moduleFolder(ctx context.Context, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), errors.Join(context.Cause(ctx), err), stderr.Bytes())
	}
	folder := strings.TrimSpace(string(output))
	if folder == "" {
		return "", fmt.Errorf("the module %s is not downloaded: go mod download %[1]s", module)
	}
	return folder, nil
}

// definitions returns the files of the CustomResourceDefinitions.
func definitions(ctx context.Context) ([]string, error) {
	folder, err := moduleFolder(ctx, gardenerModule)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, pattern := range crds {
		found, err := filepath.Glob(filepath.Join(folder, "example", "seed-crds", pattern))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no example/seed-crds/%s: where are the CustomResourceDefinitions in this version?", folder, pattern)
		}
		files = append(files, found...)
	}
	return files, nil
}

// patience are the times that the machine controller waits before it goes on, or tries again, and how long it waits here:
// each machine that is deleted takes six of the first, which would be half a minute.
var patience = []struct{ released, here string }{
	{"ShortRetry RetryPeriod = RetryPeriod(5 * time.Second)", "ShortRetry RetryPeriod = RetryPeriod(100 * time.Millisecond)"},
	{"MediumRetry RetryPeriod = RetryPeriod(3 * time.Minute)", "MediumRetry RetryPeriod = RetryPeriod(1 * time.Second)"},
	{"LongRetry RetryPeriod = RetryPeriod(10 * time.Minute)", "LongRetry RetryPeriod = RetryPeriod(5 * time.Second)"},
}

// utils is the file that has these times.
const utils = "pkg/util/provider/machineutils/utils.go"

// buildMachines returns the path of the program that makes the machines, up to date. It is compiled with a copy of the
// module in which the times above are replaced, and nothing else.
func buildMachines(ctx context.Context, progress io.Writer) (program string, err error) {
	if progress == nil {
		progress = os.Stderr
	}
	folder, err := moduleFolder(ctx, machineModule)
	if err != nil {
		return "", err
	}
	root, err := moduleFolder(ctx, "github.com/capkit/capkit")
	if err != nil {
		return "", err
	}
	temporary, err := os.MkdirTemp("", "seed-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	impatient := filepath.Join(temporary, "module")
	if err := copyImpatient(folder, impatient); err != nil {
		return "", err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.work.sum"))
	if err != nil {
		return "", err
	}
	// The modules say themselves where the others are.
	workspace := fmt.Sprintf("go 1.26.5\n\nuse %q\n\nreplace %s => %q\n", filepath.Join(root, "test"), machineModule, impatient)
	file := filepath.Join(temporary, "go.work")
	if err := errors.Join(os.WriteFile(file, []byte(workspace), 0o600), os.WriteFile(file+".sum", sums, 0o600)); err != nil {
		return "", err
	}
	return garden.Compile(ctx, progress, machinesPackage, machinesName, "GOWORK="+file)
}

// copyImpatient copies the module and replaces the times.
func copyImpatient(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	name := filepath.Join(to, filepath.FromSlash(utils))
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	source := string(content)
	for _, p := range patience {
		if strings.Count(source, p.released) != 1 {
			return fmt.Errorf("%s of %s does not have %q: what does this version have?", utils, from, p.released)
		}
		source = strings.Replace(source, p.released, p.here, 1)
	}
	return os.WriteFile(name, []byte(source), 0o600)
}
