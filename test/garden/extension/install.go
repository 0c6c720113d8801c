// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/garden/samples"
)

// tokenSeconds is how long the tokens are valid: a garden can be left running.
const tokenSeconds = 365 * 24 * 3600

// gardenNamespace is what gardener-operator makes of the name of the Extension: the namespace in the virtual garden that
// owns what the component registers there.
func (c Component) gardenNamespace() string { return "extension-" + c.Release() }

// gardenAccount is the ServiceAccount that it requests there, in the namespace kube-system.
func (c Component) gardenAccount() string { return "extension-admission-" + c.Release() }

// Installation is what a garden has once the charts are installed in it: the rights of the component, and how its
// container is to be run.
type Installation struct {
	Component

	// GardenKubeconfig and RuntimeKubeconfig are paths of kubeconfigs for whom the component is in the virtual garden
	// and in the runtime cluster. A garden of tests is both.
	GardenKubeconfig, RuntimeKubeconfig string

	folder string
	args   []string
	env    []string
}

// Install installs the charts as gardener-operator does, but for the VerticalPodAutoscaler, whose kind a garden does
// not know. Nothing starts the pods of the Deployment; New takes their place.
func (c Component) Install(ctx context.Context, g *garden.Garden) (*Installation, error) {
	i := &Installation{
		Component:         c,
		folder:            g.Folder(),
		GardenKubeconfig:  filepath.Join(g.Folder(), c.Name()+"-garden.kubeconfig"),
		RuntimeKubeconfig: filepath.Join(g.Folder(), c.Name()+"-runtime.kubeconfig"),
	}
	virtual := map[string]any{
		"enabled": true, "namespace": c.gardenNamespace(),
		"serviceAccount": map[string]any{"name": c.gardenAccount(), "namespace": metav1.NamespaceSystem},
	}
	application, err := charts.Render(c.Component, charts.Application, c.gardenNamespace(), map[string]any{
		"gardener": map[string]any{"virtualCluster": virtual}, "component": c.values(),
	})
	if err != nil {
		return nil, err
	}
	runtimeObjects, err := charts.Render(c.Component, charts.Runtime, Namespace, map[string]any{
		"gardener": map[string]any{
			"runtimeCluster": map[string]any{"priorityClassName": "gardener-garden-system-400"},
			"virtualCluster": map[string]any{"enabled": true, "namespace": c.gardenNamespace()},
		},
		"vpa":       map[string]any{"enabled": false},
		"component": c.values(),
		// What is tried here is all that the extension can do.
		"workerController": c == OpenStack,
	})
	if err != nil {
		return nil, err
	}
	if err := c.prepareGarden(ctx, g); err != nil {
		return nil, err
	}
	if err := samples.Apply(ctx, g.Client(), append(application, runtimeObjects...)...); err != nil {
		return nil, err
	}
	container, err := ContainerOf(runtimeObjects)
	if err != nil {
		return nil, err
	}
	i.args = container.Args
	for _, variable := range container.Env {
		i.env = append(i.env, variable.Name+"="+variable.Value)
	}
	// What gardener-operator injects, and what stands for the configuration in a cluster.
	i.env = append(i.env, "GARDEN_KUBECONFIG="+i.GardenKubeconfig, "SOURCE_KUBECONFIG="+i.RuntimeKubeconfig, "KUBECONFIG=")
	if err := i.mountDescription(runtimeObjects); err != nil {
		return nil, err
	}
	return i, errors.Join(
		WriteKubeconfig(ctx, g, i.GardenKubeconfig, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: c.gardenAccount()}),
		WriteKubeconfig(ctx, g, i.RuntimeKubeconfig, client.ObjectKey{Namespace: Namespace, Name: c.Name()}),
	)
}

// values say which cloud it is, as far as the chart does not.
func (c Component) values() map[string]any {
	return map[string]any{"type": c.Type, "description": c.Description}
}

// prepareGarden creates what gardener-operator creates before it installs the charts.
func (c Component) prepareGarden(ctx context.Context, g *garden.Garden) error {
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.gardenNamespace()}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: c.gardenAccount(), Namespace: metav1.NamespaceSystem}},
	} {
		if err := g.Client().Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// ContainerOf returns the container of the Deployment that a chart has.
func ContainerOf(objects []*unstructured.Unstructured) (*corev1.Container, error) {
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		deployment := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
			return nil, err
		}
		return &deployment.Spec.Template.Spec.Containers[0], nil
	}
	return nil, errors.New("the chart has no Deployment")
}

// mountDescription writes the description in the ConfigMap, which the container mounts, into a file for the process.
func (i *Installation) mountDescription(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if object.GetKind() != "ConfigMap" || object.GetName() != i.Name()+"-description" {
			continue
		}
		text, _, err := unstructured.NestedString(object.Object, "data", "description.yaml")
		if err != nil {
			return err
		}
		file := filepath.Join(i.folder, i.Name()+"-description.yaml")
		i.args = append(i.args, "--provider-file="+file)
		return os.WriteFile(file, []byte(text), 0o600)
	}
	return nil
}

// WriteKubeconfig writes a kubeconfig for a ServiceAccount, with a token that is valid for a year.
func WriteKubeconfig(ctx context.Context, g *garden.Garden, path string, account client.ObjectKey) error {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenSeconds))}}
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account.Name, Namespace: account.Namespace}}
	if err := g.Client().SubResource("token").Create(ctx, object, request); err != nil {
		return fmt.Errorf("a token for ServiceAccount %s: %w", account, err)
	}
	config := g.RESTConfig()
	kubeconfig := api.NewConfig()
	kubeconfig.Clusters["garden"] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	kubeconfig.AuthInfos["component"] = &api.AuthInfo{Token: request.Status.Token}
	kubeconfig.Contexts["garden"] = &api.Context{Cluster: "garden", AuthInfo: "component"}
	kubeconfig.CurrentContext = "garden"
	return clientcmd.WriteToFile(*kubeconfig, path)
}
