// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/test/fixtures"
)

// tree is an object as JSON has it.
type tree = map[string]any

// treeOf reads an object of the examples.
func treeOf(file string) tree {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(root, "example", file))
	Expect(err).NotTo(HaveOccurred())
	object := tree{}
	Expect(yaml.Unmarshal(text, &object)).To(Succeed())
	return object
}

// copied returns a deep copy.
func copied(value any) any {
	GinkgoHelper()
	text, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	var again any
	Expect(json.Unmarshal(text, &again)).To(Succeed())
	return again
}

// place is where something stands in a tree: what it is called, and how it is replaced or removed.
type place struct {
	path   string
	value  any
	put    func(any)
	remove func()
	again  func() // nil unless it is an item of a list
}

// places returns all places below the spec and the metadata of an object, in a stable order, but for those of which nothing can be known
// without a garden.
func places(object tree) (all []place) {
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case tree:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				p := path + "." + key
				all = append(all, place{
					p, v[key], func(n any) { v[key] = n }, func() { delete(v, key) }, nil,
				})
				walk(p, v[key])
			}
		case []any:
			for i := range v {
				p := fmt.Sprintf("%s[%d]", path, i)
				all = append(all, place{p, v[i], func(n any) { v[i] = n }, func() { v[i] = nil }, nil})
				walk(p, v[i])
			}
		}
	}
	walk("spec", object["spec"])
	metadata := object["metadata"].(tree)
	all = append(all, place{"metadata.name", metadata["name"], func(n any) { metadata["name"] = n }, func() {}, nil})
	return slices.DeleteFunc(all, func(p place) bool { return notKnown.MatchString(p.path) })
}

// notKnown matches what nothing can be known about without a garden, or is for others to judge.
var notKnown = regexp.MustCompile(`^spec\.(credentialsBindingName|secretBindingName|seedName|exposureClassName|resources|tolerations|` +
	`provider\.(infrastructureConfig|controlPlaneConfig)|provider\.workers\[\d+\]\.providerConfig|providerConfig)\b`)

// mutate changes one thing somewhere in an object, and says what.
func mutate(r *rand.Rand, object tree) string {
	all := places(object)
	p := all[r.IntN(len(all))]
	var value any
	switch v := p.value.(type) {
	case string:
		other, _ := all[r.IntN(len(all))].value.(string)
		value = pick(r, "", "x", "a b", v+"x", strings.ToUpper(v), "1", "1.33", "10.250.0.0/20", "1Gi", other, other, other)
	case float64:
		value = pick(r, -1.0, 0.0, 1.0, 100000.0, v+1)
	case bool:
		value = !v
	case []any:
		switch {
		case len(v) > 0 && r.IntN(3) > 0:
			value = append(slices.Clone(v), copied(v[r.IntN(len(v))]))
		default:
			value = []any{}
		}
	case tree:
		value = copied(v)
		if r.IntN(2) == 0 {
			value.(tree)["unknown"] = "x"
		} else {
			value = tree{}
		}
	}
	if r.IntN(4) == 0 || value == nil {
		p.remove()
		return "without " + p.path
	}
	p.put(value)
	return fmt.Sprintf("%s: %v", p.path, value)
}

// verdicts compares what the API server says of objects with what lint finds. The name of an object is its number.
type verdicts struct {
	accepted, refused int
	silent, alone     []string // refused without a finding, found without a refusal
	elsewhere         []string // no field in common
	unknown           map[string]int
}

// others matches refusals because of what is in the garden, and not in the inputs.
var others = regexp.MustCompile(`already exists|not found|uses non-registered`)

// mentioned matches paths in a message.
var mentioned = regexp.MustCompile(`(?:spec|metadata|status)(?:\.[A-Za-z]\w*|\[[^\]]*\])+`)

func (v *verdicts) compare(what string, err error, found []fixtures.Finding) {
	ours := slices.DeleteFunc(slices.Clone(found), func(f fixtures.Finding) bool { return f.Severity != finding.SeverityError || f.ByGardener() })
	found = slices.DeleteFunc(found, func(f fixtures.Finding) bool { return !f.ByGardener() })
	var status *apierrors.StatusError
	switch {
	case err == nil && len(found) == 0:
		v.accepted++
		return
	case err == nil:
		v.alone = append(v.alone, fmt.Sprintf("%s\n    lint: %v", what, found))
		return
	case !errors.As(err, &status):
		Expect(err).NotTo(HaveOccurred())
	}
	v.refused++
	if found = append(found, ours...); len(found) == 0 { // what capkit says better
		if others.MatchString(err.Error()) {
			v.unknown[others.FindString(err.Error())]++
			return
		}
		v.silent = append(v.silent, fmt.Sprintf("%s\n    API: %v", what, err))
		return
	}
	said := mentioned.FindAllString(err.Error(), -1)
	if details := status.ErrStatus.Details; details != nil {
		for _, cause := range details.Causes {
			said = append(said, cause.Field)
		}
	}
	related := func(f fixtures.Finding) bool {
		return slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, f.Field) || strings.HasPrefix(f.Field, s) })
	}
	if len(said) > 0 && !slices.ContainsFunc(found, related) {
		v.elsewhere = append(v.elsewhere, fmt.Sprintf("%s\n    API: %v\n    lint: %v", what, err, found))
	}
}

// lintOf returns the findings of lint about each of some objects, by their numbers, which are in an annotation.
func lintOf(objects []tree, beside ...string) map[int][]fixtures.Finding {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "objects.yaml")
	var texts []string
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		Expect(err).NotTo(HaveOccurred())
		texts = append(texts, string(text))
	}
	starts := make([]int, 0, len(texts)) // the line at which each begins
	line := 1
	for _, text := range texts {
		starts = append(starts, line)
		line += strings.Count(text, "\n") + 1
	}
	Expect(os.WriteFile(path, []byte(strings.Join(texts, "---\n")), 0o600)).To(Succeed())
	a := capkit(append([]string{"lint", "-o", "json", path}, beside...))
	var said report.Report
	Expect(json.Unmarshal([]byte(a.stdout), &said)).To(Succeed(), a.stderr)
	found := map[int][]fixtures.Finding{}
	for _, f := range said.Findings {
		if f.File != path {
			continue
		}
		i, exact := slices.BinarySearch(starts, f.Line)
		if !exact {
			i--
		}
		found[i] = append(found[i], fixtures.Finding{Severity: f.Severity, Rule: f.Rule, Type: f.Type, Field: f.Field, Message: f.Message})
	}
	return found
}

// judged creates objects without effect, and compares.
func judged(ctx SpecContext, objects []tree, what []string, beside ...string) *verdicts {
	GinkgoHelper()
	v := &verdicts{unknown: map[string]int{}}
	found := lintOf(objects, beside...)
	for i, object := range objects {
		err := g.Client().Create(ctx, &unstructured.Unstructured{Object: copied(object).(tree)}, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
		v.compare(strconv.Itoa(i)+" "+what[i], err, found[i])
	}
	AddReportEntry(fmt.Sprintf("%d objects: %d accepted, %d refused, of these because of what is in the garden: %v; refused without a finding: %d, found without a refusal: %d, "+
		"other fields: %d", len(objects), v.accepted, v.refused, v.unknown, len(v.silent), len(v.alone), len(v.elsewhere)))
	return v
}

func (v *verdicts) expectNone() {
	GinkgoHelper()
	var all []string
	for title, list := range map[string][]string{"refused without a finding": v.silent, "found without a refusal": v.alone, "other fields": v.elsewhere} {
		for _, difference := range list {
			all = append(all, title+": "+difference)
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		Fail(strings.Join(all[:min(len(all), 60)], "\n"))
	}
}

var _ = Describe("Without capkit's webhooks", func() {
	It("lint says of Shoots what the API server says", func(ctx SpecContext) {
		r := rand.New(rand.NewPCG(31, 1))
		profile := treeOf("cloudprofile-full.yaml")
		object := &unstructured.Unstructured{Object: copied(profile).(tree)}
		object.SetName("verdict")
		create(ctx, object)
		stored := filepath.Join(GinkgoT().TempDir(), "profile.yaml")
		object.SetManagedFields(nil)
		text, err := yaml.Marshal(object.Object)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(stored, text, 0o600)).To(Succeed())
		base := treeOf("shoot-full.yaml")
		base["spec"].(tree)["cloudProfile"].(tree)["name"] = "verdict"
		var objects []tree
		var what []string
		for i := range shootsJudged {
			shoot := copied(base).(tree)
			shoot["metadata"].(tree)["name"] = fmt.Sprint("v", i)
			shoot["metadata"].(tree)["namespace"] = "garden-demo"
			var done []string
			for range 1 + r.IntN(3) {
				done = append(done, mutate(r, shoot))
			}
			objects, what = append(objects, shoot), append(what, strings.Join(done, "; "))
		}
		Eventually(ctx, func() error {
			shoot := copied(base).(tree)
			shoot["metadata"].(tree)["namespace"] = "garden-demo"
			return g.Client().Create(ctx, &unstructured.Unstructured{Object: shoot}, client.DryRunAll)
		}).WithTimeout(time.Minute).Should(Succeed())
		judged(ctx, objects, what, stored).expectNone()
	})
})

const shootsJudged = 1000
