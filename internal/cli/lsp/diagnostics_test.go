// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const broken = "broken/region-unknown.yaml"

// The diagnostics equal the findings of lint, at positions in the editor's units, and disappear when the text is repaired.
func TestDiagnosticsFollowTheText(t *testing.T) {
	text := example(t, broken)
	e := begin(t, map[string]string{"profile.yaml": text})
	e.open("profile.yaml", text)
	found := e.codes("profile.yaml", "region-unknown")[0]
	at := of(t, text, "name: eurpoe", 0)
	want := span{position{at.Line, at.Character - 1}, position{at.Line, at.Character - 1 + len("name: eurpoe")}}
	if found.Range != want || found.Severity != 2 || found.Source != "capkit" || !strings.Contains(found.Message, "eurpoe") ||
		found.CodeDescription.Href != "https://github.com/capkit/capkit/blob/main/docs/rules.md#region-unknown" {
		t.Errorf("%+v, not at %+v", found, want)
	}
	e.change("profile.yaml", map[string]any{
		"range": span{position{at.Line, at.Character + 5}, position{at.Line, at.Character + 11}}, "text": "europe2",
	})
	if message := e.codes("profile.yaml", "region-unknown")[0].Message; !strings.Contains(message, "europe2") {
		t.Error(message)
	}
	e.change("profile.yaml", strings.ReplaceAll(text, "          - name: eurpoe # misspelt, or left over\n            id: 1234-amd64-virt\n", ""))
	e.codes("profile.yaml")
	if status := e.end(); status != 0 || e.stderr.String() != "" {
		t.Errorf("status %d, %s", status, e.stderr)
	}
}

// Objects see each other across files, open or not, with the editor's current text.
func TestFilesOfTheWorkspaceSeeEachOther(t *testing.T) {
	profile, shoot := example(t, "cloudprofile.yaml"), example(t, "shoot.yaml")
	e := begin(t, map[string]string{"profiles/profile.yaml": profile, "shoots/shoot.yaml": shoot, "other.yaml": "a: [\n"})
	e.open("profiles/profile.yaml", profile)
	e.codes("profiles/profile.yaml")
	e.change("profiles/profile.yaml", strings.ReplaceAll(profile, "\n  name: ", "\n  name: other-"))
	missing := func() bool {
		d := e.told["shoots/shoot.yaml"]
		return len(d.List) == 1 && d.List[0].Code == "profile-missing"
	}
	e.until("the Shoot has lost its profile", missing)
	e.change("profiles/profile.yaml", profile)
	e.until("the Shoot has it again", func() bool { return len(e.told["shoots/shoot.yaml"].List) == 0 })
	e.closeFile("profiles/profile.yaml")
	e.open("shoots/shoot.yaml", shoot)
	e.codes("shoots/shoot.yaml")
	// The file changes outside the editor.
	e.write("profiles/profile.yaml", strings.ReplaceAll(profile, "\n  name: ", "\n  name: other-"))
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	e.codes("shoots/shoot.yaml", "profile-missing")
}

// The diagnostic for a duplicate object links to the other one.
func TestDuplicatesAreRelated(t *testing.T) {
	profile := example(t, "cloudprofile.yaml")
	e := begin(t, map[string]string{"a.yaml": profile, "b.yaml": profile})
	e.open("b.yaml", profile)
	found := e.codes("b.yaml", "object-duplicate")[0]
	if len(found.Related) != 1 || found.Related[0].Location.URI != e.uri("a.yaml") || strings.Contains(found.Message, e.folder) {
		t.Errorf("%+v", found)
	}
	e.closeFile("b.yaml")
	e.until("nothing is open, and nothing reported", func() bool { return len(e.told["b.yaml"].List) == 0 })
}

// A folder's settings apply to its files, and errors in the settings are reported there.
func TestSettingsCount(t *testing.T) {
	text := example(t, broken)
	settings := "disable:\n- rule: region-unknown\n  reason: it opens in May\n"
	e := begin(t, map[string]string{"live/p.yaml": text, "live/.capkit.yaml": settings, "dev/p.yaml": text})
	e.open("live/p.yaml", text)
	e.open("dev/p.yaml", text)
	e.codes("live/p.yaml")
	e.codes("dev/p.yaml", "region-unknown") // another landscape, so no duplicate either
	e.write("live/.capkit.yaml", strings.Replace(settings, "rule: region-unknown", "rule: region-unknowm", 1))
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	e.codes("live/p.yaml", "region-unknown")
	e.until("the settings have an error", func() bool {
		d := e.told["live/.capkit.yaml"].List
		return len(d) == 1 && d[0].Range.Start.Line == 1 && strings.Contains(d[0].Message, "region-unknowm")
	})
}

// Errors in a description are reported where settings name it, and at their place in the description, until they are repaired.
func TestSettingsNameADescription(t *testing.T) {
	text := example(t, "cloudprofile.yaml")
	e := begin(t, map[string]string{
		"p.yaml": text, ".capkit.yaml": "# ours\n\nproviderFiles: [acme.yaml, none.yaml]\n", "acme.yaml": "# a cloud\ntypo: acme\n",
		"live/.capkit.yaml": "providerFiles:\n- ../acme.yaml\n", "live/p.yaml": text,
	})
	found := func(name string, line, start, end int, message string) {
		t.Helper()
		e.until(name+" has an error", func() bool {
			return slices.ContainsFunc(e.told[name].List, func(d diagnostic) bool {
				return d.Range == span{position{line, start}, position{line, end}} && strings.HasPrefix(d.Message, message)
			})
		})
	}
	e.open("p.yaml", text)
	found(".capkit.yaml", 2, 16, 25, "acme.yaml:2:1: unknown key")
	found(".capkit.yaml", 2, 27, 36, "providerFiles: open none.yaml: ")
	found("acme.yaml", 1, 0, 10, "unknown key")
	e.open("acme.yaml", "typo: ac")
	found("acme.yaml", 0, 8, 8, "unknown key") // as saved, at a position that exists in the text
	e.open("live/p.yaml", text)
	found("live/.capkit.yaml", 1, 2, 14, e.folder+"/acme.yaml:2:1: unknown key")
	found("acme.yaml", 0, 8, 8, "unknown key")

	e.write("acme.yaml", example(t, "../docs/examples/metal-stack.yaml"))
	e.write("none.yaml", example(t, "../pkg/described/builtin/hcloud.yaml"))
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	e.until("nothing is wrong", func() bool {
		return len(e.told[".capkit.yaml"].List)+len(e.told["acme.yaml"].List)+len(e.told["live/.capkit.yaml"].List) == 0
	})
}

// A file with a frequent wrong name is no settings, and an error in it, like for lint.
func TestMisnamedSettings(t *testing.T) {
	text := example(t, broken)
	const silence = "disable:\n- rule: region-unknown\n  reason: it opens in May\n"
	e := begin(t, map[string]string{".capkit.yaml": silence, "p.yaml": text, "live/.capkit.yml": silence, "live/p.yaml": text, "live/.capkit.yaml": ""})
	e.open("p.yaml", text)
	e.open("live/p.yaml", text)
	e.until("the settings have an error", func() bool {
		d := e.told["live/.capkit.yml"].List
		return len(d) == 1 && strings.HasPrefix(d[0].Message, ".capkit.yml is not read, because the settings have the name .capkit.yaml")
	})
	e.codes("live/p.yaml", "region-unknown")
	e.codes("p.yaml")
}

// Findings in a closed file remain when its settings change, unless the new settings silence them.
func TestSettingsComeAndGo(t *testing.T) {
	text := example(t, broken)
	e := begin(t, map[string]string{"a.yaml": example(t, "cloudprofile.yaml"), "b.yaml": text})
	e.open("a.yaml", example(t, "cloudprofile.yaml"))
	e.codes("b.yaml", "region-unknown")
	again := func(settings string, want ...string) {
		t.Helper()
		e.write(".capkit.yaml", settings)
		e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
		_ = e.actions("a.yaml", 0) // waits for the check
		e.codes("b.yaml", want...)
	}
	again("webhook: true\n", "region-unknown")
	again("disable:\n- rule: region-unknown\n  reason: it opens in May\n")
}

// A home's settings apply to a file outside any workspace, but do not make the server read the whole home.
func TestSettingsOfAHome(t *testing.T) {
	text := example(t, broken)
	e := begin(t, nil)
	t.Setenv("HOME", filepath.Dir(e.folder))
	e.write("../.capkit.yaml", "disable:\n- rule: region-unknown\n  reason: it opens in May\n")
	e.write("../other/p.yaml", strings.Replace(text, "spec:", "sepc:", 1))
	e.open("../p.yaml", text)
	e.codes("../p.yaml")
	_ = e.actions("../p.yaml", 0) // waits for all notifications
	e.until("nothing else is told", func() bool { return len(e.told) == 1 })
}

// Inputs named by settings are read from anywhere, with the editor's current text. Their findings are reported by their own landscape.
func TestInputsElsewhere(t *testing.T) {
	profile, shoot := example(t, "cloudprofile.yaml"), example(t, "shoot.yaml")
	e := begin(t, map[string]string{
		"common/.capkit.yaml": "", "common/profile.yaml": profile, "live/.capkit.yaml": "inputs: [../common, .]\n", "live/shoot.yaml": shoot,
	})
	e.open("live/shoot.yaml", shoot)
	e.codes("live/shoot.yaml")
	e.open("common/profile.yaml", strings.ReplaceAll(profile, "bare_8_16", "bare_9_18"))
	e.codes("live/shoot.yaml", "unknown-machine-type")
	e.codes("common/profile.yaml")
	e.closeFile("common/profile.yaml")
	e.codes("live/shoot.yaml")
}

// Incomplete or invalid YAML is reported, and does not stop the server.
func TestWhatCannotBeRead(t *testing.T) {
	text := example(t, broken)
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"half a line": {text[:strings.Index(text, "machineImages:")+4], nil},
		"brackets":    {strings.Replace(text, "[amd64, arm64]", "[amd64, arm64", 1), nil},
		"a tab":       {strings.Replace(text, "  type: openstack", "\ttype: openstack", 1), nil},
		"binary":      {"\x00\x01\x02\ufffd" + text, nil},
		"nothing":     {"", []string{}},
		"foreign":     {"a: b\n", []string{}},
		"CRLF":        {strings.ReplaceAll(text, "\n", "\r\n"), []string{"region-unknown"}},
		"BOM":         {"\ufeff" + text, []string{"region-unknown"}},
		"CR":          {strings.ReplaceAll(text, "\n", "\r"), []string{"region-unknown"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := begin(t, map[string]string{})
			e.open("p.yaml", tc.text)
			if tc.want == nil {
				e.until("an error is reported", func() bool { d := e.told["p.yaml"].List; return len(d) > 0 && d[0].Severity == 1 })
			} else {
				e.codes("p.yaml", tc.want...)
			}
			_ = e.hover("p.yaml", position{0, 3})
			_ = e.complete("p.yaml", position{2, 2})
			_ = e.complete("p.yaml", position{1 << 30, 1 << 30})
			_ = e.leads("p.yaml", position{4, 9})
			_ = e.actions("p.yaml", 0)
			e.change("p.yaml", text)
			e.codes("p.yaml", "region-unknown")
			if status := e.end(); status != 0 || e.stderr.String() != "" {
				t.Errorf("status %d, %s", status, e.stderr)
			}
		})
	}
}

// Positions are in the encoding that the editor has chosen.
func TestPositionsAreThoseOfTheEditor(t *testing.T) {
	text := strings.Replace(example(t, broken), "- name: eurpoe #", "- {id: \"𝄞ä\", name: eurpoe} #", 1)
	text = strings.Replace(text, "left over\n            id: 1234-amd64-virt\n", "left over\n", 1)
	for encoding, want := range map[string]int{"utf-16": len(`          - {id: "##ä", `) - 1, "utf-8": len(`          - {id: "𝄞ä", `)} {
		e := beginWith(t, map[string]string{}, map[string]any{"general": map[string]any{"positionEncodings": []string{encoding}}})
		e.open("p.yaml", text)
		e.until("region-unknown is there", func() bool {
			for _, d := range e.told["p.yaml"].List {
				if d.Code == "region-unknown" {
					return d.Range.Start.Character == want
				}
			}
			return false
		})
		if got := e.answer["capabilities"].(map[string]any)["positionEncoding"]; got != encoding {
			t.Errorf("%s: %v", encoding, got)
		}
	}
}

// The server asks an editor to watch files, if it supports that.
func TestFilesAreWatched(t *testing.T) {
	e := beginWith(t, map[string]string{}, map[string]any{
		"workspace": map[string]any{"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}},
	})
	e.until("the server asks", func() bool { return len(e.asked) == 1 && e.asked[0] == "client/registerCapability" })
}

// Foreign settings cannot make the server read a home folder.
func TestInputsOfAllThatThereIs(t *testing.T) {
	home, profile := t.TempDir(), example(t, "cloudprofile.yaml")
	t.Setenv("HOME", home)
	for _, inputs := range []string{"home", filepath.Dir(home), "/"} {
		e := begin(t, nil)
		if err := errors.Join(os.Symlink(home, filepath.Join(e.folder, "home")), os.WriteFile(filepath.Join(home, "own.yaml"), []byte(profile), 0o600)); err != nil {
			t.Fatal(err)
		}
		e.write(".capkit.yaml", "inputs: ["+inputs+"]\n")
		e.open("p.yaml", profile)
		e.codes("p.yaml") // no other profile of this name is found
		e.until("the settings have an error", func() bool {
			d := e.told[".capkit.yaml"].List
			return len(d) == 1 && strings.HasSuffix(d[0].Message, "is not read: it is a home folder, or above one")
		})
	}
}

// A missing input is an error in the settings until it exists.
func TestMissingInput(t *testing.T) {
	profile := example(t, "cloudprofile.yaml")
	e := begin(t, map[string]string{"p.yaml": profile, ".capkit.yaml": "# ours\ninputs:\n- p.yaml\n- gone.yaml\n"})
	e.open("p.yaml", profile)
	e.until("the settings have an error", func() bool {
		d := e.told[".capkit.yaml"].List
		return len(d) == 1 && d[0].Range.Start == position{3, 2} && d[0].Message == "inputs: gone.yaml: no such file or directory"
	})
	e.write("gone.yaml", profile)
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	e.until("the settings have none, and the profile is there twice", func() bool {
		return len(e.told[".capkit.yaml"].List) == 0 && len(e.told["gone.yaml"].List)+len(e.told["p.yaml"].List) == 1
	})
}

// A file that is not saved yet takes its place among the others, as for lint once it is saved.
func TestUnsavedFilesAreInTheOrderOfLint(t *testing.T) {
	profile := example(t, "cloudprofile.yaml")
	e := begin(t, map[string]string{"b.yaml": profile, "a/z.yaml": "kind: other\n"})
	e.open("b.yaml", profile)
	e.open("a/c.yaml", profile)
	e.codes("a/c.yaml")
	e.codes("b.yaml", "object-duplicate")
}

// A file that settings name as an input is read like one, also if it was in a folder before, where it was no manifest.
func TestAFileBecomesAnInput(t *testing.T) {
	e := begin(t, map[string]string{".capkit.yaml": "", "a.yaml": "{", "b.yaml": ""})
	e.open("b.yaml", "kind: other\n")
	e.codes("b.yaml")
	e.write(".capkit.yaml", "inputs: [a.yaml]\n")
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	e.codes("a.yaml", "syntax")
}

// Errors in settings above several folders of the workspace remain while the settings apply to one of them.
func TestSettingsOfSeveralFolders(t *testing.T) {
	e := begin(t, map[string]string{".capkit.yaml": "foo: 1\n", "b/x": ""})
	folder := func(name string) []any { return []any{map[string]any{"uri": e.uri(name), "name": name}} }
	e.tell("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{"added": folder("b"), "removed": []any{}}})
	e.open("a.yaml", "kind: other\n")
	e.open("b/b.yaml", "kind: other\n")
	e.codes("b/b.yaml")
	e.codes(".capkit.yaml", "")
	e.write("b/.capkit.yaml", "bar: 1\n")
	e.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	e.codes("b/.capkit.yaml", "")
	e.change("b/b.yaml", "kind: another\n")
	e.codes("b/b.yaml")
	e.codes(".capkit.yaml", "")
}
