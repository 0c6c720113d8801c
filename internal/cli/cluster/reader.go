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

// requestTimeout is how long a page may take. One of the largest takes a second.
const requestTimeout = 2 * time.Minute

// Options say which cluster is read. The zero value means what kubectl means without flags: the current context of the
// files in $KUBECONFIG or of ~/.kube/config, or the cluster that the program runs in.
type Options struct {
	// Kubeconfig is the path of the only file to read; empty for those above.
	Kubeconfig string
	// Context is the name of one in it; empty for the current one.
	Context string
	// Namespace to use in place of that of the context; empty for that.
	Namespace string
	// UserAgent is how the program calls itself to the API server, whose audit log has it.
	UserAgent string
	// Progress is told after each page of a list how many objects were in it, those of a list that is begun again included.
	// Nil if nobody wants to know.
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

// Open finds the cluster, without a request to it. The error says what is wrong with the kubeconfig, of whose content
// it has the names of contexts, clusters and files at the most.
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
	// This one looks whether the program runs in a cluster.
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

// addressOf returns the address of a cluster, without user and password. The error does not quote it.
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
	config.QPS = -1 // one request after the other, and the API server has priorities of its own
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

// String is how messages call the cluster: by its context and its address.
func (r *Reader) String() string { return r.name }

// Namespace is the one that is meant where none is named: that of the options, of the context, or "default".
func (r *Reader) Namespace() string { return r.namespace }
