// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package printed_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/capkit/capkit/internal/cli/inventory/printed"
	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/inventory"
)

// The file "run" of each case names the cloud, the region, and its files to read. "-" is its file stdin.
func TestRead(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 4 {
		t.Fatal(archives, err)
	}
	for _, archive := range archives {
		path, err := filepath.Abs(archive)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(archive), func(t *testing.T) { cases.Run(t, path, read) })
	}
}

func read(c *cases.Case) string {
	t := c.T()
	t.Chdir(t.TempDir())
	args := strings.Fields(c.Text("run"))
	for _, name := range args[2:] {
		if name == "-" || !c.Has(name) {
			continue
		}
		if err := os.WriteFile(name, []byte(c.Text(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stdin := ""
	if c.Has("stdin") {
		stdin = c.Text("stdin")
	}
	region, err := printed.Read(args[0], args[1], args[2:], strings.NewReader(stdin))
	if err != nil {
		return err.Error()
	}
	return text(t, region)
}

// text returns a region as YAML.
func text(t *testing.T, region inventory.Region) string {
	t.Helper()
	var out bytes.Buffer
	err := inventory.Write(&out, "yaml", "x", time.Time{}, func(yield func(inventory.Region, error) bool) { yield(region, nil) })
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(out.String(), "regions:\n")
	return list
}

// PowerShell writes a command's output as UTF-16.
func TestUTF16(t *testing.T) {
	text := []byte("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(`[{"Zone Name": "é", "Zone Status": "available"}]` + "\r\n")) {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	region, err := printed.Read("openstack", "europe", []string{"-"}, bytes.NewReader(text))
	if err != nil || len(region.Zones) != 1 || region.Zones[0].Name != "é" {
		t.Error(region, err)
	}
}

// Only the first of very many errors are listed, because each one takes time proportional to the file.
func TestManyErrors(t *testing.T) {
	text := `{"Images": [` + strings.TrimSuffix(strings.Repeat("{},", 50_000), ",") + "]}"
	_, err := printed.Read("aws", "r", []string{"-"}, strings.NewReader(text))
	if err == nil || strings.Count(err.Error(), "\n") != 100 || !strings.HasSuffix(err.Error(), "<stdin>:1:313: is wrong as well, and perhaps more behind it: "+
		"only the first errors are listed") {
		t.Errorf("%.20000v", err)
	}
}

// No file crashes the command, and everything it reads can be written.
func FuzzRead(f *testing.F) {
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, archive := range archives {
		content, err := os.ReadFile(archive)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(content), "-- ") {
			if _, text, found := strings.Cut(part, "--\n"); found {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, document string) {
		for _, cloud := range printed.Clouds() {
			region, err := printed.Read(cloud, "r-1", []string{"-"}, strings.NewReader(document))
			if err == nil {
				text(t, region)
			}
		}
	})
}
