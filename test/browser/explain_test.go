// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cell is what the page shows about one combination.
type cell struct {
	Version, Machine, Region, Asks, Text, Command, Answer string
}

// clickAll clicks all cells for all requests, machine types and regions of a profile, and returns what is shown then. Every
// nth is returned, from the first on.
const clickAll = `((nth) => {
  const shown = [], pick = (id, value) => {
    const e = document.getElementById(id);
    e.value = value;
    e.dispatchEvent(new Event(id === 'type' ? 'change' : 'input', { bubbles: true }));
  };
  const text = (selector) => document.querySelector(selector).textContent;
  let count = 0;
  for (const request of [...document.getElementById('request').options]) {
    pick('request', request.value);
    for (const td of [...document.querySelectorAll('td.cell')]) {
      if (count++ % nth) continue;
      td.click();
      const types = document.getElementById('type');
      for (const type of types ? [...types.options].map((o) => o.value) : [null]) {
        if (type !== null) pick('type', type);
        for (const region of [...document.querySelectorAll('[data-region]')].map((b) => b.dataset.region)) {
          document.querySelector('[data-region="' + CSS.escape(region) + '"]').click();
          const types = document.getElementById('type');
          shown.push({
            Version: text('#why h3 span'), Machine: types ? types.selectedOptions[0].textContent : text('#why .where b'),
            Region: region, Asks: new URLSearchParams(location.hash.slice(1)).get('asks') || '',
            Text: text('#text'), Command: text('#command'), Answer: text('#why .answer'),
          });
        }
      }
    }
  }
  return shown;
})`

// flags ask explain for what a worker pool may ask for, by the words of the page.
var flags = map[string][]string{
	"":                                  nil,
	"secure boot":                       {"--secure-boot"},
	"update strategy AutoInPlaceUpdate": {"--update-strategy", "AutoInPlaceUpdate"},
	"GPU of type nvidia":                {"--gpu", "nvidia"},
	"GPU of type amd":                   {"--gpu", "amd"},
	"GPU of type intel":                 {"--gpu", "intel"},
	"gpu.acceleratorType: nvidia-*":     {"--worker-config", "test/browser/testdata/workerconfig-gpu.yaml"},
	"trustedLaunch.enabled: true":       {"--worker-config", "docs/examples/workerconfig-trusted-launch.yaml"},
}

// explained returns what explain says about a cell.
func explained(t *testing.T, c cell, files ...string) string {
	t.Helper()
	asks, known := flags[c.Asks]
	if !known {
		t.Fatalf("no flag asks for %q: add it to the table of this test", c.Asks)
	}
	image, version, _ := strings.Cut(c.Version, "@")
	args := append([]string{
		"explain", "--image", image, "--version", version, "--machine-type", c.Machine, "--region", c.Region,
	}, asks...)
	return strings.TrimSpace(printed(t, append(args, files...)...))
}

func checkCell(t *testing.T, c cell, files ...string) {
	t.Helper()
	if got, want := strings.TrimSpace(c.Text), explained(t, c, files...); got != want {
		t.Errorf("%s on %s in %s, %q: the page says\n%s\nand explain says\n%s", c.Version, c.Machine, c.Region, c.Asks, got, want)
	}
	boots := strings.HasPrefix(c.Answer, "✓ boots ")
	if boots == strings.Contains(c.Text, ": no image\n") {
		t.Errorf("%s on %s in %s: %s, and the text says\n%s", c.Version, c.Machine, c.Region, c.Answer, c.Text)
	}
}

// Each cell that is clicked has the text of explain, for each machine type, region and setting.
func TestCellsHaveTheTextOfExplain(t *testing.T) {
	for _, files := range [][]string{
		{"example/cloudprofile.yaml"},
		{"example/cloudprofile-zones.yaml"},
		{"example/cloudprofile-legacy.yaml"},
		{"example/cloudprofile-mixed.yaml"},
		{"example/cloudprofile-trusted-launch.yaml"},
		{"docs/examples/tie-break.yaml"},
		{"docs/examples/omission.yaml"},
		{"test/browser/testdata/undeclared.yaml"},
		{"test/browser/testdata/in-place.yaml"},
		{"docs/examples/reserved-in-core.yaml"},
		{"example/azure/cloudprofile.yaml"},
		{"example/gcp/cloudprofile.yaml"},
		{"example/broken/provider-version-missing.yaml"},
		{"example/broken/unknown-region.yaml"},
	} {
		t.Run(files[0], func(t *testing.T) {
			p := open(t, report(t, files...), "")
			cells := value[[]cell](p, clickAll+"(1)")
			if len(cells) == 0 {
				t.Fatal("there is no cell")
			}
			t.Logf("%d cells", len(cells))
			const most = 40 // which takes the command a few seconds
			step := len(cells)/most + 1
			for i := 0; i < len(cells); i += step {
				checkCell(t, cells[i], files...)
			}
		})
	}
}

// The command that the page names is the one that says the same.
func TestTheCommandThatIsNamed(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile.yaml"), "#version=gardenlinux@1877.5.0&on=medium_4_8_arm&in=asia")
	want(p, `document.getElementById('command').textContent`, "capkit explain --image gardenlinux --version 1877.5.0 "+
		"--machine-type medium_4_8_arm --region asia example/cloudprofile.yaml")
	want(p, `document.getElementById('config') === null`, true)
}

// What the page says to enter and to save is enough: a shell then prints what the page says.
func TestTheCommandCanBePasted(t *testing.T) {
	awkward := filepath.Join(t.TempDir(), "it's a profile.yaml")
	raw, err := inRoot("cat", "example/cloudprofile-full.yaml")
	if err == nil {
		err = os.WriteFile(awkward, []byte(raw), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		hash  string
		files []string
	}{
		{"#asks=trustedLaunch.enabled%3A+true", []string{"example/cloudprofile-full.yaml", "example/shoot-full.yaml"}},
		{"", []string{awkward}},
		{"#profile=garden-demo%2Fteam", []string{"example/cloudprofile.yaml", "example/namespacedcloudprofile.yaml", "example/shoot.yaml"}},
		{"", []string{"example/cloudprofile.yaml", "example/namespacedcloudprofile.yaml"}},
		{"#asks=instanceMetadataOptions.httpTokens%3A+required", []string{"example/aws/cloudprofile.yaml"}},
	} {
		p := open(t, report(t, tc.files...), tc.hash)
		p.run(script(`document.querySelector('td.cell').click()`))
		command := value[string](p, `document.getElementById('command').textContent`)
		if config := value[string](p, `document.getElementById('config')?.textContent ?? ''`); config != "" {
			file := filepath.Join(t.TempDir(), "workerconfig.yaml")
			if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			command = strings.Replace(command, " workerconfig.yaml", " "+file, 1)
		} else if strings.Contains(tc.hash, "asks") {
			t.Errorf("%v: %s needs no file", tc.files, command)
		}
		said, err := inRoot("sh", "-c", strings.Replace(command, "capkit", capkit, 1))
		if shown := value[string](p, `document.getElementById('text').textContent`); strings.TrimSpace(said) != strings.TrimSpace(shown) {
			t.Errorf("%s prints\n%s%v\nand the page says\n%s", command, said, err, shown)
		}
	}
}

// A profile of 1 MiB is drawn, in a file of less than 5 MB.
func TestOneMebibyte(t *testing.T) {
	profile, err := inRoot("go", "run", "./internal/testing/generate/profile", "-size", fmt.Sprint(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "profile.json")
	if err := os.WriteFile(file, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	path := report(t, file)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 5e6 {
		t.Errorf("the file has %d bytes", info.Size())
	}
	p := open(t, path, "")
	t.Logf("%d bytes, seen to be drawn after %.0f ms", info.Size(), value[float64](p, `performance.now()`))
	if cells := value[int](p, `document.querySelectorAll('td.cell').length`); cells < 5000 {
		t.Errorf("there are %d cells", cells)
	}
	want(p, `document.getElementById('scroll').scrollWidth > document.getElementById('scroll').clientWidth`, true)
	for _, c := range value[[]cell](p, clickAll+"(1201)")[:12] {
		checkCell(t, c, file)
	}
	// On paper all of its columns have a place: A4 across is 273 mm wide between its margins.
	p.run(emulated("print", "light"))
	if width := value[float64](p, `document.getElementById('grid').offsetWidth * 25.4 / 96`); width > 273 {
		t.Errorf("on paper the matrix is %.0f mm wide", width)
	}
	p.run(emulated("", "light"))
	// The headings stay where they are.
	p.run(script(`document.getElementById('scroll').scrollTo(700, 4000)`))
	want(p, `(() => {
		const box = document.getElementById('scroll').getBoundingClientRect();
		const head = document.querySelector('thead th:nth-child(5)').getBoundingClientRect();
		const row = [...document.querySelectorAll('tbody th[scope=row]')].find((th) => th.getBoundingClientRect().top > box.top + 200);
		return Math.abs(head.top - box.top) < 3 && Math.abs(row.getBoundingClientRect().left - box.left) < 3;
	})()`, true)
}
