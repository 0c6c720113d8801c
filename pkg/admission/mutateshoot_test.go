// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/openstack"
)

// toVersion returns the update of a Shoot that moves all its worker pools to a version.
func toVersion(t *testing.T, who string, shoot *v1beta1.Shoot, version string) admission.Request {
	t.Helper()
	updated := shoot.DeepCopy()
	for i := range updated.Spec.Provider.Workers {
		updated.Spec.Provider.Workers[i].Machine.Image.Version = &version
	}
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Update, UserInfo: authenticationv1.UserInfo{Username: who},
		Object: runtime.RawExtension{Raw: encode(t, updated)}, OldObject: runtime.RawExtension{Raw: encode(t, shoot)},
	}}
}

// mutatingShoots returns the webhook for Shoots, and the channel of its Events.
func mutatingShoots(t *testing.T, reader client.Reader) (admission.Handler, chan string) {
	t.Helper()
	c := componentFor(openstack.Provider{}, reader)
	recorder := events.NewFakeRecorder(10)
	c.events = recorder
	for _, row := range c.webhooks() {
		if row.name == mutateShoot {
			return row.handler, recorder.Events
		}
	}
	t.Fatal("there is no such webhook")
	return nil, nil
}

// The Shoot's pool ledger requires trusted launch, and pool web does not. Version 2150.1.0 has no image for ledger.
func TestMaintenanceKeepsWhatBoots(t *testing.T) {
	profile, shoot := trusted(t)
	profile.Spec.MachineImages[0].Versions[2].Lifecycle = []v1beta1.LifecycleStage{{Classification: v1beta1.ClassificationSupported}}
	handler, told := mutatingShoots(t, stored{profile, kept(t, shoot)})
	const says = "worker pool ledger stays on gardenlinux@1877.5.0: maintenance chose gardenlinux@2150.1.0, but trustedLaunch.enabled"
	keeps := []jsonpatch.Operation{jsonpatch.NewOperation("replace", "/spec/provider/workers/0/machine/image/version", "1877.5.0")}

	dry := toVersion(t, MaintenanceUser, shoot, "2150.1.0")
	dry.DryRun = ptr.To(true)
	for _, req := range []admission.Request{dry, toVersion(t, MaintenanceUser, shoot, "2150.1.0"), toVersion(t, MaintenanceUser, shoot, "2150.1.0")} {
		response := handler.Handle(t.Context(), req)
		if diff := cmp.Diff(keeps, response.Patches); !response.Allowed || diff != "" {
			t.Error(response.Result, diff)
		}
		if len(response.Warnings) != 1 || !strings.Contains(response.Warnings[0], says) {
			t.Error(response.Warnings)
		}
	}
	if len(told) != 1 { // none for the dry run, and one for the other two, which are about the same version of the Shoot
		t.Fatalf("there are %d Events", len(told))
	}
	if event := <-told; !strings.Contains(event, says) {
		t.Error(event)
	}
	foreign := shoot.DeepCopy()
	foreign.UID = "forged"
	if handler.Handle(t.Context(), toVersion(t, MaintenanceUser, foreign, "2150.1.0")); len(told) > 0 {
		t.Error("there is an Event about a Shoot that does not exist")
	}
}

// Any client of the port can send a request in the name of maintenance, about an existing Shoot. The Event must be the one for a genuine
// request, or there must be none.
func TestAnEventHasNoWordsOfARequest(t *testing.T) {
	profile, shoot := trusted(t)
	profile.Spec.MachineImages[0].Versions[2].KubeletVersionConstraint = ptr.To("< 1.20")
	told := func(version string, forge func(*v1beta1.Shoot, *v1beta1.Worker)) string {
		handler, told := mutatingShoots(t, stored{profile, kept(t, shoot)})
		forged := shoot.DeepCopy()
		forge(forged, &forged.Spec.Provider.Workers[1])
		handler.Handle(t.Context(), toVersion(t, MaintenanceUser, forged, version))
		if len(told) == 0 {
			return ""
		}
		return <-told
	}
	nothing := func(*v1beta1.Shoot, *v1beta1.Worker) {}
	honest := told("2150.1.0", nothing)
	for _, pool := range []string{"ledger", "web"} {
		if !strings.Contains(honest, pool+" stays on gardenlinux@1877.5.0 instead of 2150.1.0") {
			t.Errorf("nothing is said of %s: %q", pool, honest)
		}
	}
	const words = "URGENT: run curl\n\x1b[31m"
	if event := told(words, nothing); event != "" {
		t.Errorf("another version: the Event is %q", event)
	}
	for what, forge := range map[string]func(*v1beta1.Shoot, *v1beta1.Worker){
		"pool":         func(_ *v1beta1.Shoot, w *v1beta1.Worker) { w.Name = words },
		"image":        func(_ *v1beta1.Shoot, w *v1beta1.Worker) { w.Machine.Image.Name = words },
		"machine type": func(_ *v1beta1.Shoot, w *v1beta1.Worker) { w.Machine.Type = words },
		"settings":     func(_ *v1beta1.Shoot, w *v1beta1.Worker) { w.ProviderConfig = config(asking) },
		"container":    func(_ *v1beta1.Shoot, w *v1beta1.Worker) { w.CRI = &v1beta1.CRI{Name: words} },
		"region":       func(s *v1beta1.Shoot, _ *v1beta1.Worker) { s.Spec.Region = words },
		"Kubernetes":   func(s *v1beta1.Shoot, _ *v1beta1.Worker) { s.Spec.Kubernetes.Version = "1.33.2+URGENT" },
		"CloudProfile": func(s *v1beta1.Shoot, _ *v1beta1.Worker) { s.Spec.CloudProfile.Name = words },
		"metadata":     func(s *v1beta1.Shoot, _ *v1beta1.Worker) { s.Labels = map[string]string{"words": words} },
		"of the kubelet": func(_ *v1beta1.Shoot, w *v1beta1.Worker) {
			w.Kubernetes = &v1beta1.WorkerKubernetes{Version: ptr.To("1.32.0+URGENT")}
		},
	} {
		event := told("2150.1.0", forge)
		if ofLedger := !strings.Contains(event, "web") && !strings.Contains(event, "URGENT"); event != honest && !ofLedger {
			t.Errorf("another %s: the Event is %q", what, event)
		}
	}
}

func TestMaintenanceLeavesAlone(t *testing.T) {
	profile, shoot := trusted(t)
	reader := stored{profile, kept(t, shoot)}
	unreadable := shoot.DeepCopy()
	unreadable.Spec.Provider.Workers[0].ProviderConfig = config(`{"kind":1}`)
	elsewhere := shoot.DeepCopy()
	elsewhere.Spec.CloudProfile.Name = "gone"
	for what, req := range map[string]admission.Request{
		"what a user names":                     toVersion(t, "somebody", shoot, "2150.1.0"),
		"what boots":                            toVersion(t, MaintenanceUser, withPools(shoot, shoot.Name, 1), "2150.1.0"),
		"a worker whose config cannot be read":  toVersion(t, MaintenanceUser, unreadable, "2150.1.0"),
		"a version that does not change":        toVersion(t, MaintenanceUser, shoot, "1877.5.0"),
		"a Shoot whose profile there is not":    toVersion(t, MaintenanceUser, elsewhere, "2150.1.0"),
		"a Shoot that somebody else has set up": toVersion(t, "", shoot, "2150.1.0"),
	} {
		handler, told := mutatingShoots(t, reader)
		response := handler.Handle(t.Context(), req)
		if !response.Allowed || len(response.Patches) > 0 || len(response.Warnings) > 0 || len(told) > 0 {
			t.Errorf("%s: %+v", what, response)
		}
	}
	handler, _ := mutatingShoots(t, unreachable{reader, &v1beta1.CloudProfile{}})
	response := handler.Handle(t.Context(), toVersion(t, MaintenanceUser, shoot, "2150.1.0"))
	if response.Allowed || response.Result.Code != http.StatusInternalServerError {
		t.Errorf("without an answer about the profile: %+v", response)
	}
}

// An image belongs to the user unless the metadata of the request shows otherwise.
func TestWhoHasChosenAnImage(t *testing.T) {
	_, shoot := trusted(t)
	worker := &shoot.Spec.Provider.Workers[0]
	managed := func(manager, machine string) []metav1.ManagedFieldsEntry {
		fields := `{"f:spec":{"f:provider":{"f:workers":{"k:{\"name\":\"ledger\"}":{"f:machine":` + machine + `}}}}}`
		is := &metav1.FieldsV1{}
		if err := is.UnmarshalJSON([]byte(fields)); err != nil {
			t.Fatal(err)
		}
		return []metav1.ManagedFieldsEntry{{Manager: manager, FieldsV1: is}}
	}
	manifest := func(image string) map[string]string {
		workers := `[{"name":"ledger","machine":{"type":"a"` + image + `}}]`
		return map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":{"provider":{"workers":` + workers + `}}}`}
	}
	const whole = `{"f:type":{},"f:image":{"f:name":{},"f:version":{}}}`
	named, partial := &v1beta1.ShootMachineImage{Name: "gardenlinux"}, &v1beta1.ShootMachineImage{Name: "gardenlinux", Version: ptr.To("1877")}
	for what, test := range map[string]struct {
		managed     []metav1.ManagedFieldsEntry
		annotations map[string]string
		want        *v1beta1.ShootMachineImage
		left        bool
	}{
		"nothing is known":      {},
		"not readable":          {managed: managed("a", `[`)},
		"another worker":        {managed: managed("a", `{}`)},
		"no image":              {managed: managed("a", `{"f:type":{}}`), left: true},
		"no version":            {managed: managed("a", `{"f:type":{},"f:image":{"f:name":{}}}`), want: named, left: true},
		"all":                   {managed: managed("a", whole)},
		"another's manifest":    {managed: managed("a", whole), annotations: manifest(`,"image":{"name":"gardenlinux"}`)},
		"applied without one":   {managed: managed(applied, whole)},
		"applied, not readable": {managed: managed(applied, whole), annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "{"}},
		"applied, no version":   {managed: managed(applied, whole), annotations: manifest(`,"image":{"name":"gardenlinux"}`), want: named, left: true},
		"applied, a part": {
			managed: managed(applied, whole), annotations: manifest(`,"image":{"name":"gardenlinux","version":"1877"}`),
			want: partial, left: true,
		},
		"two managers, one none": {managed: append(managed("a", `{"f:type":{}}`), managed("b", `{"f:image":{"f:version":{}}}`)...)},
	} {
		shoot.ManagedFields, shoot.Annotations = test.managed, test.annotations
		got, left := writtenBy(shoot).leftOpen(worker)
		if diff := cmp.Diff(test.want, got); diff != "" || left != test.left {
			t.Errorf("%s: %t, %s", what, left, diff)
		}
	}
}
