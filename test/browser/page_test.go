// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	browser "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// emulated makes a page believe in a medium, and in colours that the system prefers; empty for what is usual.
func emulated(medium, colours string) action {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}},
	})
}

const (
	// about is the label of what has the focus.
	about = `document.activeElement.getAttribute('aria-label')`
	// background is the colour of the paper.
	background = `getComputedStyle(document.body).backgroundColor`
	title      = `document.querySelector('#why h3 span')?.textContent ?? 'closed'`
	white      = "rgb(255, 255, 255)"
	dark       = "rgb(20, 23, 26)"
)

// All of the page can be reached without a mouse.
func TestKeyboard(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile.yaml"), "")
	for i := 0; !value[bool](p, `document.activeElement.classList.contains('cell')`); i++ {
		if i == 30 {
			t.Fatal("the tab key does not come to the cells")
		}
		p.run(chromedp.KeyEvent(kb.Tab))
	}
	first := value[string](p, about)
	p.run(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown))
	second := value[string](p, about)
	if second == first || !strings.Contains(second, "boots") && !strings.Contains(second, "no flavor fits") {
		t.Errorf("from %s the arrows lead to %s", first, second)
	}
	want(p, `document.querySelectorAll('td.cell[tabindex="0"]').length`, 1)
	p.run(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowLeft))
	want(p, about, first)
	p.run(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.PageUp)) // where nothing is
	want(p, about, first)
	p.run(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.PageDown))
	want(p, `(() => {
		const all = [...document.querySelectorAll('td.cell')];
		return document.activeElement === all[all.length - 1];
	})()`, true)
	last := value[string](p, about)

	p.run(chromedp.KeyEvent(kb.Enter))
	if name, _, _ := strings.Cut(last, " on "); value[string](p, title) != name {
		t.Errorf("Enter on %s shows %s", last, value[string](p, title))
	}
	want(p, `document.getElementById('why').contains(document.activeElement)`, true)
	for i := 0; value[string](p, `document.activeElement.dataset.region ?? ''`) != "asia"; i++ {
		if i == 10 {
			t.Fatal("the tab key does not come to the regions")
		}
		p.run(chromedp.KeyEvent(kb.Tab))
	}
	p.run(chromedp.KeyEvent(" "))
	want(p, `document.activeElement.dataset.region + document.activeElement.getAttribute('aria-pressed')`, "asiatrue")
	want(p, `document.getElementById('text').textContent.includes(' in asia')`, true)
	p.run(chromedp.KeyEvent(kb.Escape))
	want(p, title, "closed")
	want(p, about, last)
}

// A link leads others to what is shown.
func TestDeepLinks(t *testing.T) {
	path := report(t, "example/cloudprofile-trusted-launch.yaml")
	p := open(t, path, "")
	p.run(script(`(() => {
		const request = document.getElementById('request');
		request.selectedIndex = [...request.options].findIndex((o) => o.textContent.includes('trustedLaunch'));
		request.dispatchEvent(new Event('input', { bubbles: true }));
		document.querySelectorAll('td.cell')[1].click();
	})()`))
	hash, text := value[string](p, `location.hash`), value[string](p, `document.getElementById('text').textContent`)
	if !strings.Contains(text, "trustedLaunch.enabled: true") {
		t.Fatal(text)
	}
	other := open(t, path, hash)
	want(other, `document.getElementById('text').textContent`, text)
	want(other, `location.hash`, hash)
	want(other, `document.querySelectorAll('td[aria-selected=true]').length`, 1)

	// Back and forth, as in any browser.
	p.run(script(`document.querySelectorAll('td.cell')[0].click()`))
	first := value[string](p, `document.getElementById('text').textContent`)
	if first == text {
		t.Fatal("both cells say the same")
	}
	p.run(script(`history.back()`), until(`document.getElementById('text').textContent !== `+quoted(first)))
	want(p, `document.getElementById('text').textContent`, text)

	// What a link names, and the report does not have, is said.
	lost := open(t, path, "#region=atlantis&version=gardenlinux@1877.5.0&on=medium_4_8&in=europe")
	want(lost, `document.getElementById('lost').textContent`, "The link names what this report does not have: atlantis.")
	want(lost, title, "gardenlinux@1877.5.0")
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // a text can be encoded
	return string(raw)
}

// until waits until an expression is true in the page.
func until(expression string) action {
	return script("new Promise((done) => { const look = () => (("+expression+") ? done() : setTimeout(look, 10)); look(); })", awaited)
}

// The colours are those that the system prefers, unless somebody chooses others.
func TestColours(t *testing.T) {
	path := report(t, "example/cloudprofile.yaml")
	p := open(t, path, "", emulated("", "dark"))
	want(p, background, dark)
	p.run(emulated("", "light"))
	want(p, background, white)
	for _, colour := range []string{white, dark, white} { // light, dark, and those of the system again
		p.run(script(`document.getElementById('theme').click()`))
		want(p, background, colour)
	}
	p.run(emulated("", "dark"))
	want(p, background, dark)
	// What a cell says is not said by its colour alone.
	want(p, `[...document.querySelectorAll('td.cell')].every((td) => td.textContent.trim() && td.getAttribute('aria-label'))`, true)
}

// On paper it is black on white, whole, and without what only a screen needs.
func TestPaper(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile.yaml", "example/shoot.yaml"),
		"#version=gardenlinux@1877.5.0&on=medium_4_8&in=europe", emulated("print", "dark"))
	want(p, background, white)
	for _, hidden := range []string{"#theme", "nav", "#close", ".keys"} {
		want(p, `getComputedStyle(document.querySelector('`+hidden+`')).display`, "none")
	}
	want(p, `getComputedStyle(document.getElementById('scroll')).overflow`, "visible")
	want(p, `getComputedStyle(document.getElementById('why')).overflow`, "visible")
	p.run(emulated("", "light"))
	pdf, err := chromedp.Run(p, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize(), chromedp.PDFPrintBackground()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Errorf("%.20q", pdf)
	}
	if !bytes.Contains(pdf, []byte("841.9")) { // points: A4 has 297 mm
		t.Error("it is not printed across")
	}
}

// awful is a name with all that could end an element, an attribute or a text.
const awful = `x</script><img src=x onerror="document.title='broken'">'"&amp;` + "`${1}`"

// Names are texts, whatever they look like.
func TestNames(t *testing.T) {
	raw, err := inRoot("cat", "example/cloudprofile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gardenlinux", "medium_4_8", "europe"} {
		if !strings.Contains(raw, name) {
			t.Fatalf("there is no %s", name)
		}
	}
	name := quoted(awful)
	text := strings.NewReplacer("name: gardenlinux\n", "name: "+name+"\n", "name: medium_4_8\n", "name: "+name+"\n",
		"name: europe\n", "name: "+name+"\n", "name: medium_4_8 ", "name: "+name+" ").Replace(raw)
	file := filepath.Join(t.TempDir(), "profile.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, report(t, file), "")
	cells := value[[]cell](p, clickAll+"(1)")
	found := false
	for _, c := range cells {
		if c.Machine == awful && c.Region == awful && strings.HasPrefix(c.Version, awful+"@") {
			found = true
			checkCell(t, c, file)
		}
	}
	if !found {
		t.Errorf("%d cells, and none has the name everywhere", len(cells))
	}
	want(p, `document.title !== 'broken' && !document.querySelector('img')`, true)
	// What lint says about these names is shown as well.
	want(p, `document.getElementById('found').textContent.includes('</script><img')`, true)
}

// The policy that the page gives itself lets it load nothing, and run nothing but what it came with.
func TestPolicy(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile.yaml"), "")
	policy := value[string](p, `document.querySelector('meta[http-equiv=Content-Security-Policy]').content`)
	for _, part := range []string{"default-src 'none'", "script-src 'sha256-", "style-src 'sha256-"} {
		if !strings.Contains(policy, part) {
			t.Errorf("%q is not in %s", part, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Error(policy)
	}
	want(p, `document.querySelectorAll('[src], link:not([href="data:,"])').length`, 0)
	blocked := value[bool](p, `(() => {
		const added = document.createElement('script');
		added.textContent = 'window.ran = true';
		document.body.append(added);
		return !window.ran;
	})()`)
	if !blocked {
		t.Error("a script that was added has run")
	}
	p.forgive("violates the following Content Security Policy directive")
}

// A page that cannot be drawn says why, and shows nothing that is empty.
func TestWhatCannotBeUnpacked(t *testing.T) {
	path := report(t, "example/cloudprofile.yaml")
	whole, err := os.ReadFile(path)
	damaged := filepath.Join(t.TempDir(), "damaged.html")
	if err == nil {
		err = os.WriteFile(damaged, bytes.Replace(whole, []byte("</script>"), []byte("AAAA</script>"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	old := command(browser.AddScriptToEvaluateOnNewDocument,
		browser.AddScriptToEvaluateOnNewDocumentParams{Source: "delete window.DecompressionStream"})
	for said, p := range map[string]*page{
		"The file of this page is damaged: get it again, or make it anew.": open(t, damaged, ""),
		"This browser is too old for this page. Chrome and Edge can show it from version 80 on, Firefox from 113, Safari from 16.4.": open(
			t, path, "", old),
	} {
		want(p, `document.getElementById('notes').textContent`, said)
		want(p, `[...document.querySelectorAll('main, nav')].some((e) => e.checkVisibility({ visibilityProperty: true }))`, false)
		p.forgive("Uncaught (in promise)")
	}
	p := open(t, path, "")
	const visible = `document.querySelector('main').checkVisibility({ visibilityProperty: true })`
	want(p, visible, true)
	p.run(script(`delete document.documentElement.dataset.drawn`)) // as it is while the data is unpacked
	want(p, visible, false)
}

// An address that names a part of the page leads there, though it is drawn later.
func TestParts(t *testing.T) {
	p := open(t, report(t, "example/broken/"), "#findings")
	want(p, `Math.round(document.getElementById('findings').getBoundingClientRect().top)`, 8)
}

// set sets a property of a filter, as somebody does who uses it.
func (p *page) set(id, property, to string) {
	p.t.Helper()
	p.run(script(`(() => {
		const e = document.getElementById('` + id + `');
		e.` + property + ` = ` + to + `;
		e.dispatchEvent(new Event('input', { bubbles: true }));
	})()`))
}

// The filters leave what they say, and what there is to say if they leave nothing.
func TestFilters(t *testing.T) {
	p := open(t, report(t, gapped(t)), "")
	const rows, columns = `document.querySelectorAll('#grid tbody th[scope=row]').length`, `document.querySelectorAll('#grid thead th').length - 1`
	allRows, allColumns := value[int](p, rows), value[int](p, columns)
	p.set("search", "value", `'_arm'`)
	if n := value[int](p, columns); n == 0 || n >= allColumns {
		t.Errorf("%d of %d columns", n, allColumns)
	}
	p.set("search", "value", `'nothing like it'`)
	want(p, `document.getElementById('status').textContent`, `No machine type has "nothing like it" in its name.`)
	want(p, `document.getElementById('scroll').hidden`, true)
	p.set("search", "value", `''`)
	want(p, columns, allColumns)
	p.set("region", "value", `'asia'`)
	want(p, `[...document.querySelectorAll('td.cell')].some((td) => /\d\/\d/.test(td.textContent))`, false)
	p.run(script(`document.querySelector('td.yes').click()`))
	want(p, `document.querySelector('[aria-pressed=true]').dataset.region`, "asia")
	p.set("gaps", "checked", "true")
	if n := value[int](p, rows); n == 0 || n > allRows {
		t.Errorf("%d of %d rows", n, allRows)
	}
	want(p, `[...document.querySelectorAll('#grid tbody tr:not(.image)')].every((tr) => tr.querySelector('td.no, td.part'))`, true)
}

// What maintenance does to worker pools stands beside, and leads to their cells.
func TestMaintenance(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile-trusted-launch.yaml", "docs/examples/newer-version.yaml", "example/shoot-trusted-launch.yaml"), "")
	said := printed(t, "maintenance", "-o", "json", "example/cloudprofile-trusted-launch.yaml", "example/shoot-trusted-launch.yaml")
	var answer struct {
		Pools []struct{ Shoot, Pool, Image, From, Action, Reason string }
	}
	if err := json.Unmarshal([]byte(said), &answer); err != nil || len(answer.Pools) == 0 {
		t.Fatalf("%v in %s", err, said)
	}
	shown := value[string](p, `document.getElementById('pools').textContent`)
	for _, pool := range answer.Pools {
		for _, part := range []string{pool.Shoot + ", worker pool " + pool.Pool, pool.Image + " " + pool.From, pool.Action, pool.Reason} {
			if !strings.Contains(shown, part) {
				t.Errorf("%q is not in %s", part, shown)
			}
		}
	}
	p.run(script(`document.querySelector('#pools a').click()`), until(`!document.getElementById('why').hidden`))
	want(p, title, "gardenlinux@1877.5.0")
	want(p, `document.getElementById('why').textContent.includes(', worker pool ')`, true)
	want(p, `document.querySelector('td[aria-selected=true]').classList.contains('used')`, true)
}

// That there are no Shoots is said only where there are none.
func TestMaintenanceOfNothing(t *testing.T) {
	const pools = `document.getElementById('pools').textContent`
	none := open(t, report(t, "example/cloudprofile.yaml"), "")
	want(none, pools, "There are no Shoots among the inputs: give their manifests as well, or read a cluster with -A.")
	unknown := open(t, report(t, "example/cloudprofile.yaml", "example/shoot-namespaced.yaml"), "")
	want(unknown, pools, "It is not known for 1 of 1 Shoot: what lint finds says why.")
}

// What lint finds stands beside, each finding with its place.
func TestFindings(t *testing.T) {
	const file = "example/broken/provider-flavor-missing.yaml"
	p := open(t, report(t, file), "")
	var found struct {
		Findings []struct{ Message, Rule, Field string }
	}
	if err := json.Unmarshal([]byte(printed(t, "lint", "-o", "json", file)), &found); err != nil || len(found.Findings) == 0 {
		t.Fatal(err)
	}
	shown := value[string](p, `document.getElementById('found').textContent`)
	for _, f := range found.Findings {
		if !strings.Contains(shown, f.Message) || !strings.Contains(shown, f.Rule) || !strings.Contains(shown, f.Field) {
			t.Errorf("%q is not in %s", f.Message, shown)
		}
	}
	if !strings.Contains(shown, file+":") {
		t.Errorf("the file is not in %s", shown)
	}
	want(p, `document.getElementById('count-findings').className`, "bad")
	// What is silenced is told apart, in the word of lint, with its reason; and counts for nothing.
	silenced := open(t, report(t, "docs/examples/silenced.yaml"), "")
	want(silenced, `document.querySelector('#found summary b').textContent`, "◦ silenced")
	want(silenced, `document.querySelector('#found li').textContent.endsWith(' · the region opens in May')`, true)
	want(silenced, `document.getElementById('count-findings').textContent`, "")
}

// Of very many findings there are some of every rule, and it is said how many there are.
func TestManyFindings(t *testing.T) {
	many := filepath.Join(t.TempDir(), "many.yaml")
	if err := os.WriteFile(many, []byte(strings.Repeat("a: b\n---\n", 6000)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, report(t, many, "example/broken/provider-flavor-missing.yaml"), "")
	rules := value[string](p, `[...document.querySelectorAll('#found summary')].map((s) => s.textContent).join('; ')`)
	for _, part := range []string{"not-an-object6000 findings, of which 1999 are here", "provider-flavor-missing1 finding"} {
		if !strings.Contains(rules, part) {
			t.Errorf("%q is not in %s", part, rules)
		}
	}
	want(p, `document.getElementById('notes').textContent.includes('of 6001 findings 2000 are shown')`, true)
}

// Several profiles stand in one page, one at a time.
func TestProfiles(t *testing.T) {
	p := open(t, report(t, "example/cloudprofile.yaml", "example/namespacedcloudprofile.yaml"), "")
	names := value[[]string](p, `[...document.getElementById('profile').options].map((o) => o.textContent)`)
	if strings.Join(names, " ") != "openstack garden-demo/team" {
		t.Errorf("%q", names)
	}
	p.run(script(`(() => {
		const e = document.getElementById('profile');
		e.value = '1';
		e.dispatchEvent(new Event('input', { bubbles: true }));
		document.querySelector('td.cell').click();
	})()`))
	want(p, `document.title`, names[1]+": machine images")
	want(p, `document.getElementById('command').textContent.includes('--profile `+names[1]+`')`, true)
	want(p, `new URLSearchParams(location.hash.slice(1)).get('profile')`, names[1])
}
