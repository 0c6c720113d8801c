// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/schema"
)

func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &command.Call{Stdout: report.NewWriter(&out), Stderr: report.NewWriter(&errs), Providers: map[string]command.Provider{}}
	for _, p := range clouds.All() {
		c.Providers[p.Type()] = p
	}
	cmd := schema.Command(c)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	c.Flush()
	return out.String(), errs.String(), err
}

func TestWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const kinds = "CloudProfile, NamespacedCloudProfile or Shoot"
	for args, want := range map[string]string{
		"Shot":               `unknown kind Shot: use ` + kinds + "; did you mean Shoot?",
		"Shoot CloudProfile": "say one KIND, or none for all of them: " + kinds,
		"--provider opnstack": "unknown provider opnstack: use alicloud, aws, azure, gcp, gdch, hcloud, ironcore, ironcore-metal, local, openstack or stackit; " +
			"--provider-file describes another one; did you mean openstack?",
		"--provider=":              `unknown provider "": use alicloud`,
		"--all=":                   "--all is empty: give it a value, or leave it out",
		"--all " + file:            "--all " + file + ": this is a file: name a directory, or one that is to be made",
		"--all x Shoot":            "--all writes the schemas of all kinds: leave out Shoot, or --all",
		"--all x --provider aws":   "--all writes the schemas of all providers: leave out --provider, or --all",
		"--provider-file missing":  "open missing: no such file or directory",
		"Shot --provider opnstack": "did you mean Shoot?\nunknown provider",
	} {
		stdout, _, err := run(t, strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) || stdout != "" {
			t.Errorf("%s: %v, want %s\n%s", args, err, want, stdout)
		}
	}
}

// --all writes the same schemas as the command prints, and an existing directory keeps its other files.
func TestAll(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		stdout, stderr, err := run(t, "--all", folder)
		if want := "# yaml-language-server: $schema=" + filepath.ToSlash(folder) + "/all.json\n"; err != nil || stdout != want {
			t.Fatalf("%v: %q, want %q", err, stdout, want)
		}
		if !strings.HasPrefix(stderr, "wrote 48 schemas into "+folder) {
			t.Error(stderr)
		}
	}
	for file, args := range map[string][]string{
		"all.json":                               nil,
		"core.gardener.cloud/shoot_v1beta1.json": {"shoot"},
		"openstack/all.json":                     {"--provider", "openstack"},
		"aws/core.gardener.cloud/namespacedcloudprofile_v1beta1.json": {"NamespacedCloudProfile", "--provider", "aws"},
	} {
		written, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		if printed, _, err := run(t, args...); err != nil || printed != string(written) {
			t.Errorf("%s: what is printed is not what is written: %v", file, err)
		}
	}
}

const description = `apiVersion: capkit/v1
kind: ProviderDescription
type: acme
apiVersions: [acme.example.com/v1]
images: {path: machineImages, name: name, versions: versions, version: version}
flavors: {path: capabilityFlavors, capabilities: capabilities}
reference: [disk.id]
architecture: {field: arch, default: amd64}
`

func TestDescribed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "acme.yaml")
	if err := os.WriteFile(file, []byte(description), 0o600); err != nil {
		t.Fatal(err)
	}
	printed, _, err := run(t, "CloudProfile", "--provider", "acme", "--provider-file", file)
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	if err := json.Unmarshal([]byte(printed), &parsed); err != nil {
		t.Fatal(err)
	}
	config := string(parsed.Definitions["acme.CloudProfileConfig"])
	spaces := regexp.MustCompile(`\s+`)
	for _, part := range []string{
		`"acme.example.com/v1"`, `"capabilityFlavors"`, `"disk"`, `"capabilities"`,
		`"arch":{"enum":["amd64","arm64",null],"type":["string","null"]}`, `"id":{"type":["string","null"]}`,
	} {
		if !strings.Contains(spaces.ReplaceAllString(config, ""), part) {
			t.Errorf("no %s in %s", part, config)
		}
	}
	if strings.Contains(config, `"additionalProperties": false`) {
		t.Errorf("a config by description must be open: %s", config)
	}
}
