// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// Filter says which Shoots and worker pools of the inputs a command is about. Fields that are empty admit all.
type Filter struct {
	// Shoot and Profile are [NAMESPACE/]NAME.
	Shoot, Profile, Region string
	// Version is that of the image that a pool has.
	Pool, Version, MachineType string

	// seen are the names that were looked at, by the flag that chooses among them.
	seen map[string][]string
	// admitted is set once the filter has admitted a worker pool.
	admitted bool
}

// Flags adds the flags of the fields that no other flag of a command fills.
func (f *Filter) Flags(cmd *cobra.Command) {
	for _, flag := range []struct {
		name  string
		value *string
		usage string
	}{
		{"shoot", &f.Shoot, "answer for the Shoot `[NAMESPACE/]NAME` alone"},
		{"pool", &f.Pool, "answer for worker pools of this `NAME` alone"},
		{"profile", &f.Profile, "answer by the profile `[NAMESPACE/]NAME` alone"},
		{"region", &f.Region, "answer for Shoots in this `REGION` alone"},
		{"version", &f.Version, "answer for worker pools with this `VERSION` of their image alone"},
		{"machine-type", &f.MachineType, "answer for worker pools with the machine type `NAME` alone"},
	} {
		if cmd.Flags().Lookup(flag.name) == nil {
			cmd.Flags().StringVar(flag.value, flag.name, "", flag.usage)
			command.Complete(cmd, flag.name, nil) // a name, and no file
		}
	}
}

// choice is a field as a flag.
type choice struct{ flag, value string }

// given returns the fields that say something. shoots and pools say of which.
func (f *Filter) given(shoots, pools bool) (given []choice) {
	if shoots {
		given = append(given, choice{"shoot", f.Shoot}, choice{"profile", f.Profile}, choice{"region", f.Region})
	}
	if pools {
		given = append(given, choice{"pool", f.Pool}, choice{"version", f.Version}, choice{"machine-type", f.MachineType})
	}
	return slices.DeleteFunc(given, func(c choice) bool { return c.value == "" })
}

// flags writes choices as flags with their values.
func flags(choices []choice) string {
	var text []string
	for _, c := range choices {
		text = append(text, "--"+c.flag+" "+c.value)
	}
	return strings.Join(text, " ")
}

// see notes the name that a flag chooses among.
func (f *Filter) see(flag, name string) {
	if f.seen == nil {
		f.seen = map[string][]string{}
	}
	f.seen[flag] = append(f.seen[flag], name)
}

// OutOfPlace returns an error if the filter is about Shoots, and there are none.
func (f *Filter) OutOfPlace() error {
	if f.Shoot+f.Pool == "" {
		return nil
	}
	return errors.New("--shoot and --pool choose among the Shoots of the inputs: name a file with Shoots, or a cluster, and leave --image out")
}

// Said returns the fields that say something, as flags with their values; empty if the filter admits all.
func (f *Filter) Said() string { return flags(f.given(true, true)) }

// OfPools reports whether the filter is about worker pools, and not only about whole Shoots.
func (f *Filter) OfPools() bool { return f.Pool+f.Version+f.MachineType != "" }

// Choose is [Filter.Shoots] for commands that need no Shoots: the error also says that there are none to choose from.
func (f *Filter) Choose(g *Given) error {
	if said := f.Said(); said != "" && len(g.Shoots.All) == 0 {
		return fmt.Errorf("there is no Shoot among the inputs to choose by %s%s: name a file with Shoots, or a cluster, or choose none",
			said, g.EmptyInputs())
	}
	return f.Shoots(g)
}

// Shoots leaves those Shoots of the inputs that the filter admits. The error says that there are none.
func (f *Filter) Shoots(g *Given) error {
	given := f.given(true, false)
	if len(given) == 0 || len(g.Shoots.All) == 0 {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(g.Shoots.All), func(s *Source[v1beta1.Shoot]) bool {
		return !f.admitsShoot(s)
	})
	if len(left) == 0 {
		return fmt.Errorf("no Shoot among the inputs matches %s%s", flags(given), f.meant(given))
	}
	g.Shoots.All = left
	return nil
}

func (f *Filter) admitsShoot(s *Source[v1beta1.Shoot]) bool {
	f.see("shoot", likeAsked(f.Shoot, s.Name))
	if f.Shoot != "" && s.Name != f.Shoot && !strings.HasSuffix(s.Name, "/"+f.Shoot) {
		return false
	}
	if f.Profile+f.Region == "" {
		return true
	}
	if s.Object == nil {
		return false
	}
	kind, name, _ := ProfileNameOf(s.Object)
	if kind == "NamespacedCloudProfile" && strings.Contains(f.Profile, "/") {
		name = s.Object.Namespace + "/" + name
	}
	f.see("profile", name)
	f.see("region", s.Object.Spec.Region)
	return (f.Profile == "" || name == f.Profile) && (f.Region == "" || s.Object.Spec.Region == f.Region)
}

// likeAsked returns a name, NAMESPACE/NAME, with its namespace if the one that is asked for has one, too.
func likeAsked(asked, name string) string {
	if strings.Contains(asked, "/") {
		return name
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}

// Admits reports whether the filter admits a worker pool of a Shoot that it admits.
func (f *Filter) Admits(pool *provider.Pool) bool {
	if f.OfPools() {
		f.see("pool", pool.Name)
		f.see("version", pool.Version)
		f.see("machine-type", pool.MachineType)
	}
	admits := (f.Pool == "" || pool.Name == f.Pool) && (f.Version == "" || pool.Version == f.Version) &&
		(f.MachineType == "" || pool.MachineType == f.MachineType)
	f.admitted = f.admitted || admits
	return admits
}

// NoPool is the error of a command that has asked about all worker pools, of which the filter admits none.
func (f *Filter) NoPool(g *Given) error {
	given := f.given(false, true)
	if f.admitted || len(given) == 0 || len(g.Shoots.All) == 0 {
		return nil
	}
	return fmt.Errorf("no worker pool among the inputs matches %s%s", flags(given), f.MeantPool())
}

// MeantPool says which of the worker pools that were looked at may have been meant; empty if no other one was.
func (f *Filter) MeantPool() string { return f.meant(f.given(false, true)) }

// meant says which of the names that were looked at may have been meant by those of choices that are not among them; empty if all are.
func (f *Filter) meant(choices []choice) (text string) {
	for _, c := range choices {
		names := slices.Compact(slices.Sorted(slices.Values(f.seen[c.flag])))
		if len(names) > 0 && !slices.Contains(names, c.value) {
			there := "; there are "
			if len(names) == 1 {
				there = "; there is "
			}
			text += cmp.Or(words.DidYouMean(words.Closest(c.value, names)), there+words.Few(names))
		}
	}
	return text
}
