// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
)

// Command returns the command render.
func Command(c *command.Call) *cobra.Command {
	var output, profile string
	var reservedInCore bool
	var in *input.Flags
	cmd := &cobra.Command{
		Use:   "render FILE...",
		Short: "Print the CloudProfile that a NamespacedCloudProfile results in",
		Long: `Merges a NamespacedCloudProfile with its parent, both among the files, and prints the result: the spec that Gardener and the
admission webhooks write into status.cloudProfileSpec. It is printed as a CloudProfile with the name of the
NamespacedCloudProfile, so that lint, select and explain accept it as a file. Read it, but do not apply it.

If admission would refuse one of the two, the errors are printed instead. An image version that both define is not an error here: the
parent may have received it later, and the definition of the NamespacedCloudProfile wins.`,
		Example: "  capkit render namespacedcloudprofile.yaml cloudprofile.yaml\n" +
			"  capkit render --profile garden-demo/team manifests/ > rendered.yaml\n" +
			"  capkit render -n garden-demo --profile team cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := input.Load(cmd.Context(), c, args, in, false)
			if err != nil {
				return err
			}
			g.ReservedInCore = reservedInCore
			notes := g.Notes // without those about errors in the profiles, which are printed
			rendered, err := renderNamed(g, profile)
			g.Notes = notes
			input.PrintNotes(c, g)
			switch failed := input.PrintFindings(c, g, err); {
			case failed != nil:
				return failed
			case rendered == nil:
				return command.ErrWrong
			case output == "text": // a manifest, in YAML
				output = "yaml"
			}
			if err := command.PrintAs(c.Stdout, output, rendered, nil); err != nil || len(g.Findings) == 0 {
				return err
			}
			return command.ErrWrong // other inputs have errors
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "",
		"render the NamespacedCloudProfile `[NAMESPACE/]NAME`, if the inputs have several")
	command.OutputFlag(cmd, &output, command.AnswerFormats)
	checks.ReservedFlag(cmd, &reservedInCore)
	in = input.NewFlags(cmd)
	in.PreparedForGardener(cmd)
	return cmd
}

// renderedProfile is the output of render: a CloudProfile with the name of the NamespacedCloudProfile.
type renderedProfile struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta        `json:"metadata"`
	Spec            v1beta1.CloudProfileSpec `json:"spec"`
}

// renderNamed renders the NamespacedCloudProfile of a name, which may be empty if there is only one. Errors in it or in its parent become
// findings, and the result is nil.
func renderNamed(g *input.Given, name string) (*renderedProfile, error) {
	s, err := g.NamespacedNamed(name)
	if err != nil || s.Object == nil { // an unreadable object has findings
		return nil, err
	}
	parent := g.ParentOf(s)
	if parent != nil && parent.Object == nil { // likewise
		return nil, nil
	}
	others := g.Findings
	g.Findings = nil
	if parent != nil {
		checks.Profile(g, parent)
	}
	checks.Namespaced(g, s)
	g.Findings = slices.DeleteFunc(g.Findings, func(f report.Finding) bool { return f.Severity != finding.SeverityError })
	if parent != nil {
		forgetGained(g, s, parent)
	}
	wrong := len(g.Findings) > 0
	g.Findings = append(others, g.Findings...)
	switch {
	case wrong:
		return nil, nil
	case parent == nil: // lint ignores an object that is being deleted
		g.AddErrors(s.Manifest, g.Missing("CloudProfile", s.Object.Spec.Parent.Name, "spec.parent.name"))
		return nil, nil
	case g.Providers[parent.Object.Spec.Type] == nil:
		g.AddErrors(parent.Manifest, g.NotFor(parent.Object.Spec.Type, "spec.type", "rendered"))
		return nil, nil
	}
	spec, err := g.RenderSpec(s)
	if err != nil { // only for an object that is being deleted
		return nil, fmt.Errorf("NamespacedCloudProfile %s cannot be rendered: %w", s.Name, err)
	}
	return &renderedProfile{
		TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"},
		Metadata: metav1.ObjectMeta{Name: s.Object.Name}, Spec: *spec,
	}, nil
}

// forgetGained removes findings about image versions that a NamespacedCloudProfile defines and maps itself, and that its parent has as
// well. Admission would refuse to create it, but the parent may have received them later (semantics S11).
func forgetGained(g *input.Given, s *input.Source[v1beta1.NamespacedCloudProfile], parent *input.Source[v1beta1.CloudProfile]) {
	for i, image := range s.Object.Spec.MachineImages {
		for k, version := range image.Versions {
			_, inherited := v1beta1helper.FindMachineImageVersion(parent.Object.Spec.MachineImages, image.Name, version.Version)
			subject := finding.Subject{Image: image.Name, Version: version.Version}
			isMapping := func(f report.Finding) bool {
				return f.Rule == check.RuleMappingInherited.Name && f.Subject == subject
			}
			if !inherited || len(version.CRI) == 0 || !slices.ContainsFunc(g.Findings, isMapping) {
				continue
			}
			at := fmt.Sprintf("spec.machineImages[%d].versions[%d].", i, k)
			g.Findings = slices.DeleteFunc(g.Findings, func(f report.Finding) bool {
				refused := f.Rule == gardener.RuleCore || f.Rule == check.RuleVersionInherited.Name
				return isMapping(f) || refused && f.Object.Kind == "NamespacedCloudProfile" && strings.HasPrefix(f.Field, at)
			})
		}
	}
}
