// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// legacy is a random CloudProfile in the legacy format, in a random layout.
type legacy struct {
	r    *rand.Rand
	b    strings.Builder
	eol  string
	step int // for mappings
	dash int // for lists below their key
	// suffixed means that some versions have a suffix.
	suffixed bool
	comments int
}

// line writes a line, sometimes with a comment after or above it.
func (l *legacy) line(indent int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch l.r.IntN(12) {
	case 0:
		l.comments++
		fmt.Fprintf(&l.b, "%*s# above %d: 'it''s%s", indent, "", l.comments, l.eol)
	case 1:
		l.comments++
		text += fmt.Sprintf(" # behind %d", l.comments)
	case 2:
		if l.r.IntN(3) == 0 {
			l.b.WriteString(l.eol)
		}
	}
	fmt.Fprintf(&l.b, "%*s%s%s", indent, "", text, l.eol)
}

// text writes text in one of YAML's styles.
func (l *legacy) text(text string) string {
	switch l.r.IntN(4) {
	case 0:
		return `"` + text + `"`
	case 1:
		return "'" + text + "'"
	}
	return text
}

// item writes a list entry, member by member. Each member is a key with a text, or a key for nested content.
func (l *legacy) item(indent int, members [][2]string) {
	for i, m := range members {
		prefix := "  "
		if i == 0 {
			prefix = "- "
		}
		l.line(indent, "%s%s: %s", prefix, m[0], l.text(m[1]))
	}
}

// legacyTypes are the provider types of random profiles.
var legacyTypes = []string{"openstack", "aws", "gcp", "azure", "alicloud", "local"}

var legacyRegions = map[string][]string{"openstack": {"europe", "asia"}, "aws": {"eu-central-1", "us-east-1"}, "gcp": {"europe-west1"},
	"azure": {"westeurope"}, "alicloud": {"eu-central-1", "cn-shanghai"}, "local": {"local"}}

// reference returns a random reference to an image of a cloud.
func (l *legacy) reference(cloud string) [2]string {
	n := l.r.IntN(1 << 30)
	switch cloud {
	case "aws":
		return [2]string{"ami", fmt.Sprintf("ami-%08x", n)}
	case "gcp":
		return [2]string{"image", fmt.Sprintf("projects/p/global/images/i-%d", n)}
	case "azure":
		return [2]string{"urn", fmt.Sprintf("sap:gardenlinux:greatest:%d", n)}
	case "alicloud":
		return [2]string{"id", fmt.Sprintf("m-%020d", n)}
	case "local":
		return [2]string{"image", fmt.Sprintf("registry.example.com/node:v%d", n)}
	}
	return [2]string{"id", fmt.Sprintf("id-%d", n)}
}

// newLegacy writes a random profile of a cloud.
func newLegacy(r *rand.Rand, cloud string) *legacy {
	l := &legacy{r: r, eol: []string{"\n", "\n", "\r\n"}[r.IntN(3)], step: []int{2, 2, 4}[r.IntN(3)], suffixed: r.IntN(2) == 0}
	l.dash = []int{0, 0, 2}[r.IntN(3)]
	if r.IntN(5) == 0 {
		l.b.WriteString("\ufeff")
	}
	l.line(0, "apiVersion: core.gardener.cloud/v1beta1")
	l.line(0, "kind: CloudProfile")
	l.line(0, "metadata:")
	l.line(l.step, "name: random")
	l.line(0, "spec:")
	l.line(l.step, "type: %s", l.text(cloud))
	both := cloud != "alicloud" && r.IntN(3) > 0
	l.line(l.step, "machineTypes:")
	at := l.step + l.dash
	for i := range 1 + r.IntN(3) {
		members := [][2]string{{"name", fmt.Sprintf("type-%d", i)}, {"memory", "8Gi"}}
		if both && r.IntN(2) == 0 {
			members = append(members, [2]string{"architecture", "arm64"})
		}
		l.item(at, members)
		l.line(at+2, `cpu: "4"`)
		l.line(at+2, `gpu: "0"`)
	}
	images := l.images(both)
	sections := []func(){func() { l.core(images) }, func() { l.config(cloud, images) }, func() {
		l.line(l.step, "kubernetes:")
		l.line(2*l.step, "versions: [{version: 1.33.2}] # in brackets")
	}, func() {
		l.line(l.step, "regions:")
		for _, region := range legacyRegions[cloud] {
			l.item(at, [][2]string{{"name", region}})
		}
	}}
	r.Shuffle(len(sections), func(i, k int) { sections[i], sections[k] = sections[k], sections[i] })
	for _, section := range sections {
		section()
	}
	return l
}

// random is an image version.
type random struct {
	version       string
	architectures []string
}

func (l *legacy) images(both bool) [][]random {
	var images [][]random
	for range 1 + l.r.IntN(2) {
		var versions []random
		for k := range 1 + l.r.IntN(3) {
			v := random{version: fmt.Sprintf("18%02d.%d.0", k, l.r.IntN(10)), architectures: []string{"amd64"}}
			if both {
				v.architectures = [][]string{{"amd64"}, {"arm64"}, {"amd64", "arm64"}, {"arm64", "amd64"}}[l.r.IntN(4)]
			}
			versions = append(versions, v)
			if l.suffixed && l.r.IntN(2) == 0 {
				versions = append(versions, random{v.version + "-metal", v.architectures})
			}
		}
		images = append(images, versions)
	}
	return images
}

func (l *legacy) core(images [][]random) {
	l.line(l.step, "machineImages:")
	at := l.step + l.dash
	for i, versions := range images {
		l.item(at, [][2]string{{"name", fmt.Sprintf("image-%d", i)}})
		l.line(at+2, "versions:")
		for _, v := range versions {
			l.item(at+2+l.dash, [][2]string{{"version", v.version}})
			if !slices.Equal(v.architectures, []string{"amd64"}) || l.r.IntN(3) == 0 {
				l.line(at+4+l.dash, "architectures: [%s]", strings.Join(v.architectures, ", "))
			}
			if !l.suffixed && l.r.IntN(3) == 0 {
				l.line(at+4+l.dash, "inPlaceUpdates: {supported: true}")
			}
		}
	}
}

func (l *legacy) config(cloud string, images [][]random) {
	l.line(l.step, "providerConfig:")
	indent := 2 * l.step
	l.line(indent, "apiVersion: %s.provider.extensions.gardener.cloud/v1alpha1", cloud)
	l.line(indent, "kind: CloudProfileConfig")
	switch cloud {
	case "openstack":
		l.line(indent, "keystoneURL: https://keystone.example.com/v3/")
		l.line(indent, "constraints: {floatingPools: [{name: fp}], loadBalancerProviders: [{name: haproxy}]}")
	case "azure":
		l.line(indent, "countUpdateDomains: [{region: westeurope, count: 5}]")
		l.line(indent, "countFaultDomains: [{region: westeurope, count: 3}]")
	}
	l.line(indent, "machineImages:")
	at := indent + l.dash
	for i, versions := range images {
		l.item(at, [][2]string{{"name", fmt.Sprintf("image-%d", i)}})
		l.line(at+2, "versions:")
		for _, v := range versions {
			l.mapping(cloud, at+2+l.dash, v)
		}
	}
}

// mapping writes the references of an image version.
func (l *legacy) mapping(cloud string, at int, v random) {
	switch cloud {
	case "local": // one image for all architectures
		l.item(at, [][2]string{{"version", v.version}, l.reference(cloud)})
		return
	case "gcp", "azure":
		for _, architecture := range v.architectures {
			members := [][2]string{{"version", v.version}, l.reference(cloud)}
			if architecture != "amd64" || l.r.IntN(3) == 0 {
				members = append(members, [2]string{"architecture", architecture})
			}
			l.r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
			l.item(at, members)
		}
		return
	}
	l.item(at, [][2]string{{"version", v.version}})
	if cloud == "openstack" && slices.Contains(v.architectures, "amd64") && l.r.IntN(4) == 0 {
		l.line(at+2, "image: %s", l.text("name-"+v.version))
	}
	l.line(at+2, "regions:")
	for _, region := range legacyRegions[cloud] {
		for _, architecture := range v.architectures {
			members := [][2]string{{"name", region}, l.reference(cloud)}
			if cloud != "alicloud" && (architecture != "amd64" || l.r.IntN(3) == 0) {
				members = append(members, [2]string{"architecture", architecture})
			}
			l.r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
			l.item(at+2+l.dash, members)
		}
	}
}

// booted returns the image of each possible worker pool, by image version, machine type, region and request. It applies the API server's
// defaults first, and does not use the command's way of resolving.
func booted(t *testing.T, cloud cli.Provider, text string) map[string]any {
	t.Helper()
	object := &v1beta1.CloudProfile{}
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, f := range profile.FillCloudProfile(cloud, &object.Spec) {
		object.Spec.MachineImages[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
	}
	for i := range object.Spec.MachineTypes {
		m := &object.Spec.MachineTypes[i]
		m.Architecture = ptr.To(ptr.Deref(m.Architecture, "amd64"))
	}
	compiled, report := profile.Compile(cloud, &object.Spec, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatalf("%v in\n%s", report.Errors, text)
	}
	found := map[string]any{}
	for _, image := range object.Spec.MachineImages {
		for _, version := range image.Versions {
			for _, machineType := range object.Spec.MachineTypes {
				for _, region := range object.Spec.Regions {
					for _, strategy := range []v1beta1.MachineUpdateStrategy{"", v1beta1.AutoInPlaceUpdate} {
						pool := provider.Pool{Image: image.Name, Version: version.Version, MachineType: machineType.Name, Region: region.Name}
						pool.Worker.UpdateStrategy = strategy
						r := resolve.Pool(compiled, pool)
						found[fmt.Sprint(image.Name, "@", version.Version, " ", machineType.Name, region.Name, strategy)] = r.Reference
					}
				}
			}
		}
	}
	return found
}

// migrate runs migrate -w on the file, and returns its new content. One time in four it runs it again, which must change nothing.
func (l *lawful) migrate(args ...string) string {
	t, file := l.T, l.file
	t.Helper()
	before := read(t, file)
	if r := runFor(clouds.All(), "", append([]string{"migrate", "-w", file}, args...)...); r.status != 0 || r.stdout != "" {
		t.Fatalf("%v: status %d\n%s%s\n%s", args, r.status, r.stdout, r.stderr, before)
	}
	after := read(t, file)
	if r := runFor(clouds.All(), "", append([]string{"migrate", file}, args...)...); r.status != 0 || r.stdout != "" {
		t.Fatalf("%v, once more: status %d\n%s%s\n%s", args, r.status, r.stdout, r.stderr, after)
	}
	return after
}

// words counts the lines of a text without indentation, dashes and comments, and its comments.
func words(text string) (lines, comments map[string]int) {
	lines, comments = map[string]int{}, map[string]int{}
	for line := range strings.Lines(text) {
		line, comment, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "# ")
		lines[strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- "))]++
		comments[comment]++
	}
	delete(comments, "")
	return lines, comments
}

func blankLines(text string) (count int) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			count++
		}
	}
	return count
}

// keepsText requires that every line and comment of a text is also in the other one, unchanged, except for what the format with
// capabilities cannot express.
func keepsText(t *testing.T, before, after string) {
	t.Helper()
	lines, comments := words(before)
	now, commented := words(after)
	if !reflect.DeepEqual(comments, commented) {
		t.Fatalf("comments: %v\nbefore: %v\n%s\nbecomes\n%s", commented, comments, before, after)
	}
	for line := range lines {
		gone := line == "" || strings.HasPrefix(line, "architecture:") || strings.HasPrefix(line, "version:")
		if !gone && now[line] == 0 {
			t.Fatalf("%q is gone from\n%s\nwhich becomes\n%s", line, before, after)
		}
	}
	if was, is := blankLines(before), blankLines(after); was != is {
		t.Fatalf("%d blank lines in\n%s\nbecome %d in\n%s", was, before, is, after)
	}
	if strings.Contains(before, "\r") && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
		t.Fatalf("lines end in two ways:\n%q", after)
	}
}

// withoutVersions returns a profile without the lines of image versions in its provider config.
func withoutVersions(text string) string {
	var kept strings.Builder
	skipping, indent := false, 0
	inConfig := false
	for line := range strings.Lines(text) {
		depth := len(line) - len(strings.TrimLeft(line, " "))
		content := strings.TrimSpace(line)
		if strings.HasPrefix(content, "providerConfig:") {
			inConfig, indent = true, depth
		} else if inConfig && content != "" && depth <= indent && content[0] != '#' {
			inConfig, skipping = false, false
		}
		if inConfig && strings.HasPrefix(content, "machineImages:") {
			skipping = true
		}
		if !skipping && content != "" && content[0] != '#' {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// added returns the lines of after that are not in before, whose lines it must contain in order.
func added(t *testing.T, before, after string) (more []string) {
	t.Helper()
	rest := slices.Collect(strings.Lines(before))
	for line := range strings.Lines(after) {
		if len(rest) > 0 && line == rest[0] {
			rest = rest[1:]
		} else {
			more = append(more, line)
		}
	}
	if len(rest) > 0 {
		t.Fatalf("line %q is changed or gone:\n%s\nbecomes\n%s", rest[0], before, after)
	}
	return more
}

// lawful is a random profile in a file, with the images of its worker pools.
type lawful struct {
	*testing.T
	seed   int
	cloud  cli.Provider
	file   string
	text   string
	images map[string]any
}

// same requires that the changed text has the same image for every worker pool.
func (l *lawful) same(what, changed string) {
	l.Helper()
	if now := booted(l.T, l.cloud, changed); !reflect.DeepEqual(l.images, now) {
		l.Fatalf("seed %d, %s: other images: %v, not %v\n%s", l.seed, what, now, l.images, changed)
	}
}

// registers requires that registering the architecture adds three lines, and that the way back removes them. If images do not state which
// of several architectures they are for, their versions change, too, but nothing else.
func (l *lawful) registers() {
	registered := l.migrate()
	l.same("registered", registered)
	if l.cloud.Type() == "local" && strings.Contains(l.text, "arm64") {
		l.onlyVersions(registered)
		l.migrate("--back")
		l.same("back", read(l.T, l.file))
		return
	}
	if more := added(l.T, l.text, registered); len(more) != 3 || !strings.Contains(more[0], "machineCapabilities:") {
		l.Fatalf("seed %d: added are %q", l.seed, more)
	}
	if back := l.migrate("--back"); back != l.text {
		l.Fatalf("seed %d: there and back again\n%s\nis\n%s", l.seed, l.text, back)
	}
}

// onlyVersions requires that only image versions change, by new flavors in core, and in the provider config, and that these keep their
// text.
func (l *lawful) onlyVersions(changed string) {
	keepsText(l.T, l.text, changed)
	for _, line := range added(l.T, withoutVersions(l.text), withoutVersions(changed))[3:] {
		line = strings.TrimSpace(line)
		if line != "capabilityFlavors:" && !strings.HasPrefix(line, "- architecture: [") {
			l.Fatalf("seed %d: added is %q\n%s", l.seed, line, changed)
		}
	}
}

// becomesFlavors requires that writing versions as flavors, at once or in two steps, only changes image versions in the provider config,
// keeps their text, and can be reverted.
func (l *lawful) becomesFlavors() {
	if l.r().IntN(2) == 0 {
		l.migrate()
	}
	flavors := l.migrate("--provider-config")
	l.same("as flavors", flavors)
	l.onlyVersions(flavors)
	if more := added(l.T, withoutVersions(l.text), withoutVersions(flavors)); l.cloud.Type() != "local" && len(more) != 3 {
		l.Fatalf("seed %d: added are %q", l.seed, more)
	}
	back := l.migrate("--back")
	l.same("back from flavors", back)
	if strings.Contains(back, "apabilit") {
		l.Fatalf("seed %d: there is something left in\n%s", l.seed, back)
	}
}

// registersReserved requires that registering Gardener's reserved capabilities only changes the vocabulary and image versions, keeps
// their text, and can be reverted.
func (l *lawful) registersReserved() {
	if l.r().IntN(2) == 0 {
		l.migrate("--provider-config")
	}
	registered := l.migrate("--reserved")
	l.same("reserved capabilities are registered", registered)
	keepsText(l.T, l.text, registered)
	used := strings.Contains(l.text, "inPlaceUpdates")
	if strings.Contains(registered, "name: gardener-update-type") != used {
		l.Fatalf("seed %d: used: %t\n%s", l.seed, used, registered)
	}
	back := l.migrate("--reserved", "--back")
	l.same("reserved capabilities are registered no more", back)
	if strings.Contains(back, "gardener-") {
		l.Fatalf("seed %d: there is something left in\n%s", l.seed, back)
	}
}

// staysFolded requires that there is no way back to the legacy format, which cannot express folded versions.
func (l *lawful) staysFolded(folded string) {
	r := runFor(clouds.All(), "", "migrate", "-w", "--back", l.file)
	if now := read(l.T, l.file); r.status != 1 || now != folded {
		l.Fatalf("seed %d: status %d\n%s%s\n%s\nbecomes\n%s", l.seed, r.status, r.stdout, r.stderr, folded, now)
	}
}

// folds requires that folding removes the versions with a suffix, and that all others keep their images.
func (l *lawful) folds() {
	folded := l.migrate("--fold=-metal=host:metal")
	l.staysFolded(folded)
	joined := booted(l.T, l.cloud, folded)
	for combination, image := range joined {
		if !reflect.DeepEqual(l.images[combination], image) {
			l.Fatalf("seed %d: %s boots %v, not %v\n%s", l.seed, combination, image, l.images[combination], read(l.T, l.file))
		}
	}
	for combination := range l.images {
		if _, there := joined[combination]; there == strings.Contains(combination, "-metal ") {
			l.Fatalf("seed %d: %s is there: %t\n%s", l.seed, combination, there, read(l.T, l.file))
		}
	}
}

// foldsByMachineType requires that machine types that support only the fold's value get the image of the version with the suffix, and
// that all others keep theirs.
func (l *lawful) foldsByMachineType() {
	folded := l.migrate("--fold=-metal=host:metal,virtual", "--machine-types=type-0,t*-0")
	l.staysFolded(folded)
	joined := booted(l.T, l.cloud, folded)
	for combination, image := range joined {
		want := l.images[combination]
		version, rest, _ := strings.Cut(combination, " ")
		if suffixed, there := l.images[version+"-metal "+rest]; there && strings.HasPrefix(rest, "type-0") {
			want = suffixed
		}
		if !reflect.DeepEqual(want, image) {
			l.Fatalf("seed %d: %s boots %v, not %v\n%s", l.seed, combination, image, want, read(l.T, l.file))
		}
	}
}

func (l *lawful) r() *rand.Rand { return rand.New(rand.NewPCG(uint64(l.seed), 19)) }

// randomProfiles is the number of profiles in the test. make test-migration tries more.
var randomProfiles = flag.Int("profiles", 240, "how many random profiles are migrated")

// Every step makes its change, and no worker pool gets another image.
func TestMigrationOfRandomProfiles(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // or most of the time goes into marking the memory of Gardener's packages
	byType := map[string]cli.Provider{}
	for _, cloud := range clouds.All() {
		byType[cloud.Type()] = cloud
	}
	file := filepath.Join(t.TempDir(), "profile.yaml")
	done := map[string]int{}
	for seed := range *randomProfiles {
		cloud := byType[legacyTypes[seed%len(legacyTypes)]]
		text := newLegacy(rand.New(rand.NewPCG(uint64(seed), 18)), cloud.Type()).b.String()
		write(t, file, text)
		l := &lawful{t, seed, cloud, file, text, booted(t, cloud, text)}
		switch law := seed / (4 * len(legacyTypes)) % 5; {
		case law == 4:
			done["with reserved capabilities"]++
			l.registersReserved()
		case strings.Contains(text, "-metal") && law == 2:
			done["folded"]++
			l.folds()
		case strings.Contains(text, "-metal") && law == 3:
			done["folded by machine type"]++
			l.foldsByMachineType()
		case law%2 == 0:
			done["registered"]++
			l.registers()
		default:
			done["as flavors"]++
			l.becomesFlavors()
		}
	}
	for _, what := range []string{"folded", "folded by machine type", "registered", "as flavors", "with reserved capabilities"} {
		if done[what] < *randomProfiles/20 {
			t.Errorf("%s: %d profiles only", what, done[what])
		}
	}
}
