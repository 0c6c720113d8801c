// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/charts"
	"github.com/capkit/capkit/test/garden/extension"
)

var _ = Describe("In a garden that is no virtual cluster", func() {
	It("the rights of one ServiceAccount suffice, and API servers that call the Service find a certificate for its name", func(ctx SpecContext) {
		rendered := render(charts.Runtime, runtimeNamespace, nil)
		apply(ctx, rendered)
		apply(ctx, render(charts.Application, runtimeNamespace, values("one-cluster")))
		_, container := podOf(rendered)
		Expect(container.Env).To(BeEmpty())
		address := start(ctx, container.Args)

		configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: extension.Name}}
		Eventually(ctx, func(o Gomega) {
			o.Expect(g.Client().Get(ctx, client.ObjectKeyFromObject(configuration), configuration)).To(Succeed())
			// The webhooks are removed together with the namespace of the charts.
			o.Expect(configuration.OwnerReferences).To(ConsistOf(And(HaveField("Kind", "Namespace"), HaveField("Name", runtimeNamespace))))
			called := configuration.Webhooks[0].ClientConfig
			o.Expect(called.Service).To(HaveValue(And(
				HaveField("Name", extension.Name), HaveField("Namespace", runtimeNamespace), HaveField("Port", HaveValue(BeEquivalentTo(443))),
			)))
			o.Expect(trusts(called.CABundle, address)).To(Succeed())
		}).Should(Succeed())
	})
})

// start starts the component with the arguments of its Deployment and the rights of its ServiceAccount, and returns the address of its
// webhooks. It removes the webhooks at the end of the spec, because the API server could not reach them then.
func start(ctx context.Context, args []string) (address string) {
	GinkgoHelper()
	program, err := extension.OpenStack.Build(ctx)
	Expect(err).NotTo(HaveOccurred())
	address, err = garden.FreeAddress()
	Expect(err).NotTo(HaveOccurred())
	_, port, _ := net.SplitHostPort(address)

	// Wait until the API server has seen the rights.
	user := "--as=system:serviceaccount:" + runtimeNamespace + ":" + extension.Name
	for _, right := range []string{"list shoots.core.gardener.cloud", "create leases.coordination.k8s.io"} {
		args := append([]string{"auth", "can-i", user, "--namespace=" + runtimeNamespace}, strings.Fields(right)...)
		Eventually(ctx, func() (string, error) { return g.Kubectl(ctx, args...) }).Should(HaveSuffix("yes\n"))
	}

	// If a flag is given twice, the last value wins.
	process, err := g.StartProcess(context.WithoutCancel(ctx), garden.ProcessOptions{
		Path: program, LogFile: filepath.Join(g.Logs(), "one-cluster.log"), Env: []string{"KUBECONFIG=" + kubeconfig(ctx)},
		Args: append(args, "--webhook-config-server-host=127.0.0.1", "--webhook-config-server-port="+port,
			"--webhook-config-cert-dir="+GinkgoT().TempDir(), "--metrics-bind-address=0", "--health-bind-address=0", "--shutdown-delay-duration=0"),
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(process.Stop(ctx)).To(Succeed())
		meta := metav1.ObjectMeta{Name: extension.Name}
		for _, object := range []client.Object{
			&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta}, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta},
		} {
			Expect(client.IgnoreNotFound(g.Client().Delete(ctx, object))).To(Succeed())
		}
	})
	return address
}

// trusts returns nil if the certificate at an address is valid for an API server that calls the Service.
func trusts(authority []byte, address string) error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return errors.New("no authority yet")
	}
	connection, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, ServerName: extension.Name + "." + runtimeNamespace + ".svc"})
	if err != nil {
		return err
	}
	return connection.Close()
}

// kubeconfig writes a kubeconfig for the component's ServiceAccount, and returns its path.
func kubeconfig(ctx context.Context) string {
	GinkgoHelper()
	request := &authenticationv1.TokenRequest{}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: runtimeNamespace, Name: extension.Name}}
	Expect(g.Client().SubResource("token").Create(ctx, account, request)).To(Succeed())
	config := api.NewConfig()
	config.Clusters["garden"] = &api.Cluster{Server: g.RESTConfig().Host, CertificateAuthorityData: g.RESTConfig().CAData}
	config.AuthInfos["component"] = &api.AuthInfo{Token: request.Status.Token}
	config.Contexts["garden"] = &api.Context{Cluster: "garden", AuthInfo: "component"}
	config.CurrentContext = "garden"
	path := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(*config, path)).To(Succeed())
	return path
}
