// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/finding"
	cloud "github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/verify"
	"github.com/capkit/capkit/test/fixtures"
	"github.com/capkit/capkit/test/rules"
)

// The repairs are in the archives of package test/rules: each applies the rule's advice in the catalogue to the last object
// of its broken example.

// irreparable lists the rules whose examples cannot be repaired in an object that is written to an API, with the reasons.
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

	"reserved-capability-registered": "Gardener v1.150 refuses the registration",
	"reserved-capability-incomplete": "Gardener v1.150 refuses the registration; test/reserved has one that does not",
	"reserved-capability-silent":     "Gardener v1.150 refuses the registration; test/reserved has one that does not",

	"version-unavailable":     "Gardener drops such a Kubernetes version where the CloudProfile is created",
	"version-expired":         "Gardener drops such a version where the CloudProfile is created",
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
	"setting-of-capkit":       "the specs have a worker controller that reads it; one of them has not",
}

// updates lists the rules about updates of a CloudProfile, with the warning about the first case of each.
var updates = map[string]string{
	"image-choice-changed": "gardenlinux@1877.5.0: new machines of machine type either_4_8 boot another flavor than the existing ones",
	"machine-type-in-use":  "machine type bare_8_16 is removed and still used by Shoot garden-demo/updates",
	"mapping-in-use":       "gardenlinux@1877.5.0: no image is left for worker pools of Shoot garden-demo/updates (1 pool)",
	"volume-size-in-use":   "volume type default: the minimum size is 50Gi, and volumes of Shoot garden-demo/updates (1 pool) are smaller",
	"maintenance-blocked":  "gardenlinux@1877.6.0: Gardener's maintenance would choose it for worker pools of Shoot garden-demo/updates (1 pool)",
}

// allRules returns the rules of the command and of the provider.
func allRules() []finding.Rule { return cli.Rules(cli.For(cloud.Provider{})) }

var _ = Describe("What the catalogue says about a rule repairs its example:", func() {
	all := allFixtures()
	for _, rule := range allRules() {
		if irreparable[rule.Name] != "" || slices.Contains([]string{verify.Command, "import"}, rule.Command) { // these compare with a cloud or a release
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
})

// repair writes a broken example, repairs it, and writes it again.
func repair(ctx context.Context, rule string, broken *fixtures.Fixture) {
	GinkgoHelper()
	documents, err := broken.Documents()
	Expect(err).NotTo(HaveOccurred())
	archive := archiveOf(rule)
	for _, file := range archive.Files(root) {
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
	repaired := parsed(archive.Repaired())
	w.must(ctx, write, &repaired[len(repaired)-1])
	documents[last] = repaired[len(repaired)-1]
	lint(documents)
}

// repairUpdate tries an update that causes a warning, repairs it, and stores it.
func repairUpdate(ctx context.Context, rule, said string) {
	GinkgoHelper()
	archive := archiveOf(rule)
	w, documents := newWriter(), parsed(archive.Before())
	for i := range documents {
		w.must(ctx, w.create, &documents[i])
	}
	broken, repaired := parsed(archive.Broken()), parsed(archive.Repaired())
	Eventually(ctx, func() *fixtures.Answer { return w.update(ctx, &broken[0], true) }). // once the component knows the Shoot
												Should(And(HaveField("Status", BeNil()), HaveField("Warnings", ContainElement(ContainSubstring(said)))))
	w.must(ctx, w.update, &repaired[0])
}

func archiveOf(rule string) *rules.Archive {
	GinkgoHelper()
	archive, err := rules.Read(root, rule)
	Expect(err).NotTo(HaveOccurred())
	return archive
}

func parsed(text string, err error) []fixtures.Document {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	documents, err := fixtures.Parse([]byte(text))
	Expect(err).NotTo(HaveOccurred())
	return documents
}

// lint requires that the command reports nothing about the manifests either.
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
