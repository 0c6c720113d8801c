// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

If admission would refuse one of the two, the errors are printed instead.`,
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
			return printAs(c.stdout, output, rendered, nil)
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
// with it, with its parent, or with reading the inputs becomes findings, and then there is no result.
func (g *garden) renderNamed(name string) (*renderedProfile, error) {
	s, err := g.namespacedNamed(name)
	if err != nil || len(g.findings) > 0 {
		return nil, err
	}
	parent := g.parentOf(s)
	if parent != nil {
		g.lintProfile(parent)
	}
	g.lintNamespaced(s)
	g.findings = slices.DeleteFunc(g.findings, func(f report.Finding) bool { return f.Severity != finding.SeverityError })
	switch {
	case len(g.findings) > 0:
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
	return provider.render(object, synced)
}
