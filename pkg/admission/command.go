// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	controllercmd "github.com/gardener/gardener/extensions/pkg/controller/cmd"
	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/extensions/pkg/webhook/certificates"
	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/controllerutils/routes"
	"github.com/gardener/gardener/pkg/utils/gardener/operator"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/version"
	"k8s.io/component-base/version/verflag"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capkit/capkit/pkg/admission/internal/serving"
	"github.com/capkit/capkit/pkg/gardenerlib/logging"
	"github.com/capkit/capkit/pkg/provider"
)

// NewCommand returns the command of a provider's admission component, gardener-extension-admission-TYPE, with the flags and environment
// variables of Gardener's extensions. It registers the webhooks of this package and serves them until its context is done. Then it
// finishes the running requests and returns nil.
//
// The server's certificates are managed in the namespace given by --webhook-config-namespace. The namespace is in the served cluster. If
// the environment variable SOURCE_CLUSTER is set, it is in the cluster of SOURCE_KUBECONFIG instead, by default the cluster that the
// process runs in.
//
// The command refuses requests once the served API server has been silent for longer than --max-silence. To detect that, it sets the
// environment variables HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS of the process.
//
// If the process has a memory limit and GOMEMLIMIT is not set, the command sets Go's memory limit to a share of it.
//
// When it runs, the command returns an error if [provider.Check] finds a problem with the provider.
//
// further are the extension's own webhooks. Their names and paths must differ from those of this package.
func NewCommand[R any](cloud provider.Provider[R], further ...webhookcmd.NameToFactory) *cobra.Command {
	return newCommand(provider.Untyped(cloud), "admission-"+cloud.Type(), further)
}

// NewCommandBeside is [NewCommand] for an extension that keeps its existing admission component. The new component is called
// gardener-extension-admission-capkit-TYPE, and so are its webhook configurations, certificates and lease. The two components share no
// names, and API servers call both.
func NewCommandBeside[R any](cloud provider.Provider[R], further ...webhookcmd.NameToFactory) *cobra.Command {
	return newCommand(provider.Untyped(cloud), "admission-capkit-"+cloud.Type(), further)
}

// newCommand returns the command of a component with this name. Everything that the component owns is named after it. Gardener's packages
// expect the name without the prefix gardener-extension-.
func newCommand(cloud provider.Provider[any], name string, further []webhookcmd.NameToFactory) *cobra.Command {
	served := newComponent(cloud)
	served.name = name
	o := &options{
		name: name, maintainers: served.maintainers, worker: served.worker, ownSettings: served.settings != nil,
		rest: &controllercmd.RESTOptions{},
		manager: &controllercmd.ManagerOptions{
			LeaderElection:          true,
			LeaderElectionID:        controllercmd.LeaderElectionNameID("gardener-extension-" + name),
			LeaderElectionNamespace: os.Getenv("LEADER_ELECTION_NAMESPACE"),
			WebhookServerPort:       10250,
			WebhookCertDir:          "/tmp/" + name + "-cert",
		},
		webhooks: webhookcmd.NewAddToManagerOptions(name, "", nil, &controllercmd.GeneralOptions{},
			&webhookcmd.ServerOptions{Namespace: os.Getenv("WEBHOOK_CONFIG_NAMESPACE")},
			webhookcmd.NewSwitchOptions(append(switches(served), measuredFurther(further)...)...)),
		serving: serving.NewOptions(),
	}
	o.all = controllercmd.NewOptionAggregator(o.rest, o.manager, o.webhooks, o.serving)
	cmd := &cobra.Command{
		Use:           "gardener-extension-" + name,
		Short:         "Admission webhooks of the Gardener extension for " + cloud.Type(),
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := provider.Check(cloud); err != nil {
				return err
			}
			if err := o.complete(); err != nil {
				return fmt.Errorf("completing the options: %w", err)
			}
			log := o.manager.Completed().Logger
			logging.SetLoggers(log)
			logging.Announce(log, cloud.Type(), cmd.Flags())
			buildInfo.WithLabelValues(version.Get().GitVersion, runtime.Version(), cloud.Type()).Set(1)
			serving.BoundMemory(log, memlimit.FromCgroup)
			return o.run(cmd.Context(), CacheByObject(cloud), served.webhooks())
		},
	}
	verflag.AddFlags(cmd.Flags())
	o.addFlags(cmd.Flags())
	return cmd
}

// options are the options of Gardener's packages and some of our own.
type options struct {
	name string // of the component

	rest     *controllercmd.RESTOptions
	manager  *controllercmd.ManagerOptions
	webhooks *webhookcmd.AddToManagerOptions
	serving  *serving.Options
	all      controllercmd.OptionAggregator // of those above

	profiling   bool
	maintainers *[]string
	worker      *bool
	// ownSettings reports whether the provider has settings that depend on worker; without it there is no flag.
	ownSettings bool
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	o.all.AddFlags(flags)
	flags.StringSliceVar(o.maintainers, "maintenance-users", *o.maintainers,
		"The users that write Shoots in maintenance. If they choose an image version that a worker pool cannot boot, the pool "+
			"gets one that it can. With \"\", no write counts as maintenance.")
	if o.ownSettings {
		flags.BoolVar(o.worker, "worker-controller", *o.worker,
			"Whether capkit's worker controller reconciles the Workers in all seeds. Without it, settings of worker pools that only this "+
				"controller reads are refused.")
	}
	flags.BoolVar(&o.profiling, "profiling", o.profiling,
		"Whether the metrics server serves Go's profiles as well, under /debug/pprof/, to everybody who can reach it.")
}

// complete completes the options and checks values that Gardener's packages do not. With a wrong mode or URL, a leader would otherwise
// replace the certificates of all replicas by useless ones before it failed to register the webhooks.
//
// It overwrites certificates.DefaultSyncPeriod, a global of Gardener's library, and so affects the whole process: Gardener's certificate
// manager and reloader have no other setting for their period.
func (o *options) complete() error {
	if kubeconfig := os.Getenv("GARDEN_KUBECONFIG"); kubeconfig != "" {
		o.rest.Kubeconfig = kubeconfig
	}
	if err := o.all.Complete(); err != nil {
		return err
	}
	modes := []string{extensionswebhook.ModeService, extensionswebhook.ModeURLWithServiceName, extensionswebhook.ModeURL}
	switch server := o.webhooks.Server.Completed(); {
	case !slices.Contains(modes, server.Mode):
		return fmt.Errorf("invalid --%s: %s", webhookcmd.ModeFlag, server.Mode)
	case server.Mode == extensionswebhook.ModeURL && server.URL == "":
		return fmt.Errorf("--%s must be set if --%s is %s", webhookcmd.URLFlag, webhookcmd.ModeFlag, server.Mode)
	case o.profiling && o.manager.Completed().MetricsBindAddress == "0":
		return fmt.Errorf("--profiling needs a metrics server, and --%s is 0", controllercmd.MetricsBindAddressFlag)
	}
	certificates.DefaultSyncPeriod = o.serving.CertificateSyncPeriod()
	return nil
}

// run serves the webhooks until ctx is done. byObject selects the objects that they read from the cache. entries are the webhooks of this
// package, including disabled ones.
func (o *options) run(ctx context.Context, byObject map[client.Object]cache.ByObject, entries []entry) error {
	source, err := o.sourceCluster()
	if err != nil {
		return fmt.Errorf("the cluster of the certificates: %w", err)
	}
	managerOptions := o.managerOptions(byObject)
	if source != nil {
		managerOptions.LeaderElectionConfig = source.GetConfig()
	}
	completed := o.manager.Completed()
	registered := &webhook.DefaultServer{Options: webhook.Options{
		Host: completed.WebhookServerHost, Port: completed.WebhookServerPort, CertDir: completed.WebhookCertDir,
		WebhookMux: http.NewServeMux(),
	}}
	config := o.rest.Completed().Config
	config.QPS, config.Burst = 100, 130
	hearing, err := o.serving.Hear(completed.Logger, config)
	if err != nil {
		return err
	}
	mgr, err := manager.New(config, managerOptions)
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	if source != nil {
		if err := mgr.Add(source); err != nil {
			return err
		}
	}
	if _, err := o.webhooks.Completed().AddToManager(ctx, registering{mgr, registered}, source); err != nil {
		return fmt.Errorf("adding the webhooks: %w", err)
	}
	standIn(registered, entries)
	at := registered.Options
	err = serving.Webhooks{
		Handler: registered.WebhookMux(), Timeout: timeoutSeconds * time.Second, Address: net.JoinHostPort(at.Host, strconv.Itoa(at.Port)),
		CertificateFolder: at.CertDir, Configurations: configurationName(o.name),
		Options: o.serving, Hearing: hearing, Source: source,
	}.AddTo(ctx, mgr)
	if err != nil {
		return err
	}
	if err := o.watch(ctx, mgr, source); err != nil {
		return err
	}
	return o.serving.Run(ctx, mgr)
}

// watch creates the leader's informers early. If they were created later, they would make a replica unready until they have synced.
func (o *options) watch(ctx context.Context, mgr manager.Manager, source cluster.Cluster) error {
	garden, certificates := mgr.GetCache(), mgr.GetCache()
	if source != nil {
		certificates = source.GetCache()
	}
	informers := map[client.Object]cache.Cache{
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: garden,
		&admissionregistrationv1.MutatingWebhookConfiguration{}:   garden,
	}
	if o.webhooks.Server.Completed().Namespace != "" {
		informers[&corev1.Secret{}] = certificates
	}
	for object, from := range informers {
		if _, err := from.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("watching a %T: %w", object, err)
		}
	}
	return nil
}

func (o *options) managerOptions(byObject map[client.Object]cache.ByObject) manager.Options {
	m := o.manager.Completed().Options()
	m.LeaderElectionReleaseOnCancel = true
	// A replica that cannot renew its lease in time exits, and then stops serving too. The leader has no work that could not wait for
	// minutes, so these values tolerate a slow API server.
	m.LeaseDuration, m.RenewDeadline, m.RetryPeriod = new(90*time.Second), new(time.Minute), new(5*time.Second)
	m.Scheme, m.Cache = kubernetes.GardenScheme, o.cache(byObject)
	if o.profiling {
		m.Metrics.ExtraHandlers = routes.ProfilingHandlers
	}
	// Only one namespace owns the webhook configurations. It is read directly, instead of watching all of them.
	m.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{&corev1.Namespace{}}}
	return m
}

// cache returns the options of the informers. They read the provider's objects, the component's own webhook configurations, and the
// certificates' namespace. Nothing in this package modifies cached objects, so they are not copied.
func (o *options) cache(byObject map[client.Object]cache.ByObject) cache.Options {
	all := map[client.Object]cache.ByObject{}
	for object, selected := range byObject {
		selected.UnsafeDisableDeepCopy = ptr.To(true)
		all[object] = selected
	}
	configuration := cache.ByObject{Field: fields.OneTermEqualSelector(metav1.ObjectNameField, configurationName(o.name))}
	all[&admissionregistrationv1.ValidatingWebhookConfiguration{}] = configuration
	all[&admissionregistrationv1.MutatingWebhookConfiguration{}] = configuration
	if namespace := o.webhooks.Server.Completed().Namespace; namespace != "" {
		secrets := certificateSecrets(o.name)
		secrets.Namespaces = map[string]cache.Config{namespace: {}}
		all[&corev1.Secret{}] = secrets
	}
	return cache.Options{ByObject: all, DefaultTransform: cache.TransformStripManagedFields()}
}

// configurationName returns the name that Gardener gives to a component's webhook configurations.
func configurationName(component string) string {
	if strings.HasPrefix(os.Getenv("WEBHOOK_CONFIG_NAMESPACE"), operator.ExtensionRuntimeNamespacePrefix) {
		component += extensionswebhook.NameSuffixRuntime
	}
	return extensionswebhook.PrefixedName(component, false)
}

// certificateSecrets selects the Secrets in which Gardener's packages keep the certificates. The namespace may contain many unrelated
// ones.
func certificateSecrets(component string) cache.ByObject {
	return cache.ByObject{Label: labels.SelectorFromSet(labels.Set{
		secretsmanager.LabelKeyManagedBy:       secretsmanager.LabelValueSecretsManager,
		secretsmanager.LabelKeyManagerIdentity: configurationName(component) + "-webhook",
	})}
}

// sourceCluster returns the cluster of the certificates, or nil if it is the served cluster.
func (o *options) sourceCluster() (cluster.Cluster, error) {
	if os.Getenv("SOURCE_CLUSTER") == "" {
		return nil, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("SOURCE_KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	return cluster.New(config, func(opts *cluster.Options) {
		opts.Logger = o.manager.Completed().Logger
		opts.Cache.DefaultNamespaces = map[string]cache.Config{o.webhooks.Server.Completed().Namespace: {}}
		opts.Cache.ByObject = map[client.Object]cache.ByObject{&corev1.Secret{}: certificateSecrets(o.name)}
	})
}
