// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTheWorkingSetIsAccepted(t *testing.T) {
	t.Parallel()
	ctx, g := t.Context(), start(t)
	project, err := g.NewProject(ctx, "orchard")
	if err != nil {
		t.Fatal(err)
	}
	namespace := *project.Spec.Namespace
	if err := g.NewRegistration(ctx, "openstack", "openstack", "cilium", "gardenlinux"); err != nil {
		t.Fatal(err)
	}
	if err := g.Apply(ctx, "testdata/cloudprofile.yaml", "testdata/credentials.yaml", "testdata/namespacedcloudprofile.yaml"); err != nil {
		t.Fatal(err)
	}

	profile := &v1beta1.NamespacedCloudProfile{}
	profile.Namespace, profile.Name = namespace, "plum"
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		err := g.Client().Get(ctx, client.ObjectKeyFromObject(profile), profile)
		return profile.Status.ObservedGeneration == profile.Generation, err
	})
	if err != nil {
		t.Fatalf("the controller manager does not render the NamespacedCloudProfile: %v", err)
	}
	var types []string
	for _, machineType := range profile.Status.CloudProfileSpec.MachineTypes {
		types = append(types, machineType.Name)
	}
	if got := strings.Join(types, " "); got != "medium bare large" {
		t.Errorf("the machine types are %s", got)
	}

	if err := g.Apply(ctx, "testdata/shoots.yaml"); err != nil {
		t.Fatal(err)
	}
	// Each has the newest image that fits its machine type, chosen by the admission plugins.
	for name, want := range map[string]string{"apple": "1592.9.0", "plum": "1877.5.0"} {
		shoot := &v1beta1.Shoot{}
		if err := g.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, shoot); err != nil {
			t.Fatal(err)
		}
		image := shoot.Spec.Provider.Workers[0].Machine.Image
		if image == nil || image.Version == nil || image.Name != "gardenlinux" || *image.Version != want {
			t.Errorf("Shoot %s has the image %v, not version %s", name, image, want)
		}
	}

	err = g.Apply(ctx, "testdata/shoot-refused.yaml")
	if err == nil || !strings.Contains(err.Error(), "spec.provider.workers[0].machine.type: Unsupported value") {
		t.Errorf("a Shoot with an unknown machine type: %v", err)
	}
}

func TestATemporaryGarden(t *testing.T) {
	t.Parallel()
	g, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(g.Kubeconfig()); err != nil {
		t.Error(err)
	} else if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %s", info.Mode())
	}
	for _, name := range []string{"gardener.log", "kube-apiserver.log", "etcd.log"} {
		content, err := fs.ReadFile(os.DirFS(g.Logs()), name)
		if err != nil {
			t.Error(err)
		}
		if len(content) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	if err := errors.Join(g.Stop(), g.Stop()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(g.Folder()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}
