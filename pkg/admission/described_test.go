// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capkit/capkit/pkg/described"
)

// runDescribed runs the command for described clouds. It returns the output and the error's text.
func runDescribed(t *testing.T, args ...string) (printed, failed string) {
	t.Helper()
	var out bytes.Buffer
	cmd := NewCommandDescribed("aws", "ironcore-metal")
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		failed = err.Error()
	}
	return out.String(), failed
}

// The command fails with a reason if neither its flags nor the file names a cloud.
func TestWhichCloud(t *testing.T) {
	t.Chdir(t.TempDir())
	metal := described.Text("ironcore-metal")
	for file, replaced := range map[string]string{
		"acme.yaml": "type: acme", "taken.yaml": "type: aws", "builtin.yaml": "type: ironcore-metal",
		"wrong.yaml": "type: acme\nsort: 1",
	} {
		if err := os.WriteFile(file, []byte(strings.Replace(metal, "type: ironcore-metal", replaced, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"": "no cloud is named: give --provider-type one of gdch, hcloud, ironcore, ironcore-metal, stackit, " +
			"or --provider-file a description",
		"--log-level info --profiling":                                "no cloud is named",
		"--provider-type=ironcore-metl":                               "--provider-type: no description of ironcore-metl is built in; did you mean ironcore-metal?",
		"--provider-type aws":                                         "no description of aws is built in; there are gdch, hcloud",
		"--provider-file gone.yaml":                                   "--provider-file: open gone.yaml: no such file or directory",
		"--provider-file=wrong.yaml":                                  `wrong.yaml:8:1: unknown key "sort"; there are apiVersion`,
		"--provider-file taken.yaml":                                  "taken.yaml:7:7: the type aws is known already, and cannot be described again",
		"--provider-file builtin.yaml --webhook-config-mode=wrong":    "completing the options: ", // overrides the built-in description
		"--provider-file acme.yaml --provider-type=acm":               "acme.yaml describes the type acme, and --provider-type is acm: correct one of the two",
		"--provider-file acme.yaml --provider-type acme --log-levl x": "unknown flag: --log-levl",
		"--provider-type stackit --webhook-config-mode=wrong":         "completing the options: ",
		"--provider-type":                                             "flag needs an argument: --provider-type",
	} {
		if _, failed := runDescribed(t, strings.Fields(args)...); !strings.Contains(failed, want) {
			t.Errorf("%q: %q", args, failed)
		}
	}
}

// The component's names contain its cloud. Without a cloud, help says how to name one.
func TestHelpOfDescribed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "acme.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(described.Text("stackit"), "type: stackit", "type: acme", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--help":                                "gardener-extension-admission-capkit {--provider-type TYPE | --provider-file FILE} [flags]",
		"--provider-type ironcore-metal --help": "gardener-extension-admission-capkit-ironcore-metal-leader-election",
		"--help --provider-file=" + file:        "gardener-extension-admission-capkit-acme-leader-election",
	} {
		printed, failed := runDescribed(t, strings.Fields(args)...)
		if failed != "" || !strings.Contains(printed, want) || !strings.Contains(printed, "--provider-file") {
			t.Errorf("%q: %s\n%s", args, failed, printed)
		}
	}
	stdout, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer func(before *os.File) { os.Stdout = before }(os.Stdout)
	os.Stdout = stdout
	cmd := NewCommandDescribed()
	cmd.SetArgs([]string{"--help"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := stdout.Stat(); err != nil || info.Size() == 0 {
		t.Error("help is not on standard output, as that of all commands")
	}
}
