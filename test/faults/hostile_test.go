// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/words"
)

// hostile is the name of all malicious objects.
const hostile = "hostile"

// hostility is an invalid object that is expensive to validate.
type hostility struct {
	name   string
	object client.Object
}

// hostilities returns objects that a project member can write, and CloudProfiles that an operator can write. Some are
// small; the largest almost reaches the API server's limit of 3 MiB.
func hostilities() []hostility {
	GinkgoHelper()
	versions := func(of string) string { return `{"name":"gardenlinux","versions":[` + of + `]}` }
	own := func(further string) string {
		return versions(`{"version":"1.0.0","capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},` + further + `}]}`)
	}
	wrong := `"x",1,[],{"version":1},{"version":[]},{"version":"1.0.0","capabilityFlavors":{}}`
	regions := `{"name":"region-%d"}` // nor do they have an image
	var noMatch []v1beta1.MachineImage
	for i := range 2000 {
		noMatch = append(noMatch, image(fmt.Sprint("core-", i), "1.0.0"))
	}
	images := many(2000, `{"name":"provider-%d","versions":[{"version":"1.0.0"}]}`)
	unlisted := many(16_000, `{"version":"%d.0.0"}`)
	unprintable := many(1000, `{"name":"\u001b[2J\u202e\r\n::error::%d","versions":[{"version":"\u0007"}]}`)
	return []hostility{
		{"4,000 empty versions", namespacedOf(versions(many(4000, "{}")))},
		{"100,000 empty versions", namespacedOf(versions(many(100_000, "{}")))},
		{"900,000 empty versions", namespacedOf(versions(many(900_000, "{}")))},
		{"100,000 empty versions in a CloudProfile", profileOf(versions(many(100_000, "{}")))},
		{"elements of a wrong type", namespacedOf(versions(many(3000, wrong)))},
		{"elements of a wrong type in a CloudProfile", profileOf(versions(many(15_000, wrong)))},
		{"8,000 unknown regions", namespacedOf(own(`"regions":[`+many(8000, regions)+`]`), image("gardenlinux", "1.0.0"))},
		{"8,000 unknown regions in a CloudProfile", profileOf(own(`"regions":[`+many(8000, regions)+`]`), image("gardenlinux", "1.0.0"))},
		{"images that do not match", namespacedOf(images, noMatch...)},
		{"images that do not match in a CloudProfile", profileOf(images, noMatch...)},
		{"16,000 versions that are not listed", namespacedOf(versions(unlisted))},
		{"16,000 versions that are not listed in a CloudProfile", profileOf(versions(unlisted))},
		{"3,000 pools of unknown machine types", pools(3000)},
		{"6,000 pools of unknown machine types", pools(6000)},
		{"unprintable names", namespacedOf(unprintable)},
		{"unprintable names in a CloudProfile", profileOf(unprintable)},
	}
}

// many joins n elements of a JSON list. An element may contain a verb for its index.
func many(n int, element string) string {
	elements := make([]string, n)
	for i := range elements {
		elements[i] = strings.ReplaceAll(element, "%d", fmt.Sprint(i))
	}
	return strings.Join(elements, ",")
}

// image returns an image in core, as any project member may define it.
func image(name, version string) v1beta1.MachineImage {
	listed := v1beta1.MachineImageVersion{CRI: []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}}
	listed.Version = version
	listed.CapabilityFlavors = []v1beta1.MachineImageFlavor{{
		Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}}}}
	listed.ExpirationDate = &metav1.Time{Time: time.Now().Add(14 * 24 * time.Hour)} //nolint:staticcheck // as people write it
	return v1beta1.MachineImage{
		Name: name, UpdateStrategy: ptr.To(v1beta1.UpdateStrategyMajor), Versions: []v1beta1.MachineImageVersion{listed}}
}

// namespacedOf returns a NamespacedCloudProfile with these images in the provider config and in core.
func namespacedOf(inConfig string, ofGardener ...v1beta1.MachineImage) client.Object {
	profile := read[v1beta1.NamespacedCloudProfile]("namespaced.yaml")
	profile.Name, profile.Spec.MachineImages = hostile, ofGardener
	profile.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1",` +
		`"kind":"CloudProfileConfig","machineImages":[` + inConfig + `]}`)}
	return profile
}

// profileOf returns a CloudProfile with additional images in the provider config and in core.
func profileOf(inConfig string, ofGardener ...v1beta1.MachineImage) client.Object {
	GinkgoHelper()
	profile := profiles.fresh(hostile).(*v1beta1.CloudProfile)
	profile.Spec.MachineImages = append(profile.Spec.MachineImages, ofGardener...)
	const images = `"machineImages":[`
	profile.Spec.ProviderConfig.Raw = replaced(profile.Spec.ProviderConfig.Raw, images, images+inConfig+",")
	return profile
}

// pools returns a Shoot with n more worker pools, whose machine types do not exist.
func pools(n int) client.Object {
	shoot := shoots.fresh(hostile).(*v1beta1.Shoot)
	for i := range n {
		worker := shoot.Spec.Provider.Workers[0].DeepCopy()
		worker.Name, worker.Machine.Type = fmt.Sprint("p", i), fmt.Sprint("medium_", i)
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, *worker)
	}
	return shoot
}

// attack writes a malicious object, or tries to as a dry run, and records the answer.
func (s *soak) attack(h hostility, dryRun bool) {
	var options []client.CreateOption
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	began := s.current()
	err := writing.Create(context.Background(), h.object.DeepCopyObject().(client.Object), options...)
	answer, wrong := answerTo(err)
	switch {
	case wrong && isUnavailable(err) && s.mayBeDown(began):
		answer, wrong = "none: the replica was down", false
	case wrong && err != nil && strings.Contains(err.Error(), context.DeadlineExceeded.Error()):
		// A busy machine takes longer than the API server waits. The end of the soak checks that each attack got an answer.
		answer, wrong = "none: the API server has waited too long", false
	}
	if wrong {
		s.note(fmt.Sprintf("%s (dry run: %t): %s: %v", h.name, dryRun, answer, err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attacks[h.name+" | "+answer]++
}

// answerTo summarizes the answer to an invalid object, and reports whether it is wrong. It must be a refusal with a
// printable reason. An API server that has waited too long answers with status 500 or 504.
func answerTo(err error) (answer string, wrong bool) {
	var refusal apierrors.APIStatus
	switch {
	case err == nil:
		return "accepted", true
	case !errors.As(err, &refusal):
		return "none", true
	case words.Printable(err.Error()) != err.Error():
		return "not printable", true
	case strings.Contains(err.Error(), "JSON values"): // the component refuses it without validating it
		return "refused for its size", false
	}
	code := refusal.Status().Code
	return fmt.Sprintf("refused with %d, %s", code, refusal.Status().Reason), code < 400 || code >= 500
}

// attacked reports whether each hostility was answered while a replica was up.
func (s *soak) attacked(all []hostility) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(all, func(h hostility) bool {
		for answer := range s.attacks {
			if strings.HasPrefix(answer, h.name+" | refused") {
				return false
			}
		}
		return true
	})
}
