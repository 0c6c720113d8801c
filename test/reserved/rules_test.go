// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package reserved

import (
	"context"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/fixtures"
	"github.com/capkit/capkit/test/rules"
)

// write creates or replaces the object of a manifest, and returns the API's answer.
func write(ctx context.Context, d *fixtures.Document) *fixtures.Answer {
	GinkgoHelper()
	object, stored := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	Expect(yaml.Unmarshal(d.Text, &object.Object)).To(Succeed())
	stored.SetGroupVersionKind(object.GroupVersionKind())
	u.Heard()
	err := u.Get(ctx, client.ObjectKeyFromObject(object), stored)
	switch {
	case apierrors.IsNotFound(err):
		err = u.Create(ctx, object)
	case err == nil:
		object.SetFinalizers(stored.GetFinalizers())
		object.SetResourceVersion(stored.GetResourceVersion())
		err = u.Update(ctx, object)
	}
	answer := &fixtures.Answer{Warnings: u.Heard()}
	var refusal apierrors.APIStatus
	if errors.As(err, &refusal) {
		status := refusal.Status()
		answer.Status = &status
	} else {
		Expect(err).NotTo(HaveOccurred())
	}
	return answer
}

// The suite of the admission component has the other fixtures.
var _ = Describe("Whoever writes a fixture for this Gardener is told what the command says, and its repair is accepted:", func() {
	all, err := fixtures.All(root)
	if err != nil {
		panic(err)
	}
	for _, f := range all {
		if !fixtures.IsForLater(f.Name) {
			continue
		}
		It(f.Name, func(ctx SpecContext) {
			documents, err := f.Documents()
			Expect(err).NotTo(HaveOccurred())
			report, err := f.Report()
			Expect(err).NotTo(HaveOccurred())
			Expect(report).To(ContainElement(HaveField("Rule", f.Rule)))
			for i := range documents {
				Expect(write(ctx, &documents[i]).Agrees(fixtures.About(report, &documents[i], false))).To(Succeed(), documents[i].Object())
			}
			archive, err := rules.Read(root, f.Rule)
			Expect(err).NotTo(HaveOccurred())
			text, err := archive.Repaired()
			Expect(err).NotTo(HaveOccurred())
			repaired, err := fixtures.Parse([]byte(text))
			Expect(err).NotTo(HaveOccurred())
			for i := range repaired {
				Eventually(ctx, func() string { return write(ctx, &repaired[i]).String() }).Should(Equal("accepted"), repaired[i].Object())
			}
		})
	}
})
