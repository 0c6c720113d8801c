// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package faults

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// soakTime is the minimum duration of the soak, which ends after a whole round.
var soakTime = flag.Duration("soak", 0, "how long the soak goes on, of which there is one round at least")

// raced is the name of a CloudProfile that several clients write concurrently.
const raced = "soak-raced"

// soak combines all faults for any length of time. Clients write valid and invalid objects, some of them concurrently. An attacker writes
// objects that are expensive to validate. Others send forged requests to the replicas. Replicas are killed, and certificates renewed.
type soak struct {
	*load
	replicas []*replica
	forger   *http.Client
	begin    time.Time
	harms    []hostility

	mu      sync.Mutex
	answers map[string]int // to forged requests
	attacks map[string]int // by answer
	judged  int            // versions of stored objects
	sizes   []size
}

// size is the memory of a replica's process at some time, and its peak until then.
type size struct {
	at           time.Duration
	replica, pid int
	bytes, most  int
}

func init() { pause = 5 * time.Millisecond }

var _ = Describe("Replicas that are killed, renewed and attacked", Label("slow"), func() {
	It("let nothing wrong pass, show no secret, live on and keep their size", func(ctx SpecContext) {
		replicas := []*replica{newReplica(often), newReplica(often)}
		serve(ctx, replicas...)
		s := startSoak(ctx, replicas)
		for i := 0; i == 0 || time.Now().Before(s.begin.Add(*soakTime)); i++ {
			victim := replicas[0] // the other one survives the second half, so its memory can be judged
			if time.Now().Before(s.begin.Add(*soakTime / 2)) {
				victim = replicas[i%2]
			}
			s.round(ctx, i, victim)
		}
		Eventually(s.attacked).WithArguments(s.harms).Should(BeTrue(), "each attack is answered")
		problems := s.problemsAtTheEnd(ctx)
		for i, r := range replicas {
			if strings.Contains(r.log(), hidden) {
				problems = append(problems, fmt.Sprintf("a secret is in the log of replica %d", i))
			}
			select {
			case <-r.process.Done():
				problems = append(problems, fmt.Sprintf("replica %d has ended", i))
			default:
			}
		}
		problems = append(problems, s.growth()...)
		AddReportEntry("soak", s.report(problems), ReportEntryVisibilityNever)
		GinkgoWriter.Println(s.report(problems))
		Expect(problems).To(BeEmpty())
	})
})

// startSoak starts the clients: four write objects of their own, two the same CloudProfile, one Secrets, one expensive
// objects. Another sends requests to the replicas themselves.
func startSoak(ctx context.Context, replicas []*replica) *soak {
	GinkgoHelper()
	Expect(g.Client().Create(ctx, credentials("soak", ""))).To(Or(Succeed(), MatchError(apierrors.IsAlreadyExists, "exists")))
	Expect(g.Client().Create(ctx, profiles.fresh(raced))).To(Succeed())
	s := &soak{
		load: startLoad(2, 2), replicas: replicas, begin: time.Now(), answers: map[string]int{}, attacks: map[string]int{}, harms: hostilities(),
		forger: &http.Client{Timeout: time.Minute, Transport: &http.Transport{ // it accepts any server certificate
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
		}},
	}
	s.tidy.Store(true)
	for i := range 2 {
		repeatCounting(func(n int) { s.race(2*n + i) })
	}
	repeatCounting(s.writeSecret)
	repeatCounting(func(n int) { s.attack(s.harms[n%len(s.harms)], n/len(s.harms)%2 == 0) })
	forged := s.forged()
	repeatCounting(func(n int) { s.forge(replicas[n%2], forged[n/2%len(forged)]) })
	repeat(1, time.Second, func() error { s.measure(); return nil })
	for _, k := range kinds {
		s.judge(k)
	}
	return s
}

// repeatCounting repeats do with short pauses until the spec ends, and passes it the number of earlier runs.
func repeatCounting(do func(n int)) {
	n := 0
	repeat(1, 5*time.Millisecond, func() error {
		do(n)
		n++
		return nil
	})
}

// round kills and restarts a replica, and renews a certificate.
func (s *soak) round(ctx context.Context, i int, victim *replica) {
	GinkgoHelper()
	s.enter(fmt.Sprintf("%d: both up", i))
	s.await(ctx)
	Expect(victim.process.Done()).NotTo(BeClosed(), "it has not ended by itself")
	killing := fmt.Sprintf("down, %d: killing", i)
	s.enter(killing)
	Expect(victim.process.Kill()).To(Succeed())
	Eventually(entrance.leads).WithArguments(victim).Should(BeFalse())
	passed := func() int {
		return s.number(func(c counter) bool { return c.phase == killing && !c.bad && c.outcome == accepted })
	}
	Eventually(passed).Should(BeNumerically(">=", passed()+5), s.summary)
	s.enter(fmt.Sprintf("%d: one up", i))
	s.await(ctx)
	victim.start(ctx)
	s.enter(fmt.Sprintf("%d: renewing", i))
	renew(ctx, []string{authorityName, serverName}[i%2])
	for _, r := range s.replicas {
		Eventually(func() bool { return serves(r, newest(ctx, serverName)) }).Should(BeTrue())
	}
	s.await(ctx)
}

// race changes a CloudProfile that others also change. The API server applies the patch to the stored version.
func (s *soak) race(n int) {
	profile, bad := profiles.fresh(raced), n%4 >= 2
	profiles.vary(profile, n)
	if bad {
		profiles.spoil(profile)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{
		"providerConfig": profile.(*v1beta1.CloudProfile).Spec.ProviderConfig}})
	Expect(err).NotTo(HaveOccurred())
	began := s.current()
	err = writing.Patch(context.Background(), profile, client.RawPatch(types.MergePatchType, patch))
	if !apierrors.IsConflict(err) { // concurrent writes can win repeatedly
		s.count(counter{"", "CloudProfile of several", "patch", bad, ""}, began, profile.GetName(), err)
	}
}

// credentials returns a Secret whose password ends with end.
func credentials(name, end string) *corev1.Secret {
	secret := &corev1.Secret{StringData: map[string]string{
		"domainName": "example", "tenantName": "orchard", "username": "gardener", "password": hidden + end,
	}}
	secret.Namespace, secret.Name = "garden-orchard", name
	secret.Labels = map[string]string{"provider.shoot.gardener.cloud/openstack": "true"}
	return secret
}

// writeSecret changes a Secret. Every second password ends with a line break.
func (s *soak) writeSecret(n int) {
	bad := n%2 == 1
	secret := credentials("soak", fmt.Sprint(n))
	if bad {
		secret = credentials("soak", "\n")
	}
	began := s.current()
	err := writing.Update(context.Background(), secret)
	s.count(counter{"", "Secret", "update", bad, ""}, began, secret.Name, err)
}

// forgery is a forged request.
type forgery struct {
	name, webhook string
	body          []byte
	want          string // a part of the answer
}

// forged returns requests that do not come from an API server.
func (s *soak) forged() []forgery {
	GinkgoHelper()
	binding := &securityv1alpha1.CredentialsBinding{CredentialsRef: corev1.ObjectReference{
		APIVersion: "v1", Kind: "Secret", Namespace: "garden-orchard", Name: "soak"}}
	binding.APIVersion, binding.Kind = "security.gardener.cloud/v1alpha1", "CredentialsBinding"
	binding.Name, binding.Namespace = "forged", "garden-of-nobody"
	binding.Provider.Type = "openstack"
	secret := credentials("forged", "")
	secret.APIVersion, secret.Kind = "v1", "Secret"
	secret.Data = map[string][]byte{"password": []byte(hidden + "\n")}
	profile, wrong := profiles.fresh("forged"), profiles.spoilt("forged")
	return []forgery{
		{"good", "validate-cloudprofile", review(profile), `"allowed":true`},
		{"bad", "validate-cloudprofile", review(wrong), `"allowed":false`},
		{"bad Shoot", "validate-shoot", review(shoots.spoilt("forged")), `"allowed":false`},
		{"binding to another's Secret", "validate-credentialsbinding", review(binding), `"allowed":true`},
		{"bad Secret", "validate-secret", review(secret), `"allowed":false`},
		{"another kind", "validate-shoot", review(secret), `"allowed":false`},
		{"YAML", "validate-secret", []byte("kind: AdmissionReview\npassword: " + hidden), "JSON"},
		{"garbage", "validate-secret", []byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","` + hidden), ""},
		{"many values", "validate-cloudprofile", bytes.Replace(review(profile), []byte(`"machineTypes":[`),
			[]byte(`"machineTypes":[`+strings.Repeat("{},", 400_000)), 1), "values"},
	}
}

func (s *soak) forge(r *replica, f forgery) {
	outcome := "as it should be"
	response, err := s.forger.Post("https://"+r.Address+"/webhooks/"+f.webhook, "application/json", bytes.NewReader(f.body))
	var text []byte
	if err == nil {
		text, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
	}
	switch {
	case err != nil:
		outcome = "none: the replica was down"
	case response.StatusCode == http.StatusServiceUnavailable || response.StatusCode == http.StatusRequestTimeout:
		outcome = "none: the replica was busy"
	case strings.Contains(string(text), hidden):
		s.note(fmt.Sprintf("a secret is in the answer to %s: %s", f.name, text))
	case !strings.Contains(string(text), f.want):
		s.note(fmt.Sprintf("%s, forged, was answered with %s %s", f.name, response.Status, text))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[f.name+" | "+outcome]++
}

// judge checks every stored version of the objects of a kind, including short-lived ones.
func (s *soak) judge(k *kind) {
	GinkgoHelper()
	watcher, err := client.NewWithWatch(g.RESTConfig(), client.Options{Scheme: g.Client().Scheme()})
	Expect(err).NotTo(HaveOccurred())
	look := func(stored runtime.Object) error {
		object := stored.(client.Object)
		ours := strings.HasPrefix(object.GetName(), s.name+"-") || object.GetName() == raced
		if errs := k.errors(object); ours && len(errs) > 0 {
			s.note(fmt.Sprintf("%s %s was stored, though %v", k.name, object.GetName(), errs))
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.judged++
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	repeat(1, probePeriod, func() error { // servers end watches after some time
		list := k.list()
		if err := watcher.List(ctx, list); err != nil {
			return err
		}
		_ = meta.EachListItem(list, look)
		version, _ := meta.NewAccessor().ResourceVersion(list)
		changes, err := watcher.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}})
		if err != nil {
			return err
		}
		for change := range changes.ResultChan() {
			if change.Type == watch.Added || change.Type == watch.Modified {
				_ = look(change.Object)
			}
		}
		return nil
	})
	DeferCleanup(cancel) // before waiting for the repetition
}

// measure records the memory of the replicas.
func (s *soak) measure() {
	for i, r := range s.replicas {
		pid := r.pid.Load()
		bytes, err := statusOf(int(pid), "VmRSS")
		most, alsoErr := statusOf(int(pid), "VmHWM")
		if err != nil || alsoErr != nil {
			continue // it has ended
		}
		s.mu.Lock()
		s.sizes = append(s.sizes, size{time.Duration(time.Now().UnixNano() - s.begin.UnixNano()), i, int(pid), bytes, most})
		s.mu.Unlock()
	}
}

// enoughSizes is the minimum number of sizes to judge a process by: some minutes' worth.
const enoughSizes = 120

// mostGrowth is the growth of a replica that is not a leak. A replica takes 80 MiB before the API server connects to it,
// because all connections go to the other one. Under load it takes 110 MiB, and up to 190 MiB with garbage.
const mostGrowth = 64 << 20

// growth returns problems with the memory of replicas. They may not use more than in floods. For each process that lived
// long enough, it splits the sizes after the first quarter in two halves. The later half's median may exceed the earlier
// one's by a fifth, or by mostGrowth.
func (s *soak) growth() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lives, most := map[int][]int{}, 0
	for _, size := range s.sizes {
		lives[size.pid] = append(lives[size.pid], size.bytes)
		most = max(most, size.most)
	}
	var problems []string
	if most > mostMemory {
		problems = append(problems, fmt.Sprintf("a replica used %d MiB", most>>20))
	}
	for _, life := range lives {
		if len(life) < enoughSizes {
			continue
		}
		life = life[len(life)/4:]
		earlier, later := middle(life[:len(life)/2]), middle(life[len(life)/2:])
		GinkgoWriter.Printf("a replica that lived for %d looks had %d MiB, then %d MiB\n", len(life), earlier>>20, later>>20)
		if later > earlier+max(earlier/5, mostGrowth) {
			problems = append(problems, fmt.Sprintf("a replica grew from %d to %d MiB", earlier>>20, later>>20))
		}
	}
	return problems
}

func middle(of []int) int {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// report summarizes the soak.
func (s *soak) report(problems []string) string {
	s.load.mu.Lock()
	writes := map[string]int{}
	for c, n := range s.counts {
		sort := "good"
		if c.bad {
			sort = "bad"
		}
		writes[fmt.Sprintf("%s | %s | %s | %s", c.kind, c.action, sort, c.outcome)] += n
	}
	s.load.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	table := func(head string, rows map[string]int) {
		fmt.Fprintf(&b, "\n%s | number\n", head)
		for _, row := range slices.Sorted(maps.Keys(rows)) {
			fmt.Fprintf(&b, "%s | %d\n", row, rows[row])
		}
	}
	table("writes: kind | action | sort | outcome", writes)
	table("forged requests | answer", s.answers)
	table("much work | answer", s.attacks)
	limit := "none, but garbage is collected as with 1 GiB"
	if s.replicas[0].confined {
		limit = "1 GiB, by a control group"
	}
	fmt.Fprintf(&b, "\nversions of objects that were stored and judged: %d\nmemory limit of a replica: %s\n", s.judged, limit)
	fmt.Fprint(&b, "\nminute | replica | process | median MiB | most until then\n")
	type cell struct{ minute, replica, pid int }
	cells, most := map[cell][]int{}, map[cell]int{}
	for _, size := range s.sizes {
		c := cell{int(size.at / time.Minute), size.replica, size.pid}
		cells[c] = append(cells[c], size.bytes)
		most[c] = max(most[c], size.most)
	}
	for _, c := range slices.SortedFunc(maps.Keys(cells), func(a, z cell) int {
		return cmp.Or(cmp.Compare(a.minute, z.minute), cmp.Compare(a.replica, z.replica), cmp.Compare(a.pid, z.pid))
	}) {
		fmt.Fprintf(&b, "%d | %d | %d | %d | %d\n", c.minute, c.replica, c.pid, middle(cells[c])>>20, most[c]>>20)
	}
	fmt.Fprintf(&b, "\nproblems: %d (unchecked writes, secrets shown, memory that grew, writes that failed otherwise)\n", len(problems))
	for _, problem := range problems {
		fmt.Fprintf(&b, "- %.2000s\n", problem)
	}
	return b.String()
}
