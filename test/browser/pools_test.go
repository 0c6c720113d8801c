// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"strconv"
	"strings"
	"testing"
)

// why is the text beside the matrix, and opened whether a cell is open that has been asked for.
const (
	why    = `document.getElementById('why').textContent`
	opened = `!document.getElementById('why').hidden`
	chosen = `document.querySelector('td[aria-selected=true]')`
)

// Worker pools stand in a cell only where it is shown what they ask for. Elsewhere it says what they ask for, and leads there.
func TestPoolsThatAskForMore(t *testing.T) {
	path := report(t, "example/cloudprofile-full.yaml", "example/shoot-full.yaml")
	const (
		ledger = "garden-demo/full, worker pool ledger: "
		here   = "Worker pools here, and what their next maintenance does"
		others = "Worker pools here that ask for something else"
	)
	p := open(t, path, "#version=gardenlinux@1877.5.0&on=medium_4_8&in=europe")
	want(p, chosen+`.className`, "cell yes elsewhere")
	want(p, chosen+`.getAttribute('aria-label').endsWith(', worker pools that ask for something else use it')`, true)
	want(p, `document.getElementById('legend').textContent.includes('◦worker pools that ask for something else use it')`, true)
	said := value[string](p, why)
	answer := others + ledger + "asks for trustedLaunch.enabled: true, boots id 6dd869eb-d8be-5aa4-91d9-4d0190f8f3de"
	if strings.Contains(said, here) || !strings.Contains(said, answer) {
		t.Errorf("the cell says %s", said)
	}
	// Its link leads to the cell where that is the answer.
	p.run(script(`document.querySelector('#why li a').click()`), until(`!`+why+`.includes('something else')`))
	want(p, chosen+`.className`, "cell yes used")
	want(p, `document.getElementById('request').selectedOptions[0].textContent.startsWith('trustedLaunch.enabled: true')`, true)
	want(p, `document.getElementById('answer').textContent`, "✓ boots id 6dd869eb-d8be-5aa4-91d9-4d0190f8f3de")
	want(p, why+`.includes('`+here+ledger+`stays')`, true)

	// A pool that boots is not marked where others boot nothing.
	p = open(t, path, "#asks=trustedLaunch.enabled%3A+true&version=gardenlinux@1592.9.0&on=medium_4_8&in=asia")
	want(p, chosen+`.className`, "cell other elsewhere")
	if said := value[string](p, why); !strings.Contains(said, others+"garden-demo/existing, worker pool web: asks for nothing special, boots id 2ea7107d") {
		t.Errorf("the cell says %s", said)
	}
	p.run(script(`document.querySelector('#why li a').click()`), until(`!`+why+`.includes('something else')`))
	want(p, chosen+`.className`, "cell yes used")

	// So does the link of each pool in the list about maintenance.
	for i := range value[int](p, `document.querySelectorAll('#pools a').length`) {
		p := open(t, path, "")
		row := value[[]string](p, `[...document.querySelectorAll('#pools tbody tr')[`+strconv.Itoa(i)+`].cells].map((td) => td.textContent)`)
		p.run(script(`document.querySelectorAll('#pools a')[`+strconv.Itoa(i)+`].click()`), until(opened))
		want(p, chosen+`.classList.contains('used')`, true)
		if said := value[string](p, why); !strings.Contains(said, here+row[0]+": stays") {
			t.Errorf("the link of %q leads to %s", row, said)
		}
		if asks := strings.Contains(row[1], ", asks for trustedLaunch.enabled: true"); asks != strings.Contains(row[0], "ledger") {
			t.Errorf("%q", row)
		}
	}
}
