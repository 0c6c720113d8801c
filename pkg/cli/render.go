// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/namespaced"
)

func (c *command) render() *cobra.Command {
	var output, profile string
	var reservedInCore bool
	var in *inputs
	cmd := &cobra.Command{
		Use:   "render FILE...",
		Short: "Print the CloudProfile that a NamespacedCloudProfile results in",
		Long: `Prints what becomes of a NamespacedCloudProfile and its parent, which are both among the files: the spec that Gardener and
the admission webhooks write into status.cloudProfileSpec. It is printed as a CloudProfile with the name of the
NamespacedCloudProfile, so that lint, select and explain take it as a file. It is there to be read, not to be applied.

If admission would refuse one of the two, the errors are printed instead. An image version that both define is no error here: the
parent may have got it later, and the definition of the NamespacedCloudProfile counts.`,
		Example: "  capkit render namespacedcloudprofile.yaml cloudprofile.yaml\n" +
			"  capkit render --profile garden-demo/team manifests/ > rendered.yaml\n" +
			"  capkit render -n garden-demo --profile team cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := c.load(cmd.Context(), args, in, false)
			if err != nil {
				return err
			}
			g.reservedInCore = reservedInCore
			rendered, err := g.renderNamed(profile)
			switch failed := c.printFindings(g, err); {
			case failed != nil:
				return failed
			case rendered == nil:
				return errWrong
			case output == "text": // which is YAML: a manifest
				output = "yaml"
			}
			if err := printAs(c.stdout, output, rendered, nil); err != nil || len(g.findings) == 0 {
				return err
			}
			return errWrong // with other inputs
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "",
		"render this NamespacedCloudProfile, by `[NAMESPACE/]NAME`, if the inputs have several")
	outputFlag(cmd, &output, answerFormats)
	reservedFlag(cmd, &reservedInCore)
	in = inputFlags(cmd)
	return cmd
}

// renderedProfile is what render prints: a CloudProfile with the name of the NamespacedCloudProfile.
type renderedProfile struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta        `json:"metadata"`
	Spec            v1beta1.CloudProfileSpec `json:"spec"`
}

// renderNamed renders the NamespacedCloudProfile of a name, which may be empty if there is only one. Whatever is wrong
// with it or with its parent becomes findings, and then there is no result.
func (g *garden) renderNamed(name string) (*renderedProfile, error) {
	s, err := g.namespacedNamed(name)
	if err != nil || s.object == nil { // about which there are findings
		return nil, err
	}
	parent := g.parentOf(s)
	if parent != nil && parent.object == nil { // likewise
		return nil, nil
	}
	others := g.findings
	g.findings = nil
	if parent != nil {
		g.lintProfile(parent)
	}
	g.lintNamespaced(s)
	g.findings = slices.DeleteFunc(g.findings, func(f report.Finding) bool { return f.Severity != finding.SeverityError })
	if parent != nil {
		g.forgetGained(s, parent)
	}
	wrong := len(g.findings) > 0
	g.findings = append(others, g.findings...)
	switch {
	case wrong:
		return nil, nil
	case parent == nil: // of an object that is being deleted, about which lint is silent
		g.error(s.manifest, g.missing("CloudProfile", s.object.Spec.Parent.Name, "spec.parent.name"))
		return nil, nil
	case g.providers[parent.object.Spec.Type] == nil:
		g.error(parent.manifest, g.unknownProvider(parent.object.Spec.Type, "spec.type"))
		return nil, nil
	}
	spec, err := g.renderSpec(s, parent)
	if err != nil { // of one that is being deleted, too
		return nil, fmt.Errorf("NamespacedCloudProfile %s cannot be rendered: %w", s.name, err)
	}
	return &renderedProfile{
		TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"},
		Metadata: metav1.ObjectMeta{Name: s.object.Name}, Spec: *spec,
	}, nil
}

// forgetGained leaves out what is found about image versions that a NamespacedCloudProfile defines and maps itself, and its parent
// has, too. Admission would refuse to create it, but the parent may have got them later (semantics S11).
func (g *garden) forgetGained(s *source[v1beta1.NamespacedCloudProfile], parent *source[v1beta1.CloudProfile]) {
	for i, image := range s.object.Spec.MachineImages {
		for k, version := range image.Versions {
			_, inherited := v1beta1helper.FindMachineImageVersion(parent.object.Spec.MachineImages, image.Name, version.Version)
			subject := finding.Subject{Image: image.Name, Version: version.Version}
			isMapping := func(f report.Finding) bool {
				return f.Rule == check.RuleMappingInherited.Name && f.Subject == subject
			}
			if !inherited || len(version.CRI) == 0 || !slices.ContainsFunc(g.findings, isMapping) {
				continue
			}
			at := fmt.Sprintf("spec.machineImages[%d].versions[%d].", i, k)
			g.findings = slices.DeleteFunc(g.findings, func(f report.Finding) bool {
				refused := f.Rule == gardener.RuleCore || f.Rule == check.RuleVersionInherited.Name
				return isMapping(f) || refused && f.Object.Kind == "NamespacedCloudProfile" && strings.HasPrefix(f.Field, at)
			})
		}
	}
}

// renderSpec returns what a NamespacedCloudProfile and its parent result in: what Gardener's controller writes into
// the status, with the provider config that our webhook merges into it (semantics S11), or the parent's if the provider
// is not known. The error says that a provider config is not of the form that all have.
func (g *garden) renderSpec(
	s *source[v1beta1.NamespacedCloudProfile], parent *source[v1beta1.CloudProfile],
) (*v1beta1.CloudProfileSpec, error) {
	inGarden := g.stored(parent)
	object := g.storedNamespaced(s, inGarden)
	synced := gardener.SyncArchitectures(inGarden)
	provider := g.providers[synced.Spec.Type]
	if provider == nil {
		return namespaced.Merge(object, synced), nil
	}
	return namespaced.Render(provider, object, synced)
}
