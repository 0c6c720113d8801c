// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/consistency"
	provider "github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/openstack/constraints"
	"github.com/capkit/capkit/test/fixtures"
)

// The repairs are JSON patches in testdata/repairs, one for each rule: what its entry in the catalogue says, done to the
// last object of its broken example.

// irreparable lists the rules whose examples cannot be repaired in an object that is written to an API, with the reason.
var irreparable = map[string]string{
	consistency.RuleSyntax:       "there is no object yet that a patch could change",
	consistency.RuleDuplicateKey: "a patch cannot tell one of the two keys from the other",
	cli.RuleNotAnObject:          "there is no address to write it to",
	cli.RuleTooLarge:             "it is no object, only the announcement of a billion values",
	cli.RuleObjectDuplicate:      "a garden has one object of a name; the second is an update of the first",
	cli.RulePoolNotChecked:       "Gardener renders every NamespacedCloudProfile that it accepts",
	cli.RuleProfileUnreached:     "a profile that cannot be read cannot be in a garden",
	cli.RuleProviderUnknown:      "what an extension says is known where it is installed; others are not asked",

	constraints.RuleRegionWithoutKeystone:  "the profile is warned about for the same reason, wherever the Shoot goes",
	constraints.RuleFloatingPoolDomain:     "a garden knows the domain",
	validation.OriginFieldImmutable:        "TestUpdatesOfConfigs has several",
	constraints.RuleMachinesReplaced:       "TestUpdatesOfConfigs has both ways to get there",
	validation.OriginCredentialsIncomplete: "TestSecretWithCredentials repairs a Secret",
	validation.OriginCredentialsAmbiguous:  "TestSecretWithCredentials repairs a Secret",
	validation.OriginCredentialsValue:      "TestSecretWithCredentials repairs a Secret",
	"credentials-missing":                  "TestShootWhoseSecretIsGone takes the Secret away",
	"credentials-kind":                     "TestBindingToAnIdentity refers to something else",
}

// needed are manifests with what a repair refers to.
var needed = map[string]string{cli.RuleProfileMissing: root + "/example/cloudprofile.yaml"}

// updates are the rules about updates, with what is said about the one in testdata/updates.
var updates = map[string]string{
	consistency.RuleChoiceChanged:    "gardenlinux@1877.5.0: new machines of machine type either_4_8 boot another flavor than the existing ones",
	consistency.RuleMachineTypeInUse: "machine type bare_8_16 is removed and still used by Shoot garden-demo/updates",
	consistency.RuleMappingInUse:     "gardenlinux@1877.5.0: no image is left for worker pools of Shoot garden-demo/updates",
}

// allRules are those of the command and of the provider.
func allRules() []consistency.Rule { return cli.Rules(cli.For(provider.Provider{})) }

func TestRepairs(t *testing.T) {
	all := allFixtures(t)
	for _, rule := range allRules() {
		if irreparable[rule.Name] != "" {
			continue
		}
		t.Run(rule.Name, func(t *testing.T) {
			if said := updates[rule.Name]; said != "" {
				repairUpdate(t, rule.Name, said)
				return
			}
			i := slices.IndexFunc(all, func(f fixtures.Fixture) bool { return f.Name == "broken/"+rule.Name })
			if i < 0 {
				t.Fatal("the rule has no broken example")
			}
			repair(t, rule.Name, &all[i])
		})
	}
}

// repair writes a broken example, repairs it, and writes it again.
func repair(t *testing.T, rule string, broken *fixtures.Fixture) {
	t.Helper()
	documents, err := broken.Documents()
	if err != nil {
		t.Fatal(err)
	}
	if file := needed[rule]; file != "" {
		documents = append(documentsIn(t, file), documents...)
	}
	w, last := newWriter(t), len(documents)-1
	for i := range documents[:last] {
		if answer := w.create(&documents[i]); answer.Status != nil {
			t.Fatalf("%s: %s", documents[i].Object(), answer)
		}
	}
	first := w.create(&documents[last])
	report, err := broken.Report()
	if err != nil {
		t.Fatal(err)
	}
	findings := fixtures.About(report, &documents[last], false)
	if !slices.ContainsFunc(findings, func(f fixtures.Finding) bool { return f.Rule == rule }) {
		t.Errorf("the example does not break the rule")
	}
	if err := first.Agrees(documents[last].Object(), findings); err != nil {
		t.Error(err)
	}
	repaired := patched(t, &documents[last], filepath.Join("testdata", "repairs", rule+".yaml"))
	write := w.create
	if first.Status == nil {
		write = w.update
	}
	if answer := write(repaired); answer.Status != nil || len(answer.Warnings) > 0 {
		t.Errorf("still not right: %s", answer)
	}
	documents[last] = *repaired
	lint(t, documents)
}

// repairUpdate proposes an update that is worth a warning, repairs it, and carries it out.
func repairUpdate(t *testing.T, rule, said string) {
	t.Helper()
	w, documents := newWriter(t), documentsIn(t, "testdata/updates/objects.yaml")
	for i := range documents {
		if answer := w.create(&documents[i]); answer.Status != nil || len(answer.Warnings) > 0 {
			t.Fatalf("%s: %s", documents[i].Object(), answer)
		}
	}
	update := patched(t, &documents[0], filepath.Join("testdata", "updates", rule+".yaml"))
	warned := func(answer *fixtures.Answer) bool {
		return slices.ContainsFunc(answer.Warnings, func(warning string) bool { return strings.Contains(warning, said) })
	}
	eventually(t, "there is a warning about the update, once the Shoot is known", func() bool {
		answer := w.propose(update)
		if answer.Status != nil {
			t.Fatal(answer)
		}
		return warned(answer)
	})
	repaired := patched(t, update, filepath.Join("testdata", "repairs", rule+".yaml"))
	if answer := w.update(repaired); answer.Status != nil || len(answer.Warnings) > 0 {
		t.Errorf("still not right: %s", answer)
	}
}

// patched returns the object of a manifest with a JSON patch applied.
func patched(t *testing.T, d *fixtures.Document, file string) *fixtures.Document {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	operations, err := yaml.YAMLToJSON(content)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		t.Fatal(err)
	}
	object, err := yaml.YAMLToJSON(d.Text)
	if err != nil {
		t.Fatal(err)
	}
	if object, err = patch.Apply(object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	after := *d
	if after.Text, err = yaml.JSONToYAML(object); err != nil {
		t.Fatal(err)
	}
	var head struct{ APIVersion string }
	if err := yaml.Unmarshal(object, &head); err != nil {
		t.Fatal(err)
	}
	after.APIVersion = head.APIVersion
	return &after
}

// lint demands that the command has nothing to say about manifests either.
func lint(t *testing.T, documents []fixtures.Document) {
	t.Helper()
	var texts [][]byte
	for _, d := range documents {
		texts = append(texts, d.Text)
	}
	var stdout, stderr bytes.Buffer
	status := cli.Run([]string{"capkit", "lint", "--fail-on=warning", "-"}, bytes.NewReader(bytes.Join(texts, []byte("\n---\n"))), &stdout, &stderr,
		cli.For(provider.Provider{}))
	if status != 0 {
		t.Errorf("capkit lint, with status %d: %s%s", status, stdout.String(), stderr.String())
	}
}

// Every repair is that of a rule.
func TestRepairsHaveRules(t *testing.T) {
	for _, folder := range []string{"testdata/repairs", "testdata/updates"} {
		entries, err := fs.ReadDir(os.DirFS(folder), ".")
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			known := slices.ContainsFunc(allRules(), func(rule consistency.Rule) bool { return rule.Name+".yaml" == entry.Name() })
			if !known && entry.Name() != "objects.yaml" {
				t.Errorf("%s/%s belongs to no rule", folder, entry.Name())
			}
		}
	}
}
