// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
)

const (
	facts = `[...document.querySelectorAll('#facts > li')].map((li) => li.className + ': ' + li.querySelector('div').textContent)`
	hits  = `document.getElementById('hits').textContent`
)

// edited writes a file of the examples with some texts replaced, and returns where it is.
func edited(t *testing.T, file string, replaced ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replaced); i += 2 {
		if !strings.Contains(string(raw), replaced[i]) {
			t.Fatalf("%q is not in %s", replaced[i], file)
		}
	}
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(path, []byte(strings.NewReplacer(replaced...).Replace(string(raw))), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// gapped writes the example without an image in asia for virtual machines, and with a version that expires in 2026.
func gapped(t *testing.T) string {
	t.Helper()
	return edited(t, "example/cloudprofile.yaml", "          - name: asia\n            id: 5678-amd64-virt\n", "",
		"      classification: deprecated\n", "      classification: deprecated\n      expirationDate: \"2026-12-05T00:00:00Z\"\n")
}

// asian writes the Shoot of the examples as one of asia.
func asian(t *testing.T) string {
	t.Helper()
	return edited(t, "example/shoot.yaml", "region: europe", "region: asia", "europe-1a", "asia-1a", "europe-1b", "asia-1a")
}

// The page says first what an operator asks first: whose pools get no machines, what happens next, what expires, and what is missing.
func TestOverview(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400") // 2026-11-26 12:00
	p := open(t, report(t, gapped(t), asian(t)), "")
	said := strings.Join(value[[]string](p, facts), "\n")
	for _, line := range []string{
		"bad: 1 worker pool has no image in its profile now: pools that run go on with theirs, and new ones are refused." +
			"garden-demo/shop, worker pool web: gardenlinux@1877.5.0 on medium_4_8 in asia",
		"bad: Worker pools at the next maintenance: ",
		"good: 1 image version expires within 30 days, used by 0 worker pools.gardenlinux@1592.9.0 on 2026-12-05: not used",
		"warn: 1 gap in regions, where an image version has no image.",
		"bad: What lint finds: 2 objects checked: ",
	} {
		if !strings.Contains(said, line) {
			t.Errorf("%q is not in\n%s", line, said)
		}
	}
	made := value[string](p, `document.getElementById('maker').textContent`)
	if !regexp.MustCompile(`^Made by capkit report, version .+, on 2026-11-26 12:00 UTC, of .*cloudprofile.yaml, .*shoot.yaml\.$`).MatchString(made) {
		t.Error(made)
	}
	want(p, `[...document.styleSheets[0].cssRules].some((r) => r.cssText.includes('capkit report, 2026-11-26 12:00 UTC'))`, true) // on each sheet of paper

	// The pool leads to its cell, which is red, opens where it fails, and says so in what is read aloud.
	p.run(script(`document.querySelector('#facts li li a').click()`), until(opened))
	want(p, `document.getElementById('answer').className + document.getElementById('answer').textContent`, "answer no✕ no image")
	want(p, chosen+`.className + ' ' + `+chosen+`.textContent`, "cell no used ✕ 1/2")
	want(p, chosen+`.getAttribute('aria-label')`, "gardenlinux@1877.5.0 on medium_4_8: ✕ 1/2, boots nothing for worker pools in asia, worker pools use it")
	want(p, `document.getElementById('status').textContent`,
		"All 2 image versions on all 3 machine types: 1 worker pool boots nothing, 1 combination has a gap; 1 combination fits no flavor.")
	p.run(script(`document.querySelector('#facts a[href*="gaps"]').click()`), until(`document.getElementById('gaps').checked`))
	want(p, `document.querySelectorAll('#grid tbody th[scope=row]').length`, 1)
	p.run(script(`document.querySelector('#facts a[href*="expiring"]').click()`), until(`document.getElementById('expiring').checked`))
	want(p, `document.querySelector('#grid tbody th[scope=row]').textContent`, "1592.9.0deprecatedexpires 2026-12-05")
}

// Where nothing is wrong, that is said.
func TestOverviewOfWhatIsFine(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile.yaml", "example/shoot.yaml"), "")
	want(p, facts+`.join('; ')`, "good: No worker pool is without an image in its profile now.; "+
		"good: Worker pools at the next maintenance: 0 stuck, 0 forced, 0 updated.; good: No image version expires within 30 days.; "+
		"good: No gap: each image version has an image in each region.; good: What lint finds: 2 objects checked: no errors, no warnings.")
	want(p, `document.querySelectorAll('td.no, td.part').length`, 0)
	want(p, `document.querySelector('td.other').textContent`, "–")
	none := open(t, report(t, "example/cloudprofile.yaml"), "")
	want(none, `document.querySelectorAll('#facts > li').length`, 3)
}

// A cell opens in the first region that fails, whatever its place; and where all is well in the first one.
func TestOpensWhatFails(t *testing.T) {
	const region = `document.querySelector('#why [aria-pressed=true]').dataset.region`
	p := open(t, report(t, gapped(t)), "")
	p.run(script(`document.querySelector('td.part').click()`))
	want(p, region, "asia")
	want(p, `document.getElementById('answer').className`, "answer part")
	want(p, `document.querySelector('td.part').getAttribute('aria-label')`, "gardenlinux@1877.5.0 on medium_4_8: 1/2, boots in 1 of 2 regions")
	p.run(script(`document.getElementById('close').click(); document.querySelector('td.yes').click()`))
	want(p, region, "europe")
}

// Whoever looks for a Shoot, a project or a pool finds it in what maintenance does, in the calendar and in what lint finds.
func TestFind(t *testing.T) {
	p := open(t, report(t, gapped(t), asian(t), "example/broken/provider-flavor-missing.yaml"), "")
	const rows = `document.querySelectorAll('#pools tbody tr').length`
	all := value[int](p, `document.querySelectorAll('#found li').length`)
	p.set("find", "value", `'Shop DB'`)
	want(p, rows, 1)
	want(p, `document.querySelector('#pools tbody td').textContent`, "garden-demo/shop, worker pool db")
	want(p, `new URLSearchParams(location.hash.slice(1)).get('find')`, "Shop DB")
	p.set("find", "value", `'shop'`)
	want(p, rows, 2)
	if n := value[int](p, `document.querySelectorAll('#found li').length`); n == 0 || n >= all {
		t.Errorf("%d of %d findings", n, all)
	}
	want(p, `document.getElementById('count-findings').textContent`, strconv.Itoa(all)) // of all
	if said := value[string](p, hits); !regexp.MustCompile(`^"shop": 2 worker pools, \d findings?\.$`).MatchString(said) {
		t.Error(said)
	}
	p.run(script(`document.querySelector('#pools a').click()`), until(opened))
	want(p, `document.getElementById('find').value`, "shop")
	p.set("find", "value", `'nobody'`)
	want(p, hits, `"nobody": 0 worker pools, 0 findings.`)
	want(p, `document.getElementById('pools').textContent`, "No worker pool that the page names has that in its name.")
	p.set("find", "value", `''`)
	want(p, `document.querySelectorAll('#found li').length`, all)
	want(p, hits, "")
}

// What maintenance does in the coming days stands under their dates.
func TestCalendar(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400")
	shoot := edited(t, "example/shoot.yaml", "version: 1877.5.0", "version: 1592.9.0")
	p := open(t, report(t, edited(t, "example/cloudprofile.yaml",
		"      classification: deprecated\n", "      classification: deprecated\n      expirationDate: \"2026-12-05T00:00:00Z\"\n"), shoot), "")
	days := value[[]string](p, `[...document.querySelectorAll('#days summary')].map((e) => e.textContent)`)
	if len(days) != 1 || days[0] != "2026-12-05 2 forced" {
		t.Errorf("%q", days)
	}
	want(p, `document.querySelector('#days li').textContent`,
		"! forced gardenlinux 1592.9.0 → 1877.5.0: 2 worker pools: garden-demo/shop, worker pool web; garden-demo/shop, worker pool db1592.9.0 has expired")
	want(p, `document.querySelector('#days p').textContent.startsWith('Each day up to 2027-02-24 ')`, true)
}

// The matrix can be kept as a file, and what boots be copied, without any request.
func TestSave(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400")
	folder := t.TempDir()
	p := open(t, report(t, gapped(t)), "", command(browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
	}))
	p.run(script(`document.getElementById('csv').click()`))
	saved, err := os.ReadFile(filepath.Join(folder, "openstack-2026-11-26.csv"))
	for ; err != nil; saved, err = os.ReadFile(filepath.Join(folder, "openstack-2026-11-26.csv")) {
		if p.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	const matrix = "\ufeff" + `"image","version","state","expires","medium_4_8","medium_4_8_arm","bare_8_16"
"gardenlinux","1877.5.0","","","1 of 2","2 of 2","2 of 2"
"gardenlinux","1592.9.0","deprecated","2026-12-05","2 of 2","no flavor fits","2 of 2"
`
	if text := strings.ReplaceAll(string(saved), "\r\n", "\n"); text != matrix {
		t.Error(text)
	}
	p.run(script(`(() => {
		navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); };
		document.querySelector('td.yes').click();
		document.getElementById('copy').click();
	})()`), until(`document.getElementById('copy').textContent === 'Copied'`))
	want(p, `window.copied`, "1234-arm64-virt")
}
