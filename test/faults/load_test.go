// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hidden is part of the credentials that the soak stores or sends, and must not occur in a log or response.
const hidden = "hidden-7d1e-4c02"

// outcome is the result of a write.
type outcome string

const (
	accepted outcome = "accepted"
	// denied means that the component refused the write.
	denied outcome = "denied"
	// unavailable means that the API server could not call the component, and refused.
	unavailable outcome = "unavailable"
)

// enough is the minimum number of writes of each sort in each phase of a spec.
const enough = 2

// pause is the time between two writes of a writer, and between handshakes. The soak takes hardly any.
var pause = 100 * time.Millisecond

// counter is the key of a count of writes that began and ended in one phase of a spec.
type counter struct {
	phase, kind, action string
	bad                 bool
	outcome             outcome
}

// load is a number of writers that continuously create and update valid and invalid objects.
type load struct {
	name    string
	writers sync.WaitGroup
	cancel  context.CancelFunc
	// tidy makes writers delete all created objects except their first, which bounds the number of objects.
	tidy atomic.Bool

	mu       sync.Mutex
	phases   []string // the current one last
	counts   map[counter]int
	problems []string
	// failed has the kinds and names of objects whose creation the API server refused because it could not call the component.
	failed map[string]bool
}

// loads counts the loads, to give each its own object names. The names of Shoots must be short.
var loads atomic.Int32

// startLoad starts this many writers for each kind.
func startLoad(ofProfiles, ofShoots int) *load {
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{name: fmt.Sprintf("w%d", loads.Add(1)), cancel: cancel, counts: map[counter]int{}, failed: map[string]bool{}}
	l.enter("beginning")
	for k, writers := range map[*kind]int{&profiles: ofProfiles, &shoots: ofShoots} {
		for i := range writers {
			l.writers.Go(func() {
				defer GinkgoRecover()
				l.write(ctx, k, fmt.Sprintf("%s-%d", l.name, i))
			})
		}
	}
	DeferCleanup(l.stop)
	return l
}

func (l *load) stop() {
	l.cancel()
	l.writers.Wait()
}

// write is the loop of one writer: in turns it creates and updates valid and invalid objects.
func (l *load) write(ctx context.Context, k *kind, name string) {
	var stored client.Object
	for n := 0; ctx.Err() == nil; n++ {
		bad, action := n%2 == 1, "create"
		object := k.fresh(fmt.Sprintf("%s-%d", name, n))
		if stored != nil && n%4 >= 2 {
			action = "update"
			object = stored.DeepCopyObject().(client.Object)
		}
		k.vary(object, n)
		if bad {
			k.spoil(object)
			object.SetLabels(map[string]string{badLabel: "true"})
		}
		if errs := k.errors(object); bad == (len(errs) == 0) { // the stored object may already be invalid
			l.note(fmt.Sprintf("%s of %s %s (bad: %t): the object is not what it should be: %v", action, k.name, object.GetName(), bad, errs))
			return
		}
		// Writes are never cancelled, because their outcome would be unknown.
		began := l.current()
		err := perform(action, object)
		if apierrors.IsConflict(err) { // Gardener has added its finalizer
			if err := writing.Get(ctx, client.ObjectKeyFromObject(stored), stored); err != nil {
				stored = nil
			}
			continue
		}
		switch {
		case err != nil || bad:
		case stored == nil || action == "update":
			stored = object
		case l.tidy.Load():
			l.remove(k, object)
		}
		l.count(counter{"", k.name, action, bad, ""}, began, object.GetName(), err)
		time.Sleep(pause)
	}
}

// remove deletes an object together with its finalizers, which no controller removes here.
func (l *load) remove(k *kind, object client.Object) {
	ctx, patch := context.Background(), `{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}`
	err := writing.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)))
	if err == nil {
		err = writing.Delete(ctx, object)
	}
	if err == nil {
		patch = `{"metadata":{"finalizers":null}}`
		err = writing.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	if client.IgnoreNotFound(err) != nil && !isUnavailable(err) {
		l.note(fmt.Sprintf("%s %s cannot be removed: %v", k.name, object.GetName(), err))
	}
}

func perform(action string, object client.Object) error {
	if action == "create" {
		return writing.Create(context.Background(), object)
	}
	return writing.Update(context.Background(), object)
}

// note records a problem.
func (l *load) note(problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, problem)
}

// count counts a finished write. began is the number of the phase in which it began.
func (l *load) count(c counter, began int, name string, err error) {
	switch {
	case err == nil:
		c.outcome = accepted
	case apierrors.IsInvalid(err):
		c.outcome = denied
	case isUnavailable(err):
		c.outcome = unavailable
	default:
		c.outcome = outcome(err.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.phase = l.phases[began]
	what := fmt.Sprintf("%s of %s %s (bad: %t) while %s: %v", c.action, c.kind, name, c.bad, c.phase, err)
	if strings.Contains(what, hidden) {
		l.problems = append(l.problems, "a secret is shown: "+what)
	}
	switch c.outcome {
	case accepted, denied:
		if c.bad == (c.outcome == accepted) {
			l.problems = append(l.problems, what)
		}
	case unavailable:
		if c.action == "create" {
			l.failed[c.kind+name] = true
		}
		if !down(l.phases[began:]) {
			l.problems = append(l.problems, what)
		}
	default:
		l.problems = append(l.problems, what)
	}
	if began == len(l.phases)-1 {
		l.counts[c]++
	}
}

// current returns the number of the current phase.
func (l *load) current() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.phases) - 1
}

// mayBeDown reports whether the component may have been unavailable at some time since this phase.
func (l *load) mayBeDown(began int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return down(l.phases[began:])
}

func down(phases []string) bool {
	return slices.ContainsFunc(phases, func(phase string) bool { return strings.HasPrefix(phase, "down") })
}

// enter begins a phase with a new name. In phases whose names begin with "down" the component may be unavailable.
func (l *load) enter(phase string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phases = append(l.phases, phase)
}

// await waits until the current phase has enough writes of each sort: creations and updates, valid and invalid.
func (l *load) await(ctx context.Context) {
	GinkgoHelper()
	phase := l.phases[l.current()]
	for _, k := range kinds {
		for _, action := range []string{"create", "update"} {
			for _, bad := range []bool{false, true} {
				Eventually(l.number).WithContext(ctx).WithArguments(func(c counter) bool {
					return c.phase == phase && c.kind == k.name && c.action == action && c.bad == bad
				}).Should(BeNumerically(">=", enough), l.summary)
			}
		}
	}
}

// number returns the number of matching writes.
func (l *load) number(which func(counter) bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := 0
	for c, n := range l.counts {
		if which(c) {
			sum += n
		}
	}
	return sum
}

func (l *load) summary() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, c := range slices.SortedFunc(maps.Keys(l.counts), func(a, b counter) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}) {
		sort := "good"
		if c.bad {
			sort = "bad"
		}
		lines = append(lines, fmt.Sprintf("%s: %s %s %s %s %d", c.phase, c.action, sort, c.kind, c.outcome, l.counts[c]))
	}
	return strings.Join(lines, "\n")
}

// problemsAtTheEnd stops the writers and returns all problems: writes with a wrong outcome, and stored objects that must not exist.
func (l *load) problemsAtTheEnd(ctx context.Context) []string {
	GinkgoHelper()
	l.stop()
	GinkgoWriter.Println(l.summary())
	problems := l.problems
	for _, k := range kinds {
		list, number := k.list(), 0
		Expect(g.Client().List(ctx, list)).To(Succeed())
		Expect(meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			if !strings.HasPrefix(object.GetName(), l.name+"-") {
				return nil
			}
			number++
			if errs := k.errors(object); len(errs) > 0 || metav1.HasLabel(metav1.ObjectMeta{Labels: object.GetLabels()}, badLabel) {
				problems = append(problems, fmt.Sprintf("%s %s is stored, though %v", k.name, object.GetName(), errs))
			}
			if l.failed[k.name+object.GetName()] {
				problems = append(problems, fmt.Sprintf("%s %s is stored, though its writer was told that it is not", k.name, object.GetName()))
			}
			return nil
		})).To(Succeed())
		Expect(number).To(BeNumerically(">", 0), k.name)
	}
	return problems
}
