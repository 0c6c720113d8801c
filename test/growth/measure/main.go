// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command measure counts what the webhooks of some clouds' admission components do for objects that grow: each list and each object
// in them, in each mode, and lists together. Its arguments are the types of the clouds. It writes a [growth.Row] for each place and
// mode as a line of JSON. It has to be compiled with counters, see package growth.
//
// Start reading at [meter.all]. What grows is in objects.go, how it grows in grow.go, and what is counted in work.go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/test/growth"
)

func main() {
	log.SetLogger(logr.Discard())
	out := bufio.NewWriter(os.Stdout)
	defer func() { _ = out.Flush() }()
	for i := range clouds {
		if slices.Contains(os.Args[1:], clouds[i].name) {
			m := &meter{t: fatal{}, cloud: &clouds[i], out: json.NewEncoder(out)}
			m.all()
		}
	}
}

// fatal stands in for a test, in what reads the examples and makes webhooks.
type fatal struct{ testing.TB }

func (fatal) Helper() {}

func (fatal) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}

// meter measures for a cloud.
type meter struct {
	t     testing.TB
	cloud *cloud
	out   *json.Encoder
}

// grow is a place with the mode in which it grows.
type grow struct {
	at  place
	how mode
}

// all measures all objects, each created and updated.
func (m *meter) all() {
	handlers := m.cloud.handlers(m.t, m.cloud.garden(m.t))
	for _, o := range m.cloud.objects(m.t) {
		for _, hook := range o.webhooks() {
			handler := handlers[hook]
			if handler == nil { // of credentials, which not every cloud checks
				continue
			}
			w := webhook{m, &o, hook, handler}
			w.must()
			w.ask(true)                                                       // what is kept is not counted
			if strings.HasPrefix(hook, "mutate-") && hook != "mutate-shoot" { // it asks nothing about what is stored
				w.alone(false)
				continue
			}
			if !o.cloudsOwn {
				w.alone(false)
			}
			w.alone(true) // which judges both versions, as it does what is created
			w.together()
		}
	}
	m.shootsOfGrown()
	m.managersOfGrown()
	m.soundAndGrown()
}

// webhook is one that is asked about an object.
type webhook struct {
	*meter
	object  *object
	name    string
	handler admission.Handler
}

// must ends the program unless the webhook has looked at the object as it is: what cannot be decoded costs nothing.
func (w *webhook) must() {
	response := w.handler.Handle(context.Background(), w.request(w.marshal(), false))
	if result := response.Result; result != nil && result.Code != 0 && result.Code != 200 && result.Code != 422 {
		w.t.Fatal(w.name, "of", w.object.name, "answers:", result.Message)
	}
}

// alone grows every place alone.
func (w *webhook) alone(update bool) {
	for _, at := range w.object.places() {
		for _, how := range modesOf(at.in(w.object.document)) {
			w.write(update, grow{at, how})
		}
	}
}

// together grows every two lists that the webhook does something for, on creation.
func (w *webhook) together() {
	base := w.ask(false)
	var lists []place
	for _, at := range w.object.places() {
		if _, isList := at.in(w.object.document).([]any); isList && w.looksAt(base, at) {
			lists = append(lists, at)
		}
	}
	for i, first := range lists {
		for _, second := range lists[i+1:] {
			for _, how := range []mode{unique, near} {
				if !first.within(second) && !second.within(first) {
					w.write(false, grow{first, how}, grow{second, how})
				}
			}
		}
	}
}

// looksAt reports whether the webhook does more for a list that is longer.
func (w *webhook) looksAt(base growth.Cost, at place) bool {
	grown := w.asked(false, growth.Sizes[0], grow{at, unique})
	return grown.Blocks-base.Blocks > 3*int64(growth.Sizes[0])
}

// write writes a row about places that grow.
func (w *webhook) write(update bool, grows ...grow) {
	operation := "create"
	if update {
		operation = "update"
	}
	what := []string{w.cloud.name, w.object.name, w.name, operation}
	for _, g := range grows {
		what = append(what, g.at.String(), string(g.how))
	}
	w.row(strings.Join(what, " "), len(grows), func(n int) growth.Cost { return w.asked(update, n, grows...) })
}

// row writes what something costs in each size.
func (m *meter) row(what string, lists int, cost func(n int) growth.Cost) {
	row := growth.Row{What: what, Lists: lists}
	for i, n := range growth.Sizes {
		row.Costs[i] = cost(n)
	}
	if err := m.out.Encode(row); err != nil {
		m.t.Fatal(err)
	}
}

// asked asks about the object with n more elements or members at the places, and leaves it as it was.
func (w *webhook) asked(update bool, n int, grows ...grow) growth.Cost {
	before := make([]any, 0, len(grows))
	for _, g := range grows {
		was := g.at.in(w.object.document)
		before = append(before, was)
		g.at.set(w.object.document, grown(was, g.how, n))
	}
	cost := w.ask(update)
	for i, g := range grows {
		g.at.set(w.object.document, before[i])
	}
	return cost
}

// ask asks about the object as it is: about its creation, or about an update that changes a field of it.
func (w *webhook) ask(update bool) growth.Cost {
	request := w.request(w.marshal(), update)
	return w.count(func() { w.handler.Handle(context.Background(), request) })
}

// request returns the request to write a document.
func (w *webhook) request(document []byte, update bool) admission.Request {
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Kind: w.object.kind, SubResource: w.object.subresource,
		Name: "x", Namespace: "garden-demo", Object: runtime.RawExtension{Raw: document},
	}}
	if update {
		request.Operation, request.OldObject = admissionv1.Update, request.Object
		w.object.change.set(w.object.document, "changed")
		request.Object.Raw = w.marshal()
		w.object.change.set(w.object.document, "")
	}
	return request
}

func (w *webhook) marshal() []byte {
	raw, err := json.Marshal(w.object.document)
	if err != nil {
		w.t.Fatal(err)
	}
	return raw
}

func (m *meter) count(work func()) growth.Cost {
	cost, err := costOf(work)
	if err != nil {
		m.t.Fatal(err)
	}
	return cost
}

// shootsOfGrown grows a Shoot's pools together with the lists of the NamespacedCloudProfile that it uses, both of which the members
// of a project may write. The profile is compiled before.
func (m *meter) shootsOfGrown() {
	child := m.cloud.child(m.t)
	spec := asMap(m.t, child)["spec"].(map[string]any)
	for _, o := range m.cloud.objects(m.t) {
		if o.kind.Kind != "Shoot" {
			continue
		}
		profile := map[string]any{"kind": child.Kind, "name": child.Name}
		place{"spec", "cloudProfile"}.set(o.document, profile)
		pools := place{"spec", "provider", "workers"}
		for _, at := range placesIn(spec, nil) {
			if _, isList := at.in(spec).([]any); !isList || len(at) != 1 && at[0] != "machineImages" {
				continue
			}
			for _, how := range []mode{unique, near} {
				for _, hook := range o.webhooks() {
					m.row(fmt.Sprintf("%s %s %s %s with pools %s", m.cloud.name, o.name, hook, at, how), 2, func(n int) growth.Cost {
						w := webhook{m, &o, hook, m.with(at, how, n)[hook]}
						w.ask(false)
						return w.asked(false, n, grow{pools, how})
					})
				}
			}
		}
	}
}

// with returns the webhooks of a garden whose NamespacedCloudProfile has n more elements in a list of its spec.
func (m *meter) with(at place, how mode, n int) map[string]admission.Handler {
	g := m.cloud.garden(m.t)
	document := asMap(m.t, g.Child)
	spec := document["spec"].(map[string]any)
	at.set(spec, grown(at.in(spec), how, n))
	raw, err := json.Marshal(document)
	if err == nil {
		err = json.Unmarshal(raw, g.Child)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return m.cloud.handlers(m.t, g)
}

// managersOfGrown grows a Shoot's pools, whose image does not boot, together with the managers of its fields, which may be those of an
// apply: whoever writes a Shoot names them.
func (m *meter) managersOfGrown() {
	for _, o := range m.cloud.objects(m.t) {
		if o.kind.Kind != "Shoot" {
			continue
		}
		pools, managers := place{"spec", "provider", "workers"}, place{"metadata", "managedFields"}
		pool := pools.in(o.document).([]any)[0].(map[string]any)
		pool["machine"] = map[string]any{"type": "unknown", "image": place{"machine", "image"}.in(pool)}
		delete(pool, "providerConfig")
		managers.set(o.document, []any{map[string]any{"manager": "m", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{
			"f:spec": map[string]any{"f:provider": map[string]any{"f:workers": map[string]any{}}}}}})
		w := webhook{m, &o, "mutate-shoot", m.cloud.handlers(m.t, m.cloud.garden(m.t))["mutate-shoot"]}
		w.ask(false)
		m.row(m.cloud.name+" pools with managers of fields", 1, func(n int) growth.Cost { return w.asked(false, n, grow{pools, unique}, grow{managers, same}) })
	}
}

// soundAndGrown grows machine types together with image versions of a NamespacedCloudProfile that has no error, so that all warnings are
// looked for.
func (m *meter) soundAndGrown() {
	const hook = "validate-namespacedcloudprofile"
	handler := m.cloud.handlers(m.t, m.cloud.garden(m.t))[hook]
	child := m.cloud.child(m.t)
	m.row(m.cloud.name+" machine types with versions, without an error", 1, func(n int) growth.Cost {
		document := asMap(m.t, child)
		for _, g := range []struct {
			at     place
			naming string
		}{
			{place{"spec", "machineTypes"}, "name"},
			{place{"spec", "machineImages", 0, "versions"}, "version"},
			{place{"spec", "providerConfig", "machineImages", 0, "versions"}, "version"},
		} {
			list := g.at.in(document).([]any)
			last := list[len(list)-1].(map[string]any) // of the versions it is the child's own
			for i := range n {
				clone := maps.Clone(last)
				clone[g.naming] = fmt.Sprintf("3000.%d.0", i)
				list = append(list, clone)
			}
			g.at.set(document, list)
		}
		w := webhook{m, &object{kind: metav1.GroupVersionKind(child.GroupVersionKind()), document: document}, hook, handler}
		if response := handler.Handle(context.Background(), w.request(w.marshal(), false)); !response.Allowed {
			m.t.Fatal(response.Result.Message)
		}
		return w.ask(false)
	})
}
