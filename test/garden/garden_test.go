// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shared is the garden of those tests that leave it as it is.
var shared *Garden

func TestMain(m *testing.M) {
	if how, ok := os.LookupEnv(childEnv); ok {
		child(how)
	}
	var err error
	if shared, err = Start(context.Background(), Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := shared.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func TestTheWorkingSetIsAccepted(t *testing.T) {
	ctx := t.Context()
	project, err := shared.NewProject(ctx, "orchard")
	if err != nil {
		t.Fatal(err)
	}
	namespace := *project.Spec.Namespace
	if err := shared.NewRegistration(ctx, "openstack", "openstack", "cilium", "gardenlinux"); err != nil {
		t.Fatal(err)
	}
	if err := shared.Apply(ctx, "testdata/cloudprofile.yaml", "testdata/credentials.yaml", "testdata/namespacedcloudprofile.yaml"); err != nil {
		t.Fatal(err)
	}

	profile := &v1beta1.NamespacedCloudProfile{}
	profile.Namespace, profile.Name = namespace, "plum"
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		err := shared.Client().Get(ctx, client.ObjectKeyFromObject(profile), profile)
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

	if err := shared.Apply(ctx, "testdata/shoots.yaml"); err != nil {
		t.Fatal(err)
	}
	// Each has the newest image that fits its machine type, chosen by the admission plugins.
	for name, want := range map[string]string{"apple": "1592.9.0", "plum": "1877.5.0"} {
		shoot := &v1beta1.Shoot{}
		if err := shared.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, shoot); err != nil {
			t.Fatal(err)
		}
		image := shoot.Spec.Provider.Workers[0].Machine.Image
		if image == nil || image.Version == nil || image.Name != "gardenlinux" || *image.Version != want {
			t.Errorf("Shoot %s has the image %v, not version %s", name, image, want)
		}
	}

	err = shared.Apply(ctx, "testdata/shoot-refused.yaml")
	if err == nil || !strings.Contains(err.Error(), "spec.provider.workers[0].machine.type: Unsupported value") {
		t.Errorf("a Shoot with an unknown machine type: %v", err)
	}
}

func TestTheKubeconfigIsForItsOwner(t *testing.T) {
	info, err := os.Stat(shared.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %s", info.Mode())
	}
}

func TestLogsAreInTheFolder(t *testing.T) {
	for _, name := range []string{"gardener.log", "kube-apiserver.log", "etcd.log"} {
		content, err := fs.ReadFile(os.DirFS(shared.Logs()), name)
		if err != nil {
			t.Error(err)
		}
		if len(content) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}
