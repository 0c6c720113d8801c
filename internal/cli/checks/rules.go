// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/release"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/verify"
	"github.com/capkit/capkit/pkg/words"
)

// Catalogue returns the [Rules] of the command's providers.
func Catalogue(c *command.Call) []finding.Rule { return Rules(command.ByType(c.Providers)...) }

// FirstSentence returns a text up to the first full stop or colon at the end of a word, which it leaves out.
func FirstSentence(text string) string {
	for i := range text {
		if rest := text[i:]; rest == "." || strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ": ") {
			return text[:i]
		}
	}
	return text
}

// Completions returns the shell completions of rules with their meanings, except rules for which leftOut is true.
func Completions(rules []finding.Rule, leftOut func(finding.Rule) bool) (completions []string) {
	for _, r := range rules {
		if !leftOut(r) {
			completions = append(completions, cobra.CompletionWithDesc(r.Name, FirstSentence(r.Means)))
		}
	}
	return completions
}

func ruleNames(rules []finding.Rule) []string {
	names := make([]string, 0, len(rules))
	for _, r := range rules {
		names = append(names, r.Name)
	}
	return names
}

// mostMeant is the largest number of rules that a message suggests.
const mostMeant = 8

// NoRule returns the message that a rule does not exist, with suggestions.
func NoRule(name string, rules []finding.Rule) string {
	names := ruleNames(rules)
	message := fmt.Sprintf("there is no rule %s", words.Quoted(name))
	if meant := words.Closest(name, names); meant != "" {
		return message + words.DidYouMean(meant)
	}
	alike := slices.DeleteFunc(names, func(other string) bool {
		return name == "" || !strings.Contains(other, strings.ToLower(name))
	})
	if len(alike) == 0 || len(alike) > mostMeant {
		return message + "; capkit rules lists all"
	}
	return message + words.DidYouMean(words.Or(alike))
}

// Rules returns the catalogue of all rules that a command or admission can report about objects of these providers, sorted by name. It has
// the rules for every provider, and those of each [provider.RuleDescriber]. Each name occurs once: a rule for every provider wins, else the
// rule of the first provider. Rules that cannot apply to any of the providers are left out. The caller owns the slice.
func Rules(providers ...command.Provider) []finding.Rule {
	rules := append(check.Rules(), manifestRules...)
	var own []finding.Rule
	described := false
	without := map[string]bool{
		check.RuleRequestIgnored.Name: true, check.RuleEntryDuplicate.Name: true, providerconfig.RuleWorkerFieldUnknown: true,
		resolve.RuleMachineUnmet.Name: true, check.RuleFlavorOfMachineTypes.Name: true, providerconfig.RuleFieldUnknown: true,
	}
	for _, p := range providers {
		mayIgnore := func(d capability.Definition) bool { return d.OnlyIfRegistered }
		ifOffered := func(s capability.Requirement) bool { return s.OnlyIfRegistered }
		if slices.ContainsFunc(p.Workers().Definitions(), mayIgnore) || slices.ContainsFunc(p.Workers().Settings(), ifOffered) {
			delete(without, check.RuleRequestIgnored.Name)
		}
		if slices.ContainsFunc(p.Workers().Definitions(), func(d capability.Definition) bool { return d.MachineTypesOnly }) {
			delete(without, resolve.RuleMachineUnmet.Name)
			delete(without, check.RuleFlavorOfMachineTypes.Name)
		}
		if p.Workers().KnownUpTo() != "" {
			delete(without, providerconfig.RuleWorkerFieldUnknown)
		}
		if _, ignores := provider.As[providerconfig.FieldIgnorer](p); ignores {
			delete(without, providerconfig.RuleFieldUnknown)
		}
		if _, extends := provider.As[provider.ListExtender](p); extends {
			delete(without, check.RuleEntryDuplicate.Name)
		}
		if _, describes := provider.As[inventory.Describer](p); describes {
			described = true
		}
		if describer, describes := provider.As[provider.RuleDescriber](p); describes {
			own = append(own, describer.Rules()...)
		}
	}
	rules = append(append(rules, verify.Rules(described)...), release.Rules()...)
	rules = append(slices.DeleteFunc(rules, func(r finding.Rule) bool { return without[r.Name] }), own...)
	slices.SortStableFunc(rules, func(a, b finding.Rule) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(rules, func(a, b finding.Rule) bool { return a.Name == b.Name })
}

var manifestRules = []finding.Rule{
	{Name: gardener.RuleCore, Severity: finding.SeverityError, Object: finding.ObjectAny,
		Means:  "Gardener's own validation, with the code of its API server, refuses the object.",
		Repair: "The message is Gardener's. The troubleshooting table of its documentation of CloudProfile capabilities explains those about capabilities."},
	{Name: gardener.RuleAdmission, Severity: finding.SeverityError, Object: finding.ObjectShoot,
		Means: "Gardener's own admission, the plugins ShootMutator and ShootValidator of its API server, refuses the Shoot with its " +
			"profile: a machine type or volume type is unavailable in a zone, a zone is not in the region, the name is too long for " +
			"the project, and the like. Objects missing in the inputs, such as its Project, Seed and credentials, are assumed to be " +
			"right.",
		Repair: "The message is Gardener's, or says what would work. For an existing Shoot, Gardener only refuses errors in what an " +
			"update changes: keep the `uid` in its manifest, as read from the API server, to check it as such."},
	{Name: manifest.RuleNotAnObject, Severity: finding.SeverityError, Object: finding.ObjectFile,
		Means:  "The document is not a Kubernetes object: it is a list or a plain value, or has no `apiVersion` and `kind`.",
		Repair: "Add `apiVersion` and `kind`, or leave the file out of the inputs."},
	{Name: manifest.RuleTooLarge, Severity: finding.SeverityError, Object: finding.ObjectFile,
		Means:  "The file, with its aliases expanded, is larger or nested more deeply than any object that can be stored.",
		Repair: "Split the file; an object of more than 1.5 MiB is not accepted by the API server in any case."},
	{Name: input.RuleObjectKind, Severity: finding.SeverityError, Object: finding.ObjectAny,
		Means:  "The object looks like one of Gardener's, but its `apiVersion` or `kind` is not one that Gardener serves, or its `spec` is that of another kind.",
		Repair: "Write `apiVersion: core.gardener.cloud/v1beta1` and the kind exactly as the message says."},
	{Name: input.RuleObjectDuplicate, Severity: finding.SeverityError, Object: finding.ObjectAny,
		Means: "Two documents describe one object: same kind, namespace and name. Only the first is used by the objects that refer to it.",
		Repair: "Remove one of the two, or rename it. If folders of several landscapes have objects with the same names, run the " +
			"command for each folder."},
	{Name: input.RuleFlavorWrapped, Severity: finding.SeverityError, Object: finding.ObjectCloudProfile,
		Means: "A core flavor wraps its capabilities in a key `capabilities:`. In `spec.machineImages` a flavor *is* the map of its " +
			"capabilities; only the flavors of the provider config have that key. The API server refuses the object.",
		Repair: "Remove the key and write its content in its place, as the message shows."},
	{Name: check.RuleProfileMissing, Severity: finding.SeverityError, Object: finding.ObjectAny,
		Means: "A Shoot or NamespacedCloudProfile refers to a profile that is not among the inputs, or, at admission, does not exist. " +
			"So it cannot be checked.",
		Repair: "Include the manifest of the profile, create the profile first, or correct the reference."},
	{Name: input.RuleProfileUnreadable, Severity: finding.SeverityWarning, Object: finding.ObjectShoot,
		Means:  "A Shoot refers to a profile whose manifest, or whose parent's, has errors that keep it from being read or rendered. The worker pools were not checked.",
		Repair: "Repair the profile first."},
	{Name: input.RuleProviderUnknown, Severity: finding.SeverityWarning, Escalates: true, Object: finding.ObjectCloudProfile,
		Means: "The CloudProfile is of a provider type that the command does not know. Gardener's own rules were checked, the provider " +
			"config was not. If the type resembles a known one, lint reports an error.",
		Repair: "Describe the type in a file, and name it by `--provider-file` or in `.capkit.yaml`; or use the command of its extension, if it " +
			"has one. If the type is misspelt, correct it."},
	{Name: transform.Rule, Severity: finding.SeverityError, Object: finding.ObjectAny, Command: "migrate",
		Means: "A profile cannot be migrated as requested: a worker pool would boot another image, the notation of the file would " +
			"require further changes, versions that are to be joined differ in more than their images, or the legacy format cannot " +
			"express the profile. Nothing is written, unless `--accept-changes` accepts other images: each is then a warning.",
		Repair: "Follow the message, at its line, and run the command again: for example, replace an alias with its value, or assign " +
			"machine types with `--machine-types`."},
	{Name: gardener.RuleNoLongerOffered, Severity: finding.SeverityWarning, Object: finding.ObjectShoot,
		Means: "A Shoot uses something that its profile does not offer to new Shoots, or will soon not offer: a Kubernetes version " +
			"or image version that has expired, expires within 30 days, or is not available yet; a machine type with `usable: false`; or, " +
			"in an existing Shoot, a volume type with `usable: false`, or a machine type or volume type that is unavailable in a zone of " +
			"its worker pool. Gardener refuses expired versions in a new Shoot; an existing one may keep them for now.",
		Repair: "Use what the message names, or another machine type. For an existing Shoot, plan the change."},
	{Name: gardener.RuleMemory, Severity: finding.SeverityWarning, Object: finding.ObjectCloudProfile,
		Means: "A machine type has less than a mebibyte of memory: `8` is 8 bytes. Gardener accepts it, but computes wrong values " +
			"from it, such as the resources that a node reserves.",
		Repair: "Write the unit: `8Gi`."},
	{Name: gardener.RuleProfileNameIgnored, Severity: finding.SeverityError, Object: finding.ObjectShoot,
		Means: "A Shoot names its profile in `spec.cloudProfile`, and in the old field `spec.cloudProfileName` as well. Gardener uses " +
			"the first, and refuses a new Shoot that has both. In an existing Shoot, this is an error only if they name different " +
			"profiles.",
		Repair: "Remove `cloudProfileName`. If it is the right one, write it into `cloudProfile`."},
	{Name: gardener.RuleKubernetesUnsupported, Severity: finding.SeverityWarning, Object: finding.ObjectCloudProfile,
		Means: "A profile lists a Kubernetes version that the Gardener of the landscape does not run. Its API server accepts the profile and " +
			"Shoots with that version; its gardenlet does not reconcile them.",
		Repair: "Remove the version, or upgrade Gardener first. If another Gardener runs there, name its version with `--gardener-version` or in `.capkit.yaml`."},
	{Name: gardener.RuleVersionExpired, Severity: finding.SeverityWarning, Object: finding.ObjectCloudProfile,
		Means: "A profile lists an image version or Kubernetes version that has expired, whatever its classification is. Gardener " +
			"drops it when a CloudProfile is created, a new Shoot cannot have it, and maintenance updates existing ones by force.",
		Repair: "Give it a later date, or remove it; an image version also from the provider config. Gardener refuses to remove a " +
			"version in use: silence the warning until no Shoot uses it."},
	{Name: gardener.RuleVersionUnavailable, Severity: finding.SeverityWarning, Object: finding.ObjectCloudProfile,
		Means: "An image version or Kubernetes version is unavailable until its lifecycle begins, but Gardener may use it before. Its " +
			"maintenance skips previews, but not unavailable versions: it chooses such an image, which Gardener then refuses, so that " +
			"the maintenance of the Shoot fails; and it updates Shoots to such a Kubernetes version. Gardener drops unavailable " +
			"Kubernetes versions when a CloudProfile is created, and unavailable images when they are added to a " +
			"NamespacedCloudProfile.",
		Repair: "Let the version begin as `preview`, in a first stage without `startTime`; or add it only when it becomes available."},
	{Name: input.RulePoolNotChecked, Severity: finding.SeverityWarning, Object: finding.ObjectShoot,
		Means: "The worker pools of a Shoot were not checked, because its NamespacedCloudProfile has no `status.cloudProfileSpec`, " +
			"and the parent is not among the inputs.",
		Repair: "Include the manifest of the parent, or the NamespacedCloudProfile as read from the garden, with its status."},
	{Name: ruleIgnoreComment, Severity: finding.SeverityWarning, Object: finding.ObjectAny,
		Means: "A comment that looks like a silencing one does not begin with `capkit:ignore`, names no rule, an unknown one or one " +
			"that cannot be silenced, or gives no reason. It silences nothing.",
		Repair: "Write `# capkit:ignore RULE: reason`, at the end of the line or in the line above; above an object, it applies to all " +
			"of it. Errors of reading cannot be silenced."},
	{Name: ruleIgnoreUnused, Severity: finding.SeverityWarning, Object: finding.ObjectAny,
		Means: "A comment with `capkit:ignore` silences a rule without a finding at its place: the mistake has been repaired, the " +
			"comment is at the wrong line, or it belongs to no object that is checked.",
		Repair: "Remove the comment. If it is meant for another line, move it to the end of that line, or directly above."},
}
