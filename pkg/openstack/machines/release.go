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

// These are the oldest releases that are known to work with the machine classes of this controller: the driver of
// machine-controller-manager reads a class strictly, and older ones do not know subnetIDs. They could neither make nor delete machines.
const (
	// OldestRelease is of provider-openstack, which brings the driver.
	OldestRelease = "v1.57.0"
	// OldestDriver is of machine-controller-manager-provider-openstack.
	OldestDriver = "v0.27.1"
)

// These are names of Gardener's own extension, which does all that this controller does not.
const (
	extensionName      = "provider-openstack"
	extensionContainer = "gardener-extension-provider-openstack"
	driverContainer    = "machine-controller-manager-provider-openstack"
)

// CheckRelease returns an error if the seed has a release of provider-openstack whose driver cannot read machine classes of this
// controller: nothing may be written then. A release that cannot be found out, since its image has no version as its tag, for
// example, is logged and taken for one that works; [NewDelegateFactory] asks the driver of each Shoot anyway. The reader must not
// answer from a cache.
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

// checkDriver returns an error if the machine controller of the Worker's namespace cannot read the machine classes of this controller.
// One that is not there yet, or whose version cannot be found out, is taken for one that can.
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

// releaseOf returns the version of a container's image in a Deployment; empty if there is no such container, or if the tag of its image is
// no version.
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

// releaseIn returns the version that is the tag of an image; empty if it has none.
func releaseIn(image string) string {
	name, _, _ := strings.Cut(image, "@")
	_, tag, has := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	if _, err := version.ParseGeneric(tag); !has || err != nil {
		return ""
	}
	return tag
}

// isAtLeast reports whether a version is another one or newer. A pre-release counts as the release.
func isAtLeast(release, oldest string) bool {
	return version.MustParseGeneric(release).AtLeast(version.MustParseGeneric(oldest))
}
