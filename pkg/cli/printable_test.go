// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/cluster/fakegarden"
	"github.com/capkit/capkit/pkg/cli"
)

// hostile are names that an attacker could give to printed things. The first one combines most of the others.
var hostile = []string{
	"a\n::error file=x::pwned\n##[error]x\x1b[31m\u009b1m\u202e]]><script>`|",
	"::add-mask::x", "\n::error file=x::pwned", "\n  ::stop-commands::x", "\n##[error]x", "##[add-matcher]x", "##vso[task.complete]x",
	"a\x1b[31mb", "a\u009b31mb", "a\ab", "a\bb", "a\rb", "a\x00b", "a\x7fb", "a\tb", "a\u202eb", "a\u2066b", "a\u200bb", "a\u2028b", "a\u0085::error::b",
	"a\U000e0001b", "]]>", "<script>", "`a` | b", "grün 図 🚀",
}

// asked is a command with its formats. File names stand for themselves, and - for all files on standard input.
type asked struct {
	args    []string
	formats []string
	// named means that the answer must contain the names in the files.
	named bool
}

var (
	answered = []string{"text", "json", "yaml"}
	all      = []string{"cloudprofile.yaml", "namespacedcloudprofile.yaml", "shoot.yaml", "shoot-namespaced.yaml"}
	// everything has all commands on these files.
	everything = []asked{
		{append([]string{"lint"}, all...), []string{"text", "json", "yaml", "sarif", "junit", "github"}, false},
		{append([]string{"lint", "--fix"}, all...), []string{""}, false},
		{append([]string{"select"}, all...), answered, true},
		{append([]string{"explain"}, all...), answered, true},
		{append([]string{"report"}, all...), []string{"html", "json"}, true},
		{append([]string{"maintenance"}, all...), answered, true},
		{append([]string{"render"}, all...), answered, false},
		{append([]string{"migrate", "--provider-config"}, all...), answered, false},
		{append([]string{"migrate", "--back"}, all...), answered, false},
		{append([]string{"plan", "before.yaml"}, all...), append(answered, "markdown"), true},
	}
)

// outputs checks the output of commands.
type outputs struct {
	*testing.T
	checked, wrong, turn int
}

// end reports the number of wrong outputs, and fails if there were too few.
func (o *outputs) end(atLeast int) {
	if o.Logf("%d outputs", o.checked); o.wrong > 0 || o.checked < atLeast {
		o.Errorf("%d of %d outputs are wrong", o.wrong, o.checked)
	}
}

// run runs a command, checks its output, and returns it.
func (o *outputs) run(of, format, stdin string, args ...string) result {
	if format != "" && format != "completion" {
		args = append(slices.Clone(args), "-o", format)
	}
	r := runFor(providers, stdin, args...)
	err := errors.Join(harmless(r.stdout, format), harmless(r.stderr, ""))
	if err == nil && r.status < 2 && r.stdout != "" {
		err = parses(format, r.stdout)
	}
	o.check(err, of, args, r)
	return r
}

// check counts an output, and reports the first wrong ones.
func (o *outputs) check(err error, of string, args []string, r result) {
	o.checked++
	if err == nil {
		return
	}
	if o.wrong++; o.wrong <= 10 {
		o.Errorf("%q: %q: %v\n%.1500q\n%.1500q", of, args, err, r.stdout, r.stderr)
	}
}

var (
	mark   = regexp.MustCompile(`##[a-zA-Z]*\[`)
	ours   = regexp.MustCompile(`^::(error|warning) title=[a-z-]+[,:]`)
	forged = regexp.MustCompile(`^(\\x3a|:):(error|stop)`)
)

// tabs are the formats that use tabs: for indentation, or between a word and its description for a shell.
var tabs = []string{"junit", "html", "completion"}

// harmless returns an error if an output contains commands for a terminal or a CI system.
func harmless(text, format string) error {
	if !utf8.ValidString(text) {
		return errors.New("there is what is not UTF-8")
	}
	for _, r := range text {
		if !strconv.IsPrint(r) && r != '\n' && (r != '\t' || !slices.Contains(tabs, format)) {
			return fmt.Errorf("%U is printed", r)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case mark.MatchString(line):
			return fmt.Errorf("a command in %.80q", line)
		case format == "github" && ours.MatchString(line):
		case forged.MatchString(line), strings.HasPrefix(line, "::"):
			return fmt.Errorf("a line is another's: %.80q", line)
		}
	}
	return nil
}

// parses returns the error of parsing a document.
func parses(format, text string) error {
	switch format {
	case "json":
		return json.Unmarshal([]byte(text), new(any))
	case "yaml":
		return yaml.Unmarshal([]byte(text), new(any))
	case "junit":
		return xml.Unmarshal([]byte(text), new(junit.Testsuites))
	case "sarif":
		log, err := sarif.FromString(text)
		if err != nil {
			return err
		}
		return log.Validate()
	}
	return nil
}

// ask runs all commands on the files in the working directory. If name is not empty, the answers must contain it.
func (o *outputs) ask(of, name string) {
	for _, a := range everything {
		results := map[string]result{}
		for _, format := range a.formats {
			r := o.run(of, format, "", a.args...)
			results[format] = r
		}
		var values [2]any
		_ = json.Unmarshal([]byte(results["json"].stdout), &values[0]) // already checked
		_ = yaml.Unmarshal([]byte(results["yaml"].stdout), &values[1])
		if _, both := results["yaml"]; both && !reflect.DeepEqual(values[0], values[1]) {
			o.check(errors.New("JSON and YAML differ"), of, a.args, results["yaml"])
		}
		if a.named && name != "" && !has(values[0], name) {
			o.check(fmt.Errorf("JSON does not have %q", name), of, a.args, results["json"])
		}
	}
}

// askInTurns runs all commands, each time in the next of their formats.
func (o *outputs) askInTurns(of string) {
	for _, a := range everything {
		o.run(of, a.formats[o.turn%len(a.formats)], "", a.args...)
	}
	o.turn++
}

// has reports whether a text in a value contains a name.
func has(value any, name string) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, name)
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return has(v, name) })
	case map[string]any:
		for key, v := range value {
			if has(key, name) || has(v, name) {
				return true
			}
		}
	}
	return false
}

// exampleTree decodes an example into a new tree.
func exampleTree(t *testing.T, name string) (tree map[string]any) {
	t.Helper()
	unmarshal(t, read(t, filepath.Join(root, "example", name)), &tree)
	return tree
}

// place writes the examples into the working directory, one of them changed, together with the original profile.
func place(t *testing.T, changed string, change func(tree map[string]any)) {
	t.Helper()
	write(t, "before.yaml", read(t, filepath.Join(root, "example/cloudprofile.yaml")))
	for _, name := range all {
		if name != changed {
			write(t, name, read(t, filepath.Join(root, "example", name)))
		}
	}
	if changed != "" {
		tree := exampleTree(t, changed)
		change(tree)
		writeTree(t, changed, tree)
	}
}

func writeTree(t *testing.T, name string, tree any) {
	t.Helper()
	raw, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.JSONToYAML(controls.ReplaceAllFunc(raw, func(c []byte) []byte {
		return []byte(`\x` + strconv.FormatInt(int64([]rune(string(c))[0]), 16))
	}))
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, string(text))
}

// controls are characters that JSON may contain, and YAML must not.
var controls = regexp.MustCompile(`[\x7f-\x{9f}]`)

// renamed replaces texts in a value, including keys.
func renamed(value any, names map[string]string) any {
	switch value := value.(type) {
	case string:
		if name, found := names[value]; found {
			return name
		}
	case []any:
		for i := range value {
			value[i] = renamed(value[i], names)
		}
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(value)) {
			v := renamed(value[key], names)
			delete(value, key)
			value[renamed(key, names).(string)] = v
		}
	}
	return value
}

// names are the names in the examples that may be arbitrary.
var names = []string{
	"openstack-profile", "team", "shop", "lab", "garden-demo", "gardenlinux", "1877.5.0", "1592.9.0", "medium_4_8", "bare_8_16", "large_16_32",
	"europe", "europe-1a", "hypervisor", "virtualized", "baremetal", "web", "db", "build", "1234-amd64-virt", "fp-pool-1", "haproxy",
}

// Whatever the names of things are, no output contains commands, and JSON and YAML contain the names.
func TestNamesAreHarmless(t *testing.T) {
	o := &outputs{T: t}
	t.Chdir(t.TempDir())
	for i, name := range hostile {
		others := map[string]string{}
		for i, n := range names {
			others[n] = name + strings.Repeat("'", i)
		}
		renameAll(t, others)
		if i%3 == 0 {
			o.ask("all names", name)
		} else {
			o.askInTurns(name)
		}
	}
	for i, n := range names {
		renameAll(t, map[string]string{n: hostile[i%2]})
		o.askInTurns(n)
	}
	o.end(600)
}

// renameAll writes the files with other names, including the original profile, in which it also changes an image.
func renameAll(t *testing.T, others map[string]string) {
	t.Helper()
	for _, name := range all {
		tree := exampleTree(t, name)
		spec := tree["spec"].(map[string]any)
		for _, at := range []any{tree["metadata"], spec["parent"], spec["cloudProfile"]} {
			if at, found := at.(map[string]any); found && at["name"] == "openstack" {
				at["name"] = "openstack-profile" // it is not the type
			}
		}
		writeTree(t, name, renamed(tree, others))
	}
	before := read(t, "cloudprofile.yaml")
	write(t, "before.yaml", strings.Replace(before, "1234-amd64-bare", "1234-amd64-other", 1))
}

// visit calls see for each value in a tree, with its path and its setter.
func visit(value any, path string, set func(any), see func(path string, value any, set func(any))) {
	see(path, value, set)
	switch value := value.(type) {
	case []any:
		for i := range value {
			visit(value[i], path+"[]", func(v any) { value[i] = v }, see)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			visit(value[key], path+"."+key, func(v any) { value[key] = v }, see)
		}
	}
}

// Whatever the values of fields and the names of unknown fields are, no output contains commands.
func TestFieldsAreHarmless(t *testing.T) {
	o := &outputs{T: t}
	t.Chdir(t.TempDir())
	seen := map[string]bool{}
	for i, file := range all {
		for _, name := range hostile[:2] {
			place(t, file, func(tree map[string]any) {
				visit(tree, "", nil, func(_ string, value any, _ func(any)) {
					if object, isObject := value.(map[string]any); isObject {
						object[name] = name
					}
				})
			})
			o.ask(file, "")
		}
		kind := strconv.Itoa(min(i, 2)) // there are two Shoots
		visit(exampleTree(t, file), kind, nil, func(path string, value any, _ func(any)) {
			if _, isObject := value.(map[string]any); isObject || seen[path] {
				return
			}
			seen[path] = true
			place(t, file, func(tree map[string]any) {
				done := false
				visit(tree, kind, nil, func(p string, _ any, set func(any)) {
					if p == path && !done {
						set(hostile[len(seen)%2])
						done = true
					}
				})
			})
			o.askInTurns(path)
		})
	}
	o.end(1000)
}

// Whatever the names of files and folders are, no output contains commands.
func TestFileNamesAreHarmless(t *testing.T) {
	o := &outputs{T: t}
	for i, name := range append(hostile, "a\xffb", "a\x9bb") {
		name = strings.NewReplacer("/", "", "\x00", "").Replace(name)
		t.Chdir(t.TempDir())
		var files []string
		for k, file := range append(all, "broken.yaml") {
			folder := name + strconv.Itoa(k)
			if err := os.Mkdir(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			text := read(t, filepath.Join(testdata, "manifests/cloudprofile.yaml")) // with findings
			if file != "broken.yaml" {
				text = read(t, filepath.Join(root, "example", file))
			}
			files = append(files, filepath.Join(folder, name+".yaml"))
			write(t, files[k], text)
		}
		for _, a := range everything {
			command := strings.ReplaceAll(strings.Join(a.args[:len(a.args)-len(all)], " "), "before.yaml", files[4])
			args := strings.SplitN(command, " ", 2)
			for k, format := range a.formats {
				if i%3 == 0 || k == i%len(a.formats) {
					o.run(name, format, "", append(slices.Clone(args), files...)...)
				}
			}
			o.run(name, "", "", append(slices.Clone(args), ".", name)...)
		}
		write(t, ".capkit.yaml", "inputs: ["+strconv.QuoteToASCII(strings.ToValidUTF8(name, ""))+"]\n"+strconv.QuoteToASCII(strings.ToValidUTF8(name, ""))+": 1\n")
		o.run(name, "", "", "lint", ".")
		write(t, ".capkit.yaml", "{}")
		write(t, ".capkitignore", "["+name)
		o.run(name, "", "", "lint", ".")
	}
	o.end(700)
}

// Whatever the arguments and flag values are, no output contains commands.
func TestArgumentsAreHarmless(t *testing.T) {
	o := &outputs{T: t}
	t.Chdir(t.TempDir())
	place(t, "", nil)
	for i, name := range append(hostile, "a\xffb") {
		for _, args := range [][]string{
			{name}, {"--" + name}, {"-" + name}, {"help", name}, {"completion", name}, {"explain-rule", name}, {"rules", name}, {"version", name},
		} {
			o.run(name, "", "", args...)
		}
		for _, args := range [][]string{{name, ""}, {"lint", "--output", name}, {"explain-rule", name, name}} {
			o.run(name, "completion", "", append([]string{"__complete"}, args...)...)
		}
		o.run(name, "", name, "lint", "-")
		for k, sub := range cli.Command(providers...).Commands() {
			if i == 0 || (i+k)%5 == 0 {
				o.flags(sub, name)
			}
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := run(t, "", "completion", shell); strings.Contains(r.stdout, `\x3a:`) || strings.Contains(r.stdout, `\x23#`) {
			t.Errorf("the script for %s is changed", shell)
		}
	}
	o.end(1000)
}

// flags runs a command with this value for each of its flags.
func (o *outputs) flags(cmd *cobra.Command, value string) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "context" || flag.Name == "kubeconfig" {
			o.run(flag.Name, "", "", cmd.Name(), "--kubeconfig=none", "--"+flag.Name+"="+value, "cloudprofile.yaml")
			return
		}
		o.run(flag.Name, "", "", cmd.Name(), "--"+flag.Name+"="+value, "cloudprofile.yaml", "shoot.yaml")
	})
}

// Whatever a cluster contains, answers and is called, no output contains commands.
func TestClustersAreHarmless(t *testing.T) {
	o := &outputs{T: t}
	for _, name := range hostile {
		api := exampleGarden(t)
		for i := range api.Shoots {
			shoot := &api.Shoots[i]
			shoot.Name, shoot.Spec.Provider.Workers[0].Name, shoot.Spec.Region = name+strconv.Itoa(i), name, name
		}
		api.CloudProfiles[0].Spec.MachineTypes[0].Name = name
		kubeconfig := api.Start(t)
		for _, a := range everything {
			args := append(slices.DeleteFunc(slices.Clone(a.args), func(arg string) bool { return strings.HasSuffix(arg, ".yaml") }), "-A")
			o.run(name, a.formats[o.turn%len(a.formats)], "", append(args, "--kubeconfig", kubeconfig)...)
		}
		o.turn++
		write(t, kubeconfig, strings.ReplaceAll(read(t, kubeconfig), "here", strconv.QuoteToASCII(name)))
		o.run(name, "", "", "lint", "-A", "--kubeconfig", kubeconfig)
		o.run(name, "", "", "lint", "-A", "--kubeconfig", kubeconfig, "--context=none")
		for _, refusal := range []*apierrors.StatusError{
			apierrors.NewBadRequest(name), apierrors.NewForbidden(schema.GroupResource{Resource: name}, name, errors.New(name)),
		} {
			api := &fakegarden.API{Refuse: func(string, string) *apierrors.StatusError { return refusal }}
			o.run(name, "", "", "lint", "-A", "--kubeconfig", api.Start(t))
		}
	}
	o.end(300)
}

// A diff that needs quoting is printed as a comment, so that it cannot be applied as a different change from -w's. Others are exact.
func TestDiffsAreExactOrComments(t *testing.T) {
	const head = "metadata:\n  name: openstack\nspec:\n"
	before, rest, _ := strings.Cut(read(t, guide+"openstack-legacy.yaml"), head)
	first, images, _ := strings.Cut(rest, "  machineImages:\n")
	images, last, _ := strings.Cut(images, "  machineTypes:\n")
	for line, quoted := range map[string]string{
		"# grün 図 🚀, ##x, a::b": "", "# a\u202eb": `# a\u202eb`, "# a\u00a0b": `# a\u00a0b`, "# ##[error]x": `# \x23#[error]x`,
		"::add-mask::x": "::add-mask::x",
	} {
		t.Chdir(t.TempDir())
		write(t, "profile.yaml", before+"spec:\n  machineImages:\n"+images+first+"  machineTypes:\n"+last+ // the change adds a line here
			"metadata: {name: openstack, annotations: {a: '\n    "+line+"'}}\n")
		args := []string{"migrate", "--provider-config", "profile.yaml"}
		printed, answer := run(t, "", args...), decoded[struct{ Files []struct{ Diff string } }](t, run(t, "", append(args, "-o=json")...))
		exact := answer.Files[0].Diff
		want := exact
		if quoted != "" {
			want = ""
			for l := range strings.Lines(strings.ReplaceAll(exact, line, quoted)) {
				want += "# " + l
			}
		}
		if printed.stdout != want || strings.Contains(printed.stderr, "profile.yaml: the diff is a comment") != (quoted != "") {
			t.Errorf("%s%s\nwant:\n%s", printed.stderr, printed.stdout, want)
		}
		if w := run(t, "", append(args, "-w")...); w.stderr != "written: profile.yaml\n" || !strings.Contains(read(t, "profile.yaml"), line) {
			t.Error(w, read(t, "profile.yaml"))
		}
	}
}

// Git accepts a diff of a file with any name.
func TestDiffsOfAnyName(t *testing.T) {
	legacy := read(t, guide+"openstack-legacy.yaml")
	for _, name := range []string{"a\n--- a/b\n+++ b/c", "::x\t", "\x1b[31m", "a\xff\"\\", "ü 図"} {
		t.Chdir(t.TempDir())
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, name+".yaml", legacy)
		r := run(t, "", "migrate", name+".yaml")
		apply := exec.Command("git", "apply", "-")
		apply.Stdin = strings.NewReader(r.stdout)
		if said, err := apply.CombinedOutput(); err != nil || read(t, name+".yaml") == legacy {
			t.Errorf("%q: %s %v\n%q", name, said, err, r.stdout)
		}
	}
}

// A name in a calendar is made printable before the calendar's own escaping, in which a backslash begins an escape sequence.
func TestCalendarsAreText(t *testing.T) {
	shoot := filepath.Join(t.TempDir(), "shoot.yaml")
	write(t, shoot, strings.Replace(read(t, examples+"/shoot-trusted-launch.yaml"), "name: ledger", `name: "a\u202eb"`, 1))
	r := run(t, "", "maintenance", "--at=2026-12-01", "--until=2031-12-01", "-o=ics", shoot, root+"/docs/examples/newer-version.yaml")
	contains(t, strings.ReplaceAll(r.stdout, "\r\n ", ""), `worker pool a\\u202eb: `)
}
