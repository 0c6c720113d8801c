// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/azure"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// images decodes a config. It returns one line for each flavor, with its implied capabilities and its reference.
func images(t *testing.T, config []byte) (flavors []string, report finding.Report) {
	images, report := azure.Provider{}.Decode(&runtime.RawExtension{Raw: config}, field.NewPath("config"))
	vocabulary, _ := capability.Compile([]v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: azure.Networking, Values: []string{"accelerated", "basic"}},
	}, nil)
	for _, image := range images.Images {
		for _, version := range image.Versions {
			for _, flavor := range version.Flavors {
				line := fmt.Sprintf("%s@%s legacy=%t %s, implied %s, at %s: ", image.Name, version.Version, version.Legacy,
					vocabulary.Format(flavor.Capabilities), vocabulary.Format(flavor.Implied), flavor.Path)
				if flavor.Global == nil {
					flavors = append(flavors, line+"-")
					continue
				}
				ref, err := json.Marshal(flavor.Global.Ref)
				if err != nil {
					t.Fatal(err)
				}
				flavors = append(flavors, line+string(ref)+" at "+flavor.Global.Path.String())
			}
		}
	}
	return flavors, report
}

func TestImages(t *testing.T) {
	cases.Run(t, "testdata/images.txtar", func(c *cases.Case) string {
		flavors, report := images(c.T(), c.JSON("config.yaml"))
		return strings.Join(append(flavors, cases.Report(c.T(), report)), "\n")
	})
}

// The error about a malformed reference names the form of its field, or the field for this form.
func TestValidateReference(t *testing.T) {
	const (
		urn       = "sap:gardenlinux:greatest:1877.5.0"
		community = "/CommunityGalleries/gardenlinux-1234/Images/gardenlinux/Versions/1877.5.0"
		shared    = "/SharedGalleries/1234-GARDENLINUX/Images/gardenlinux/Versions/1877.5.0"
		managed   = "/subscriptions/1234/resourceGroups/images/providers/Microsoft.Compute/images/gardenlinux"
		private   = "/subscriptions/1234/resourceGroups/images/providers/Microsoft.Compute/galleries/mine/images/gardenlinux"
	)
	set := map[string]func(*azure.Image, string){
		"urn":                     func(i *azure.Image, value string) { i.URN = value },
		"id":                      func(i *azure.Image, value string) { i.ID = value },
		"communityGalleryImageID": func(i *azure.Image, value string) { i.CommunityGalleryImageID = value },
		"sharedGalleryImageID":    func(i *azure.Image, value string) { i.SharedGalleryImageID = value },
	}
	form := map[string]string{
		"urn": "write publisher:offer:sku:version", "id": "write /subscriptions/<subscription>/",
		"communityGalleryImageID": "write /CommunityGalleries/<gallery>/Images/<image>/Versions/<version>",
		"sharedGalleryImageID":    "write /SharedGalleries/<gallery>/Images/<image>/Versions/<version>",
	}
	for _, c := range []struct {
		field, value string
		says         []string // in the error; none if the reference is valid
	}{
		{"urn", urn, nil},
		{"urn", "RedHat:rhel-raw:9_4:9.4.2024", nil},
		{"communityGalleryImageID", community, nil},
		{"communityGalleryImageID", strings.ToLower(community), nil},
		{"sharedGalleryImageID", shared, nil},
		{"id", managed, nil},
		{"id", private, nil},
		{"id", private + "/versions/1877.5.0", nil},
		{"id", strings.ToLower(private), nil},
		{"urn", urn + ":x", []string{"it has 5 parts, not 4", form["urn"]}},
		{"urn", "sap:gardenlinux:greatest", []string{"it has 3 parts, not 4", form["urn"]}},
		{"urn", "sap::greatest:1877.5.0", []string{form["urn"]}},
		{"urn", "sap:gardenlinux:{{ .sku }}:1", []string{form["urn"]}},
		{"urn", community, []string{"has the form of communityGalleryImageID; write it as that field instead of urn"}},
		{"urn", managed, []string{"has the form of id; write it as that field instead of urn"}},
		{"communityGalleryImageID", shared, []string{"has the form of sharedGalleryImageID; write it as that field instead of communityGalleryImageID"}},
		{"communityGalleryImageID", urn, []string{"has the form of urn; write it as that field"}},
		{"communityGalleryImageID", community + "/x", []string{form["communityGalleryImageID"]}},
		{"communityGalleryImageID", "/CommunityGalleries/g/images/i", []string{form["communityGalleryImageID"]}},
		{"communityGalleryImageID", "CommunityGalleries/g/Images/i/Versions/v", []string{form["communityGalleryImageID"]}},
		{"sharedGalleryImageID", community, []string{"has the form of communityGalleryImageID; write it as that field instead of sharedGalleryImageID"}},
		{"sharedGalleryImageID", private, []string{"has the form of id; write it as that field instead of sharedGalleryImageID"}},
		{"sharedGalleryImageID", "/SharedGalleries/g/Image/i/Versions/v", []string{form["sharedGalleryImageID"]}},
		{"id", shared, []string{"has the form of sharedGalleryImageID; write it as that field instead of id"}},
		{"id", urn, []string{"has the form of urn; write it as that field instead of id"}},
		{"id", "gardenlinux-1877", []string{form["id"]}},
		{"id", managed + "/x", []string{form["id"]}},
		{"id", " " + managed, []string{form["id"]}},
	} {
		ref := azure.Image{SkipMarketplaceAgreement: true}
		set[c.field](&ref, c.value)
		errs := azure.Provider{}.ValidateReference(ref, field.NewPath("versions").Index(0).Child(c.field))
		if len(errs) != min(len(c.says), 1) {
			t.Errorf("%s %s: %v", c.field, c.value, errs)
			continue
		}
		for _, says := range c.says {
			if err := errs[0]; !strings.Contains(err.Detail, says) || err.Origin != azure.RuleImageForm || err.Field != "versions[0]."+c.field {
				t.Errorf("%s %s: %q is not in %v", c.field, c.value, says, err)
			}
		}
	}
	for name := range set {
		errs := azure.Provider{}.ValidateReference(azure.Image{}, field.NewPath("versions").Index(0).Child(name))
		form := strings.TrimPrefix(form[name], "write ")
		if len(errs) != 1 || errs[0].Origin != providerconfig.RuleReferenceMissing || !strings.Contains(errs[0].Detail, name+", in the form "+form) {
			t.Errorf("%s: %v", name, errs)
		}
	}
	if errs := (azure.Provider{}).ValidateReference(azure.Image{}, field.NewPath("image")); len(errs) != 1 {
		t.Error(errs)
	}
}

func TestConfigs(t *testing.T) {
	described := map[string]finding.Severity{}
	for _, rule := range (azure.Provider{}).Rules() {
		described[rule.Name] = rule.Severity
		if rule.Means == "" || rule.Repair == "" {
			t.Errorf("%s is not described", rule.Name)
		}
	}
	cases.Run(t, "testdata/configs.txtar", func(c *cases.Case) string {
		var spec v1beta1.CloudProfileSpec
		c.Decode("spec.yaml", &spec)
		at := field.NewPath("config")
		config, report := azure.Provider{}.Decode(&runtime.RawExtension{Raw: c.JSON("config.yaml")}, at)
		found := config.Validator.ValidateCloudProfile(&spec, at)
		for _, f := range slices.Concat(found.Errors, found.Warnings) {
			if strings.HasPrefix(f.Origin, "azure-") && described[f.Origin] == "" {
				c.T().Errorf("rule %s is not described", f.Origin)
			}
		}
		report.Add(found)
		return cases.Report(c.T(), report)
	})
}

// The advice for regions without domains depends on whether they lack one count or both.
func TestWhatToAddForRegions(t *testing.T) {
	spec := v1beta1.CloudProfileSpec{Regions: []v1beta1.Region{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	for counts, want := range map[string]string{
		"update a b c, fault a b": "region c is missing, so Shoots without zones get no machines there; add - {region: c, count: NUMBER} here",
		"update a b, fault a b": "region c is missing, so Shoots without zones get no machines there; " +
			"add - {region: c, count: NUMBER} here and in countUpdateDomains, each with its own number",
		"update a b, fault a": "regions b, c are missing, so Shoots without zones get no machines there; " +
			"add - {region: b, count: NUMBER} for each here, and for c in countUpdateDomains",
	} {
		config := map[string]any{"apiVersion": "azure.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig"}
		for part := range strings.SplitSeq(counts, ", ") {
			of := strings.Fields(part)
			var list []any
			for _, region := range of[1:] {
				list = append(list, map[string]any{"region": region, "count": 3})
			}
			config[map[string]string{"update": "countUpdateDomains", "fault": "countFaultDomains"}[of[0]]] = list
		}
		raw, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		at := field.NewPath("config")
		decoded, _ := azure.Provider{}.Decode(&runtime.RawExtension{Raw: raw}, at)
		found := decoded.Validator.ValidateCloudProfile(&spec, at)
		if len(found.Errors) > 0 || len(found.Warnings) != 1 || found.Warnings[0].Detail != want {
			t.Errorf("%s: %v", counts, found)
		}
	}
}

func TestWorkers(t *testing.T) {
	cases.Run(t, "testdata/workers.txtar", func(c *cases.Case) string {
		pool := provider.Pool{}
		c.Decode("pool.yaml", &pool)
		pool.Path, pool.Config = field.NewPath("w"), &runtime.RawExtension{Raw: c.JSON("config.yaml")}
		requirements, found := azure.Provider{}.Workers().Requirements(pool)
		var got []string
		for _, r := range requirements {
			got = append(got, fmt.Sprintf("%s %v because of %s at %s", r.Capability, r.Values, r.Setting, r.Because))
		}
		return strings.Join(append(got, cases.Report(c.T(), found)), "\n")
	})
}

// Accelerated networking is an ordinary capability: no worker pool requests it, so it is not defined.
func TestDefinitions(t *testing.T) {
	want := []capability.Definition{
		{Name: azure.ConfidentialVM, Values: []string{"enabled", "disabled"}, Undeclared: "disabled", OnlyIfRegistered: true},
	}
	if diff := cmp.Diff(want, azure.Provider{}.Workers().Definitions()); diff != "" {
		t.Error(diff)
	}
}
