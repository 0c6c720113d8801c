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

// Filter selects Shoots and worker pools of the inputs. Empty fields admit everything.
type Filter struct {
	// Shoot and Profile are [NAMESPACE/]NAME.
	Shoot, Profile, Region string
	// Version is the image version of a pool.
	Pool, Version, MachineType string

	// seen maps each flag to the names that it was compared with.
	seen map[string][]string
	// admitted reports whether the filter has admitted a worker pool.
	admitted bool
}

// Flags adds the flags of the fields, except those that the command already has.
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
			command.Complete(cmd, flag.name, nil) // a name, not a file
		}
	}
}

// choice is a field in the form of a flag.
type choice struct{ flag, value string }

// given returns the non-empty fields that are about Shoots, about pools, or both.
func (f *Filter) given(shoots, pools bool) (given []choice) {
	if shoots {
		given = append(given, choice{"shoot", f.Shoot}, choice{"profile", f.Profile}, choice{"region", f.Region})
	}
	if pools {
		given = append(given, choice{"pool", f.Pool}, choice{"version", f.Version}, choice{"machine-type", f.MachineType})
	}
	return slices.DeleteFunc(given, func(c choice) bool { return c.value == "" })
}

// flags formats choices as flags with values.
func flags(choices []choice) string {
	var text []string
	for _, c := range choices {
		text = append(text, "--"+c.flag+" "+c.value)
	}
	return strings.Join(text, " ")
}

// see records a name that a flag was compared with.
func (f *Filter) see(flag, name string) {
	if f.seen == nil {
		f.seen = map[string][]string{}
	}
	f.seen[flag] = append(f.seen[flag], name)
}

// OutOfPlace returns an error if the filter selects Shoots or pools, for commands without Shoots.
func (f *Filter) OutOfPlace() error {
	if f.Shoot+f.Pool == "" {
		return nil
	}
	return errors.New("--shoot and --pool choose among the Shoots of the inputs: name a file with Shoots, or a cluster, and leave --image out")
}

// Said returns the non-empty fields as flags with values, or "" if the filter admits everything.
func (f *Filter) Said() string { return flags(f.given(true, true)) }

// OfPools reports whether the filter selects worker pools, and not only whole Shoots.
func (f *Filter) OfPools() bool { return f.Pool+f.Version+f.MachineType != "" }

// Choose is [Filter.Shoots] for commands that do not need Shoots. It also returns an error if there are none to select from.
func (f *Filter) Choose(g *Given) error {
	if said := f.Said(); said != "" && len(g.Shoots.All) == 0 {
		return fmt.Errorf("there is no Shoot among the inputs to choose by %s%s: name a file with Shoots, or a cluster, or choose none",
			said, g.EmptyInputs())
	}
	return f.Shoots(g)
}

// Shoots removes the Shoots of the inputs that the filter does not admit. It returns an error if none is left.
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

// likeAsked returns a name, NAMESPACE/NAME, without its namespace unless asked has one.
func likeAsked(asked, name string) string {
	if strings.Contains(asked, "/") {
		return name
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}

// Admits reports whether the filter admits a worker pool of an admitted Shoot.
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

// NoPool returns an error if the filter has admitted no worker pool. Call it after all pools were passed to [Filter.Admits].
func (f *Filter) NoPool(g *Given) error {
	given := f.given(false, true)
	if f.admitted || len(given) == 0 || len(g.Shoots.All) == 0 {
		return nil
	}
	return fmt.Errorf("no worker pool among the inputs matches %s%s", flags(given), f.MeantPool())
}

// MeantPool returns a hint at names of worker pools that were probably meant, or "" if there are none.
func (f *Filter) MeantPool() string { return f.meant(f.given(false, true)) }

// meant returns a hint for each choice that was not seen, with the names that were probably meant. It returns "" if all were seen.
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
