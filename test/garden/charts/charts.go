// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package charts renders the charts of this project as Helm does.
package charts

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/test/garden/internal/repository"
)

// The charts that components have.
const (
	Runtime     = chart.Runtime
	Application = chart.Application
	Worker      = chart.Worker
)

// kubernetesVersion is that of the cluster which charts are rendered for.
const kubernetesVersion = "v1.36.0"

// Files returns the files of a chart of a component, with the version of the repository. Call it from anywhere below the root of the
// repository, as tests are run.
func Files(c components.Component, kind chart.Kind) ([]*archive.BufferedFile, error) {
	root, err := repository.Root()
	if err != nil {
		return nil, err
	}
	o, err := chart.Default(root)
	if err != nil {
		return nil, err
	}
	return chart.Files(root, c, kind, o)
}

// Render returns the objects that `helm install RELEASE CHART --namespace NAMESPACE` creates of a chart of a component,
// in that order. The values complete those of the chart, and are checked against its schema.
func Render(c components.Component, kind chart.Kind, namespace string, values map[string]any) ([]*unstructured.Unstructured, error) {
	files, err := Files(c, kind)
	if err != nil {
		return nil, err
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("loading the chart of %s: %w", c.Release(), err)
	}
	return render(loaded, c.Release(), namespace, values)
}

// RenderFolder is Render of a chart in a folder, for a release of this name.
func RenderFolder(folder, release, namespace string, values map[string]any) ([]*unstructured.Unstructured, error) {
	loaded, err := loader.LoadDir(folder)
	if err != nil {
		return nil, err
	}
	return render(loaded, release, namespace, values)
}

func render(loaded *chartv2.Chart, release, namespace string, values map[string]any) ([]*unstructured.Unstructured, error) {
	version, err := common.ParseKubeVersion(kubernetesVersion)
	if err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	cluster := &common.Capabilities{KubeVersion: *version, APIVersions: common.DefaultVersionSet}
	complete, err := commonutil.ToRenderValues(loaded, values, options, cluster)
	if err != nil {
		return nil, fmt.Errorf("values of %s: %w", loaded.Name(), err)
	}
	rendered, err := engine.Render(loaded, complete)
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", loaded.Name(), err)
	}
	_, manifests, err := releaseutil.SortManifests(rendered, common.DefaultVersionSet, releaseutil.InstallOrder)
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", loaded.Name(), err)
	}
	var objects []*unstructured.Unstructured
	for _, manifest := range manifests {
		decoded, err := Decode(manifest.Content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", manifest.Name, err, manifest.Content)
		}
		objects = append(objects, decoded...)
	}
	return objects, nil
}

// Decode returns the objects in YAML documents. A key that stands twice in an object is an error.
func Decode(documents string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(documents)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(document, &object.Object); err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
