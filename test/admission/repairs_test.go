// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	cloud "github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/test/fixtures"
)

// The repairs are JSON patches in testdata/repairs, one for each rule: what its entry in the catalogue says, done to
// the last object of its broken example.

// irreparable lists the rules whose examples cannot be repaired in an object that is written to an API, with the
// reason.
var irreparable = map[string]string{
	strictjson.OriginSyntax:       "there is no object yet that a patch could change",
	strictjson.OriginDuplicateKey: "a patch cannot tell one of the two keys from the other",
	"not-an-object":               "there is no address to write it to",
	"too-large":                   "it is no object, only the announcement of a billion values",
	"object-duplicate":            "a garden has one object of a name; the second is an update of the first",
	"pool-not-checked":            "Gardener renders every NamespacedCloudProfile that it accepts",
	"profile-unreadable":          "a profile that cannot be read cannot be in a garden",
	"migration":                   "no object breaks it, but what is asked of capkit migrate",
	"ignore-comment":              "an API knows nothing of comments",
	"ignore-unused":               "an API knows nothing of comments",
	"provider-unknown":            "what an extension says is known where it is installed; others are not asked",

	"region-without-keystone": "the profile is warned about for the same reason, wherever the Shoot goes",
	"floating-pool-domain":    "a garden knows the domain",
	"field-immutable":         "the specs about the configs of a Shoot have several",
	"machines-replaced":       "the specs about the configs of a Shoot have both ways to get there",
	"credentials-incomplete":  "the specs about a Secret with credentials repair one",
	"credentials-ambiguous":   "the specs about a Secret with credentials repair one",
	"credentials-value":       "the specs about a Secret with credentials repair one",
	"credentials-missing":     "a spec about credentials takes the Secret away",
	"provider-type-in-use":    "the specs about the type of a CloudProfile take those who use it away",
	"credentials-kind":        "a spec about bindings refers to something else",
}

// needed are manifests with what a repair refers to.
var needed = map[string]string{consistency.RuleProfileMissing: root + "/example/cloudprofile.yaml"}

// updates are the rules about updates, with what is said about the one in testdata/updates.
var updates = map[string]string{
	"image-choice-changed": "gardenlinux@1877.5.0: new machines of machine type either_4_8 boot another flavor than the existing ones",
	"machine-type-in-use":  "machine type bare_8_16 is removed and still used by Shoot garden-demo/updates",
	"mapping-in-use":       "gardenlinux@1877.5.0: no image is left for worker pools of Shoot garden-demo/updates (1 pool)",
	"maintenance-blocked":  "gardenlinux@1877.6.0: Gardener's maintenance is going to choose it for worker pools of Shoot garden-demo/updates (1 pool)",
}

// allRules are those of the command and of the provider.
func allRules() []finding.Rule { return cli.Rules(cli.For(cloud.Provider{})) }

var _ = Describe("What the catalogue says about a rule repairs its example:", func() {
	all := allFixtures()
	for _, rule := range allRules() {
		if irreparable[rule.Name] != "" {
			continue
		}
		It(rule.Name, func(ctx SpecContext) {
			if said := updates[rule.Name]; said != "" {
				repairUpdate(ctx, rule.Name, said)
				return
			}
			i := slices.IndexFunc(all, func(f fixtures.Fixture) bool { return f.Name == "broken/"+rule.Name })
			Expect(i).NotTo(Equal(-1), "the rule has no broken example")
			repair(ctx, rule.Name, &all[i])
		})
	}

	It("each repair is that of a rule", func() {
		names := []string{"objects"}
		for _, rule := range allRules() {
			names = append(names, rule.Name)
		}
		for _, folder := range []string{"testdata/repairs", "testdata/updates"} {
			entries, err := os.ReadDir(folder)
			Expect(err).NotTo(HaveOccurred())
			for _, entry := range entries {
				Expect(names).To(ContainElement(strings.TrimSuffix(entry.Name(), ".yaml")), folder)
			}
		}
	})
})

// repair writes a broken example, repairs it, and writes it again.
func repair(ctx context.Context, rule string, broken *fixtures.Fixture) {
	GinkgoHelper()
	documents, err := broken.Documents()
	Expect(err).NotTo(HaveOccurred())
	if file := needed[rule]; file != "" {
		documents = append(documentsIn(file), documents...)
	}
	w, last := newWriter(), len(documents)-1
	for i := range documents[:last] {
		Expect(w.create(ctx, &documents[i], false).Status).To(BeNil(), documents[i].Object())
	}
	report, err := broken.Report()
	Expect(err).NotTo(HaveOccurred())
	findings := fixtures.About(report, &documents[last], false)
	Expect(findings).To(ContainElement(HaveField("Rule", rule)), "the example does not break the rule")
	write := w.create
	if w.expect(ctx, w.create, &documents[last], findings).Status == nil {
		write = w.update
	}
	repaired := patched(&documents[last], filepath.Join("testdata", "repairs", rule+".yaml"))
	w.must(ctx, write, repaired)
	documents[last] = *repaired
	lint(documents)
}

// repairUpdate proposes an update that is worth a warning, repairs it, and carries it out.
func repairUpdate(ctx context.Context, rule, said string) {
	GinkgoHelper()
	w, documents := newWriter(), documentsIn("testdata/updates/objects.yaml")
	for i := range documents {
		w.must(ctx, w.create, &documents[i])
	}
	update := patched(&documents[0], filepath.Join("testdata", "updates", rule+".yaml"))
	Eventually(ctx, func() *fixtures.Answer { return w.update(ctx, update, true) }). // once the component knows the Shoot
												Should(And(HaveField("Status", BeNil()), HaveField("Warnings", ContainElement(ContainSubstring(said)))))
	w.must(ctx, w.update, patched(update, filepath.Join("testdata", "repairs", rule+".yaml")))
}

// patched returns the object of a manifest with a JSON patch applied.
func patched(d *fixtures.Document, file string) *fixtures.Document {
	GinkgoHelper()
	content, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	operations, err := yaml.YAMLToJSON(content)
	Expect(err).NotTo(HaveOccurred())
	patch, err := jsonpatch.DecodePatch(operations)
	Expect(err).NotTo(HaveOccurred())
	object, err := yaml.YAMLToJSON(d.Text)
	Expect(err).NotTo(HaveOccurred())
	object, err = patch.Apply(object)
	Expect(err).NotTo(HaveOccurred(), file)
	after := *d
	after.Text, err = yaml.JSONToYAML(object)
	Expect(err).NotTo(HaveOccurred())
	var head struct{ APIVersion string }
	Expect(yaml.Unmarshal(object, &head)).To(Succeed())
	after.APIVersion = head.APIVersion
	return &after
}

// lint demands that the command has nothing to say about manifests either.
func lint(documents []fixtures.Document) {
	GinkgoHelper()
	var texts [][]byte
	for _, d := range documents {
		texts = append(texts, d.Text)
	}
	var stdout, stderr bytes.Buffer
	status := cli.Run([]string{"capkit", "lint", "--fail-on=warning", "-"}, bytes.NewReader(bytes.Join(texts, []byte("\n---\n"))), &stdout, &stderr,
		cli.For(cloud.Provider{}))
	Expect(status).To(BeZero(), "capkit lint says: %s%s", &stdout, &stderr)
}
