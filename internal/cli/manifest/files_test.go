// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/manifest"
)

// write creates files in a new directory, and makes it the working directory.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func load(t *testing.T, args ...string) (files []string, problems []manifest.Problem, err error) {
	t.Helper()
	objects, problems, err := manifest.Load(args, strings.NewReader(doc("stdin")))
	for _, o := range objects {
		files = append(files, o.File)
	}
	return files, problems, err
}

func TestLoadFindsFiles(t *testing.T) {
	tree := map[string]string{
		"d/b.yaml": doc("b"), "d/a.yml": doc("a"), "d/c.json": `{"apiVersion":"v1","kind":"A"}`, "d/sub/x.yaml": doc("x"), "d/sub.yaml": doc("s"),
		"d/README.md": "no", "d/.git/config.yaml": "no", "d/.hidden.yaml": "no", "d/x.yaml.bak": "no", "d/z/deep/er/y.yaml": doc("y"),
		"plain": doc("p"),
	}
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"nothing":              {nil, nil},
		"file of any name":     {[]string{"plain"}, []string{"plain"}},
		"directory":            {[]string{"d"}, []string{"d/a.yml", "d/b.yaml", "d/c.json", "d/sub/x.yaml", "d/sub.yaml", "d/z/deep/er/y.yaml"}},
		"path with a dot":      {[]string{"./d/sub"}, []string{"d/sub/x.yaml"}},
		"order of the input":   {[]string{"plain", "d/sub", "-"}, []string{"plain", "d/sub/x.yaml", "<stdin>"}},
		"once each":            {[]string{"d/sub", "d/sub/x.yaml", "./d/sub/x.yaml", "-", "-"}, []string{"d/sub/x.yaml", "<stdin>"}},
		"hidden when asked to": {[]string{"d/.git"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, tree)
			got, problems, err := load(t, test.args...)
			if test.args != nil && test.args[0] == "d/.git" {
				if len(problems) != 1 || problems[0].File != "d/.git/config.yaml" {
					t.Errorf("%+v", problems)
				}
				problems = nil
			}
			if err != nil || problems != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %q, %+v, %v; want %q", got, problems, err, test.want)
			}
		})
	}
}

func TestLoadReadsAFileOnceWhateverItIsCalled(t *testing.T) {
	write(t, map[string]string{"d/a.yaml": doc("a"), "d/b.yaml": doc("b")})
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, problems, err := load(t, "d/a.yaml", filepath.Join(here, "d"), "d")
	if want := []string{"d/a.yaml", filepath.Join(here, "d/b.yaml")}; err != nil || problems != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v, %v; want %q", got, problems, err, want)
	}
}

func TestLoadFollowsLinksToFilesOnly(t *testing.T) {
	write(t, map[string]string{"d/a.yaml": doc("a"), "other/b.yaml": doc("b")})
	for link, target := range map[string]string{"d/loop": ".", "d/up.yaml": "..", "d/sub": "../other", "d/c.yaml": "../other/b.yaml", "link": "d"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[[2]string][]string{ // a file is not read again by a second path
		{"d", "link"}: {"d/a.yaml", "d/c.yaml"}, {"link", "d"}: {"link/a.yaml", "link/c.yaml"}, {"other", "d"}: {"other/b.yaml", "d/a.yaml"},
	} {
		if got, problems, err := load(t, args[:]...); err != nil || problems != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, %v, %v; want %q", got, problems, err, want)
		}
	}
}

// Of a file and a link to it in one folder, the file is read, so that annotations and diffs name what git has there.
func TestFilesCountBeforeLinks(t *testing.T) {
	write(t, map[string]string{"d/sub/b.yaml": doc("b")})
	if err := os.Symlink("sub/b.yaml", "d/a.yaml"); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string][]string{"d": {"d/sub/b.yaml"}, "d/a.yaml": {"d/a.yaml"}, "d/a.yaml d": {"d/a.yaml"}} {
		if got, problems, err := load(t, strings.Fields(args)...); err != nil || problems != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, %v, %v; want %q", args, got, problems, err, want)
		}
	}
}

// A folder behind a link is named, unless it is read by another path, or the ignore file lists the link.
func TestLinksToFoldersAreNamed(t *testing.T) {
	write(t, map[string]string{"d/a.yaml": doc("a"), "d/.capkitignore": "ignored\n", "other/b.yaml": doc("b"), "other2/c.yaml": doc("c")})
	for link, target := range map[string]string{"d/loop": "..", "d/sub": "../other", "d/sub.yaml": "../other2", "d/ignored": "../other2", "link": "other"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string][]string{"d": {"d/sub", "d/sub.yaml"}, "d link": {"d/sub.yaml"}, "d other/b.yaml other2": nil} {
		in, err := manifest.Read(strings.Fields(args), nil, "gardener.cloud", nil)
		var skipped []string
		for _, s := range in.Skipped {
			skipped = append(skipped, strings.TrimSuffix(s.String(), ": a link to a folder, which is not followed: name it as well if its manifests belong to these"))
		}
		if err != nil || !reflect.DeepEqual(skipped, want) {
			t.Errorf("%s: skipped %q, want %q; %v", args, skipped, want, err)
		}
	}
}

func TestIgnoreFile(t *testing.T) {
	write(t, map[string]string{
		"d/.capkitignore": "# not meant to be right\nbroken\n*/draft-*.yaml\n!broken/kept.yaml\n", "d/a.yaml": doc("a"),
		"d/broken/b.yaml": doc("b"), "d/broken/deep/c.yaml": doc("c"), "d/broken/kept.yaml": doc("k"),
		"d/broken/.capkitignore": "*\n", "d/team/draft-d.yaml": doc("d"), "d/team/e.yaml": doc("e"),
	})
	for arg, want := range map[string][]string{
		"d":               {"d/a.yaml", "d/broken/kept.yaml", "d/team/e.yaml"},
		"d/broken/deep":   {"d/broken/deep/c.yaml"}, // an ignore file above the given directory is not used
		"d/broken/b.yaml": {"d/broken/b.yaml"},      // a file named on the command line is read
	} {
		if got, problems, err := load(t, arg); err != nil || problems != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, %v, %v; want %q", arg, got, problems, err, want)
		}
	}
}

func TestIgnoreFileThatIsWrong(t *testing.T) {
	for _, pattern := range []string{"[", "a[", "![", "!", "[]", "[b-a]", "![b-a]", `a\`} {
		write(t, map[string]string{"d/.capkitignore": "\ufeff# Drafts.\ndraft-*\r\n \n" + pattern + "\nkept\n", "d/a.yaml": doc("a")})
		_, _, err := load(t, "d")
		if want := "d/.capkitignore:4: the pattern " + pattern + " cannot be read: "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s...", err, want)
		}
	}
}

// A link in a folder may be broken, for example because git has not checked out its target. Only a named file must exist.
func TestLinksToNothing(t *testing.T) {
	write(t, map[string]string{"d/a.yaml": doc("a")})
	for link, target := range map[string]string{
		"d/gone.yaml": "nowhere", "d/loop.yaml": "loop.yaml", "d/z/x.yaml": "../a.yaml/x", "d/text": "nowhere", "d/.hidden.yaml": "nowhere",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(target, link)); err != nil {
			t.Fatal(err)
		}
	}
	const gone, loop = ": it is a link to a file that does not exist", ": it is a link that leads back to itself"
	in, err := manifest.Read([]string{"d"}, nil, "gardener.cloud", nil)
	var skipped []string
	for _, s := range in.Skipped {
		skipped = append(skipped, s.String())
	}
	if want := []string{"d/gone.yaml" + gone, "d/loop.yaml" + loop, "d/z/x.yaml" + gone}; !reflect.DeepEqual(skipped, want) {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
	if err != nil || len(in.Objects) != 1 {
		t.Errorf("%v, %v", in.Objects, err)
	}
	for arg, want := range map[string]string{"d/gone.yaml": gone, "d/loop.yaml": loop, "d/text": gone, "d/none.yaml": ": no such file or directory"} {
		if _, _, err := load(t, arg); err == nil || err.Error() != arg+want {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestLoadTellsAllUnreadable(t *testing.T) {
	write(t, map[string]string{"a.yaml": doc("a"), "d/b.yaml": doc("b")})
	_ = os.Symlink("nowhere", "broken.yaml")
	got, _, err := load(t, "missing.yaml", "a.yaml", "also/missing", "d", "broken.yaml")
	if !reflect.DeepEqual(got, []string{"a.yaml", "d/b.yaml"}) {
		t.Errorf("got %q", got)
	}
	if !errors.Is(err, os.ErrNotExist) || len(strings.Split(err.Error(), "\n")) != 3 {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"missing.yaml", "also/missing", "broken.yaml"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is missing from %v", name, err)
		}
	}
}

func TestLoadStdinErrors(t *testing.T) {
	if _, _, err := manifest.Load([]string{"-"}, nil); err == nil {
		t.Error("no error without input")
	}
	broken := io.MultiReader(strings.NewReader("a"), errReader{})
	if _, _, err := manifest.Load([]string{"-"}, broken); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, os.ErrClosed }

func TestLoadRefusesBigFiles(t *testing.T) {
	write(t, map[string]string{"small.yaml": doc("a")})
	big, err := os.Create("big.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(big.Truncate(10<<30), big.Close()); err != nil {
		t.Fatal(err)
	}
	files, problems, err := load(t, ".")
	if err != nil || len(files) != 1 || len(problems) != 1 || problems[0].Rule != manifest.RuleTooLarge || problems[0].File != "big.yaml" {
		t.Errorf("%q, %+v, %v", files, problems, err)
	}
	endless := io.MultiReader(strings.NewReader(doc("a")), zeros{})
	if _, problems, err := manifest.Load([]string{"-"}, endless); err != nil || len(problems) != 1 || problems[0].Rule != manifest.RuleTooLarge {
		t.Errorf("%+v, %v", problems, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("#"), len(p))), nil }

func TestJSONFilesGetJSONMessages(t *testing.T) {
	write(t, map[string]string{
		"a.json": "{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n{\n\t\"ä\": 1,\n\t\"b\": x\n}\n", "b.json": "{\"a\":[1,\n 2", "c.json": "{\"a\":1,}", "d.json": doc("d"),
	})
	files, problems, err := load(t, ".")
	var got []string
	for _, p := range problems {
		got = append(got, p.File+" "+outcome(nil, []manifest.Problem{p})[0]+" "+p.Message)
	}
	want := []string{
		"a.json 4:7 syntax not valid JSON: invalid character 'x' looking for beginning of value",
		"b.json 2:3 syntax not valid JSON: unexpected end of the input",
		"c.json 1:8 syntax not valid JSON: invalid character '}' looking for beginning of object key string",
	}
	if err != nil || !reflect.DeepEqual(files, []string{"a.json", "d.json"}) || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v\n got %q\nwant %q", files, err, got, want)
	}
}
