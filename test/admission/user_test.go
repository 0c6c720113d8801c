// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/suite"
)

// user writes objects with all rights, and collects the warnings.
type user struct {
	client.Client
	suite.Hearing
}

func newUser() *user {
	GinkgoHelper()
	u := &user{}
	config := g.RESTConfig()
	config.WarningHandlerWithContext = u
	var err error
	u.Client, err = client.New(config, client.Options{Scheme: g.Client().Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return u
}

// read decodes the first document of a manifest.
func read[T any](file string) *T {
	GinkgoHelper()
	content, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	object := new(T)
	first, _, _ := strings.Cut(string(content), "\n---")
	Expect(yaml.UnmarshalStrict([]byte(first), object)).To(Succeed(), file)
	return object
}

// openstack returns the example CloudProfile under another name.
func openstack(name string) *v1beta1.CloudProfile {
	GinkgoHelper()
	profile := read[v1beta1.CloudProfile](root + "/example/cloudprofile.yaml")
	profile.Name = name
	return profile
}

// shootOf returns the Shoot of a manifest under another name, for a CloudProfile, with only its first worker pool. Gardener
// maintains it only on request.
func shootOf(file, name, profile string) *v1beta1.Shoot {
	GinkgoHelper()
	s := read[v1beta1.Shoot](file)
	s.Name, s.Spec.CloudProfile.Name = name, profile
	s.Spec.Provider.Workers = s.Spec.Provider.Workers[:1]
	s.Spec.Maintenance = &v1beta1.Maintenance{TimeWindow: garden.LaterToday()}
	return s
}

// shoot returns the example Shoot in the same form as shootOf.
func shoot(name, profile string) *v1beta1.Shoot {
	GinkgoHelper()
	return shootOf(root+"/example/shoot.yaml", name, profile)
}

// operation is a JSON patch operation.
type operation struct {
	Op    string `json:"op"`
	From  string `json:"from,omitempty"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

func replace(path string, value any) operation {
	return operation{Op: "replace", Path: path, Value: value}
}
func add(path string, value any) operation { return operation{Op: "add", Path: path, Value: value} }
func remove(path string) operation         { return operation{Op: "remove", Path: path} }

// flavorAt returns the path of a flavor in the provider config of a profile with one image.
func flavorAt(version, flavor int) string {
	return fmt.Sprintf("%s/capabilityFlavors/%d", versionAt(version), flavor)
}

func versionAt(version int) string { return fmt.Sprintf("/machineImages/0/versions/%d", version) }

// edit applies a JSON patch to a raw config, which need not be valid.
func edit(raw *runtime.RawExtension, operations ...operation) {
	GinkgoHelper()
	encoded, err := json.Marshal(operations)
	Expect(err).NotTo(HaveOccurred())
	patch, err := jsonpatch.DecodePatch(encoded)
	Expect(err).NotTo(HaveOccurred())
	raw.Raw, err = patch.Apply(raw.Raw)
	Expect(err).NotTo(HaveOccurred())
}

// create creates an object that has to be accepted.
func create(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(u.Create(ctx, object)).To(Succeed())
	u.Heard()
}

// change reads an object, changes it and writes it, and retries on conflicts.
func change[P client.Object](ctx context.Context, object P, change func(P)) error {
	GinkgoHelper()
	for {
		Expect(u.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		change(object)
		u.Heard()
		if err := u.Update(ctx, object); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// destroy deletes an object like its owner. No infrastructure exists, so the spec itself removes the finalizers.
func destroy(ctx context.Context, object client.Object) {
	GinkgoHelper()
	if s, ok := object.(*v1beta1.Shoot); ok {
		Expect(change(ctx, s, func(s *v1beta1.Shoot) {
			s.Annotations = map[string]string{"confirmation.gardener.cloud/deletion": "true"}
		})).To(Succeed())
	}
	Expect(u.Delete(ctx, object)).To(Succeed())
	Eventually(ctx, func() error {
		err := u.Get(ctx, client.ObjectKeyFromObject(object), object)
		if err == nil {
			object.SetFinalizers(nil)
			err = u.Update(ctx, object)
		}
		return err
	}).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
}

// causes returns the causes of a denial. It returns an error if err is not the denial of an object.
func causes(err error) ([]metav1.StatusCause, error) {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		return nil, fmt.Errorf("not the denial of an object: %w", err)
	}
	return status.Status().Details.Causes, nil
}

// beRefusedAt matches the denial of an object for these fields, in this order.
func beRefusedAt(fields ...string) types.GomegaMatcher {
	return WithTransform(func(err error) ([]string, error) {
		var at []string
		all, err := causes(err)
		for _, cause := range all {
			at = append(at, cause.Field)
		}
		return at, err
	}, Equal(fields))
}

// cause is a reason for a denial: its type, its field, and a part of its message.
type cause struct {
	kind        field.ErrorType
	field, says string
}

// beRefusedFor matches a denial by the component for these reasons, in this order.
func beRefusedFor(want ...cause) types.GomegaMatcher {
	each := make([]any, 0, len(want))
	for _, w := range want {
		each = append(each, And(HaveField("Type", metav1.CauseType(w.kind)), HaveField("Field", w.field), HaveField("Message", ContainSubstring(w.says))))
	}
	return And(MatchError(ContainSubstring(".admission-openstack.")), WithTransform(causes, HaveExactElements(each...)))
}

// expectAccepted requires that err is nil, and that each text occurs in one of the warnings.
func expectAccepted(err error, warnings ...string) {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	heard := u.Heard()
	for _, want := range warnings {
		Expect(heard).To(ContainElement(ContainSubstring(want)))
	}
	if len(warnings) == 0 {
		Expect(heard).To(BeEmpty())
	}
}
