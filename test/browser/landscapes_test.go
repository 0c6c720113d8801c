// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// sideBySide writes the report of two landscapes: in dev an image is missing that a worker pool needs, and what one version is in live it
// is not in dev.
func sideBySide(t *testing.T, flags ...string) (path string) {
	t.Helper()
	dev := t.TempDir()
	for _, file := range []string{gapped(t), asian(t)} {
		if err := os.Rename(file, filepath.Join(dev, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	live := t.TempDir()
	for _, file := range []string{"example/cloudprofile.yaml", "example/cloudprofile-full.yaml", "example/shoot.yaml"} {
		raw, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(live, filepath.Base(file)), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return report(t, append(flags, "--landscape", "dev="+dev, "--landscape", "live & more="+live)...)
}

// shows waits until a page is that of a landscape, or of all if the name is empty.
func (p *page) shows(name string) {
	p.t.Helper()
	if name == "" {
		name = "Side by side"
	}
	p.run(chromedp.WaitReady(chromedp.CSS("html[data-drawn=yes]")))
	for value[string](p, `document.readyState + (document.querySelector('.landscapes [aria-current]')?.textContent || '')`) != "complete"+name {
		if p.Err() != nil {
			p.t.Fatalf("the page does not come to %s", name)
		}
	}
}

const (
	// tables are those of the comparison, with the texts of their cells.
	tables = `[...document.querySelectorAll('table.side')].map((e) => e.getAttribute('aria-label') + ': ' +
		[...e.rows].map((row) => [...row.cells].map((cell) => [...cell.childNodes].map((n) => n.textContent).join(', ')).join(' | ')).join('; '))`
	compared = `document.getElementById('comparison').textContent`
)

// All landscapes are side by side, each with the figures that its own page has at its top, and a way to that.
func TestLandscapes(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400") // 2026-11-26 12:00
	path := sideBySide(t)
	p := open(t, path, "")
	p.shows("")
	overview, versions := value[[]string](p, tables)[0], value[[]string](p, tables)[1]
	for _, row := range []string{
		"Overview of all landscapes: how many | dev | live & more; Worker pools without an image in their profile now | ✕ 1 | 0; ",
		"; Image versions that expire within 30 days | ! 1 | 0; Worker pools that use one of these | 0 | 0; Gaps in regions | ! 1 | 0; ",
		"; Worker pools | 2 | 2; Shoots | 1 | 1; Profiles | 1 | 2",
	} {
		if !strings.Contains(overview, row) {
			t.Errorf("%q is not in %s", row, overview)
		}
	}
	if want := "Image versions of openstack: image version | dev | live & more; " +
		"gardenlinux@1877.5.0 | supported, gap in asia, 2 worker pools | supported, 2 worker pools; " +
		"gardenlinux@1592.9.0 | deprecated, expires 2026-12-05 | deprecated"; versions != want {
		t.Errorf("%s, want %s", versions, want)
	}
	for _, text := range []string{
		"Image versions: 2 of 2 differ", "The same in all: Kubernetes versions (1), Machine types (3), Regions (2), Capabilities (2).",
		"Profile openstack-fullOnly live & more has a profile of this name.",
	} {
		if said := value[string](p, compared); !strings.Contains(said, text) {
			t.Errorf("%q is not in %s", text, said)
		}
	}

	// A figure leads to the part of the page of its landscape that it is about.
	p.run(script(`document.querySelector('table.side a[href*="part=maintenance"]').click()`))
	p.shows("dev")
	want(p, `document.title`, "dev, openstack: machine images")
	want(p, `Math.abs(document.getElementById('maintenance').getBoundingClientRect().top) < 50 || innerHeight + scrollY >= document.body.scrollHeight - 1`, true)
	said := strings.Join(value[[]string](p, facts), "\n")
	for _, figure := range []string{
		"1 worker pool has no image in its profile now", "1 image version expires within 30 days, used by 0 worker pools", "1 gap in regions",
	} {
		if !strings.Contains(said, figure) {
			t.Errorf("%q is not in %s", figure, said)
		}
	}
	// What is opened there stays in the landscape, and so does whoever follows a link to a part.
	p.run(script(`document.querySelector('#facts li li a').click()`), until(opened))
	want(p, `new URLSearchParams(location.hash.slice(1)).get('landscape')`, "dev")
	want(p, `document.getElementById('answer').textContent`, "✕ no image")
	p.run(script(`document.querySelector('.top nav a[href="#findings"]').click()`), until(`location.hash.includes('landscape=dev')`))
	want(p, title, "gardenlinux@1877.5.0")
	p.run(script(`document.querySelector('#facts a[href*="gaps"]').click()`), until(`document.getElementById('gaps').checked`))
	p.run(script(`document.querySelector('.landscapes a:last-child').click()`))
	p.shows("live & more")
	want(p, `document.getElementById('profile').options.length`, 2)
	p.run(script(`document.querySelector('.landscapes a').click()`))
	p.shows("")
}

// What is the same in all landscapes is there for who looks for it, and the address says what is shown.
func TestLandscapesFilters(t *testing.T) {
	path := sideBySide(t, "--pool", "db")
	p := open(t, path, "#landscape=test")
	p.shows("")
	want(p, `document.getElementById('lost').textContent`, "The link names a landscape that this report does not have: test.")
	want(p, `document.getElementById('only').textContent`, "Worker pools are those that match --pool db. What lint finds is about all.")
	p.set("same", "checked", "true")
	want(p, tables+`.length`, 6)
	p.set("find", "value", `'Medium arm'`)
	want(p, tables+`.length`, 2)
	const types = "Machine types of openstack: machine type | dev | live & more; " +
		"medium_4_8_arm | cpu 4, memory 8Gi, {architecture: [arm64], hypervisor: [virtualized]} | " +
		"cpu 4, memory 8Gi, {architecture: [arm64], hypervisor: [virtualized]}"
	want(p, tables+`[1]`, types)
	again := open(t, path, value[string](p, `location.hash`))
	want(again, tables+`[1]`, types)
	again.set("find", "value", `''`)
	again.set("same", "checked", "false")
	want(again, `location.hash`, "#landscapes")
	// Each landscape says which of its worker pools it is about.
	one := open(t, path, "#landscape=dev")
	want(one, `document.getElementById('only').textContent`, "Worker pools are those that match --pool db. What lint finds is about all.")
	want(one, `document.querySelectorAll('#pools tbody tr').length`, 1)
}

// On a phone the columns are below each other, and say of which landscape they are.
func TestLandscapesOnASmallScreen(t *testing.T) {
	p := open(t, sideBySide(t), "#same=1", sized(390))
	want(p, `document.documentElement.scrollWidth <= innerWidth`, true)
	want(p, `getComputedStyle(document.querySelector('table.side td'), '::before').content`, `"dev: "`)
}

// A page about a single landscape is that of its files.
func TestOneLandscape(t *testing.T) {
	p := open(t, report(t, "--landscape", "dev=example/cloudprofile.yaml"), "")
	want(p, `document.querySelectorAll('.landscapes').length`, 0)
	want(p, `document.querySelectorAll('td.cell').length`, 6)
}
