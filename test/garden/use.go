// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/gardener/gardener/pkg/apis/utils/timewindow"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden/internal/protocol"
)

// scheme has the kinds of Kubernetes, and those of Gardener that a user of a garden meets.
var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientscheme.AddToScheme(scheme))
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	utilruntime.Must(securityv1alpha1.AddToScheme(scheme))
}

// LaterToday returns a maintenance time window that is not open now. A Shoot that names none gets one at random: one in about
// twenty Shoots would be maintained, and its versions changed, as soon as it is created.
func LaterToday() *v1beta1.MaintenanceTimeWindow {
	begin := time.Now().UTC().Add(6 * time.Hour)
	return &v1beta1.MaintenanceTimeWindow{
		Begin: timewindow.NewMaintenanceTime(begin.Hour(), 0, 0).Formatted(),
		End:   timewindow.NewMaintenanceTime((begin.Hour()+1)%24, 0, 0).Formatted(),
	}
}

// Folder is where the garden keeps its files.
func (g *Garden) Folder() string { return g.folder }

// Kubeconfig is the path of a kubeconfig with every right, which only its owner may read.
func (g *Garden) Kubeconfig() string { return filepath.Join(g.folder, protocol.Kubeconfig) }

// AuditLog is the path of the file in which kube-apiserver writes down requests, if it was asked to.
func (g *Garden) AuditLog() string { return filepath.Join(g.Logs(), protocol.AuditLog) }

// RESTConfig returns a configuration with every right, without a limit of requests. It is the caller's. A write is
// answered once every server has seen the objects that were created before: type seen says how, and what that leaves
// to the caller.
func (g *Garden) RESTConfig() *rest.Config { return rest.CopyConfig(g.config) }

// Client returns a client with every right and without a cache: it reads what is there, and writes as RESTConfig
// says. It knows the kinds of Kubernetes, core.gardener.cloud/v1beta1 and security.gardener.cloud/v1alpha1.
func (g *Garden) Client() client.Client { return g.client }

// Binary is the path of a program of the control plane, for example kubectl.
func (g *Garden) Binary(name string) string { return filepath.Join(g.assets, name) }

// Kubectl runs kubectl, with every right, and returns what it printed: standard output and standard error as a
// terminal would show them. The error contains that, too. It runs again while a server has not seen an object that
// was created before.
func (g *Garden) Kubectl(ctx context.Context, args ...string) (string, error) {
	return g.seen.untilSeen(ctx, func() (string, error) { return g.kubectl(ctx, args) })
}

func (g *Garden) kubectl(ctx context.Context, args []string) (string, error) {
	path := g.Binary("kubectl")
	if _, err := exec.LookPath(path); err != nil {
		path = "kubectl" // KUBEBUILDER_ASSETS may be without
	}
	flags := []string{"--kubeconfig=" + g.Kubeconfig(), "--cache-dir=" + filepath.Join(g.folder, "kubectl")}
	cmd := exec.CommandContext(ctx, path, append(flags, args...)...)
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), errors.Join(context.Cause(ctx), err), output)
	}
	return string(output), err
}

// Apply gives files or folders of manifests to kubectl apply, in one call. The error says what kubectl says.
func (g *Garden) Apply(ctx context.Context, files ...string) error {
	args := []string{"apply"}
	for _, file := range files {
		args = append(args, "--filename="+file)
	}
	_, err := g.Kubectl(ctx, args...)
	return err
}

// NewProject creates a Project with the namespace garden-<name> and waits until the controller manager has created
// that. Use a name only once: nobody empties a deleted namespace here, so it would never go away.
func (g *Garden) NewProject(ctx context.Context, name string) (*v1beta1.Project, error) {
	namespace := "garden-" + name
	project := &v1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.ProjectSpec{Namespace: &namespace}}
	if err := g.client.Create(ctx, project); err != nil {
		return nil, err
	}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		err := g.client.Get(ctx, client.ObjectKeyFromObject(project), project)
		return err == nil && project.Status.Phase == v1beta1.ProjectReady, err
	})
	if err != nil {
		return nil, fmt.Errorf("project %s is not ready: %w", name, err)
	}
	return project, nil
}

// NewRegistration creates a ControllerRegistration of this name, by which the garden accepts Shoots of a provider type,
// a network type and with images of these names. Each resource may be registered once in a garden.
func (g *Garden) NewRegistration(ctx context.Context, name, provider, network string, images ...string) error {
	registration := &v1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	add := func(kind, typeName string) {
		registration.Spec.Resources = append(registration.Spec.Resources, v1beta1.ControllerResource{Kind: kind, Type: typeName})
	}
	add("Infrastructure", provider)
	add("ControlPlane", provider)
	add("Worker", provider)
	add("Network", network)
	for _, image := range images {
		add("OperatingSystemConfig", image)
	}
	return g.client.Create(ctx, registration)
}
