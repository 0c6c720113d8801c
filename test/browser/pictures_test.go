// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// The pictures of the documents show an example of the size of a landscape: make report-pictures writes them. They depend on the letters of
// the machine, so that it is not compared which pixels they have, but whether they are pictures of the page.
func TestPictures(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400")
	const why = "#version=gardenlinux@1950.1.0&on=arm_4_8&in=asia-1"
	path := report(t, "docs/examples/landscape")
	for name, of := range map[string]struct{ path, hash, colours string }{
		"report.png": {path, why, "light"}, "report-dark.png": {path, why, "dark"}, "report-landscapes.png": {threeStages(t), "", "light"},
	} {
		p := open(t, of.path, of.hash, emulated("", of.colours), sized(1280))
		p.run(script(`document.activeElement.blur()`))
		if of.hash != "" { // the matrix and what is beside it are to be seen as a whole
			p.run(screen(1280, int64(value[float64](p, `Math.ceil(document.getElementById("matrix").getBoundingClientRect().bottom)`))))
		}
		shot, err := chromedp.Run(p, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(root, "docs", "pictures", name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, shot, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v; write it by make report-pictures", err)
		}
		if len(kept) > 200_000 {
			t.Errorf("%s has %d bytes", name, len(kept))
		}
		was, now := decoded(t, kept), decoded(t, shot)
		if was.Bounds() != now.Bounds() {
			t.Errorf("%s has %v, and the page %v", name, was.Bounds(), now.Bounds())
		}
		for _, at := range []image.Point{{2, 2}, {2, now.Bounds().Max.Y - 2}} {
			if !same(was.At(at.X, at.Y), now.At(at.X, at.Y)) {
				t.Errorf("%s has %v at %v, and the page %v: write it anew by make report-pictures", name, was.At(at.X, at.Y), at, now.At(at.X, at.Y))
			}
		}
	}
}

// threeStages writes the report of three landscapes, in folders of these names, that have not come to the same yet.
func threeStages(t *testing.T) (path string) {
	t.Helper()
	folder := t.TempDir()
	for name, files := range map[string][2]string{
		"dev": {filepath.Join(root, "docs/examples/update.yaml"), filepath.Join(root, "example/shoot.yaml")}, "staging": {gapped(t), asian(t)},
		"live": {filepath.Join(root, "example/cloudprofile.yaml"), filepath.Join(root, "example/shoot.yaml")},
	} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name, filepath.Base(file)), raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	page, err := in(folder, capkit, "report", "--landscape", "dev=dev", "--landscape", "staging=staging", "--landscape", "live=live")
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	path = filepath.Join(folder, "report.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func decoded(t *testing.T, raw []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func same(a, b color.Color) bool {
	r, g, b1, _ := a.RGBA()
	r2, g2, b2, _ := b.RGBA()
	return r == r2 && g == g2 && b1 == b2
}
