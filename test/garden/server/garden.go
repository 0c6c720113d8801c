// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	managerapp "github.com/gardener/gardener/cmd/gardener-controller-manager/app"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/controllermanager/features"
	netutils "github.com/gardener/gardener/pkg/utils/net"
	gardenerenvtest "github.com/gardener/gardener/test/envtest"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/capkit/capkit/test/garden/internal/process"
	"github.com/capkit/capkit/test/garden/internal/protocol"
)

const (
	// startTimeout is for each component, on a machine that is busy with something else.
	startTimeout = 5 * time.Minute
	stopTimeout  = time.Minute
	// tokenTime is how long the token of the controller manager is valid: longer than anybody leaves a garden running.
	tokenTime = 365 * 24 * time.Hour
)

// managerConfig takes a kubeconfig and two ports. No port, or 0, would be the same port for every garden.
const managerConfig = `apiVersion: controllermanager.config.gardener.cloud/v1alpha1
kind: ControllerManagerConfiguration
gardenClientConnection:
  kubeconfig: %s
leaderElection:
  leaderElect: false
server:
  healthProbes: {bindAddress: 127.0.0.1, port: %d}
  metrics: {bindAddress: 127.0.0.1, port: %d}
logLevel: info
logFormat: json
`

// auditPolicy has each request written down once, when it is answered, without its body.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules: [{level: Metadata}]
`

// garden is what start has started so far.
type garden struct {
	config      protocol.Config
	environment *gardenerenvtest.GardenerTestEnvironment
	stopManager context.CancelFunc
	manager     chan error // receives how the controller manager ended, or nil if that was told already
	programs    []*process.Process
}

// start brings everything up, until a Shoot could be created. It returns a garden to be stopped also with an error.
func start(ctx context.Context, config protocol.Config) (*garden, error) {
	g := &garden{config: config}
	if err := g.prepare(); err != nil {
		return g, err
	}
	if err := g.startAPIServers(); err != nil {
		return g, err
	}
	if len(config.CRDs) == 0 {
		if err := g.startManager(ctx); err != nil {
			return g, err
		}
	}
	if err := g.createNamespace(ctx); err != nil {
		return g, err
	}
	kubeconfig := g.kubeconfig()
	if err := os.WriteFile(kubeconfig+".new", g.environment.KubeConfig, 0o600); err != nil {
		return g, err
	}
	return g, os.Rename(kubeconfig+".new", kubeconfig)
}

// prepare makes the folders, and an environment in which nothing of the caller's leads astray.
func (g *garden) prepare() error {
	for _, name := range []string{"KUBECONFIG", "USE_EXISTING_CLUSTER", "USE_EXISTING_GARDENER", "TEST_ASSET_GARDENER_APISERVER"} {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	// The logs of a garden before would only confuse. Its other files are there only if everything was killed.
	logs, err := filepath.Glob(g.log("*"))
	if err != nil {
		return err
	}
	logs = slices.DeleteFunc(logs, func(name string) bool { return filepath.Base(name) == protocol.ServerLog })
	for _, name := range append(logs, g.temporary(), g.kubeconfig()) {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	_ = os.Stderr.Truncate(0) // nothing else than a file can be expected to allow that
	for _, folder := range []string{g.temporary(), filepath.Join(g.config.Folder, protocol.Logs)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	return os.Setenv("TMPDIR", g.temporary())
}

func (g *garden) temporary() string { return filepath.Join(g.config.Folder, "tmp") }

// startAPIServers starts etcd, kube-apiserver and, without CRDs, gardener-apiserver.
func (g *garden) startAPIServers() error {
	// The controller manager needs its own, and once the API server runs it is too late.
	features.RegisterFeatureGates()
	g.environment = &gardenerenvtest.GardenerTestEnvironment{
		Environment: &envtest.Environment{ControlPlaneStartTimeout: startTimeout, ControlPlaneStopTimeout: stopTimeout},
		// What the API server logs goes where the controller manager logs to.
		GardenerAPIServer: &gardenerenvtest.GardenerAPIServer{Err: os.Stderr},
	}
	gardener := g.environment.GardenerAPIServer
	for gate, enabled := range g.config.FeatureGates {
		gardener.Args = append(gardener.Args, fmt.Sprintf("--feature-gates=%s=%t", gate, enabled))
	}
	etcd, apiserver := &envtest.Etcd{}, g.environment.ControlPlane.GetAPIServer()
	g.environment.ControlPlane.Etcd = etcd
	programs := []program{
		{filepath.Join(g.config.Assets, "etcd"), &etcd.Path, func(log *os.File) { etcd.Out, etcd.Err = log, log }},
		{filepath.Join(g.config.Assets, "kube-apiserver"), &apiserver.Path, func(log *os.File) { apiserver.Out, apiserver.Err = log, log }},
	}
	if g.config.APIServer != "" {
		gardener.StartTimeout, gardener.StopTimeout = startTimeout, stopTimeout
		programs = append(programs, program{g.config.APIServer, &gardener.Path, func(log *os.File) { gardener.Out, gardener.Err = log, log }})
	}
	for _, p := range programs {
		if err := g.arrange(p); err != nil {
			return err
		}
	}
	// Many tests watch through one connection. At the default of 100 streams, one that its client holds for closed, and the API
	// server not yet, makes the API server reset the next.
	apiserver.Configure().Set("http2-max-streams-per-connection", "1000")
	if g.config.Audit {
		policy := filepath.Join(g.temporary(), "audit-policy.yaml")
		if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
			return err
		}
		apiserver.Configure().Set("audit-policy-file", policy).
			Set("audit-log-path", filepath.Join(g.config.Folder, protocol.Logs, protocol.AuditLog))
	}
	var err error
	if len(g.config.CRDs) == 0 {
		_, err = g.environment.Start()
	} else {
		g.environment.CRDInstallOptions.Paths = g.config.CRDs
		g.environment.CRDInstallOptions.ErrorIfPathMissing = true
		_, err = g.environment.Environment.Start()
	}
	return err
}

// program is one that is started by the environment: where it is, where the environment wants its path, and what receives its log.
type program struct {
	path string
	use  *string
	set  func(log *os.File)
}

// arrange has a program started so that it does not outlive this process, and logs into a file.
func (g *garden) arrange(p program) (err error) {
	if *p.use, err = g.wrap(p.path); err != nil {
		return err
	}
	log, err := os.OpenFile(g.log(filepath.Base(p.path)), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		p.set(log)
	}
	return err
}

func (g *garden) log(name string) string {
	return filepath.Join(g.config.Folder, protocol.Logs, name+".log")
}

// wrapper becomes the program itself, after it has arranged that the kernel kills it as soon as this process is gone.
// The second shell looks whether that happened before the arrangement was made.
const wrapper = `#!/bin/sh
exec '%s' --pdeathsig KILL -- sh -c '[ "$PPID" = %d ] && exec "$0" "$@"' '%s' "$@"
`

// wrap returns a path under which the program can be started so that it does not outlive this process. Without setpriv,
// which is a part of util-linux, that is the program itself.
func (g *garden) wrap(path string) (string, error) {
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	setpriv, _ := exec.LookPath("setpriv")
	if setpriv == "" {
		return path, nil
	}
	wrapped := filepath.Join(g.temporary(), filepath.Base(path))
	script := fmt.Sprintf(wrapper, setpriv, os.Getpid(), strings.ReplaceAll(path, "'", `'\''`))
	return wrapped, os.WriteFile(wrapped, []byte(script), 0o700)
}

// managerAccount is who gardener-controller-manager is in a garden that gardener-operator manages.
var managerAccount = metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "gardener-controller-manager"}

// managerKubeconfig returns a kubeconfig for the account of gardener-controller-manager, which it creates with all
// rights, as gardener-operator does.
func (g *garden) managerKubeconfig(ctx context.Context) ([]byte, error) {
	c, err := client.New(g.environment.Config, client.Options{})
	if err != nil {
		return nil, err
	}
	account := &corev1.ServiceAccount{ObjectMeta: managerAccount}
	name := metav1.ObjectMeta{Name: "gardener.cloud:system:controller-manager"}
	all := rbacv1.PolicyRule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
	for _, object := range []client.Object{
		account,
		&rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{all}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: name,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
			Subjects: []rbacv1.Subject{
				{Kind: rbacv1.ServiceAccountKind, Namespace: managerAccount.Namespace, Name: managerAccount.Name},
			},
		},
	} {
		if err := c.Create(ctx, object); err != nil {
			return nil, err
		}
	}
	token := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenTime / time.Second))},
	}
	if err := c.SubResource("token").Create(ctx, account, token); err != nil {
		return nil, err
	}
	config, err := clientcmd.Load(g.environment.KubeConfig)
	if err != nil {
		return nil, err
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	return clientcmd.Write(*config)
}

// startManager starts gardener-controller-manager, and waits until its caches are filled.
func (g *garden) startManager(ctx context.Context) error {
	content, err := g.managerKubeconfig(ctx)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(g.temporary(), "manager-kubeconfig")
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		return err
	}
	health, _, err := netutils.SuggestPort("127.0.0.1")
	if err != nil {
		return err
	}
	metrics, _, err := netutils.SuggestPort("127.0.0.1")
	if err != nil {
		return err
	}
	config := filepath.Join(g.temporary(), "manager.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, managerConfig, kubeconfig, health, metrics), 0o600); err != nil {
		return err
	}
	manager := managerapp.NewCommand()
	manager.SetArgs([]string{"--config=" + config})
	manager.SetOut(os.Stderr)
	manager.SetErr(os.Stderr)
	managerContext, stop := context.WithCancel(context.Background())
	g.stopManager, g.manager = stop, make(chan error, 1)
	go func() { g.manager <- manager.ExecuteContext(managerContext) }()
	// Both servers, since a port may have been taken meanwhile, which ends the manager.
	if err := g.waitForManager(ctx, fmt.Sprintf("http://127.0.0.1:%d/metrics", metrics)); err != nil {
		return err
	}
	return g.waitForManager(ctx, fmt.Sprintf("http://127.0.0.1:%d/readyz", health))
}

func (g *garden) waitForManager(ctx context.Context, url string) error {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		if response, err := http.Get(url); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-g.manager:
			g.manager <- nil
			return fmt.Errorf("gardener-controller-manager has ended: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("gardener-controller-manager is not ready after %s", startTimeout)
}

// createNamespace creates the namespace that every garden has: that of what belongs to the landscape and to no project.
func (g *garden) createNamespace(ctx context.Context) error {
	c, err := client.New(g.environment.Config, client.Options{})
	if err != nil {
		return err
	}
	return c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta1constants.GardenNamespace}})
}

func (g *garden) kubeconfig() string { return filepath.Join(g.config.Folder, protocol.Kubeconfig) }

func (g *garden) startPrograms(ctx context.Context, programs []protocol.Program) error {
	for _, program := range programs {
		// Stopping it is left to stop, which knows the order.
		p, err := process.Start(context.WithoutCancel(ctx), process.Options{
			Path: program.Path, Args: program.Args, Env: append([]string{"KUBECONFIG=" + g.kubeconfig()}, program.Env...), LogFile: g.log(program.Name),
		})
		if err != nil {
			return err
		}
		g.programs = append(g.programs, p)
	}
	return nil
}

// wait returns when ctx ends, or with an error when the controller manager does. One of the other programs may end: the
// garden is of use without it. It starts the programs that it receives.
func (g *garden) wait(ctx context.Context, programs <-chan []protocol.Program) error {
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(os.Stderr, "garden: stopping:", context.Cause(ctx))
			return nil
		case err := <-g.manager:
			g.manager <- nil
			return fmt.Errorf("gardener-controller-manager has ended: %w", err)
		case started := <-programs:
			if err := g.startPrograms(ctx, started); err != nil {
				return err
			}
		}
	}
}

// stop stops everything in the reverse order, and waits until it is gone.
func (g *garden) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	var errs []error
	for i := len(g.programs) - 1; i >= 0; i-- {
		errs = append(errs, g.programs[i].Stop(ctx))
	}
	if g.stopManager != nil {
		g.stopManager()
		select {
		case err := <-g.manager:
			errs = append(errs, err)
		case <-ctx.Done():
			errs = append(errs, errors.New("gardener-controller-manager does not stop"))
		}
	}
	switch {
	case g.environment == nil:
	case len(g.config.CRDs) == 0:
		errs = append(errs, g.environment.Stop())
	default:
		errs = append(errs, g.environment.Environment.Stop())
	}
	errs = append(errs,
		os.RemoveAll(g.kubeconfig()), os.RemoveAll(g.temporary()))
	return errors.Join(errs...)
}
