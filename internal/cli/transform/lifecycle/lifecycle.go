// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle converts the classifications and expiration dates of versions, in the manifest of a CloudProfile or
// NamespacedCloudProfile, to lifecycles and back. It is pure, does not modify its arguments, and is safe for concurrent use.
package lifecycle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
)

// Rewrite converts the image versions and Kubernetes versions of a manifest to lifecycles or, if back is set, to the
// fields classification and expirationDate. Each version keeps its classification at every moment; with back, at
// every moment from now on, because the fields cannot express the past. Versions that are already converted do not
// change. Neither do versions in use, nor those of a NamespacedCloudProfile that its parent has: Gardener merges only
// a NamespacedCloudProfile's expiration date, not its lifecycle, and ignores a date beside a lifecycle. For
// Kubernetes versions, Used is called with an empty image name.
//
// The errors name, with paths of the manifest, the versions that cannot be converted back; with any, the result must
// not be used. err is not nil if Raw is not the manifest of a profile.
func Rewrite(input transform.Input, back bool, now time.Time) (result transform.Result, errs field.ErrorList, err error) {
	var object struct {
		Spec struct {
			Kubernetes    v1beta1.KubernetesSettings `json:"kubernetes"`
			MachineImages []v1beta1.MachineImage     `json:"machineImages"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(input.Raw, &object); err != nil {
		return transform.Result{}, nil, fmt.Errorf("the manifest is not a profile: %w", err)
	}
	l := &lifecycles{input: input, now: now, tree: edit.Decoded(input.Raw)}
	rewrite := l.forward
	if back {
		rewrite = l.back
		l.countSupported(object.Spec.Kubernetes.Versions)
	}
	for i, v := range object.Spec.Kubernetes.Versions {
		rewrite(fmt.Sprintf("spec.kubernetes.versions[%d]", i), provider.ImageVersion{Version: v.Version}, v)
	}
	for i, image := range object.Spec.MachineImages {
		for k := range image.Versions {
			v := image.Versions[k].ExpirableVersion
			rewrite(fmt.Sprintf("spec.machineImages[%d].versions[%d]", i, k), provider.ImageVersion{Image: image.Name, Version: v.Version}, v)
		}
	}
	raw, err := json.Marshal(l.tree)
	return transform.Result{Raw: raw, Ops: l.ops, Kept: l.kept}, l.errs, err
}

// lifecycles rewrites versions.
type lifecycles struct {
	input transform.Input
	now   time.Time
	// tree is the manifest, which is modified.
	tree any
	ops  []edit.Op
	kept []transform.Kept
	errs field.ErrorList
	// supported counts, by minor version, the Kubernetes versions that are supported now or were until they expired.
	supported map[string]int
}

// The fields of versions and of stages.
const (
	classification = "classification"
	expires        = "expirationDate"
	starts         = "startTime"
	lifecycle      = "lifecycle"
)

// forward replaces a version's fields by a lifecycle, unless a parent has the version. It has all Kubernetes versions.
func (l *lifecycles) forward(at string, id provider.ImageVersion, v v1beta1.ExpirableVersion) {
	stages := versions.AsLifecycle(v)
	inherited := l.input.Parent != nil && (id.Image == "" || transform.Inherits(l.input.Parent, id))
	if len(v.Lifecycle) > 0 || len(stages) == 0 || inherited {
		return
	}
	if l.input.Used != nil {
		if by := l.input.Used(id.Image, id.Version); len(by) > 0 {
			l.kept = append(l.kept, transform.Kept{Image: id.Image, Version: id.Version, By: by, Field: at})
			return
		}
	}
	path := fieldpath.Parse(at)
	says, _ := edit.Value(l.tree, path).(map[string]any)
	takes := map[string]edit.Take{}
	var ops []edit.Op
	written := []any{map[string]any{classification: string(stages[0].Classification)}}
	if _, said := says[classification]; said {
		takes["[0]."+classification] = edit.Take{At: path.Child(classification), Part: edit.Whole}
		ops = append(ops, edit.Delete(path.Child(classification)))
	}
	if date, said := says[expires]; said {
		if len(stages) > 1 {
			written = append(written, map[string]any{classification: string(stages[1].Classification), starts: date})
			takes["[1]."+starts] = edit.Take{At: path.Child(expires), Part: edit.Whole}
			ops = append(ops, edit.Rename(path.Child(expires), starts))
		}
		ops = append(ops, edit.Delete(path.Child(expires)))
	}
	if _, empty := says[lifecycle]; empty {
		ops = append(ops, edit.Replace(path.Child(lifecycle), written))
	} else {
		ops = append(ops, edit.Insert(path.Child(lifecycle), written, classification, expires).Taking(takes))
	}
	delete(says, classification)
	delete(says, expires)
	says[lifecycle] = written
	l.ops = append(l.ops, ops...)
}

// back replaces a version's lifecycle by a classification and an expiration date.
func (l *lifecycles) back(at string, id provider.ImageVersion, v v1beta1.ExpirableVersion) {
	if len(v.Lifecycle) == 0 {
		return
	}
	legacy, fault := l.legacy(v)
	if fault != nil {
		i := slices.IndexFunc(v.Lifecycle, func(stage v1beta1.LifecycleStage) bool {
			return stage.Classification == fault.Classification && (fault.From.IsZero() || stage.StartTime != nil && stage.StartTime.Time.Equal(fault.From))
		})
		l.errs = append(l.errs, &field.Error{
			Type: field.ErrorTypeForbidden, Field: fmt.Sprintf("%s.%s[%d]", at, lifecycle, max(i, 0)), Origin: transform.Rule, BadValue: field.OmitValueType{},
			Detail: fmt.Sprintf("%s: classification and expirationDate cannot say that it %s; write it without this stage first, "+
				"or keep the lifecycles", Named(id), becomes(fault)),
		})
		return
	}
	path := fieldpath.Parse(at)
	says, _ := edit.Value(l.tree, path).(map[string]any)
	if is := legacy.Classification; is != nil && (*is != v1beta1.ClassificationSupported || id.Image != "" || l.supported[minor(v.Version)] < 2) { //nolint:staticcheck // it is written
		l.replace(path, classification, string(*is), l.stageOf(v, *is), classification)
		says[classification] = string(*is)
	}
	if legacy.ExpirationDate != nil { //nolint:staticcheck // it is written
		i := l.stageOf(v, v1beta1.ClassificationExpired)
		says[expires] = edit.Value(l.tree, path.Child(lifecycle).Index(i).Child(starts))
		l.replace(path, expires, says[expires], i, starts)
	}
	l.ops = append(l.ops, edit.Delete(path.Child(lifecycle)))
	delete(says, lifecycle)
}

// replace adds a member to a version, using the text of a stage's member.
func (l *lifecycles) replace(path fieldpath.Path, name string, value any, stage int, of string) {
	from := path.Child(lifecycle).Index(stage).Child(of)
	if name != of {
		l.ops = append(l.ops, edit.Rename(from, name))
	}
	l.ops = append(l.ops, edit.Insert(path.Child(name), value, lifecycle).Taking(map[string]edit.Take{"": {At: from, Part: edit.Whole}}))
}

// stageOf returns the index of a version's last stage with a classification.
func (l *lifecycles) stageOf(v v1beta1.ExpirableVersion, is v1beta1.VersionClassification) int {
	for i, stage := range slices.Backward(v.Lifecycle) {
		if stage.Classification == is {
			return i
		}
	}
	return 0
}

// legacy returns a version's equivalent without a lifecycle from now on, or the first stage that it cannot express.
func (l *lifecycles) legacy(v v1beta1.ExpirableVersion) (legacy v1beta1.ExpirableVersion, fault *versions.Stage) {
	stages := versions.Since(v, l.now)
	is, expiry := stages[0].Classification, versions.ExpiryOf(v)
	switch {
	case is == v1beta1.ClassificationUnavailable:
		return v, &stages[1] // no version stays unavailable, so there is a second stage
	case is == v1beta1.ClassificationExpired && (len(stages) > 1 || expiry == nil):
		return v, &stages[len(stages)-1]
	case len(stages) > 2, len(stages) == 2 && stages[1].Classification != v1beta1.ClassificationExpired:
		return v, &stages[1]
	}
	if is == v1beta1.ClassificationExpired {
		is = ""
		for _, stage := range versions.StagesOf(v) {
			if stage.From.Before(*expiry) && stage.Classification != v1beta1.ClassificationUnavailable {
				is = stage.Classification
			}
		}
	} else if len(stages) == 1 {
		expiry = nil
	}
	if is != "" {
		legacy.Classification = &is //nolint:staticcheck // it is written
	}
	if expiry != nil {
		i := l.stageOf(v, v1beta1.ClassificationExpired)
		legacy.ExpirationDate = v.Lifecycle[i].StartTime //nolint:staticcheck // it is written
	}
	return legacy, nil
}

// becomes describes a stage.
func becomes(stage *versions.Stage) string {
	if stage.From.IsZero() {
		return fmt.Sprintf("is %s, without a date", stage.Classification)
	}
	return fmt.Sprintf("becomes %s", stage)
}

// Named returns a version's name in messages.
func Named(id provider.ImageVersion) string {
	if id.Image == "" {
		return "Kubernetes " + id.Version
	}
	return id.String()
}

// countSupported counts the supported Kubernetes versions. Gardener allows only one per minor version to have that
// classification as a field.
func (l *lifecycles) countSupported(kubernetes []v1beta1.ExpirableVersion) {
	l.supported = map[string]int{}
	for _, v := range kubernetes {
		is := v.Classification //nolint:staticcheck // as people write it
		if len(v.Lifecycle) > 0 {
			legacy, _ := l.legacy(v)
			is = legacy.Classification //nolint:staticcheck // it is written
		}
		if is != nil && *is == v1beta1.ClassificationSupported {
			l.supported[minor(v.Version)]++
		}
	}
}

// minor returns the minor version of a Kubernetes version.
func minor(version string) string {
	return cmp.Or(version[:max(0, strings.LastIndexByte(version, '.'))], version)
}
