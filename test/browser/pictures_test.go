// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// The pictures of the documents show the largest example: make report-pictures writes them. They depend on the letters of
// the machine, so that it is not compared which pixels they have, but whether they are pictures of the page.
func TestPictures(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795694400")
	path := report(t, "example/cloudprofile-full.yaml", "example/shoot-full.yaml")
	for name, colours := range map[string]string{"report.png": "light", "report-dark.png": "dark"} {
		p := open(t, path, "#asks=trustedLaunch.enabled%3A+true&version=gardenlinux@1877.5.0&on=medium_4_8&in=europe", emulated("", colours), sized(1280))
		p.run(script(`document.activeElement.blur()`))
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
