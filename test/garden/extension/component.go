// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/test/garden"
)

const (
	// Name is that of the component for OpenStack, and of its webhook configurations.
	Name = "gardener-extension-admission-openstack"
	// Namespace is where components keep their certificates and leases. Every garden has it.
	Namespace = "garden"
)

// Component is an admission component that can be installed in a garden. Several can be in one.
type Component struct {
	components.Component
	// Description is that of the cloud, if it is not built in. Its config has to map images.
	Description string
}

// OpenStack is the component of the OpenStack extension.
var OpenStack = Component{Component: components.OpenStack}

// described is the one of the clouds by description that tests run: the components of these have one program, and differ in values.
const described = "ironcore-metal"

// All returns the components that tests run, in the order of their provider types: those of all clouds in Go, and one of a cloud by
// description.
func All() []Component {
	var all []Component
	for _, c := range components.All() {
		if !c.Described || c.Type == described {
			all = append(all, Component{Component: c})
		}
	}
	return all
}

// Build compiles the program, and returns its path.
func (c Component) Build(ctx context.Context) (string, error) {
	return garden.Compile(ctx, os.Stderr, "./cmd/"+c.Program(), c.Program())
}

// Run installs the charts in a garden, starts one replica of the program at this path, and waits until the API server
// asks it.
func (c Component) Run(ctx context.Context, g *garden.Garden, path string) (*garden.Process, error) {
	installation, err := c.Install(ctx, g)
	if err != nil {
		return nil, err
	}
	replica, err := installation.New(path)
	if err != nil {
		return nil, err
	}
	process, err := Start(ctx, g, replica)
	if err != nil {
		return nil, err
	}
	return process, c.WaitUntilInstalled(ctx, g)
}

// WaitUntilInstalled waits until the API server asks the component: until the webhooks are registered with a
// certificate, and a CloudProfile that only the component refuses is refused.
func (c Component) WaitUntilInstalled(ctx context.Context, g *garden.Garden) error {
	return waitUntil(ctx, c.Name()+" is not installed", func(ctx context.Context) error { return c.installed(ctx, g) })
}

func (c Component) installed(ctx context.Context, g *garden.Garden) error {
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := g.Client().Get(ctx, client.ObjectKey{Name: c.Name()}, config); err != nil {
		return err
	}
	probe := &v1beta1.CloudProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "probe-" + c.Type},
		Spec: v1beta1.CloudProfileSpec{
			Type:         c.Type,
			Kubernetes:   v1beta1.KubernetesSettings{Versions: []v1beta1.ExpirableVersion{{Version: "1.33.2"}}},
			MachineTypes: []v1beta1.MachineType{{Name: "small", CPU: resource.MustParse("2"), GPU: resource.MustParse("0"), Memory: resource.MustParse("4Gi")}},
			MachineImages: []v1beta1.MachineImage{{Name: "gardenlinux", Versions: []v1beta1.MachineImageVersion{{
				ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"}, CRI: []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}},
			}}}},
			Regions: []v1beta1.Region{{Name: "eu"}},
		},
	}
	err := g.Client().Create(ctx, probe, client.DryRunAll)
	if apierrors.IsInvalid(err) && strings.Contains(err.Error(), "spec.providerConfig: Required") {
		return nil
	}
	if err == nil {
		return fmt.Errorf("a CloudProfile without provider config was admitted, with %s", registered(config))
	}
	return fmt.Errorf("a CloudProfile without provider config was refused otherwise: %w", err)
}

// registered is how the webhooks of a configuration are registered.
func registered(config *admissionregistrationv1.ValidatingWebhookConfiguration) string {
	text := fmt.Sprintf("%d webhooks at resource version %s", len(config.Webhooks), config.ResourceVersion)
	for _, w := range config.Webhooks {
		text += fmt.Sprintf(", %s (%s, authority of %d bytes)", w.Name, ptr.Deref(w.FailurePolicy, ""), len(w.ClientConfig.CABundle))
	}
	return text
}
