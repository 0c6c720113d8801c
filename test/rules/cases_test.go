// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/ratchet"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/pkg/verify"
	"github.com/capkit/capkit/test/fixtures"
	"github.com/capkit/capkit/test/rules"
)

const root = "../.."

// The kinds of cases, with which the names of cases begin. The example of a rule is refused, or causes a warning.
const (
	example   = "example"
	refused   = "refused"
	warned    = "warned"
	accepted  = "accepted"
	ratcheted = "ratcheted"
)

// elsewhere lists the rules that neither lint nor the engine reports, with the component that reports and tests them.
var elsewhere = map[string]string{
	"migration":             "capkit migrate",
	"import-ambiguous":      "capkit import",
	"import-conflict":       "capkit import",
	"import-profile":        "capkit import",
	"import-region-missing": "capkit import",
	"import-source":         "capkit import",
	"credentials-missing":   "admission, which looks for them",
	"credentials-kind":      "admission",
	"setting-of-capkit":     "admission, unless it was told that capkit's worker controller is there",
	"maintenance-blocked":   "admission, which asks Gardener's maintenance; test/admission runs the archive",
}

// unratcheted lists the rules whose errors no update may keep, with the reasons.
var unratcheted = map[string]string{
	"core-flavor-wrapped": unread, "duplicate-key": unread, "field-type": unread, "not-an-object": unread, "object-kind": unread,
	"syntax": unread, "too-large": unread,
	"cloudprofile-name-ignored": "Gardener refuses it where a Shoot is created, and takes an update as it always did",

	"gardener-admission": "Gardener says it, which lets a Shoot keep what it has",
	"gardener-core":      "Gardener says it, which has rules of its own about updates",
	"object-duplicate":   "a garden has one object of a name",
	"profile-missing":    "who looks for the profile says it, not the engine",
}

const unread = "the API server does not read it; a provider config, which it does not look into, may keep it: see unknown-field"

// TestRules runs the cases of every rule: lint checks manifests, and the engine checks updates.
func TestRules(t *testing.T) {
	for _, rule := range catalogue() {
		if elsewhere[rule.Name] != "" {
			continue
		}
		t.Run(rule.Name, func(t *testing.T) {
			archive, err := rules.Read(root, rule.Name)
			if err != nil {
				t.Fatal(err)
			}
			base := must(t)(archive.Base())
			seen := map[string]bool{}
			cases.Run(t, filepath.Join(rules.Dir(root), rule.Name+".txtar"), func(c *cases.Case) string {
				kind, _, _ := strings.Cut(c.Name, ":")
				seen[kind] = true
				changed := base
				if kind != example {
					changed = must(c.T())(rules.Changed(base, c.Text(rules.Change)))
				}
				found := answer(c.T(), &rule, archive, kind, base, changed)
				demand(c.T(), &rule, kind, found)
				return cases.Fold(lines(found)...)
			})
			demandKinds(t, &rule, seen)
			demand(t, &rule, accepted, answer(t, &rule, archive, accepted, base, must(t)(archive.Repaired())))
		})
	}
}

// TestNames rejects archives and exceptions that belong to no rule.
func TestNames(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(rules.Dir(root), "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(slices.Collect(maps.Keys(elsewhere)), slices.Collect(maps.Keys(unratcheted)))
	for _, archive := range archives {
		names = append(names, strings.TrimSuffix(filepath.Base(archive), ".txtar"))
	}
	for _, name := range names {
		if !slices.ContainsFunc(catalogue(), func(r finding.Rule) bool { return r.Name == name }) {
			t.Errorf("%s is no rule", name)
		}
	}
}

func catalogue() []finding.Rule { return cli.Rules(clouds.All()...) }

// must returns a function that returns the text, or fails the test if there is an error.
func must(t *testing.T) func(string, error) string {
	return func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

// answer returns the findings about manifests, or about an update to them.
func answer(t *testing.T, rule *finding.Rule, archive *rules.Archive, kind, base, changed string) []fixtures.Finding {
	t.Helper()
	if archive.Example() == "" || kind == ratcheted {
		return updated(t, base, changed)
	}
	args := append([]string{"-"}, archive.Files(root)...)
	if fixtures.IsForLater("broken/" + rule.Name) {
		args = append(args, "--reserved-in-core")
	}
	if rule.Command == verify.Command {
		args = append(args, "--strict", "--inventory", filepath.Join(rules.Dir(root), "inventory.yaml"))
	}
	found, err := fixtures.Lint(strings.NewReader(changed), args...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// demand fails the test unless the findings match the kind of the case.
func demand(t *testing.T, rule *finding.Rule, kind string, found []fixtures.Finding) {
	t.Helper()
	has := func(severity finding.Severity, rule string) bool {
		return slices.ContainsFunc(found, func(f fixtures.Finding) bool {
			return f.Severity == severity && (rule == "" || f.Rule == rule)
		})
	}
	ok := false
	switch kind {
	case example:
		ok = has(rule.Severity, rule.Name)
	case refused:
		ok = has(finding.SeverityError, rule.Name)
	case warned, ratcheted:
		ok = has(finding.SeverityWarning, rule.Name) && !has(finding.SeverityError, "")
	case accepted:
		ok = len(found) == 0
	}
	if !ok {
		t.Errorf("that is not %s:\n%s", kind, strings.Join(lines(found), "\n"))
	}
}

// demandKinds fails the test if a rule lacks a kind of case.
func demandKinds(t *testing.T, rule *finding.Rule, seen map[string]bool) {
	t.Helper()
	if !seen[example] && !seen[refused] && !seen[warned] {
		t.Error("no case breaks the rule")
	}
	if !seen[accepted] {
		t.Error("no case is accepted")
	}
	keeps := rule.Severity == finding.SeverityError && rule.InManifests() && unratcheted[rule.Name] == ""
	if seen[ratcheted] != keeps {
		t.Errorf("a case in which an update keeps the error: %t", seen[ratcheted])
	}
}

func lines(found []fixtures.Finding) []string {
	lines := make([]string, 0, len(found))
	for _, f := range found {
		lines = append(lines, f.String())
	}
	return lines
}

// updated returns the engine's findings about the object that an update of manifests changes.
func updated(t *testing.T, before, after string) []fixtures.Finding {
	t.Helper()
	if before == after {
		return nil
	}
	var found []fixtures.Finding
	object, report := judge(read(t, before), read(t, after))
	kind := reflect.TypeOf(object).Elem().Name()
	about := fixtures.Document{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
	add := func(severity finding.Severity, list finding.List) {
		for _, f := range list {
			found = append(found, fixtures.Finding{
				Severity: severity, Rule: f.Origin, Type: f.Type, Object: about.Object(), Field: f.Field, Message: f.Detail,
			})
		}
	}
	add(finding.SeverityError, report.Errors)
	add(finding.SeverityWarning, report.Warnings)
	return found
}

// garden has the objects of manifests, at most one of each kind.
type garden struct {
	profile *v1beta1.CloudProfile
	child   *v1beta1.NamespacedCloudProfile
	shoot   *v1beta1.Shoot
	secret  *corev1.Secret
}

func read(t *testing.T, text string) *garden {
	t.Helper()
	g := &garden{}
	for document := range bytes.SplitSeq([]byte(text), []byte("\n---\n")) {
		var head struct{ Kind string }
		if err := yaml.Unmarshal(document, &head); err != nil {
			t.Fatal(err)
		}
		var object any
		switch head.Kind {
		case "CloudProfile":
			g.profile = &v1beta1.CloudProfile{}
			object = g.profile
		case "NamespacedCloudProfile":
			g.child = &v1beta1.NamespacedCloudProfile{}
			object = g.child
		case "Shoot":
			g.shoot = &v1beta1.Shoot{}
			object = g.shoot
		case "Secret":
			g.secret = &corev1.Secret{Data: map[string][]byte{}}
			object = g.secret
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Fatalf("%s: %v", head.Kind, err)
		}
	}
	if g.secret != nil { // like the API server
		for key, value := range g.secret.StringData {
			g.secret.Data[key] = []byte(value)
		}
	}
	return g
}

// judge returns the first object that an update changes, with the engine's report about it. All calls of the engine are here.
func judge(old, updated *garden) (client.Object, finding.Report) {
	by := cloudOf(old)
	cloud, at := by, field.NewPath("spec")
	var stored *profile.Profile[any]
	var users []update.User
	if old.profile != nil {
		stored, _ = profile.Compile(cloud, &old.profile.Spec, at)
	}
	if old.shoot != nil {
		users = []update.User{{Shoot: old.shoot, Pools: provider.PoolsOf(old.shoot)}}
	}
	withEffects := func(before, after *profile.Profile[any], report finding.Report) finding.Report {
		changes := update.Of(gardenerlib.Library{}, update.View[any]{Before: before, After: after, Users: users})
		report.Warnings = append(report.Warnings, check.Effects(before, after, &changes, maintenance.Corrects)...)
		return report.Sorted()
	}
	switch {
	case changed(old.profile, updated.profile):
		if old.profile.Spec.Type != updated.profile.Spec.Type {
			users := []string{"Shoot " + old.shoot.Name}
			return updated.profile, finding.Failed(check.TypeInUse(updated.profile, old.profile, users))
		}
		after, report := check.CloudProfileUpdate(stored, updated.profile, old.profile)
		return updated.profile, withEffects(stored, after, report)
	case changed(old.child, updated.child):
		after, report := check.NamespacedCloudProfileUpdate(stored, updated.child, old.child)
		before, _ := namespaced.Extend(stored, old.child)
		return updated.child, withEffects(before, after, report)
	case changed(old.shoot, updated.shoot):
		report := ratchet.Excuse(
			ratchet.Judged{Object: updated.shoot, Report: check.Shoot(stored, updated.shoot, nil)},
			ratchet.Judged{Object: old.shoot, Report: check.Shoot(stored, old.shoot, nil)})
		if updates, validates := provider.As[provider.ShootUpdateValidator](by); validates {
			report.Add(updates.ValidateShootUpdate(updated.shoot, old.shoot))
		}
		return updated.shoot, report.Sorted()
	}
	credentials, _ := provider.As[provider.CredentialsValidator](by)
	_, errs := credentials.ValidateCredentials(updated.secret.Data, field.NewPath("data"))
	return updated.secret, finding.Report{Errors: finding.Of(errs)}
}

func changed[T any](old, updated *T) bool { return !reflect.DeepEqual(old, updated) }

// cloudOf returns the provider of the CloudProfile, or OpenStack's if there is none.
func cloudOf(g *garden) cli.Provider {
	name := "openstack"
	if g.profile != nil {
		name = g.profile.Spec.Type
	}
	all := clouds.All()
	return all[slices.IndexFunc(all, func(p cli.Provider) bool { return p.Type() == name })]
}
