// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// The gardener library takes flavors as values with this method (its worker.CapabilitiesAccessor).
var _ interface{ GetCapabilities() v1beta1.Capabilities } = v1alpha1.MachineImageFlavor{}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// decode reads YAML as strictly as a webhook does, without defaulting.
func decode(t *testing.T, text []byte) (runtime.Object, error) {
	t.Helper()
	codecs := serializer.NewCodecFactory(newScheme(t), serializer.EnableStrict)
	obj, _, err := codecs.UniversalDeserializer().Decode(text, nil, nil)
	return obj, err
}

func readManifest(t *testing.T, file string) (text []byte, obj runtime.Object) {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		t.Fatal(err)
	}
	obj, err = decode(t, text)
	if err != nil {
		t.Fatalf("strict decoding: %v", err)
	}
	return text, obj
}

// tree reads JSON or YAML into maps and lists, with durations in the spelling of Go.
func tree(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var root map[string]any
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	if written, ok := root["requestTimeout"].(string); ok {
		d, err := time.ParseDuration(written)
		if err != nil {
			t.Fatal(err)
		}
		root["requestTimeout"] = d.String()
	}
	return root
}

func TestManifestsSurviveDecodingAndEncoding(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, obj := readManifest(t, file)
			encoded, err := json.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tree(t, text), tree(t, encoded)); diff != "" {
				t.Errorf("lost (-) or invented (+):\n%s", diff)
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj.DeepCopyObject())
			if err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(content)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tree(t, encoded), tree(t, again)); diff != "" {
				t.Errorf("as unstructured content, lost (-) or invented (+):\n%s", diff)
			}
		})
	}
}

func TestStrictDecodingRefusesWhatTheWireFormatDoesNotHave(t *testing.T) {
	const head = "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\n"
	for name, text := range map[string]string{
		"unknown field":                   "kind: CloudProfileConfig\nkeystoneUrl: https://keystone.example.com",
		"unknown nested field":            "kind: CloudProfileConfig\nmachineImages: [{name: a, versions: [{version: 1.0.0, ami: x}]}]",
		"field of another kind":           "kind: WorkerConfig\nmachineImages: []",
		"key twice":                       "kind: WorkerConfig\nserverGroup: {policy: a}\nserverGroup: {policy: b}",
		"wrong type":                      "kind: CloudProfileConfig\nnodeVolumeAttachLimit: many",
		"field of another kind of Shoots": "kind: InfrastructureConfig\nloadBalancerProvider: haproxy",
		"old field in a list of networks": "kind: InfrastructureConfig\nnetworks: [{workers: 10.250.0.0/16}]",
		"unknown class field":             "kind: ControlPlaneConfig\nloadBalancerClasses: [{name: a, subnetId: b}]",
		"unknown kind":                    "kind: ControllerConfig",
	} {
		t.Run(name, func(t *testing.T) {
			if obj, err := decode(t, []byte(head+text)); err == nil {
				t.Errorf("decoded as %#v", obj)
			}
		})
	}
}

// The complete manifests would prove little if a new field were missing there.
func TestCompleteManifestsSetEveryField(t *testing.T) {
	for file, obj := range map[string]runtime.Object{
		"complete-cloudprofileconfig.yaml":   &v1alpha1.CloudProfileConfig{},
		"complete-infrastructureconfig.yaml": &v1alpha1.InfrastructureConfig{},
		"complete-controlplaneconfig.yaml":   &v1alpha1.ControlPlaneConfig{},
		"complete-workerconfig.yaml":         &v1alpha1.WorkerConfig{},
		"complete-workerstatus.yaml":         &v1alpha1.WorkerStatus{},
	} {
		t.Run(file, func(t *testing.T) {
			_, decoded := readManifest(t, filepath.Join("testdata", file))
			if got, want := reflect.TypeOf(decoded), reflect.TypeOf(obj); got != want {
				t.Fatalf("decoded as %v, want %v", got, want)
			}
			set := map[string]bool{}
			record(reflect.ValueOf(decoded), set)
			for field, ok := range set {
				if !ok {
					t.Errorf("%s is not set anywhere", field)
				}
			}
		})
	}
}

// record notes for every field of every struct in v whether any of its occurrences has a value.
func record(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			record(v.Elem(), set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			record(v.Index(i), set)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Duration]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().String() + "." + v.Type().Field(i).Name
			set[name] = set[name] || !v.Field(i).IsZero()
			record(v.Field(i), set)
		}
	default: // scalars, and maps, whose values hold no fields
	}
}

func TestRoundTrip(t *testing.T) {
	scheme := newScheme(t)
	codecs := serializer.NewCodecFactory(scheme)
	seed := rand.Int63()
	t.Logf("seed %d", seed)
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), codecs)
	for _, kind := range []string{"CloudProfileConfig", "InfrastructureConfig", "ControlPlaneConfig", "WorkerConfig", "WorkerStatus"} {
		t.Run(kind, func(t *testing.T) {
			gvk := schema.GroupVersion(v1alpha1.GroupVersion).WithKind(kind)
			for range 10 {
				roundtrip.RoundTripSpecificKindWithoutProtobuf(t, gvk, scheme, codecs, filler, nil)
			}
		})
	}
}
