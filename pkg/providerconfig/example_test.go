// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig_test

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/providerconfig"
)

// Errors are reported at their paths, and everything else is decoded.
func ExampleDecode() {
	var config struct {
		metav1.TypeMeta `json:",inline"`

		MachineImages []struct {
			Name string `json:"name"`
		} `json:"machineImages"`
	}
	raw := &runtime.RawExtension{Raw: []byte(`{"apiVersion": "acme/v1", "kind": "Config", "machineImages": [{"name": "linux", "nmae": "x"}]}`)}
	kind := schema.GroupVersionKind{Group: "acme", Version: "v1", Kind: "Config"}
	for _, err := range providerconfig.Decode(raw, kind, &config, field.NewPath("spec", "providerConfig")) {
		fmt.Println(err.Origin, "at", err.Field)
	}
	fmt.Println(config.MachineImages[0].Name)
	// Output:
	// unknown-field at spec.providerConfig.machineImages[0].nmae
	// linux
}

// A config of several API versions: its apiVersion first, so that the error about another one names them all.
func ExampleDecodeKnown() {
	kinds := []schema.GroupVersionKind{{Group: "acme", Version: "v1beta1", Kind: "Config"}, {Group: "acme", Version: "v1alpha1", Kind: "Config"}}
	at := field.NewPath("spec", "providerConfig")
	for _, text := range []string{`{"apiVersion": "acme/v1", "kind": "Config"}`, `{"apiVersion": "acme/v1alpha1", "kind": "Config", "images": 1}`} {
		raw := &runtime.RawExtension{Raw: []byte(text)}
		var meta metav1.TypeMeta
		errs, _ := providerconfig.Ignorable(providerconfig.DecodeKnown(raw, kinds, &meta, meta.GroupVersionKind, at))
		if slices.Contains(kinds, meta.GroupVersionKind()) {
			// Read it into the type of this version, by Decode, which reports everything.
			fmt.Println(meta.APIVersion, len(errs))
			continue
		}
		for _, err := range errs {
			fmt.Println(err)
		}
	}
	// Output:
	// spec.providerConfig.apiVersion: Unsupported value: "acme/v1": this extension reads one of apiVersion: acme/v1beta1, acme/v1alpha1
	// acme/v1alpha1 0
}

// The legacy format has an architecture for each region, by default amd64.
func ExampleLegacyFlavors() {
	type region struct{ name, id, architecture string }
	written := []region{{"north", "1", ""}, {"north", "2", "arm64"}, {"south", "3", ""}}
	for _, flavor := range providerconfig.LegacyFlavors(written, field.NewPath("regions"), func(r *region) providerconfig.Region[string] {
		converted := providerconfig.Region[string]{Name: r.name, Ref: r.id}
		if r.architecture != "" {
			converted.Architecture = &r.architecture
		}
		return converted
	}) {
		fmt.Print(flavor.Path, " ", flavor.Capabilities, ":")
		for _, regional := range flavor.Regional {
			fmt.Printf(" %s %s", regional.Region, regional.Ref)
		}
		fmt.Println()
	}
	// Output:
	// regions[0] map[architecture:[amd64]]: north 1 south 3
	// regions[1] map[architecture:[arm64]]: north 2
}
