// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/test/fixtures"
	"github.com/capkit/capkit/test/suite"
)

// writer sends manifests to the API unchanged, with strict field validation. It deletes the objects that it created at the
// end of the spec, so that other fixtures can reuse their names.
type writer struct {
	suite.Hearing
	client  rest.Interface
	created []string // paths
}

func newWriter() *writer {
	GinkgoHelper()
	w := &writer{}
	config := g.RESTConfig()
	config.WarningHandlerWithContext = w
	clients, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	w.client = clients.Discovery().RESTClient()
	DeferCleanup(w.clean)
	return w
}

// path returns the API path of all objects of the document's kind, and of its own object.
func path(d *fixtures.Document) (all, one string) {
	all = "/apis/" + d.APIVersion
	if d.Namespace != "" {
		all += "/namespaces/" + d.Namespace
	}
	all += "/" + strings.ToLower(d.Kind) + "s"
	return all, all + "/" + d.Name
}

// write creates or updates the object of a manifest. If dry is set, nothing is stored.
type write func(ctx context.Context, d *fixtures.Document, dry bool) *fixtures.Answer

// create creates the object of a manifest. It waits until Gardener has rendered a NamespacedCloudProfile, because Shoots need its status.
func (w *writer) create(ctx context.Context, d *fixtures.Document, dry bool) *fixtures.Answer {
	GinkgoHelper()
	all, one := path(d)
	request := w.client.Post().AbsPath(all).SetHeader("Content-Type", "application/yaml").Body(d.Text)
	answer := w.send(ctx, request, dry)
	if answer.Status != nil || dry {
		return answer
	}
	w.created = append(w.created, one)
	if d.Kind == "NamespacedCloudProfile" {
		Eventually(ctx, func(g Gomega) {
			object := w.get(ctx, one)
			observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
			g.Expect(observed).To(Equal(object.GetGeneration()))
		}).Should(Succeed())
	}
	return answer
}

// update replaces the object of a manifest, and retries on conflicts.
func (w *writer) update(ctx context.Context, d *fixtures.Document, dry bool) *fixtures.Answer {
	GinkgoHelper()
	_, one := path(d)
	for {
		object, stored := &unstructured.Unstructured{}, w.get(ctx, one)
		Expect(yaml.Unmarshal(d.Text, &object.Object)).To(Succeed())
		object.SetResourceVersion(stored.GetResourceVersion())
		object.SetFinalizers(stored.GetFinalizers())
		body, err := json.Marshal(object)
		Expect(err).NotTo(HaveOccurred())
		answer := w.send(ctx, w.client.Put().AbsPath(one).SetHeader("Content-Type", "application/json").Body(body), dry)
		if answer.Status == nil || answer.Status.Reason != metav1.StatusReasonConflict {
			return answer
		}
	}
}

func (w *writer) send(ctx context.Context, request *rest.Request, dry bool) *fixtures.Answer {
	GinkgoHelper()
	w.Heard()
	if dry {
		request = request.Param("dryRun", metav1.DryRunAll)
	}
	err := request.Param("fieldValidation", "Strict").Do(ctx).Error()
	answer := &fixtures.Answer{Warnings: w.Heard()}
	var refusal apierrors.APIStatus
	if errors.As(err, &refusal) {
		status := refusal.Status()
		answer.Status = &status
	} else {
		Expect(err).NotTo(HaveOccurred())
	}
	return answer
}

func (w *writer) get(ctx context.Context, path string) *unstructured.Unstructured {
	GinkgoHelper()
	raw, err := w.client.Get().AbsPath(path).DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{}
	Expect(object.UnmarshalJSON(raw)).To(Succeed())
	return object
}

// clean deletes the created objects, and waits until they are gone.
func (w *writer) clean(ctx context.Context) {
	for _, path := range slices.Backward(w.created) {
		if strings.Contains(path, "/shoots/") {
			confirm := []byte(`{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}`)
			Expect(w.client.Patch("application/merge-patch+json").AbsPath(path).Body(confirm).Do(ctx).Error()).To(Succeed())
		}
		Expect(w.client.Delete().AbsPath(path).Do(ctx).Error()).To(Succeed())
		Eventually(ctx, func() error { return w.client.Get().AbsPath(path).Do(ctx).Error() }).
			Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
	}
}

// must writes an object that has to be accepted without a warning.
func (w *writer) must(ctx context.Context, write write, d *fixtures.Document) {
	GinkgoHelper()
	// The servers may not have seen earlier writes yet, such as an object of the same name from a spec that has ended.
	Eventually(ctx, func() string { return write(ctx, d, true).String() }).Should(Equal("accepted"), d.Object())
	Expect(write(ctx, d, false).String()).To(Equal("accepted"), d.Object())
}

// expect writes an object, and requires the answer that the findings imply.
func (w *writer) expect(ctx context.Context, write write, d *fixtures.Document, findings []fixtures.Finding) *fixtures.Answer {
	GinkgoHelper()
	// Nothing is stored until the servers have seen earlier writes.
	Eventually(ctx, func() error { return write(ctx, d, true).Agrees(findings) }).Should(Succeed(), d.Object())
	answer := write(ctx, d, false)
	Expect(answer.Agrees(findings)).To(Succeed(), d.Object())
	return answer
}

func allFixtures() []fixtures.Fixture {
	all, err := fixtures.All(root)
	if err != nil {
		panic(err)
	}
	return all
}

func documentsIn(file string) []fixtures.Document {
	GinkgoHelper()
	documents, err := fixtures.Documents(file)
	Expect(err).NotTo(HaveOccurred())
	return documents
}

var _ = Describe("Whoever writes a fixture to the API is told what the command says:", func() {
	for _, f := range allFixtures() {
		if fixtures.OfflineOnly[f.Name] == "" && servedHere(&f) {
			It(f.Name, func(ctx SpecContext) { compare(ctx, &f) })
		}
	}
})

// servedHere reports whether this suite's component validates a fixture, or no component does.
func servedHere(f *fixtures.Fixture) bool {
	return f.Cloud == components.OpenStack.Type || !slices.Contains(components.Types(), f.Cloud)
}

func compare(ctx context.Context, f *fixtures.Fixture) {
	GinkgoHelper()
	report, err := f.Report()
	Expect(err).NotTo(HaveOccurred())
	documents, err := f.Documents()
	Expect(err).NotTo(HaveOccurred())
	w := newWriter()
	var before []fixtures.Document
	if f.Before != "" {
		before = documentsIn(f.Before)
	}
	for i := range before {
		Expect(w.create(ctx, &before[i], false).Status).To(BeNil(), before[i].Object())
	}
	var refused []string // profiles
	for i := range documents {
		d, write := &documents[i], w.create
		if d.Kind == "" {
			continue // it has no API path
		}
		if k := slices.IndexFunc(before, func(b fixtures.Document) bool { return b.Object() == d.Object() }); k >= 0 {
			if sameYAML(before[k].Text, d.Text) {
				continue // an update without a change gets no warnings
			}
			write = w.update
		}
		// Objects that refer to a refused profile cannot exist either.
		if len(refused) > 0 && slices.ContainsFunc(refused, write(ctx, d, true).NotFound) {
			continue
		}
		second := slices.ContainsFunc(documents[:i], func(other fixtures.Document) bool { return other.Object() == d.Object() })
		if answer := w.expect(ctx, write, d, fixtures.About(report, d, second)); answer.Status != nil {
			refused = append(refused, d.Name)
		}
	}
}

func sameYAML(a, b []byte) bool {
	GinkgoHelper()
	x, err := yaml.YAMLToJSON(a)
	Expect(err).NotTo(HaveOccurred())
	y, err := yaml.YAMLToJSON(b)
	Expect(err).NotTo(HaveOccurred())
	return slices.Equal(x, y)
}
