// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// What people need who see less, or use no mouse, or a small screen, or have never heard of capabilities.

// contrast has functions about colours, as WCAG 2 defines contrast.
const contrast = `
const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
const light = (colour) => {
	const [r, g, b] = channels(colour).slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one, other) => {
	const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
	return (high + 0.05) / (low + 0.05);
};
const behind = (e) => {
	for (; e; e = e.parentElement) {
		const colour = getComputedStyle(e).backgroundColor, alpha = channels(colour)[3];
		if (alpha === undefined || alpha === 1) return colour;
	}
	return getComputedStyle(document.body).backgroundColor;
};
`

// Texts have a contrast of 4.5, and the edges of what can be operated one of 3: level AA.
func TestContrast(t *testing.T) {
	path := report(t, "example/")
	broken, several := report(t, "example/broken/"), sideBySide(t)
	for _, colours := range []string{"light", "dark"} {
		for _, p := range []*page{
			open(t, path, "#version=gardenlinux@1877.5.0&on=medium_4_8&in=europe&region=atlantis", emulated("", colours)),
			open(t, broken, "", emulated("", colours)),
			open(t, broken, "#types=nothing+like+it", emulated("", colours)),
			open(t, several, "#same=1", emulated("", colours)),
		} {
			faint := value[[]string](p, `(() => { `+contrast+`
				document.querySelectorAll('details').forEach((d) => { d.open = true; });
				const faint = new Set(), all = [...document.body.querySelectorAll('*')].filter((e) => e.checkVisibility());
				const check = (what, e, ratio, least) => {
					if (ratio < least) faint.add(what + ' of ' + e.tagName + '.' + e.className + ' ' + ratio.toFixed(2) + ': ' + e.textContent.slice(0, 30));
				};
				for (const e of all) {
					const style = getComputedStyle(e);
					if ([...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) check('text', e, contrast(style.color, behind(e)), 4.5);
					if (e.placeholder) check('placeholder', e, contrast(getComputedStyle(e, '::placeholder').color, behind(e)), 4.5);
					if (e.matches('button, select, input[type=search]')) check('edge', e, contrast(style.borderTopColor, behind(e.parentElement)), 3);
				}
				return all.length > 50 ? [...faint] : ['only ' + all.length + ' elements'];
			})()`)
			if len(faint) > 0 {
				t.Errorf("%s: %s", colours, strings.Join(faint, "\n"))
			}
		}
	}
}

// Whatever the tab key comes to shows that it has the focus, and has a name.
func TestFocusIsVisible(t *testing.T) {
	path := report(t, "example/cloudprofile-trusted-launch.yaml", "example/shoot-trusted-launch.yaml", "example/broken/provider-flavor-missing.yaml")
	for _, colours := range []string{"light", "dark"} {
		p := open(t, path, "#version=gardenlinux@1877.5.0&on=medium_4_8&in=europe", emulated("", colours))
		p.run(script(`document.activeElement.blur()`))
		var seen []string
		for {
			p.run(chromedp.KeyEvent(kb.Tab))
			now := value[string](p, `(() => { `+contrast+`
				const e = document.activeElement, style = getComputedStyle(e);
				if (e === document.body || e.dataset.seen) return '';
				e.dataset.seen = 'yes';
				const name = e.getAttribute('aria-label') || (e.labels && e.labels[0] ? e.labels[0].textContent : e.textContent);
				if (!name.trim()) return 'no name: ' + e.outerHTML.slice(0, 200);
				if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2) return 'no outline: ' + e.outerHTML.slice(0, 200);
				const ratio = contrast(style.outlineColor, behind(e));
				return ratio < 3 ? 'outline ' + ratio + ': ' + e.outerHTML.slice(0, 200) : e.id || e.tagName;
			})()`)
			if now == "" {
				break
			}
			if strings.Contains(now, ": ") {
				t.Errorf("%s: %s", colours, now)
			}
			seen = append(seen, now)
		}
		for _, id := range []string{"theme", "image", "region", "request", "search", "gaps", "TD", "close", "text", "SUMMARY"} {
			if !slices.Contains(seen, id) {
				t.Errorf("the tab key does not come to %s: %q", id, seen)
			}
		}
	}
}

// A screen reader finds its way: headings in their order, tables with headings, parts with names.
func TestStructure(t *testing.T) {
	several := sideBySide(t)
	for _, p := range []*page{
		open(t, report(t, "example/", "docs/examples/newer-version.yaml"), "#profile=openstack&version=gardenlinux@1877.5.0&on=medium_4_8&in=europe"),
		open(t, several, "#same=1"), open(t, several, "#landscape=dev&version=gardenlinux@1877.5.0&on=medium_4_8&in=asia"),
	} {
		p.hasStructure()
	}
}

func (p *page) hasStructure() {
	t := p.t
	t.Helper()
	levels := value[[]int](p, `[...document.querySelectorAll('h1, h2, h3, h4')].map((h) => Number(h.tagName[1]))`)
	for i, level := range levels {
		if i == 0 && level != 1 || i > 0 && level > levels[i-1]+1 || i > 0 && level == 1 {
			t.Errorf("levels of headings: %v", levels)
			break
		}
	}
	want(p, `[...document.querySelectorAll('th')].filter((th) => !th.scope || !th.textContent.trim()).length`, 0)
	want(p, `[...document.querySelectorAll('table')].filter((e) => !e.getAttribute('aria-label')).length`, 0)
	want(p, `document.querySelectorAll('table').length > 3`, true)
	want(p, `[...document.querySelectorAll('section, nav, aside')].filter((e) => !e.getAttribute('aria-label') &&
		!document.getElementById(e.getAttribute('aria-labelledby'))).length`, 0)
	want(p, `new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size === document.querySelectorAll('[id]').length`, true)
}

// Whoever has never heard of capabilities finds what to do, and what is shown is said as well.
func TestWhatIsShownIsSaid(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile.yaml"), "")
	const status = `document.getElementById('status').textContent`
	want(p, status, "All 2 image versions on all 3 machine types: no gap; 1 combination fits no flavor.")
	want(p, `document.getElementById('status').getAttribute('role')`, "status")
	p.set("search", "value", `'_ARM'`)
	want(p, status, "All 2 image versions on 1 of 3 machine types: no gap; 1 combination fits no flavor.")
	p.set("region", "value", `'europe'`)
	want(p, status, "All 2 image versions on 1 of 3 machine types: no gap in europe; 1 combination fits no flavor.")
	p.set("gaps", "checked", "true")
	want(p, status, "No version has a gap on these machine types.")
	p.set("gaps", "checked", "false")
	p.set("search", "value", `'bare'`)
	want(p, status, "All 2 image versions on 1 of 3 machine types: each combination boots in europe.")
	// Esc empties a field, and does not close what is shown of a cell.
	p.set("search", "value", `''`)
	p.run(script(`document.querySelector('td.cell').click(); document.getElementById('search').focus()`), chromedp.KeyEvent(kb.Escape))
	want(p, `document.getElementById('why').hidden`, false)
}

// It is said for which worker pools everything boots, and of the others what does not.
func TestGapsOfOtherRequests(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile-full.yaml"), "")
	const (
		status = `document.getElementById('status').textContent`
		asks   = `[...document.getElementById('request').options].map((o) => o.textContent).join('; ')`
	)
	want(p, status, "All 2 image versions on all 2 machine types, for worker pools that ask for nothing special: each combination boots in all regions.")
	want(p, asks, "nothing special; trustedLaunch.enabled: true: 3 boot nothing")
	p.set("request", "value", `'1'`)
	want(p, status, "All 2 image versions on all 2 machine types, for worker pools that ask for trustedLaunch.enabled: true: "+
		"no gap; 3 combinations fit no flavor.")
	p.set("search", "value", `'_arm'`)
	want(p, asks, "nothing special; trustedLaunch.enabled: true: 2 boot nothing")
	p.set("search", "value", `'8'`)
	p.set("region", "value", `'asia'`)
	want(p, asks, "nothing special; trustedLaunch.enabled: true: 3 boot nothing")
	// What the filter for gaps hides counts all the same.
	p.set("request", "value", `'0'`)
	p.set("gaps", "checked", "true")
	want(p, asks, "nothing special; trustedLaunch.enabled: true: 3 boot nothing")
	p.set("search", "value", `'medium_4_8'`)
	p.set("search", "value", `'nothing like it'`)
	want(p, asks, "nothing special; trustedLaunch.enabled: true")
}

// A link to a cell that is no longer there opens no other one.
func TestLostCells(t *testing.T) {
	path := report(t, "example/cloudprofile.yaml", "example/namespacedcloudprofile.yaml")
	for hash, lost := range map[string]string{
		"#profile=gone&version=gardenlinux@1877.5.0&on=medium_4_8&in=europe":           "gone",
		"#version=gardenlinux@1.0.0&on=medium_4_8&in=europe":                           "gardenlinux@1.0.0",
		"#version=gardenlinux@1877.5.0&on=large&in=europe":                             "large",
		"#version=gardenlinux@1877.5.0&on=medium_4_8&in=atlantis":                      "atlantis",
		"#asks=secure+boot&version=gardenlinux@1877.5.0&on=medium_4_8&in=europe":       "secure boot",
		"#profile=gone&image=ubuntu&version=ubuntu@1&on=medium_4_8&in=europe&region=x": "gone, ubuntu, x, ubuntu@1",
	} {
		p := open(t, path, hash)
		want(p, title, "closed")
		want(p, `document.getElementById('lost').textContent`, "The link names what this report does not have: "+lost+".")
		want(p, `document.querySelectorAll('td.cell').length > 0`, true)
	}
}

// What is said of a cell comes into view, and gets the focus, wherever it was opened.
func TestWhatIsOpenedIsInView(t *testing.T) {
	path := report(t, "example/cloudprofile.yaml", "example/shoot.yaml")
	const visible = `(() => {
		const { top, bottom } = document.querySelector('#why h3').getBoundingClientRect();
		return top >= 0 && bottom <= innerHeight && document.activeElement === document.querySelector('#why h3');
	})()`
	for _, width := range []int64{1280, 390} {
		p := open(t, path, "", sized(width))
		p.run(script(`document.querySelector('td.cell').click()`))
		want(p, visible, true)
		p.run(script(`(() => {
			const link = [...document.querySelectorAll('#pools a')].find((a) => a.textContent.startsWith('bare_8_16'));
			link.scrollIntoView();
			link.click();
		})()`), until(`document.querySelector('#why h3').textContent.startsWith('gardenlinux@1877.5.0') &&
			document.getElementById('why').textContent.includes('bare_8_16') && `+visible))
	}
}

// sized gives a page a width.
func sized(width int64) action { return screen(width, 800) }

func screen(width, height int64) action {
	return command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// No width makes the page scroll to the side, nor breaks words in tables that have a place for them.
func TestWidths(t *testing.T) {
	path := report(t, "example/broken/")
	for _, width := range []int64{1600, 1280, 800, 390} {
		p := open(t, path, "#version=gardenlinux@1877.5.0&on=medium_4_8&in=europe", sized(width))
		want(p, `document.documentElement.scrollWidth`, int(width))
		want(p, `getComputedStyle(document.querySelector('.list td')).overflowWrap`, "break-word")
		want(p, `[...document.querySelectorAll('.wide')].filter((e) => e.scrollWidth > e.clientWidth).length`, 0)
		if width >= 1280 { // all of the head is in one line
			want(p, `(() => {
				const middle = (e) => (e.getBoundingClientRect().top + e.getBoundingClientRect().bottom) / 2;
				return [...document.querySelector('.top').children].every((e) => Math.abs(middle(e) - middle(document.querySelector('h1'))) < 8);
			})()`, true)
		}
	}
}

// Nothing of a form is wider than the screen of a phone, nor is anything cut that is said of a cell.
func TestPhone(t *testing.T) {
	path := report(t, "example/cloudprofile-full.yaml", "example/shoot-full.yaml")
	const where = "#asks=trustedLaunch.enabled%3A+true&version=gardenlinux@1877.5.0&on=medium_4_8&in=europe"
	p := open(t, path, where, sized(390))
	want(p, `[...document.querySelectorAll('select, input, button')].filter((e) => e.getBoundingClientRect().right > innerWidth).length`, 0)
	for _, width := range []int64{1280, 1600} {
		p := open(t, path, where, sized(width))
		want(p, `document.getElementById('text').scrollWidth > document.getElementById('text').clientWidth`, false)
		want(p, `document.querySelectorAll('#text .table').length`, 3)
	}
}

// A frame around what has the focus is for those who use keys.
func TestFrames(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile.yaml"), "")
	const frame = `getComputedStyle(document.querySelector('#why h3')).outlineStyle`
	p.run(script(`(() => {
		const td = document.querySelector('td.cell');
		td.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
		td.click();
	})()`))
	want(p, `document.activeElement.tagName`, "H3")
	want(p, frame, "none")
	p.run(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent(kb.Enter))
	want(p, `document.activeElement.tagName`, "H3")
	want(p, frame, "solid")
}

// Of long lists the first entries are shown, and how many there are; a button shows the others.
func TestLongLists(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "example/shoot.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	shoot, pools, found := strings.Cut(string(raw), "    workers:\n")
	if !found {
		t.Fatal("there are no workers")
	}
	const pool = `    - name: p%
      machine: {type: gone-%, image: {name: gardenlinux, version: 1877.5.0}}
      minimum: 1
      maximum: 1
`
	for i := range 120 {
		pools += strings.ReplaceAll(pool, "%", strconv.Itoa(i))
	}
	file := filepath.Join(t.TempDir(), "shoot.yaml")
	if err := os.WriteFile(file, []byte(shoot+"    workers:\n"+pools), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, report(t, "example/cloudprofile.yaml", file), "")
	const rows, last = `document.querySelectorAll('#pools tbody tr').length`, `document.querySelector('#pools tbody tr:last-child').textContent`
	want(p, rows, 0) // nothing of a long list is drawn before somebody looks
	p.run(script(`document.querySelector('#pools details').open = true`), until(`document.querySelector('#pools .more')`))
	want(p, rows, 100)
	want(p, `document.querySelector('#pools .more').textContent`, "These are the first 100 of 120 entries. Show all 120")
	p.run(script(`document.querySelector('#pools .more button').click()`))
	want(p, rows, 120)
	want(p, `document.querySelectorAll('#pools .more').length`, 0)
	want(p, `document.activeElement === document.querySelectorAll('#pools tbody tr')[100]`, true)
	// The same of findings of one rule, which are drawn when they are looked at.
	p.run(script(`[...document.querySelectorAll('#found details')].forEach((d) => { d.open = true; })`),
		until(`document.querySelector('#found .more')`))
	want(p, `document.querySelector('#found .more').previousSibling.children.length`, 100)
}

// Of very many findings the page has a part, and counts all.
func TestVeryManyFindings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "many.yaml")
	if err := os.WriteFile(file, []byte(strings.Repeat("a: b\n---\n", 6000)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, report(t, "example/broken/provider-flavor-missing.yaml", file), "")
	want(p, `document.getElementById('count-findings').textContent`, "6001")
	want(p, `[...document.querySelectorAll('#found summary')].map((e) => e.textContent).sort().join('; ')`,
		"✕ errornot-an-object6000 findings, of which 1999 are here; ✕ errorprovider-flavor-missing1 finding")
	want(p, `document.querySelectorAll('#found li').length`, 0) // nothing of it is drawn before somebody looks
	p.run(script(`[...document.querySelectorAll('#found details')].forEach((d) => { d.open = true; })`),
		until(`document.querySelector('#found .more')`))
	want(p, `document.querySelector('#found .more').textContent`, "These are the first 100 of 1999 findings. Show all 1999")
}

// A cell that only worker pools use for which the page has no place is marked all the same, and says how many they are.
func TestVeryManyPools(t *testing.T) {
	shoot, err := os.ReadFile(filepath.Join(root, "example/shoot.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var shoots []string
	for i := range 2000 {
		n := strconv.Itoa(i)
		shoots = append(shoots, strings.NewReplacer("name: shop", "name: shop-"+n, "medium_4_8", "gone-"+n).Replace(string(shoot)))
	}
	file := filepath.Join(t.TempDir(), "shoots.yaml")
	if err := os.WriteFile(file, []byte(strings.Join(shoots, "\n---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, report(t, "example/cloudprofile.yaml", file), "#version=gardenlinux@1877.5.0&on=bare_8_16&in=europe")
	want(p, `document.querySelector('td[aria-selected=true]').classList.contains('used')`, true)
	want(p, `document.querySelector('#why li').textContent`, "2000 worker pools that the page does not name: stays")
	want(p, `document.getElementById('count-maintenance').textContent`, "2000")
}
