// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// GardenerVersion returns the version of Gardener's API server, like v1.150.0. It reads a ConfigMap that gardener-operator writes, and that
// all users may read. The error says why the version is unknown; a garden that is installed in another way may lack the ConfigMap.
func (r *Reader) GardenerVersion(ctx context.Context) (string, error) {
	const namespace, name = v1beta1.GardenerSystemPublicNamespace, v1beta1constants.ConfigMapNameGardenerInfo
	info, err := r.core.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("%s has no ConfigMap %s in namespace %s", r, name, namespace)
	case apierrors.IsForbidden(err):
		return "", fmt.Errorf("the right to get ConfigMap %s in namespace %s is missing in %s", name, namespace, r)
	case err != nil:
		return "", fmt.Errorf("ConfigMap %s in namespace %s cannot be read from %s: %w", name, namespace, r, err)
	}
	var server struct {
		Version string `json:"version"`
	}
	err = yaml.Unmarshal([]byte(info.Data[v1beta1constants.GardenerInfoConfigMapDataKeyGardenerAPIServer]), &server)
	if err != nil || server.Version == "" {
		return "", fmt.Errorf("ConfigMap %s in namespace %s of %s names no version", name, namespace, r)
	}
	return server.Version, nil
}
