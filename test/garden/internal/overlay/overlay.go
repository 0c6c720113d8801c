// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package overlay has go build compile Gardener with one rule replaced: the one that refuses every capability whose name has
// Gardener's prefix in the vocabulary of a CloudProfile. The rule in its place is in package validation, and accepts what Gardener
// defines by GEP-0054. Nothing of Gardener's source is kept: it is read where Go keeps the module.
package overlay

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is Gardener's, and file the one with the rule.
const (
	module = "github.com/gardener/gardener"
	file   = "pkg/api/core/validation/cloudprofile.go"
)

// rule is the statement that is replaced, and instead what it is replaced by: as many lines, so that positions stay.
const (
	rule = `allErrs = append(allErrs, field.Forbidden(capabilityDefinitionFieldPath.Child("name"), ` +
		`fmt.Sprintf("the %q prefix is reserved for Gardener-core capabilities", gardenerReservedCapabilityPrefix)))`
	instead = `allErrs = append(allErrs, ValidateGardenerCapability(capability, capabilityDefinitionFieldPath)...)`
)

// Files are those of the repository that say how what is compiled differs from Gardener.
var Files = []string{"test/garden/internal/overlay/overlay.go", "test/garden/internal/overlay/validation/reserved.go"}

// added is the file with the rule that takes its place.
//
//go:embed validation/reserved.go
var added string

// Overlay is what go build needs to compile Gardener with the rule replaced.
type Overlay struct {
	// Version is that of Gardener.
	Version string
	// Env are settings for its environment, and Flags are flags.
	Env, Flags []string
}

// Write writes into a folder, which has to exist and to be there still while go build runs, what it needs, for the Gardener of the
// workspace at root. Its module has to be downloaded. It fails if Gardener does not have the rule exactly once: then there is another
// rule to replace, or none any more.
//
// Go does not let an overlay replace what is below its module cache. So the workspace is copied, and replaces the module by a link to
// it, through which the file is another one. With -trimpath a package does not depend on its folder. So all that does not import the
// changed one is in the build cache, if it was compiled in the workspace.
func Write(ctx context.Context, root, folder string) (*Overlay, error) {
	workspace := filepath.Join(root, "go.work")
	found, err := command(ctx, root, workspace, "list", "-m", "-f", "{{.Version}}\n{{.Dir}}", module)
	if err != nil {
		return nil, err
	}
	version, original, _ := strings.Cut(strings.TrimSpace(string(found)), "\n")
	if original == "" {
		return nil, fmt.Errorf("%s %s is not downloaded", module, version)
	}
	text, err := os.ReadFile(filepath.Join(original, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	changed, err := replaced(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s@%s/%s: %w", module, version, file, err)
	}

	link := filepath.Join(folder, "gardener")
	if err := os.Symlink(original, link); err != nil {
		return nil, err
	}
	inLink := filepath.Join(link, filepath.FromSlash(file))
	files := map[string]string{inLink: changed, filepath.Join(filepath.Dir(inLink), "zz_capkit.go"): added}
	replacements := map[string]string{}
	for path, text := range files {
		replacements[path] = filepath.Join(folder, filepath.Base(path))
		if err := os.WriteFile(replacements[path], []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replacements})
	if err != nil {
		return nil, err
	}
	overlay, work := filepath.Join(folder, "overlay.json"), filepath.Join(folder, "go.work")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return nil, err
	}
	if err := writeWorkspace(ctx, root, workspace, work, link); err != nil {
		return nil, err
	}
	return &Overlay{Version: version, Env: []string{"GOWORK=" + work}, Flags: []string{"-overlay=" + overlay}}, nil
}

// replaced returns the source with the rule replaced.
func replaced(source string) (string, error) {
	if n := strings.Count(source, rule); n != 1 {
		return "", fmt.Errorf("the rule about Gardener's prefix is there %d times, want once: read what Gardener does now, and replace "+
			"that in package overlay, or remove the package if Gardener accepts its own capabilities", n)
	}
	return strings.Replace(source, rule, instead, 1), nil
}

// writeWorkspace writes a copy of a workspace which has the modules where they are, but for Gardener's: that is in a folder.
func writeWorkspace(ctx context.Context, root, workspace, copied, gardener string) error {
	for from, to := range map[string]string{workspace: copied, workspace + ".sum": copied + ".sum"} {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return err
		}
	}
	text, err := command(ctx, root, workspace, "work", "edit", "-json")
	if err != nil {
		return err
	}
	var used struct{ Use []struct{ DiskPath string } }
	if err := json.Unmarshal(text, &used); err != nil {
		return err
	}
	edit := []string{"work", "edit", "-replace=" + module + "=" + gardener}
	for _, m := range used.Use {
		edit = append(edit, "-dropuse="+m.DiskPath, "-use="+filepath.Join(root, m.DiskPath))
	}
	_, err = command(ctx, root, copied, append(edit, copied)...)
	return err
}

// command runs a command of go in a folder and a workspace.
func command(ctx context.Context, folder, workspace string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = folder, append(os.Environ(), "GOWORK="+workspace), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.Bytes(), nil
}
