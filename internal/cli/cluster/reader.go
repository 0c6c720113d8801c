// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"time"

	"github.com/gardener/gardener/pkg/client/core/clientset/versioned/typed/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	admissionregistrationv1 "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// requestTimeout is the timeout of each request. One of the largest pages takes a second.
const requestTimeout = 2 * time.Minute

// Options select the cluster. The zero value means the same cluster as for kubectl without flags: the current context of the files in
// $KUBECONFIG or of ~/.kube/config, or the cluster that the program runs in.
type Options struct {
	// Kubeconfig is the path of the only file to read; empty for the files above.
	Kubeconfig string
	// Context is the name of a context; empty for the current one.
	Context string
	// Namespace overrides the context's namespace; empty for that.
	Namespace string
	// UserAgent identifies the program to the API server, which records it in its audit log.
	UserAgent string
	// Progress is called after each page with its number of objects. If a list is read again, its objects are reported again. It may be nil.
	Progress func(objects int)
}

// Reader reads from one cluster. It is safe for concurrent use.
type Reader struct {
	client    v1beta1.CoreV1beta1Interface
	admission admissionregistrationv1.AdmissionregistrationV1Interface
	core      corev1.CoreV1Interface
	name      string // the cluster, for messages
	namespace string
	timeout   time.Duration
	progress  func(objects int)
}

// Open finds the cluster, without a request to it. The error says what is wrong with the kubeconfig. Of its content, it quotes only names
// of contexts, clusters and files.
func Open(o Options) (*Reader, error) {
	loading := clientcmd.NewDefaultClientConfigLoadingRules()
	loading.ExplicitPath = o.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	overrides.Context.Namespace = o.Namespace
	if err := tooLarge(loading); err != nil {
		return nil, err
	}
	raw, err := loading.Load()
	if err != nil {
		return nil, kubeconfigError(loading)
	}
	if o.Context == "" {
		o.Context = raw.CurrentContext
	} else if raw.Contexts[o.Context] == nil {
		return nil, noContext(o.Context, raw, loading)
	}
	// This config also detects whether the program runs in a cluster.
	lazy := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loading, overrides)
	config, err := lazy.ClientConfig()
	if err != nil {
		return nil, configError(o.Context, raw, loading, err)
	}
	namespace, _, err := lazy.Namespace()
	if err != nil {
		return nil, configError(o.Context, raw, loading, err)
	}
	name, err := addressOf(config)
	if err != nil {
		return nil, configError(o.Context, raw, loading, err)
	}
	if o.Context != "" {
		name = "context " + o.Context + " (" + name + ")"
	}
	r, err := newReader(config, name, o.UserAgent, requestTimeout)
	if err != nil {
		return nil, configError(o.Context, raw, loading, err)
	}
	r.namespace, r.progress = namespace, o.Progress
	return r, nil
}

// addressOf returns a cluster's address, without user and password. The error does not quote it.
func addressOf(config *rest.Config) (string, error) {
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return "", errors.New("the server of its cluster is not a URL")
	}
	shown := *address
	shown.User = nil
	return shown.String(), nil
}

func newReader(config *rest.Config, name, userAgent string, timeout time.Duration) (*Reader, error) {
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.UserAgent = userAgent
	config.QPS = -1 // requests are sequential, and the API server has its own priorities
	config.Timeout = timeout
	config.WarningHandler = rest.NoWarnings{}
	client, err := v1beta1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	admission, err := admissionregistrationv1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	core, err := corev1.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Reader{client: client, admission: admission, core: core, name: name, timeout: timeout}, nil
}

// String returns the cluster's name in messages: its context and its address.
func (r *Reader) String() string { return r.name }

// Namespace returns the default namespace: that of the options, of the context, or "default".
func (r *Reader) Namespace() string { return r.namespace }
