// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/capkit/capkit/pkg/admission/internal/serving"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// mutateShoot is the name of the webhook for Shoots.
const mutateShoot = "mutate-shoot"

// MaintenanceUser is the user that writes Shoots in Gardener's maintenance, unless a flag says otherwise. It is the
// gardener-controller-manager of a garden that gardener-operator manages.
const MaintenanceUser = "system:serviceaccount:kube-system:gardener-controller-manager"

// The Events on Shoots. They are needed because nobody reads a controller's warnings, and the Shoot's status names the version that
// Gardener has chosen.
const (
	eventReason = "MachineImageVersionReplaced"
	eventAction = "Maintenance"
	// maxNote is the API's limit for the text of an Event, in bytes.
	maxNote = 1024
)

// maxRecorded bounds the Shoot versions for which Events are not repeated.
const maxRecorded = 1024

// mutateShoot replaces image versions that Gardener has chosen and that do not boot (semantics S15). It does so in maintenance, which it
// recognizes by the user, and for new pools whose image the user left to Gardener. It does not change images that a user names.
func (c *component) mutateShoot(
	ctx context.Context, req *admission.Request, shoot *v1beta1.Shoot, stored older[*v1beta1.Shoot],
) (admission.Response, error) {
	old, err := stored()
	if err != nil {
		return admission.Response{}, err
	}
	asMaintenance := old != nil && slices.Contains(*c.maintainers, req.UserInfo.Username)
	corrections, err := c.correct(ctx, shoot, old, suspects(shoot, old, asMaintenance))
	if err != nil {
		return admission.Response{}, err
	}
	if asMaintenance && len(corrections) > 0 && !ptr.Deref(req.DryRun, false) {
		c.record(ctx, shoot)
	}
	return corrected(corrections), nil
}

// suspect is a worker whose image Gardener has chosen. old is the stored worker that maintenance updates, or nil for a new worker.
type suspect struct {
	index int
	old   *v1beta1.Worker
}

// correction replaces the image that Gardener has chosen for a suspect. why is the reason against that image, without the pool's name.
type correction struct {
	suspect
	pool provider.Pool
	to   maintenance.Image
	why  string
}

// suspects returns the workers that maintenance updates to another version. For other users, it returns the new workers.
func suspects(shoot, old *v1beta1.Shoot, asMaintenance bool) []suspect {
	var found []suspect
	stored := workersOf(old)
	for i := range shoot.Spec.Provider.Workers {
		worker := &shoot.Spec.Provider.Workers[i]
		before := stored[worker.Name]
		switch {
		case worker.Machine.Image == nil || worker.Machine.Image.Version == nil: // the API server has filled it in before
		case before == nil && !asMaintenance:
			found = append(found, suspect{i, nil})
		case before != nil && asMaintenance && updates(worker.Machine.Image, before.Machine.Image):
			found = append(found, suspect{i, before})
		}
	}
	return found
}

// updates reports whether image is another version of the same image as old.
func updates(image, old *v1beta1.ShootMachineImage) bool {
	return old != nil && old.Name == image.Name && old.Version != nil && *old.Version != *image.Version
}

// workersOf returns the workers of a Shoot by name, or nil if shoot is nil.
func workersOf(shoot *v1beta1.Shoot) map[string]*v1beta1.Worker {
	if shoot == nil {
		return nil
	}
	workers := make(map[string]*v1beta1.Worker, len(shoot.Spec.Provider.Workers))
	for i := range shoot.Spec.Provider.Workers {
		workers[shoot.Spec.Provider.Workers[i].Name] = &shoot.Spec.Provider.Workers[i]
	}
	return workers
}

// correct returns the corrections of the suspects. It skips suspects whose image works, those whose provider config has an error, and
// those without a better image. Validation refuses the last two.
func (c *component) correct(ctx context.Context, shoot, old *v1beta1.Shoot, suspects []suspect) ([]correction, error) {
	if len(suspects) == 0 {
		return nil, nil
	}
	kind, key := profileOf(shoot)
	compiled, _, err := c.profile(ctx, kind, key, nil)
	if err != nil || compiled == nil {
		return nil, err
	}
	pools, by := provider.PoolsOf(shoot), sync.OnceValue(func() written { return writtenBy(shoot) })
	maintainer := maintenance.NewMaintainer(gardenerlib.Library{}, compiled.Spec(), compiled.Provider().Workers())
	var corrections []correction
	for _, s := range suspects[:min(len(suspects), maxSuspects(compiled.Spec()))] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		worker, pool := &shoot.Spec.Provider.Workers[s.index], pools[s.index]
		chosen := maintenance.Image{Name: pool.Image, Version: pool.Version}
		refused := maintainer.Refused(chosen, worker, s.old, shoot.Spec.Kubernetes.Version)
		boots := resolve.Boots(compiled, pool)
		if boots == nil || boots(chosen.Name, chosen.Version) && refused == "" {
			continue
		}
		var to maintenance.Image
		if s.old == nil {
			to = defaulted(compiled.Spec(), shoot, by, worker, boots)
		} else if update, replaced := maintainer.Replace(old, shoot, s.old, worker, &pool, boots); replaced {
			to = maintenance.Image{Name: chosen.Name, Version: cmp.Or(update.Version, *s.old.Machine.Image.Version)}
		}
		if to != (maintenance.Image{}) && to != chosen {
			corrections = append(corrections, correction{s, pool, to, cmp.Or(resolve.WhyNot(compiled, pool), refused)})
		}
	}
	return corrections, nil
}

// maxSuspects bounds the workers that are corrected, since Gardener's choice for each looks at all image versions a few times. Further
// workers stay as they are, and validate-shoot judges them. With a thousand image versions the bound is a hundred workers.
func maxSuspects(profile *v1beta1.CloudProfileSpec) int {
	const looks, least = 100_000, 10
	versions := 1
	for i := range profile.MachineImages {
		versions += 1 + len(profile.MachineImages[i].Versions)
	}
	return max(looks/versions, least)
}

// defaulted returns the image that Gardener's defaulting chooses for a new worker among the versions that boot. It returns the zero Image
// if the user has named image and version, if that is unknown, or if there is none.
func defaulted(
	profile *v1beta1.CloudProfileSpec, shoot *v1beta1.Shoot, by func() written, worker *v1beta1.Worker,
	boots maintenance.Filter,
) maintenance.Image {
	image, left := by().leftOpen(worker)
	if !left {
		return maintenance.Image{}
	}
	open := *worker
	open.Machine.Image = image
	chosen, err := shoots.DefaultImage(gardenerlib.Library{}, profile, &open, nil)
	if err != nil || chosen != gardenerrules.NamedImage(worker) {
		return maintenance.Image{} // the user chose it, or Gardener did from another version of the profile
	}
	found, err := maintenance.Filled(gardenerlib.Library{}, profile, &open, shoot.Spec.Kubernetes.Version, boots)
	if err != nil {
		return maintenance.Image{}
	}
	return found
}

// applied is the field manager of kubectl apply, which stores the manifest in an annotation.
const applied = "kubectl-client-side-apply"

// written is what is known about the request that wrote a Shoot.
type written struct {
	// owned maps the path element of a worker to the machine fields that the request owns.
	owned map[string]owned
	// manifest has the workers given to kubectl apply, by name; nil if unknown.
	manifest map[string]*v1beta1.Worker
}

// owned says which fields of a machine the request owns: its type, its type through kubectl apply, and its image's name and version.
type owned struct{ machineType, byApply, image, version bool }

// writtenBy reads the traces of the request from a Shoot, and ignores unreadable ones. There may be thousands of field managers.
func writtenBy(shoot *v1beta1.Shoot) written {
	w := written{owned: map[string]owned{}}
	for _, entry := range shoot.ManagedFields {
		if entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		fields := fieldpath.NewSet()
		// Kubernetes 0.36 can read it without a copy; 0.35 cannot.
		if raw, err := entry.FieldsV1.MarshalJSON(); err != nil || fields.FromJSON(bytes.NewReader(raw)) != nil {
			continue
		}
		workers := within(fields, "spec", "provider", "workers")
		for worker := range workers.Children.All() {
			machine, o := within(workers.WithPrefix(worker), "machine"), w.owned[worker.String()]
			typed := machine.Has(fieldpath.MakePathOrDie("type"))
			o.machineType = o.machineType || typed
			o.byApply = o.byApply || typed && entry.Manager == applied
			o.image = o.image || machine.Has(fieldpath.MakePathOrDie("image", "name"))
			o.version = o.version || machine.Has(fieldpath.MakePathOrDie("image", "version"))
			w.owned[worker.String()] = o
		}
	}
	manifest := &v1beta1.Shoot{}
	if json.Unmarshal([]byte(shoot.Annotations[corev1.LastAppliedConfigAnnotation]), manifest) == nil {
		w.manifest = workersOf(manifest)
	}
	return w
}

// within returns the fields below a path of field names.
func within(fields *fieldpath.Set, names ...string) *fieldpath.Set {
	for _, name := range names {
		fields = fields.WithPrefix(fieldpath.PathElement{FieldName: &name})
	}
	return fields
}

// leftOpen returns the part of a worker's image that the user has named, nil for none. It reports whether the rest was left to Gardener.
// It uses the fields that the request owns, which the API server records before Gardener fills in others. For server-side apply that
// shows name and version. For other requests it only shows whether there is an image, since an omitted version is written as an empty
// one. For kubectl apply, the annotation has the manifest.
func (w written) leftOpen(worker *v1beta1.Worker) (*v1beta1.ShootMachineImage, bool) {
	owned := w.owned[fieldpath.PathElement{Key: fieldpath.KeyByFields("name", worker.Name)}.String()]
	switch {
	case owned.machineType && !owned.image && !owned.version:
		return nil, true
	case owned.machineType && !owned.version:
		return &v1beta1.ShootMachineImage{Name: worker.Machine.Image.Name}, true
	case owned.byApply:
		if said := w.manifest[worker.Name]; said != nil {
			return said.Machine.Image, true
		}
	}
	return nil, false
}

// corrected answers with a patch, and with warnings that describe it.
func corrected(corrections []correction) admission.Response {
	var patches []jsonpatch.Operation
	var said field.ErrorList
	for _, found := range corrections {
		at := found.pool.Path.Child("machine", "image")
		pointer := fmt.Sprintf("/spec/provider/workers/%d/machine/image", found.index)
		if found.to.Name != found.pool.Image {
			patches = append(patches, jsonpatch.NewOperation("replace", pointer+"/name", found.to.Name))
		}
		patches = append(patches, jsonpatch.NewOperation("replace", pointer+"/version", found.to.Version))
		said = append(said, &field.Error{Field: at.String(), Detail: found.text()})
	}
	return admission.Patched("", patches...).WithWarnings(warn(finding.Of(said))...)
}

// record records an Event about maintenance on an existing Shoot, once for each version of it. Anyone may have sent the request, so the
// Event contains none of its text. It describes the stored Shoot, with the versions from the request that the profile lists.
func (c *component) record(ctx context.Context, requested *v1beta1.Shoot) {
	stored := &v1beta1.Shoot{}
	err := c.cached.Get(ctx, client.ObjectKeyFromObject(requested), stored)
	if err != nil || stored.UID != requested.UID {
		return
	}
	kind, key := profileOf(stored)
	compiled, _, err := c.profile(ctx, kind, key, nil)
	if err != nil || compiled == nil {
		return
	}
	shoot := withVersions(stored, requested, compiled.Spec())
	corrections, err := c.correct(ctx, shoot, stored, suspects(shoot, stored, true))
	if err != nil || len(corrections) == 0 {
		return
	}
	c.recording.Lock()
	_, done := c.recorded.Get(versionOf(stored))
	c.recorded.Add(versionOf(stored), nil)
	c.recording.Unlock()
	if !done {
		c.events.Eventf(stored, nil, corev1.EventTypeNormal, eventReason, eventAction, "%s", serving.Shown(note(corrections), maxNote))
	}
}

// withVersions returns a copy of the stored Shoot with the requested image versions and Kubernetes versions, as far as the profile lists
// them.
func withVersions(stored, requested *v1beta1.Shoot, profile *v1beta1.CloudProfileSpec) *v1beta1.Shoot {
	offered := func(version string) bool {
		return slices.ContainsFunc(profile.Kubernetes.Versions, func(v v1beta1.ExpirableVersion) bool { return v.Version == version })
	}
	shoot, workers := stored.DeepCopy(), workersOf(requested)
	if version := requested.Spec.Kubernetes.Version; offered(version) {
		shoot.Spec.Kubernetes.Version = version
	}
	for i := range shoot.Spec.Provider.Workers {
		worker := &shoot.Spec.Provider.Workers[i]
		asked := workers[worker.Name]
		if asked == nil {
			continue
		}
		if image := asked.Machine.Image; image != nil && image.Version != nil && updates(image, worker.Machine.Image) {
			if _, listed := v1beta1helper.FindMachineImageVersion(profile.MachineImages, image.Name, *image.Version); listed {
				worker.Machine.Image.Version = image.Version
			}
		}
		if own, to := worker.Kubernetes, asked.Kubernetes; own != nil && to != nil && offered(ptr.Deref(to.Version, "")) {
			own.Version = to.Version
		}
	}
	return shoot
}

// note describes the correction of each worker pool, followed by the reasons as far as there is room. It is one text because only the
// first of several Events with the same reason and action is kept for a while.
func note(corrections []correction) string {
	if len(corrections) == 1 {
		return corrections[0].text()
	}
	var all, reasons []string
	for _, found := range corrections {
		does, _ := found.words()
		all = append(all, fmt.Sprintf("%s %s %s instead of %s", found.pool.Name, does, found.to, found.pool.Version))
		reasons = append(reasons, found.pool.Name+": "+found.why)
	}
	return "worker pools that cannot have what maintenance chose: " + strings.Join(all, ", ") + ". " + strings.Join(reasons, "; ")
}

// words returns the verb for the pool's correction, and the chooser of the other image.
func (f *correction) words() (does, who string) {
	switch {
	case f.old == nil:
		return "gets", "Gardener"
	case f.to.Version == *f.old.Machine.Image.Version:
		return "stays on", "maintenance"
	}
	return "is updated to", "maintenance"
}

// text describes a correction and its reason.
func (f *correction) text() string {
	does, who := f.words()
	return fmt.Sprintf("worker pool %s %s %s: %s chose %s, but %s",
		f.pool.Name, does, f.to, who, maintenance.Image{Name: f.pool.Image, Version: f.pool.Version}, f.why)
}
