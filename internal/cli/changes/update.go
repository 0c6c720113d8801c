// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/pkg/words"
)

// Planned is plan's answer. Its JSON is an interface: a published field keeps its name and meaning.
type Planned struct {
	// Profile is the name of the updated profile, [NAMESPACE/]NAME.
	Profile string   `json:"profile"`
	Changes []Change `json:"changes"`
	Summary Summary  `json:"summary"`
	// ComparedWith is the name of the second profile of a comparison; empty for an update.
	ComparedWith string `json:"comparedWith,omitempty"`
	// Others are the paths of all other fields that differ, sorted; never nil.
	Others []string `json:"others"`
	// Rewritten are the paths that are written differently with the same meaning, sorted: versions with other
	// lifecycle stages, and names of reserved capabilities.
	Rewritten []string `json:"rewritten,omitempty"`

	// Same counts the combinations that boot the same image before and after the update, without special requests.
	Same int `json:"-"`
	// Kind is the profile's kind.
	Kind string `json:"-"`
	// WithoutUsers is set if no Shoots were given and none were requested from a cluster.
	WithoutUsers bool `json:"-"`
	// Some is set if only some of the worker pools among the inputs were selected.
	Some bool `json:"-"`
}

// Update is an update of a CloudProfile or, if Profile is nil, of a NamespacedCloudProfile. Before and After are a
// command's inputs, which differ only in the updated profile. Only the notes and findings of Before are shown.
type Update struct {
	// Kind and Name identify the profile; Name is [NAMESPACE/]NAME.
	Kind, Name string
	// ComparedWith is the name of the second profile of a comparison, in which nothing is refused; empty for an update.
	ComparedWith  string
	Before, After *input.Given
	Profile       *Pair[v1beta1.CloudProfile]
	Namespaced    *Pair[v1beta1.NamespacedCloudProfile]
	// Filter selects worker pools. It has already chosen among the Shoots of Before.
	Filter input.Filter
	// Renamed returns Formerly of an [update.View] for the profiles before and after; nil if no version was renamed.
	Renamed func(before, after input.AnyProfile) func(resolve.Combination) (version string, counts bool)
	// Besides is copied to each [update.View].
	Besides []resolve.Template

	// deleting are the profiles' views with only the Shoots that are being deleted.
	deleting []update.View[any]
}

// Pair is an object before and after its update.
type Pair[T any] struct{ Old, Updated *input.Source[T] }

// view returns the view of a profile before and after the update, under a NamespacedCloudProfile's name, with its
// Shoots. It records Shoots that are being deleted in u.deleting instead.
func (u *Update) view(name string, before, after input.AnyProfile, shoots []*v1beta1.Shoot) update.View[any] {
	v := update.View[any]{Name: name, Before: before, After: after, Users: UsersOf(remaining(shoots)), Admission: u.Before.Admission.Of(after.Spec().Type), All: true, Besides: u.Besides}
	if u.Renamed != nil {
		v.Formerly = u.Renamed(before, after)
	}
	if len(v.Users) < len(shoots) {
		deleting := v
		deleting.Users, deleting.All = UsersOf(slices.DeleteFunc(slices.Clone(shoots), func(s *v1beta1.Shoot) bool { return s.DeletionTimestamp == nil })), false
		u.deleting = append(u.deleting, deleting)
	}
	return v
}

// Plan returns the effects of the update. It fails if the profiles cannot be compared.
func (u *Update) Plan() (*Planned, error) {
	look := u.ofProfile
	if u.Profile == nil {
		look = u.ofNamespaced
	}
	views, refused, err := look()
	if err != nil {
		return nil, err
	}
	if u.ComparedWith != "" {
		refused = nil
	}
	asked, err := u.asked(views)
	if err != nil {
		return nil, err
	}
	facts := update.Of(gardenerlib.Library{}, views...)
	asked.narrow(&facts, views)
	refused, found := asked.refusals(refused), inWords(u.ComparedWith != "", &facts, views)
	for _, pool := range facts.Faulty { // its provider config has faults
		v := &views[pool.View]
		user := &v.Users[pool.User]
		u.Before.AddErrors(u.Before.Shoots.ByName[user.Name()].Manifest, resolve.Pool(v.Before, user.Pools[pool.Index]).Further.Errors()...)
	}
	if len(facts.Blocked) > 0 || slices.ContainsFunc(found, func(c Change) bool {
		return slices.ContainsFunc(c.Then, func(f Fate) bool { return f.Boots != nil })
	}) {
		u.Before.NoteAdmission()
	}
	u.noteDeleting()
	if u.Profile != nil && u.ComparedWith == "" {
		u.Before.NoteFlavors(u.Profile.Updated)
	}
	others, rewritten := []string{}, []string(nil)
	if len(views) > 0 {
		old, updated := u.stored()
		offered, rest, same := update.Differences(views[0].After.Provider(), old, updated, &facts, asked.users(views)...)
		found, others, rewritten = slices.Concat(found, offers(offered)), append(others, rest...), same
	}
	all := append([]Change{}, slices.Concat(refused, found)...)
	Sort(all)
	return &Planned{
		Profile: u.Name, Changes: all, Summary: Summarize(all), Others: others, Rewritten: rewritten, Kind: u.Kind, ComparedWith: u.ComparedWith,
		Same: facts.Same, Some: u.Filter.Said() != "",
	}, nil
}

// stored returns both versions of the profile as the API server stores them.
func (u *Update) stored() (old, updated any) {
	if u.Profile != nil {
		return u.Before.Stored(u.Profile.Old), u.After.Stored(u.Profile.Updated)
	}
	return u.Before.StoredNamespaced(u.Namespaced.Old), u.After.StoredNamespaced(u.Namespaced.Updated)
}

// ofProfile returns the views of a CloudProfile's update, and the refusals. There are no views if the profile's type
// changes: only refusals can be reported then.
func (u *Update) ofProfile() ([]update.View[any], []Change, error) {
	old, updated := u.Profile.Old, u.Profile.Updated
	u.findUnknown()
	children := u.children()
	if old.Object.Spec.Type != updated.Object.Spec.Type {
		refused, err := u.retyped(children)
		return nil, refused, err
	}
	was, fault := u.Before.Compile(old, "spec.type")
	is, also := u.After.Compile(updated, "spec.type")
	if fault = cmp.Or(fault, also); fault != nil {
		return nil, nil, fmt.Errorf("CloudProfile %s: %s", u.Name, fault.Detail)
	}
	stored, storedOld := u.After.Stored(updated), u.Before.Stored(old)
	_, report := check.CloudProfileUpdate(was, stored, storedOld)
	if leaving(stored, storedOld) {
		report.Errors = nil
	}
	wrong, errs, report := checks.WithoutMisregistered(stored, checks.ValidateUpdate(u.Before, stored, storedOld), report)
	report.Errors = slices.Concat(wrong, report.Errors)
	is = is.WithFaults(slices.Concat(wrong, finding.Of(errs)))
	all := u.shoots("CloudProfile", u.Name, was)
	views := []update.View[any]{u.view("", was, is, all)}
	var objects []*v1beta1.NamespacedCloudProfile
	for _, child := range children {
		was, fault := u.Before.CompileNamespaced(child, "spec.providerConfig")
		is, also := u.After.CompileNamespaced(u.After.Namespaced.ByName[child.Name], "spec.providerConfig")
		if fault = cmp.Or(fault, also); fault != nil {
			u.Before.AddErrors(child.Manifest, fault)
			continue
		}
		shoots := u.shoots("NamespacedCloudProfile", child.Name, was)
		views = append(views, u.view(child.Name, was, is, shoots))
		if child.Object.DeletionTimestamp == nil { // Gardener ignores children being deleted, and their users
			u.noteOverrides(child)
			objects, all = append(objects, child.Object), slices.Concat(all, shoots)
		}
	}
	all = remaining(all)
	u.noteRegions(is, all)
	refused := append(refusals(errs), refusals(report.Errors.Errors())...)
	refused = append(refused, inUse(u.After.Server.Release, stored, storedOld, objects, all)...)
	return views, refused, nil
}

// noteOverrides adds a note if a child gives another expiration date to versions that get their first lifecycle in the update.
func (u *Update) noteOverrides(child *input.Source[v1beta1.NamespacedCloudProfile]) {
	was, is := update.Expirable(u.Profile.Old.Object), update.Expirable(u.Profile.Updated.Object)
	var overridden []string
	for id := range update.Expirable(child.Object) {
		if len(is[id].Lifecycle) > 0 && len(was[id].Lifecycle) == 0 && was[id].Version != "" {
			name := "Kubernetes " + id.Version
			if id.Image != "" {
				name = id.String()
			}
			overridden = append(overridden, name)
		}
	}
	if len(overridden) == 0 {
		return
	}
	slices.Sort(overridden)
	u.Before.Notes = append(u.Before.Notes, fmt.Sprintf("NamespacedCloudProfile %s: its own expirationDate of %s is ignored beside the lifecycle "+
		"that NEW has, and Gardener refuses later changes of this profile until the date is removed", child.Name, words.Few(overridden)))
}

// ofNamespaced returns the views and refusals for an update of a NamespacedCloudProfile.
func (u *Update) ofNamespaced() ([]update.View[any], []Change, error) {
	old, updated := u.Namespaced.Old, u.Namespaced.Updated
	parent, reference := u.Before.ParentOf(updated), updated.Object.Spec.Parent
	switch {
	case parent == nil && input.NamesParent(updated.Object):
		missing := u.Before.Missing("CloudProfile", reference.Name, "spec.parent.name")
		u.Before.AddErrors(updated.Manifest, missing)
		return nil, nil, missing
	case parent == nil:
		return nil, nil, fmt.Errorf("CloudProfile %s, the parent of NamespacedCloudProfile %s, is not among the inputs: "+
			"give its manifest as well", words.Quoted(reference.Name), u.Name)
	case parent.Object == nil:
		return nil, nil, fmt.Errorf("CloudProfile %s, the parent of NamespacedCloudProfile %s, cannot be read", reference.Name, u.Name)
	}
	above, fault := u.Before.Compile(parent, "spec.type")
	if fault != nil {
		return nil, nil, fmt.Errorf("CloudProfile %s: %s", reference.Name, fault.Detail)
	}
	inGarden := u.Before.Stored(parent)
	stored, storedOld := u.After.StoredNamespaced(updated), u.Before.StoredNamespaced(old)
	was, fault := u.Before.CompileNamespaced(old, "")
	is, also := u.After.CompileNamespaced(updated, "")
	if fault = cmp.Or(fault, also); fault != nil {
		return nil, nil, fmt.Errorf("NamespacedCloudProfile %s: %s", u.Name, fault.Detail)
	}
	_, report := check.NamespacedCloudProfileUpdate(above, stored, storedOld)
	if leaving(stored, storedOld) {
		report.Errors = nil
	}
	own := append(report.Errors.Errors(), report.Warnings.Errors()...)
	refused := refusals(checks.ValidateNamespacedUpdate(u.Before, stored, storedOld, inGarden, own))
	shoots := u.shoots("NamespacedCloudProfile", u.Name, was)
	refused = append(refused, refusals(report.Errors.Errors())...)
	refused = append(refused, inUseNamespaced(stored, storedOld, inGarden, remaining(shoots))...)
	return []update.View[any]{u.view("", was, is, shoots)}, refused, nil
}

// retyped returns the refusal of an update that changes the CloudProfile's type while users of another type exist, unless it is being
// deleted. If nothing refuses the update, it returns an error: profiles of different types have nothing to compare.
func (u *Update) retyped(children []*input.Source[v1beta1.NamespacedCloudProfile]) ([]Change, error) {
	old, updated := u.Profile.Old.Object, u.Profile.Updated.Object
	var users []string
	used := map[string]bool{}
	for s := range u.readable() {
		kind, name, _ := input.ProfileNameOf(s.Object)
		child := s.Object.Namespace + "/" + name
		through := kind == "NamespacedCloudProfile" && slices.ContainsFunc(children, func(c *input.Source[v1beta1.NamespacedCloudProfile]) bool {
			return c.Name == child
		})
		used[child] = used[child] || through
		if (through || kind == "CloudProfile" && name == u.Name) && s.Object.Spec.Provider.Type != updated.Spec.Type {
			users = append(users, "Shoot "+s.Name)
		}
	}
	for _, child := range children {
		if !used[child.Name] {
			users = append(users, "NamespacedCloudProfile "+child.Name)
		}
	}
	if len(users) > 0 && !leaving(updated, old) {
		return []Change{refusal(check.TypeInUse(updated, old, users).Error)}, nil
	}
	return nil, fmt.Errorf("CloudProfile %s has type %s in OLD and %s in NEW, whose images have nothing in common to compare: "+
		"give NEW the type of OLD", u.Name, words.Quoted(old.Spec.Type), words.Quoted(updated.Spec.Type))
}

// refusals converts errors that refuse the update to changes.
func refusals(errs field.ErrorList) []Change {
	var changes []Change
	for _, err := range errs {
		changes = append(changes, refusal(err))
	}
	return changes
}

func refusal(err *field.Error) Change {
	return Change{
		Kind: Refused, Rule: err.Origin, Field: err.Field, Message: input.Message(err), Pools: []Pool{},
	}
}
