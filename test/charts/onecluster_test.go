// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/garden/extension"
)

// TestOneCluster: with a garden that is no virtual cluster, both charts are installed in one namespace, and one ServiceAccount
// has the rights of both. They suffice, and API servers that call the Service find a certificate for its name.
func TestOneCluster(t *testing.T) {
	objects := render(t, charts.Runtime, runtimeNamespace, nil)
	apply(t, objects)
	apply(t, render(t, charts.Application, runtimeNamespace, map[string]any{"gardener": map[string]any{"virtualCluster": map[string]any{
		"enabled": false, "serviceAccount": map[string]any{"name": extension.Name, "namespace": runtimeNamespace},
	}}}))

	program, err := extension.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	container := containerOf(t, find(t, objects, "Deployment"))
	if len(container.Env) > 0 {
		t.Errorf("the container has the environment %v", container.Env)
	}
	logFile := filepath.Join(t.TempDir(), "log")
	// Of two flags of a name the last one counts.
	process, err := g.StartProcess(t.Context(), garden.ProcessOptions{
		Path: program, LogFile: logFile, Env: []string{"KUBECONFIG=" + kubeconfig(t, runtimeNamespace, extension.Name)},
		Args: append(container.Args, "--webhook-config-server-host=127.0.0.1", "--webhook-config-server-port="+port, "--webhook-config-cert-dir="+t.TempDir(),
			"--metrics-bind-address=0", "--health-bind-address=0", "--shutdown-delay-duration=0"),
	})
	if err != nil {
		t.Fatal(err)
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: extension.Name}}
	t.Cleanup(func() { unregister(t, process) })

	var last error
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		if last = g.Client().Get(ctx, client.ObjectKeyFromObject(configuration), configuration); last == nil {
			last = errors.Join(owned(configuration), trusts(address, configuration.Webhooks[0].ClientConfig))
		}
		return last == nil, nil
	})
	if err != nil {
		log, _ := os.ReadFile(logFile)
		t.Fatalf("%v; the log:\n%s", last, log)
	}
}

// owned returns nil if the webhooks are removed together with the namespace of the charts.
func owned(configuration *admissionregistrationv1.ValidatingWebhookConfiguration) error {
	if owners := configuration.OwnerReferences; len(owners) != 1 || owners[0].Kind != "Namespace" || owners[0].Name != runtimeNamespace {
		return fmt.Errorf("the owners of the webhooks are %v", owners)
	}
	return nil
}

// trusts returns nil if an API server that is to call the Service accepts the certificate at an address.
func trusts(address string, config admissionregistrationv1.WebhookClientConfig) error {
	if config.Service == nil || config.Service.Name != extension.Name || config.Service.Namespace != runtimeNamespace || *config.Service.Port != 443 {
		return fmt.Errorf("the webhook is not called through the Service: %v", config)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(config.CABundle) {
		return errors.New("no authority yet")
	}
	connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, ServerName: extension.Name + "." + runtimeNamespace + ".svc"})
	if err != nil {
		return err
	}
	return connection.Close()
}

// unregister ends the process, and removes its webhooks, which nobody can reach.
func unregister(t *testing.T, process *garden.Process) {
	if err := process.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	meta := metav1.ObjectMeta{Name: extension.Name}
	for _, object := range []client.Object{
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta}, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta},
	} {
		if err := client.IgnoreNotFound(g.Client().Delete(context.Background(), object)); err != nil {
			t.Error(err)
		}
	}
}

// kubeconfig writes a kubeconfig for a ServiceAccount, and returns its path.
func kubeconfig(t *testing.T, namespace, name string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := g.Client().SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	config := api.NewConfig()
	config.Clusters["garden"] = &api.Cluster{Server: g.RESTConfig().Host, CertificateAuthorityData: g.RESTConfig().CAData}
	config.AuthInfos["component"] = &api.AuthInfo{Token: request.Status.Token}
	config.Contexts["garden"] = &api.Context{Cluster: "garden", AuthInfo: "component"}
	config.CurrentContext = "garden"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}
