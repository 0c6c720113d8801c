// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// The oldest releases known to work with the machine classes of this controller. The driver of machine-controller-manager decodes classes
// strictly. Older drivers do not know subnetIDs, and could neither create nor delete machines.
const (
	// OldestRelease is a release of provider-openstack, which includes the driver.
	OldestRelease = "v1.57.0"
	// OldestDriver is a release of machine-controller-manager-provider-openstack.
	OldestDriver = "v0.27.1"
)

// Names of Gardener's own extension, which does everything else for OpenStack.
const (
	extensionName      = "provider-openstack"
	extensionContainer = "gardener-extension-provider-openstack"
	driverContainer    = "machine-controller-manager-provider-openstack"
)

// CheckRelease returns an error if the driver of the seed's provider-openstack cannot read the machine classes of this controller. Then
// nothing may be written. An unknown release, for example if the image tag is not a version, is logged and accepted; delegates check the
// driver of each Shoot anyway. The reader must not use a cache.
func CheckRelease(ctx context.Context, reader client.Reader) error {
	log := logf.FromContext(ctx)
	namespaces := &corev1.NamespaceList{}
	of := client.MatchingLabels{v1beta1constants.LabelControllerRegistrationName: extensionName}
	if err := reader.List(ctx, namespaces, of); err != nil {
		return fmt.Errorf("looking for %s in the seed: %w", extensionName, err)
	}
	var tooOld []error
	for i := range namespaces.Items {
		namespace := namespaces.Items[i].Name
		release, err := releaseOf(ctx, reader, client.ObjectKey{Namespace: namespace, Name: extensionContainer}, extensionContainer)
		switch {
		case err != nil:
			return fmt.Errorf("looking for %s in the seed: %w", extensionName, err)
		case release == "":
			log.Info("It cannot be found out which release of provider-openstack runs here", "namespace", namespace, "oldest", OldestRelease)
		case !isAtLeast(release, OldestRelease):
			tooOld = append(tooOld, fmt.Errorf("%s in namespace %s is of release %s, whose machine controllers cannot read the machine classes "+
				"of this one; update it to %s or newer first: nothing has been changed", extensionName, namespace, release, OldestRelease))
		}
	}
	return errors.Join(tooOld...)
}

// checkDriver returns an error if the machine controller in the Worker's namespace cannot read the machine classes of this controller. It
// accepts a controller that does not exist yet, or whose version is unknown.
func (d *delegate) checkDriver(ctx context.Context) error {
	manager := client.ObjectKey{Namespace: d.worker.Namespace, Name: v1beta1constants.DeploymentNameMachineControllerManager}
	driver, err := releaseOf(ctx, d.reader, manager, driverContainer)
	if err != nil {
		return fmt.Errorf("looking for the machine controller: %w", err)
	}
	if driver == "" || isAtLeast(driver, OldestDriver) {
		return nil
	}
	return fmt.Errorf("the machine controller of the Shoot, %s, is of release %s and cannot read the machine classes of this controller; "+
		"it needs %s or newer, which %s %s has: update that, and let the control plane of the Shoot be reconciled before its Worker",
		driverContainer, driver, OldestDriver, extensionName, OldestRelease)
}

// releaseOf returns the image version of a container in a Deployment. It returns "" if either does not exist, or if the image tag is not
// a version.
func releaseOf(ctx context.Context, reader client.Reader, of client.ObjectKey, container string) (string, error) {
	deployment := &appsv1.Deployment{}
	if err := reader.Get(ctx, of, deployment); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	for _, c := range deployment.Spec.Template.Spec.Containers {
		if c.Name == container {
			return releaseIn(c.Image), nil
		}
	}
	return "", nil
}

// releaseIn returns the tag of an image if it is a version, and otherwise "".
func releaseIn(image string) string {
	name, _, _ := strings.Cut(image, "@")
	_, tag, has := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	if _, err := version.ParseGeneric(tag); !has || err != nil {
		return ""
	}
	return tag
}

// isAtLeast reports whether a version is oldest or newer. The order of pre-releases is ignored.
func isAtLeast(release, oldest string) bool {
	return version.MustParseGeneric(release).AtLeast(version.MustParseGeneric(oldest))
}
