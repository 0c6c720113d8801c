// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/inetaf/tcpproxy"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/test/garden"
)

// line is a proxy to the API server of the virtual garden that can be silenced. It then keeps existing connections open,
// accepts new ones, and delivers nothing, but loses no data.31: kubeconfig is the path of a kubeconfig for this line.
type line struct {
	// kubeconfig is the path of one that leads here.
	kubeconfig string
	// valve is locked while the line is silent.
	valve sync.RWMutex
}

// newLine returns an open line. It is open again at the end of the spec.
func newLine() *line {
	GinkgoHelper()
	kubeconfig, err := clientcmd.LoadFromFile(installation.GardenKubeconfig)
	Expect(err).NotTo(HaveOccurred())
	server := &kubeconfig.Clusters[kubeconfig.Contexts[kubeconfig.CurrentContext].Cluster].Server
	target, err := url.Parse(*server)
	Expect(err).NotTo(HaveOccurred())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	l := &line{kubeconfig: filepath.Join(GinkgoT().TempDir(), "kubeconfig")}
	*server = "https://" + listener.Addr().String()
	Expect(clientcmd.WriteToFile(*kubeconfig, l.kubeconfig)).To(Succeed())

	proxy := &tcpproxy.Proxy{ListenFunc: func(string, string) (net.Listener, error) { return listener, nil }}
	proxy.AddRoute(listener.Addr().String(), &tcpproxy.DialProxy{
		Addr: target.Host,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return valved{conn, &l.valve}, err
		},
	})
	Expect(proxy.Start()).To(Succeed())
	DeferCleanup(proxy.Close)
	return l
}

// cut silences the line until mend is called, or the spec ends.
func (l *line) cut() (mend func()) {
	l.valve.Lock()
	mend = sync.OnceFunc(l.valve.Unlock)
	DeferCleanup(mend)
	return mend
}

// valved is a connection that delivers nothing while its valve is locked.
type valved struct {
	net.Conn
	valve *sync.RWMutex
}

func (v valved) Read(into []byte) (int, error) {
	n, err := v.Conn.Read(into)
	v.valve.RLock()
	defer v.valve.RUnlock()
	return n, err
}

func (v valved) Write(from []byte) (int, error) {
	v.valve.RLock()
	defer v.valve.RUnlock()
	return v.Conn.Write(from)
}

var _ = It("A replica that hears nothing from the API server says since when, judges nothing, and goes on once it hears again", func(ctx SpecContext) {
	address, err := garden.FreeAddress()
	Expect(err).NotTo(HaveOccurred())
	l := newLine()
	deaf, other := newReplica("--max-silence=15s", "--metrics-bind-address="+address), newReplica()
	deaf.Env = []string{"GARDEN_KUBECONFIG=" + l.kubeconfig}
	serve(ctx, deaf, other)
	create(ctx, profiles.fresh("silence"))
	asks, shoot := directClient(ctx, true), review(shootOf("silence", "silence"))
	judge := func() (string, error) {
		response, err := ask(asks, deaf.Address, "validate-shoot", bytes.NewReader(shoot))
		switch {
		case err != nil:
			return "", err
		case response.Allowed:
			return "allowed", nil
		}
		return response.Result.Message, nil
	}
	Eventually(judge).Should(Equal("allowed"))

	By("letting the line carry nothing, and replacing the profile")
	mend := l.cut()
	profile := &v1beta1.CloudProfile{}
	Eventually(func() error {
		Expect(g.Client().Get(ctx, client.ObjectKey{Name: "silence"}, profile)).To(Succeed())
		changeConfig(profile, func(config *v1alpha1.CloudProfileConfig) { config.Constraints.FloatingPools[0].Name = "replaced" })
		return writing.Update(ctx, profile)
	}).Should(Succeed())
	const begins, ends = "Refusing requests until the API server is heard again", "Hearing the API server again"
	Eventually(deaf.failing).WithArguments("readyz").Should(HaveExactElements("informer-age"))
	_, text := deaf.probe("readyz/informer-age")
	_, since, found := strings.Cut(strings.TrimSpace(text), " since ")
	Expect(found).To(BeTrue(), text)
	Expect(time.Parse(time.RFC3339, since)).To(And(HaveField("Location()", time.UTC), BeTemporally("<", time.Now())))
	Expect(deaf.failing("healthz")).To(BeEmpty())
	_, err = judge()
	Expect(err).To(MatchError(HavePrefix("503")))
	Eventually(func() float64 { return scrape(ctx, address).value("silence_seconds") }).Should(BeNumerically(">", 15))
	Expect(scrape(ctx, address).value("refused_requests_total", "outdated")).To(BeNumerically(">", 0))
	Eventually(deaf.log).Should(ContainSubstring(begins))
	Expect(deaf.log()).NotTo(ContainSubstring(ends))

	By("asking the API server, which asks the other replica")
	Eventually(func() error { return writing.Create(ctx, shootOf("silence", "silence")) }).Should(MatchError(ContainSubstring("fp-pool-1")))

	By("letting the line carry what comes")
	mend()
	Eventually(func() (string, error) {
		verdict, err := judge()
		Expect(verdict).NotTo(Equal("allowed"), "it judges by the profile that was replaced")
		return verdict, err
	}).Should(ContainSubstring("fp-pool-1"))
	Eventually(deaf.failing).WithArguments("readyz").Should(BeEmpty())
	Eventually(func(expect Gomega) {
		log := deaf.log()
		expect.Expect(log).To(ContainSubstring(ends))
		expect.Expect(strings.Count(log, begins)).To(Equal(strings.Count(log, ends)))
		expect.Expect(scrape(ctx, address).value("silence_seconds")).To(BeNumerically("<", 15))
	}).Should(Succeed())
})
