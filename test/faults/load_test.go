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
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// outcome is what became of a write.
type outcome string

const (
	accepted outcome = "accepted"
	// denied: the component was asked, and refused.
	denied outcome = "denied"
	// unavailable: the API server could not ask the component, and refused.
	unavailable outcome = "unavailable"
)

// counter says what is counted: writes that began and ended in one phase of a test.
type counter struct {
	phase, kind, action string
	bad                 bool
	outcome             outcome
}

// load is a number of writers that create and update objects which are right and objects which are not, without an end.
type load struct {
	name    string
	writers sync.WaitGroup
	cancel  context.CancelFunc

	mu       sync.Mutex
	phase    string
	counts   map[counter]int
	problems []string
	// failed are the kinds and names of objects whose creation the API server refused because it could not ask.
	failed map[string]bool
}

// loads counts the loads, so that each has objects of its own. The names of Shoots must be short.
var loads atomic.Int32

// startLoad starts writers: so many for each kind.
func startLoad(t *testing.T, writers map[*kind]int) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{name: fmt.Sprintf("w%d", loads.Add(1)), cancel: cancel, phase: "beginning", counts: map[counter]int{}, failed: map[string]bool{}}
	for k, number := range writers {
		for i := range number {
			l.writers.Go(func() { l.write(ctx, k, fmt.Sprintf("%s-%d", l.name, i)) })
		}
	}
	t.Cleanup(l.stop)
	return l
}

func (l *load) stop() {
	l.cancel()
	l.writers.Wait()
}

// write is what one writer does: in turns it creates and updates, something right and something wrong.
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
		if errs := k.errors(object); bad == (len(errs) == 0) {
			l.note(fmt.Sprintf("%s of %s %s (bad: %t) while %s: the object is not what it should be: %v", action, k.name, object.GetName(), bad, l.current(), errs))
			return
		}
		// No write is broken off, which would leave open what became of it.
		before := l.current()
		err := perform(action, object)
		if apierrors.IsConflict(err) { // Gardener has added its finalizer
			if err := writing.Get(ctx, client.ObjectKeyFromObject(stored), stored); err != nil {
				stored = nil
			}
			continue
		}
		if err == nil && !bad && (stored == nil || action == "update") {
			stored = object
		}
		l.count(counter{before, k.name, action, bad, ""}, object.GetName(), err)
		time.Sleep(5 * time.Millisecond)
	}
}

func perform(action string, object client.Object) error {
	if action == "create" {
		return writing.Create(context.Background(), object)
	}
	return writing.Update(context.Background(), object)
}

// note takes down a problem.
func (l *load) note(problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, problem)
}

// count counts a write that has ended.
func (l *load) count(c counter, name string, err error) {
	switch {
	case err == nil:
		c.outcome = accepted
	case apierrors.IsInvalid(err):
		c.outcome = denied
	case apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook"):
		c.outcome = unavailable
	default:
		c.outcome = outcome(err.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	what := fmt.Sprintf("%s of %s %s (bad: %t) while %s: %v", c.action, c.kind, name, c.bad, c.phase, err)
	switch c.outcome {
	case accepted, denied:
		if c.bad == (c.outcome == accepted) {
			l.problems = append(l.problems, what)
		}
	case unavailable:
		if c.action == "create" {
			l.failed[c.kind+name] = true
		}
		if !strings.HasPrefix(c.phase, "down") && !strings.HasPrefix(l.phase, "down") {
			l.problems = append(l.problems, what)
		}
	default:
		l.problems = append(l.problems, what)
	}
	if c.phase == l.phase {
		l.counts[c]++
	}
}

func (l *load) current() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.phase
}

// enter begins a phase. In one whose name begins with "down" the component may be unavailable.
func (l *load) enter(phase string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = phase
}

// await waits until there were so many writes of each sort in the present phase: creations and updates, right and wrong.
func (l *load) await(t *testing.T, kinds []*kind, most int) {
	t.Helper()
	phase := l.current()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		for _, k := range kinds {
			for _, action := range []string{"create", "update"} {
				for _, bad := range []bool{false, true} {
					if l.number(func(c counter) bool {
						return c.phase == phase && c.kind == k.name && c.action == action && c.bad == bad
					}) < most {
						return false, nil
					}
				}
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("while %s: %v; %s", phase, err, l.summary())
	}
}

// number is how many writes are of some sort.
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

// verify stops the writers and returns everything that went wrong: writes that should have ended in another way, and
// stored objects that should not be there. That is for the caller to judge.
func (l *load) verify(t *testing.T, kinds []*kind) []string {
	t.Helper()
	l.stop()
	t.Log(l.summary())
	problems := l.problems
	for _, k := range kinds {
		list := k.list()
		if err := g.Client().List(context.Background(), list); err != nil {
			t.Fatal(err)
		}
		number := 0
		err := meta.EachListItem(list, func(item runtime.Object) error {
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
		})
		if err != nil {
			t.Fatal(err)
		}
		if number == 0 {
			problems = append(problems, "no "+k.name+" is stored")
		}
	}
	return problems
}
