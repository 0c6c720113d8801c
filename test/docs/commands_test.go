// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/dist/archive"
	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

var (
	inBlock = regexp.MustCompile(`(?m)(?:^|[|;] |run: |do )(?:kubectl )?capkit ([a-z-][^|>;#\n]*)`)
	inText  = regexp.MustCompile("`(?:kubectl )?capkit ([a-z-][^`|>]*)`")
)

// commandLines returns the arguments of each capkit call in a document: in blocks and in the text.
func commandLines(text string) (lines [][]string) {
	add := func(pattern *regexp.Regexp, text string) {
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			lines = append(lines, strings.Fields(match[1]))
		}
	}
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		if block[1] != "console" && block[1] != "go" { // other tests run or compile these
			add(inBlock, block[2])
		}
	}
	add(inText, fence.ReplaceAllString(text, ""))
	return lines
}

// Each command in a document exists, with its flags.
func TestCommandLines(t *testing.T) {
	calls := 0
	for _, document := range documents {
		for _, line := range commandLines(read(t, document)) {
			calls++
			checkCommand(t, document, line)
		}
	}
	if calls < 50 {
		t.Errorf("the documents call capkit %d times", calls)
	}
}

func checkCommand(t *testing.T, document string, line []string) {
	t.Helper()
	cmd, args, err := cli.Command(clouds.All()...).Find(line)
	if err != nil || !cmd.HasParent() && !strings.HasPrefix(line[0], "-") {
		t.Errorf("%s: there is no command %q: %v", document, line, err)
	} else if err := cmd.ParseFlags(args); err != nil {
		t.Errorf("%s: %q: %v", document, line, err)
	}
}

// listings are the places that list all commands, with the text around each list. but names the commands that a list omits.
var listings = map[string]struct {
	from, to string
	but      []string
}{
	"docs/commands/README.md": {"\n| command | answers |", "\n## ", nil},
	"docs/README.md":          {"\n## The command", "\n## ", []string{"version"}},
	"docs/authors/README.md":  {"\n- the command, ", "\n- ", nil},
}

func TestListings(t *testing.T) {
	for document, listing := range listings {
		_, text, found := strings.Cut(read(t, document), listing.from)
		text, _, ends := strings.Cut(text, listing.to)
		if !found || !ends {
			t.Errorf("%s has no text between %q and %q", document, listing.from, listing.to)
		}
		for _, cmd := range cli.Command(clouds.All()...).Commands() {
			general := slices.Contains([]string{"completion", "help"}, cmd.Name()) || !cmd.Runnable() || cmd.Hidden
			listed := regexp.MustCompile("\\b" + cmd.Name() + "\\b").MatchString(text)
			if !general && !listed && !slices.Contains(listing.but, cmd.Name()) {
				t.Errorf("%s does not list %s", document, cmd.Name())
			}
		}
	}
}

// The overview names exactly the commands that read a cluster.
func TestClusterCommands(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "docs/commands/README.md"), "\n## From a cluster\n")
	sentence, _, _ := strings.Cut(text, " also take objects from a garden")
	for _, cmd := range cli.Command(clouds.All()...).Commands() {
		reads, named := cmd.Flags().Lookup("kubeconfig") != nil, strings.Contains(sentence, "`"+cmd.Name()+"`")
		if reads != named {
			t.Errorf("%s reads a cluster: %t, and the overview says so: %t", cmd.Name(), reads, named)
		}
	}
}

// tagged matches the tag of a release.
const tagged = `^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9a-z.]+)?$`

// preCommitHook is a hook for pre-commit.
type preCommitHook struct {
	ID, Entry     string
	AlwaysRun     bool  `json:"always_run"`
	PassFilenames *bool `json:"pass_filenames"`
}

// The configuration for pre-commit uses an existing hook, at a release.
func TestPreCommit(t *testing.T) {
	var config struct {
		Repos []struct {
			Repo, Rev string
			Hooks     []struct{ ID string }
		}
	}
	var offered []preCommitHook
	decode(t, "docs/examples/pre-commit-config.yaml", &config)
	decode(t, ".pre-commit-hooks.yaml", &offered)
	for _, repo := range config.Repos {
		if repo.Repo != "https://"+module(t) || !regexp.MustCompile(tagged).MatchString(repo.Rev) {
			t.Errorf("%+v", repo)
		}
		for _, hook := range repo.Hooks {
			if !slices.ContainsFunc(offered, func(o preCommitHook) bool { return o.ID == hook.ID }) {
				t.Errorf("there is no hook %s: %+v", hook.ID, offered)
			}
		}
	}
	for _, hook := range offered {
		args, found := strings.CutPrefix(hook.Entry, "capkit ")
		if !found {
			t.Errorf("%q does not call capkit", hook.Entry)
		}
		if !hook.AlwaysRun || hook.PassFilenames == nil || *hook.PassFilenames { // pre-commit calls no other hook if files are only removed
			t.Errorf("%s does not check all inputs in every commit", hook.ID)
		}
		checkCommand(t, ".pre-commit-hooks.yaml", strings.Fields(args))
	}
	if len(config.Repos) != 1 || len(offered) == 0 {
		t.Errorf("%+v, %+v", config, offered)
	}
}

// The workflows for GitHub install capkit with its action at a release, with valid inputs, and run it.
func TestWorkflows(t *testing.T) {
	for name, want := range map[string][]string{
		"github-workflow":           {"action lint"},
		"github-scanning-workflow":  {"action lint", "upload"},
		"github-import-workflow":    {"action none", "release=${RELEASE:-$(ls $RELEASES"},
		"github-plan-workflow":      {"action none", "git -c", "gh pr"},
		"github-inventory-workflow": {"action none", "capkit inventory", "upload", "gh run", "action verify"},
	} {
		t.Run(name, func(t *testing.T) {
			var workflow struct {
				Jobs map[string]struct{ Steps []workflowStep }
			}
			decode(t, "docs/examples/"+name+".yaml", &workflow)
			var done []string
			for _, job := range slices.Sorted(maps.Keys(workflow.Jobs)) {
				for _, step := range workflow.Jobs[job].Steps {
					if does := step.does(t); does != "" {
						done = append(done, does)
					}
				}
			}
			if !slices.Equal(done, want) {
				t.Errorf("the steps are %v", done)
			}
		})
	}
}

// The job for GitLab installs a release, and its commands exist, with these flags.
func TestGitLabJob(t *testing.T) {
	const file = "docs/examples/gitlab-ci.yaml"
	var jobs map[string]struct{ Script []string }
	decode(t, file, &jobs)
	commands := 0
	for _, line := range jobs["capkit"].Script {
		words := strings.Fields(line)
		if _, version, installs := strings.Cut(line, "go install "+module(t)+"/cmd/capkit@"); installs && !regexp.MustCompile(tagged).MatchString(version) {
			t.Errorf("%q is no release", version)
		} else if words[0] == "capkit" {
			commands++
			checkCommand(t, file, words[1:slices.Index(words, ">")])
		}
	}
	if commands != 1 { // beside the one that TestPlansOfPullRequests runs
		t.Errorf("%d commands of capkit", commands)
	}
}

// workflowStep is a step of a workflow.
type workflowStep struct {
	Uses, Run string
	With      map[string]any
}

// does checks a step and returns its purpose, or the empty string if it only prepares something.
func (step workflowStep) does(t *testing.T) string {
	t.Helper()
	action, version, _ := strings.Cut(step.Uses, "@")
	switch words := strings.Fields(step.Run); {
	case "github.com/"+action == module(t):
		if !regexp.MustCompile(tagged).MatchString(version) {
			t.Errorf("%q is no release", version)
		}
		return "action " + actionCommand(t, step.With)
	case strings.HasPrefix(action, "actions/upload-") || strings.HasSuffix(action, "/upload-sarif"):
		return "upload"
	case len(words) > 1: // TestCommandLines parses the flags of quoted commands
		return words[0] + " " + words[1]
	case action != "actions/checkout":
		t.Errorf("what is this? %+v", step)
	}
	return ""
}

// actionCommand checks the inputs of the action, and returns the command that the action runs.
func actionCommand(t *testing.T, with map[string]any) string {
	t.Helper()
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	decode(t, "action.yml", &action)
	for input := range with {
		if _, known := action.Inputs[input]; !known {
			t.Errorf("the action has no input %s", input)
		}
	}
	command, given := with["command"].(string)
	if !given {
		command = action.Inputs["command"].Default
	}
	if args, _ := with["args"].(string); command != "none" {
		checkCommand(t, "action.yml", append([]string{command}, strings.Fields(args)...))
	}
	return command
}

// The page about the action has a row for each input.
func TestInputsOfTheAction(t *testing.T) {
	var action struct{ Inputs map[string]any }
	decode(t, "action.yml", &action)
	_, text, _ := strings.Cut(read(t, "docs/commands/lint.md"), "\n| input | |\n")
	table, _, _ := strings.Cut(text, "\n\n")
	for input := range action.Inputs {
		if !strings.Contains(table, "`"+input+"`") {
			t.Errorf("docs/commands/lint.md says nothing of the input %s", input)
		}
	}
	if len(action.Inputs) == 0 {
		t.Error("the action has no inputs")
	}
}

// The archive names in install.md match those of make dist, for releases and for builds between them.
func TestArchiveNames(t *testing.T) {
	text := read(t, "docs/install.md")
	found := regexp.MustCompile(`capkit_\*[a-z0-9_]*`).FindAllString(text, -1)
	for _, pattern := range found {
		for _, version := range []string{"1.2.3", strings.TrimSpace(read(t, "VERSION")) + "+0123456789ab"} {
			name := archive.Release{Version: version}.Name(archive.Platforms[0])
			if matches, err := path.Match(pattern, name); !matches {
				t.Errorf("%s does not match %s: %v", pattern, name, err)
			}
		}
	}
	if len(found) < 3 || !strings.Contains(text, "`capkit_VERSION_OS_ARCH.tar.gz`") {
		t.Errorf("%q", found)
	}
	if literal := regexp.MustCompile(`capkit_[0-9][0-9a-z.-]*_`).FindString(text); literal != "" {
		t.Errorf("the name of an archive has a version that will be another: %s", literal)
	}
}

// module returns the path of this module, which is also the address of its repository.
func module(t *testing.T) string {
	t.Helper()
	line, _, _ := strings.Cut(read(t, "go.mod"), "\n")
	return strings.TrimPrefix(line, "module ")
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, file)), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
