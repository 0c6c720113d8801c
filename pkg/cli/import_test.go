// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/clouds"
)

// importExamples has a profile without images for each cloud, and the metadata of a release.
const importExamples = "../../docs/examples/import"

// importing runs import with the providers of all clouds.
func importing(args ...string) result {
	return runFor(clouds.All(), "", append([]string{"import"}, args...)...)
}

// importAnswer is the JSON output of import.
type importAnswer struct {
	Profile  string
	Versions []struct {
		Image, Version   string
		Flavors, Regions int
		Action           string
	}
	Findings []struct {
		Severity, Rule, Type, Field, Message, File string
		Line                                       int
	}
	Files    []struct{ File, Diff string }
	Profiles []importAnswer
}

// rulesOf returns the rules of the findings without duplicates.
func (a importAnswer) rulesOf() (rules []string) {
	for _, f := range a.Findings {
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

// copyOf copies a file after replacing pairs of old and new text, each of which must occur.
func copyOf(t *testing.T, from, to string, pairs ...string) string {
	t.Helper()
	text := read(t, from)
	for pair := range slices.Chunk(pairs, 2) {
		if !strings.Contains(text, pair[0]) {
			t.Fatalf("%q is not in %s", pair[0], from)
		}
		text = strings.ReplaceAll(text, pair[0], pair[1])
	}
	write(t, to, text)
	return to
}

// In each cloud, one command adds images to an empty profile, about which lint then reports nothing.
func TestImportIntoEmptyProfiles(t *testing.T) {
	for _, cloud := range []string{"alicloud", "aws", "azure", "gcp", "openstack"} {
		t.Run(cloud, func(t *testing.T) {
			file := copyOf(t, filepath.Join(importExamples, cloud+".yaml"), filepath.Join(t.TempDir(), cloud+".yaml"))
			before := read(t, file)
			source := "--from=gardenlinux:" + filepath.Join(importExamples, "metadata")
			diff := importing(file, source)
			if diff.status != 0 || !strings.Contains(diff.stdout, "+++ b/") || read(t, file) != before {
				t.Fatalf("%+v", diff)
			}
			if r := importing("-w", file, source); r.status != 0 || r.stdout != "" || !strings.Contains(r.stderr, "written: "+file) {
				t.Fatalf("%+v", r)
			}
			if r := runFor(clouds.All(), "", "lint", file); r.status != 0 || r.stdout != "" || !strings.Contains(r.stderr, "no errors, no warnings") {
				t.Errorf("%+v\n%s", r, read(t, file))
			}
			if r := importing(file, source); r.status != 0 || r.stdout != "" || !strings.Contains(r.stderr, "nothing to import") {
				t.Errorf("once more: %+v", r)
			}
			golden(t, "import-"+cloud+".yaml", read(t, file))
		})
	}
}

// A folder of metadata may be a link, such as one to the latest release.
func TestImportFromALink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "latest")
	folder, err := filepath.Abs(filepath.Join(importExamples, "metadata"))
	if err = errors.Join(err, os.Symlink(folder, link)); err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(importExamples, "aws.yaml")
	was, is := importing(profile, "--from=gardenlinux:"+folder), importing(profile, "--from=gardenlinux:"+link)
	if is != was || is.status != 0 {
		t.Errorf("%+v, want %+v", is, was)
	}
}

// copyRelease copies a release's metadata for some platforms into a folder.
func copyRelease(t *testing.T, folder string, platforms ...string) string {
	t.Helper()
	for _, platform := range platforms {
		files, err := filepath.Glob(filepath.Join(importExamples, "metadata", platform+"-*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", platform, err)
		}
		for _, file := range files {
			copyOf(t, file, filepath.Join(folder, filepath.Base(file)))
		}
	}
	return folder
}

const metadataAWS = "aws-gardener_prod-amd64.s3_metadata.yaml"

// Mistakes in a source are reported at their places, and nothing is written.
func TestImportFromWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		// change changes the release's files in a folder.
		change func(t *testing.T, folder string)
		// rule, place and said are the finding's rule, place and message.
		rule, place, said string
		args              []string
	}{
		"truncated": {func(t *testing.T, folder string) {
			text := read(t, filepath.Join(folder, metadataAWS))
			write(t, filepath.Join(folder, metadataAWS), text[:strings.Index(text, "us-east-1")+5])
		}, "import-source", metadataAWS + ":24", "truncated", nil},
		"empty": {func(t *testing.T, folder string) { write(t, filepath.Join(folder, metadataAWS), "") },
			"import-source", metadataAWS + ":1", "empty", nil},
		"no YAML": {func(t *testing.T, folder string) { write(t, filepath.Join(folder, metadataAWS), "a: [1\nb: 'c") },
			"import-source", metadataAWS + ":", "not valid YAML", nil},
		"two releases": {func(t *testing.T, folder string) {
			file := filepath.Join(folder, "aws-gardener_prod-arm64.s3_metadata.yaml")
			copyOf(t, file, file, "version: '1877.3'", "version: '1877.4'")
		}, "import-source", "aws-gardener_prod-arm64.s3_metadata.yaml:33", "this is release 1877.4, and", nil},
		"an image in two files": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, metadataAWS), filepath.Join(folder, "copy.yaml"))
		}, "import-source", "copy.yaml:1", "by platform, architecture and modifiers", nil},
		"a region twice": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, metadataAWS), filepath.Join(folder, metadataAWS), "us-east-1", "eu-central-1")
		}, "import-source", metadataAWS + ":23", "region eu-central-1 has an image already, in line 20", nil},
		"no semantic version": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, metadataAWS), filepath.Join(folder, metadataAWS), "version: '1877.3'", "version: today")
		}, "import-source", metadataAWS + ":33", "today is not a semantic version", nil},
		"of another cloud": {func(t *testing.T, folder string) {
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			copyRelease(t, folder, "gcp")
		}, "import-profile", "aws.yaml:6", "the source has no image for aws", nil},
		"of another cloud, by --match": {func(t *testing.T, folder string) { copyRelease(t, folder, "gcp") },
			"import-profile", "aws.yaml:6", "the source has no image for aws that meets all conditions of --match", []string{"--match=platform=gcp"}},
		"metadata that contradicts itself": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, metadataAWS), filepath.Join(folder, metadataAWS), "published_aws_images", "published_openstack_images")
		}, "import-source", metadataAWS + ":19", "there is no list published_aws_images", nil},
		"no AMI": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, metadataAWS), filepath.Join(folder, metadataAWS), "ami-0a1b2c3d4e5f60002", "wrong")
		}, "import-source", metadataAWS + ":23", "is not the ID of an AMI", nil},
		"an image of two": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, metadataAWS), filepath.Join(folder, metadataAWS), "ami-0a1b2c3d4e5f60001", "ami-0a1b2c3d4e5f60011")
		}, "import-source", "aws-gardener_prod-arm64.s3_metadata.yaml:20", "this image is in", nil},
		"truncated in its first key": {func(t *testing.T, folder string) { write(t, filepath.Join(folder, "a.yaml"), "archit") },
			"import-source", "a.yaml:1", "truncated, or no metadata", nil},
		"two documents": {func(t *testing.T, folder string) {
			text := read(t, filepath.Join(folder, metadataAWS))
			write(t, filepath.Join(folder, metadataAWS), text+"---\n"+text)
		}, "import-source", metadataAWS + ":35:1", "the file has 2 documents", nil},
		"two files in one": {func(t *testing.T, folder string) {
			text := read(t, filepath.Join(folder, metadataAWS))
			write(t, filepath.Join(folder, metadataAWS), text+text)
		}, "import-source", metadataAWS + ":34:1", "architecture is here already, in line 1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			folder := filepath.Join(dir, "release")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			copyRelease(t, folder, "aws")
			c.change(t, folder)
			file := copyOf(t, filepath.Join(importExamples, "aws.yaml"), filepath.Join(dir, "aws.yaml"))
			before := read(t, file)
			r := importing(append([]string{"-w", "-o", "json", file, "--from=gardenlinux:" + folder}, c.args...)...)
			answer := decoded[importAnswer](t, r)
			if r.status != 1 || read(t, file) != before || !slices.Contains(answer.rulesOf(), c.rule) || len(answer.Files) > 0 {
				t.Errorf("%+v", r)
			}
			contains(t, r.stderr, c.place, c.said, "nothing is changed")
		})
	}
}

// Files in a folder that are not metadata are skipped with a note, and so are files without an image for any profile. If such a file is
// given by name, the error describes it.
func TestImportLeavesOtherFilesOut(t *testing.T) {
	folder := copyRelease(t, t.TempDir(), "aws", "metal")
	file := copyOf(t, filepath.Join(importExamples, "aws.yaml"), filepath.Join(folder, "deploy.yaml"))
	write(t, filepath.Join(folder, "Chart.yaml"), "apiVersion: v2\nname: images\nversion: 1.0.0\n")
	write(t, filepath.Join(folder, "index.json"), "[1]")
	write(t, filepath.Join(folder, "workflow.yml"), "on: push\nversion: 1\n")
	inPlace := filepath.Join(folder, "aws-gardener_prod_usi-amd64.s3_metadata.yaml")
	before, _, _ := strings.Cut(read(t, inPlace), "published_image_metadata:")
	write(t, inPlace, before+"published_image_metadata: null\nversion: '1877.3'\n")
	r := importing(file, "--from=gardenlinux:"+folder)
	if r.status != 0 {
		t.Errorf("%+v", r)
	}
	contains(t, r.stderr,
		"note: 4 files of the source are not metadata of a release, and are skipped: Chart (a file with an apiVersion), deploy (kind CloudProfile), index (a list), ",
		"note: 1 file of the source has no published image, and is skipped: aws-gardener_prod_usi-amd64\n",
		"note: 1 file of the source is for a platform whose images are not known here, and is skipped: metal\n")
	for _, name := range []string{"deploy.yaml", "index.json"} {
		r := importing(file, "--from=gardenlinux:"+filepath.Join(folder, name))
		if r.status != 1 || r.stdout != "" {
			t.Errorf("%+v", r)
		}
		contains(t, r.stderr, name+":1:1: error: this is not metadata of a Garden Linux release, but ")
	}
	if r := importing(file, "--from=gardenlinux:../../example/ironcore"); r.status != 2 {
		t.Errorf("%+v", r)
	} else {
		contains(t, r.stderr, "../../example/ironcore has no metadata of a Garden Linux release, but ")
	}
}

// Images of Azure's Marketplace are skipped and counted, unless a map or --match selects them. The profile's own settings for their terms
// stay.
func TestImportFromTheMarketplace(t *testing.T) {
	folder := copyRelease(t, t.TempDir(), "azure")
	file, given := filepath.Join(t.TempDir(), "azure.yaml"), filepath.Join(t.TempDir(), "map.yaml")
	const none, some = "published_marketplace_images: []", "published_marketplace_images:\n" +
		"  - hyper_v_generation: V1\n    urn: sap:gardenlinux:greatest:1877.3.0\n  - hyper_v_generation: V2\n    urn: sap:gardenlinux:greatest-gen2:1877.3.0"
	plain := filepath.Join(folder, "azure-gardener_prod-amd64.s3_metadata.yaml")
	copyOf(t, plain, plain, none, some)
	source := "--from=gardenlinux:" + folder
	restore := func(pairs ...string) { copyOf(t, filepath.Join(importExamples, "azure.yaml"), file, pairs...) }

	restore()
	r := importing(file, source)
	if r.status != 0 || strings.Contains(r.stdout, "urn") || !strings.Contains(r.stdout, "communityGalleryImageID") {
		t.Errorf("%+v", r)
	}
	contains(t, r.stderr, "note: azure: 2 images with {published_in: marketplace}, by skip of the map, are skipped\n")

	r = importing("-w", file, source, "--match=published_in=marketplace")
	if r.status != 0 || strings.Contains(read(t, file), "communityGalleryImageID") {
		t.Fatalf("%+v", r)
	}
	contains(t, read(t, file), "urn: sap:gardenlinux:greatest:1877.3.0\n", "urn: sap:gardenlinux:greatest-gen2:1877.3.0\n")
	matched := read(t, file)
	standard := importing("--print-map=gardenlinux").stdout
	write(t, given, strings.Replace(standard, "{published_in: marketplace}", "{published_in: gallery}", 1))
	restore()
	r = importing("-w", file, source, "--map", given)
	if r.status != 0 || read(t, file) != matched {
		t.Fatalf("%+v", r)
	}
	contains(t, r.stderr, "images with {published_in: gallery}, by skip of the map, are skipped\n")

	// The profile's further settings for an image do not make it a different image. An image in the gallery is a different one.
	const urn = "urn: sap:gardenlinux:greatest:1877.3.0\n"
	terms := copyOf(t, file, file, urn, urn+"          skipMarketplaceAgreement: true\n")
	if r := importing("-w", terms, source, "--map", given); r.status != 0 || !strings.Contains(r.stderr, "nothing to import") {
		t.Errorf("%+v", r)
	}
	if r := importing("-w", terms, source); r.status != 1 || strings.Count(r.stderr, "[import-conflict]") != 2 {
		t.Errorf("%+v", r)
	}
	if r := importing("-w", terms, source, "--replace"); r.status != 0 || strings.Contains(read(t, terms), "urn:") {
		t.Errorf("%+v\n%s", r, read(t, terms))
	}

	write(t, given, strings.Replace(standard, "- {published_in: marketplace}", "- {platform: openstackbaremetal}", 1))
	restore()
	if r := importing(file, source, "--map", given); r.status != 1 || strings.Count(r.stderr, "[import-ambiguous]") != 2 {
		t.Errorf("%+v", r)
	} else {
		contains(t, r.stderr, "choose one of them, as by --match published_in=gallery")
	}

	// Older releases have no gallery. The Marketplace is the one of public Azure.
	text := read(t, plain)
	at, end := strings.Index(text, "  published_gallery_images:"), strings.Index(text, "  published_marketplace_images:")
	write(t, plain, text[:at]+text[end:])
	if r := importing(file, "--from=gardenlinux:"+plain); r.status != 1 || !strings.Contains(r.stderr, "2 images with {published_in: marketplace}") {
		t.Errorf("%+v", r)
	}
	if r := importing(file, "--from=gardenlinux:"+plain, "--match=published_in=marketplace"); r.status != 0 {
		t.Errorf("%+v", r)
	}
	restore("westeurope", "chinanorth3")
	r = importing(file, "--from=gardenlinux:"+plain, "--match=published_in=marketplace")
	if r.status != 1 || !strings.Contains(r.stderr, "no image for azure (china)") {
		t.Errorf("%+v", r)
	}
}

// imageList writes an ImageList of image-0 and a new image for a cloud, with random contents.
func imageList(r *rand.Rand, cloud string, versions ...string) string {
	l := &legacy{r: r}
	var b strings.Builder
	b.WriteString("apiVersion: capkit/v1\nkind: ImageList\nimages:\n")
	for _, image := range []string{"image-0", "new"} {
		for _, version := range versions {
			fmt.Fprintf(&b, "- name: %s\n  version: %s\n  flavors:\n", image, version)
			architectures := []string{"amd64", "arm64"}
			if cloud == "alicloud" {
				architectures = architectures[:1]
			}
			r.Shuffle(len(architectures), func(i, k int) { architectures[i], architectures[k] = architectures[k], architectures[i] })
			for _, architecture := range architectures {
				fmt.Fprintf(&b, "  - capabilities: {architecture: [%s]}\n", architecture)
				if cloud == "gcp" || cloud == "azure" {
					reference := l.reference(cloud)
					fmt.Fprintf(&b, "    %s: %s\n", reference[0], reference[1])
					continue
				}
				b.WriteString("    regions:\n")
				for _, region := range append([]string{"elsewhere"}, legacyRegions[cloud]...) {
					reference := l.reference(cloud)
					fmt.Fprintf(&b, "    - {name: %s, %s: %s}\n", region, reference[0], reference[1])
				}
			}
		}
	}
	return b.String()
}

// withoutComments removes comments and blank lines from a text: an entry that is added to a list may end up above or below a comment.
func withoutComments(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if says, _, _ := strings.Cut(line, "#"); strings.TrimSpace(says) != "" {
			kept.WriteString(strings.TrimRight(says, " \r\n") + "\n")
		}
	}
	return kept.String()
}

// linesOf returns the lines of a text, without comments, sorted, and with the architectures of a line in order.
func linesOf(text string) []string {
	return slices.Sorted(strings.Lines(strings.ReplaceAll(withoutComments(text), "[arm64, amd64]", "[amd64, arm64]")))
}

// In a random profile, an import only adds lines, a second import changes nothing, and the order of two releases does not matter.
func TestImportIntoRandomProfiles(t *testing.T) {
	dir := t.TempDir()
	file, one, two := filepath.Join(dir, "profile.yaml"), filepath.Join(dir, "one.yaml"), filepath.Join(dir, "two.yaml")
	step := func(seed int, args ...string) {
		t.Helper()
		before := read(t, file)
		if r := importing(append([]string{"-w", file}, args...)...); r.status != 0 {
			t.Fatalf("seed %d: %v: %+v\n%s", seed, args, r, before)
		}
		added(t, before, read(t, file))
		now := read(t, file)
		if r := importing(append([]string{"-w", file}, args...)...); r.status != 0 || !strings.Contains(r.stderr, "nothing to import") || read(t, file) != now {
			t.Fatalf("seed %d: %v once more: %+v\n%s", seed, args, r, now)
		}
	}
	for seed := range *randomProfiles / 2 {
		r := rand.New(rand.NewPCG(uint64(seed), 21))
		cloud, text := randomProfile(t, r, seed, file)
		write(t, one, imageList(r, cloud, "1900.1.0", "1803.0.0"))
		write(t, two, imageList(r, cloud, "1850.0.0"))
		step(seed, "--from=list:"+one)
		step(seed, "--from=list:"+two)
		first := read(t, file)
		write(t, file, text)
		step(seed, "--from=list:"+two)
		step(seed, "--from=list:"+one)
		if second := read(t, file); withoutComments(first) != withoutComments(second) {
			t.Fatalf("seed %d: one, two:\n%s\ntwo, one:\n%s", seed, first, second)
		}
	}
}

// randomProfile writes a random profile into a file: in the legacy format, or migrated in core alone, or as a whole.
func randomProfile(t *testing.T, r *rand.Rand, seed int, file string) (cloud, text string) {
	t.Helper()
	cloud = []string{"openstack", "aws", "gcp", "azure", "alicloud"}[seed%5]
	write(t, file, newLegacy(r, cloud).b.String())
	if seed%3 > 0 {
		args := []string{"migrate", "-w", file}
		if seed%3 == 2 {
			args = append(args, "--provider-config")
		}
		if m := runFor(clouds.All(), "", args...); m.status != 0 {
			t.Fatalf("seed %d: %+v", seed, m)
		}
	}
	return cloud, read(t, file)
}

// of returns an ImageList without the flavors of other architectures.
func of(architecture, list string) string {
	var kept strings.Builder
	skip := false
	for line := range strings.Lines(list) {
		switch {
		case strings.Contains(line, "architecture: ["):
			skip = !strings.Contains(line, "["+architecture+"]")
		case strings.HasPrefix(line, "- "):
			skip = false
		}
		if !skip {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// A version whose second architecture is published later ends up as if both had been imported at once.
func TestImportOfOneArchitectureAfterTheOther(t *testing.T) {
	dir := t.TempDir()
	file, source := filepath.Join(dir, "profile.yaml"), filepath.Join(dir, "source.yaml")
	for seed := range *randomProfiles / 4 {
		r := rand.New(rand.NewPCG(uint64(seed), 22))
		cloud, text := randomProfile(t, r, seed, file)
		list := imageList(r, cloud, "1900.1.0")
		step := func(list string) string {
			t.Helper()
			before := read(t, file)
			write(t, source, list)
			if r := importing("-w", file, "--from=list:"+source); r.status != 0 {
				t.Fatalf("seed %d: %+v\n%s", seed, r, before)
			}
			return read(t, file)
		}
		whole := step(list)
		for _, first := range []string{"amd64", "arm64"} {
			if !strings.Contains(list, "["+first+"]") {
				continue // of AliCloud
			}
			write(t, file, text)
			step(of(first, list))
			parts := step(list)
			if !slices.Equal(linesOf(parts), linesOf(whole)) { // the order of regions and architectures may differ
				t.Fatalf("seed %d, %s first:\n%s\nat once:\n%s", seed, first, parts, whole)
			}
			if step(list) != parts {
				t.Fatalf("seed %d, %s first: changed once more:\n%s\nbecomes\n%s", seed, first, parts, read(t, file))
			}
		}
	}
}

// otherRelease writes metadata of an AWS release with other references into a folder.
func otherRelease(t *testing.T, folder string, pairs ...string) string {
	t.Helper()
	copyRelease(t, folder, "aws")
	files, _ := filepath.Glob(filepath.Join(folder, "aws-*.yaml"))
	for _, file := range files {
		text := read(t, file)
		for pair := range slices.Chunk(pairs, 2) {
			text = strings.ReplaceAll(text, pair[0], pair[1])
		}
		write(t, file, text)
	}
	return folder
}

// importedAWS copies the AWS profile into a new folder, and imports the release.
func importedAWS(t *testing.T) string {
	t.Helper()
	file := copyOf(t, filepath.Join(importExamples, "aws.yaml"), filepath.Join(t.TempDir(), "aws.yaml"))
	if r := importing("-w", file, "--from=gardenlinux:"+filepath.Join(importExamples, "metadata")); r.status != 0 {
		t.Fatalf("%+v", r)
	}
	return file
}

// A version with other references is a conflict. --replace replaces the references, and nothing else.
func TestImportOverOtherReferences(t *testing.T) {
	file := importedAWS(t)
	before := read(t, file)
	source := "--from=gardenlinux:" + otherRelease(t, t.TempDir(), "ami-0a1b2c3d4e5f60001", "ami-0a1b2c3d4e5fffff1")
	r := importing("-w", "-o", "json", file, source)
	answer := decoded[importAnswer](t, r)
	if r.status != 1 || read(t, file) != before || answer.Versions[0].Action != "conflict" || len(answer.Findings) != 1 ||
		answer.Findings[0].Rule != "import-conflict" || answer.Findings[0].File != file || !strings.Contains(before, "ami-0a1b2c3d4e5f60001") {
		t.Fatalf("%+v", r)
	}
	if line := strings.Split(before, "\n")[answer.Findings[0].Line-1]; strings.TrimSpace(line) != "- name: eu-central-1" {
		t.Errorf("the conflict is at %q", line)
	}
	r = importing("-w", "-o", "json", file, source, "--replace")
	if answer := decoded[importAnswer](t, r); r.status != 0 || answer.Versions[0].Action != "replaced" {
		t.Fatalf("%+v", r)
	}
	if want := strings.ReplaceAll(before, "ami-0a1b2c3d4e5f60001", "ami-0a1b2c3d4e5fffff1"); read(t, file) != want {
		t.Errorf("%s", read(t, file))
	}
}

// An image that the profile has with other capabilities is a conflict, even with --replace.
func TestImportOfOtherCapabilities(t *testing.T) {
	file := importedAWS(t)
	write(t, file, strings.Replace(read(t, file), "gardener-update-type: [in-place]", "gardener-update-type: [rolling, in-place]", 1))
	r := importing(file, "--replace", "--from=gardenlinux:"+filepath.Join(importExamples, "metadata"))
	if r.status != 1 || r.stdout != "" {
		t.Errorf("%+v", r)
	}
	contains(t, r.stderr, "is here with other capabilities", "[import-conflict]")
}

// A missing region, architecture or file removes nothing, and a later import adds it.
func TestImportInParts(t *testing.T) {
	whole := read(t, importedAWS(t))
	file := copyOf(t, filepath.Join(importExamples, "aws.yaml"), filepath.Join(t.TempDir(), "aws.yaml"))
	part := copyRelease(t, t.TempDir(), "aws")
	for _, name := range []string{"aws-gardener_prod-arm64", "aws-gardener_prod_tpm2_trustedboot-amd64"} {
		if err := os.Remove(filepath.Join(part, name+".s3_metadata.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	plain := filepath.Join(part, metadataAWS)
	text := read(t, plain)
	at, end := strings.Index(text, "  - ami_id: ami-0a1b2c3d4e5f60001"), strings.Index(text, "  - ami_id: ami-0a1b2c3d4e5f60002")
	write(t, plain, text[:at]+text[end:])
	r := importing("-w", "-o", "json", file, "--from=gardenlinux:"+part)
	if answer := decoded[importAnswer](t, r); r.status != 0 || !slices.Equal(answer.rulesOf(), []string{"import-region-missing"}) ||
		answer.Versions[0].Flavors != 2 || answer.Versions[0].Regions != 2 {
		t.Fatalf("%+v", r)
	}
	if line := strings.Count(r.stdout, "import-region-missing"); line != 1 {
		t.Errorf("%d warnings in %s", line, r.stdout)
	}
	if r := importing("-w", file, "--from=gardenlinux:"+filepath.Join(importExamples, "metadata")); r.status != 0 || read(t, file) == whole {
		t.Fatalf("%+v", r)
	}
	// The parts did not need to declare that they have no image for secure boot, so they did not.
	without := func(text string) string {
		return strings.ReplaceAll(text, "            gardener-boot-type: [standard]\n", "")
	}
	if without(read(t, file)) != without(whole) {
		t.Errorf("%s", read(t, file))
	}
	now := read(t, file)
	if r := importing("-w", file, "--from=gardenlinux:"+part); r.status != 0 || read(t, file) != now {
		t.Errorf("the part once more: %+v", r)
	}
}

// importShoot is a Shoot that uses a version of the AWS profile.
const importShoot = `apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: shop, namespace: garden-demo}
spec:
  cloudProfile: {kind: CloudProfile, name: aws}
  region: eu-central-1
  kubernetes: {version: 1.33.2}
  provider:
    type: aws
    workers:
    - name: web
      minimum: 1
      maximum: 1
      machine: {type: m5.xlarge, architecture: amd64, image: {name: gardenlinux, version: 1877.3.0}}
`

// Older versions of a minor version are deprecated, unless they are in use.
func TestImportKeepsTheNewest(t *testing.T) {
	file := importedAWS(t)
	for i, version := range []string{"1877.3.1", "1877.3.2", "1877.4.0"} {
		folder := otherRelease(t, t.TempDir(), "ami-0a1b2c3d4e5f6", fmt.Sprintf("ami-0a1b2c3d4e5f%d", 7+i), "version: '1877.3'", "version: '"+version+"'")
		args := []string{"-w", file, "--from=gardenlinux:" + folder, "--classification", "supported"}
		if version == "1877.3.2" {
			shoots := filepath.Join(t.TempDir(), "shoots.yaml")
			write(t, shoots, importShoot)
			args = append(args, shoots, "--keep=1", "--expire=2037-06-30")
		}
		r := importing(args...)
		if r.status != 0 {
			t.Fatalf("%s: %+v", version, r)
		}
		if version == "1877.3.2" {
			contains(t, r.stderr, "gardenlinux@1877.3.0 stays as it is, because it is used by Shoot garden-demo/shop")
		}
	}
	core, _, _ := strings.Cut(read(t, file), "providerConfig:")
	_, core, _ = strings.Cut(core, "machineImages:")
	var found []string
	for line := range strings.Lines(core) {
		if name, value, is := strings.Cut(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- ")), ": "); is &&
			slices.Contains([]string{"version", "classification", "expirationDate"}, name) && !strings.HasPrefix(value, "1.33") {
			found = append(found, value)
		}
	}
	want := []string{"1877.4.0", "supported", "1877.3.2", "supported", "1877.3.1", "deprecated", `"2037-06-30T00:00:00Z"`, "1877.3.0", "preview"}
	if !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
}

// The versions of Garden Linux differ in x.y, so that --keep does nothing. It says so.
func TestImportKeepsAllOfDifferentMinors(t *testing.T) {
	file := importedAWS(t)
	folder := otherRelease(t, t.TempDir(), "ami-0a1b2c3d4e5f6", "ami-0a1b2c3d4e5f7", "version: '1877.3'", "version: '1877.4'")
	const said = "note: aws: --keep deprecates none of gardenlinux: it keeps the newest of each x.y, and no two of its versions have the same\n"
	if r := importing(file, "--from=gardenlinux:"+folder, "--keep=1"); r.status != 0 || !strings.Contains(r.stderr, said) {
		t.Errorf("%+v", r)
	}
	folder = otherRelease(t, t.TempDir(), "ami-0a1b2c3d4e5f6", "ami-0a1b2c3d4e5f7", "version: '1877.3'", "version: '1877.3.1'")
	if r := importing(file, "--from=gardenlinux:"+folder, "--keep=2"); r.status != 0 || strings.Contains(r.stderr, "deprecates none") {
		t.Errorf("two versions of 1877.3: %+v", r)
	}
	if r := importing(file, "--from=gardenlinux:"+filepath.Join(importExamples, "metadata"), "--keep=1"); strings.Contains(r.stderr, "deprecates none") {
		t.Errorf("a single version: %+v", r)
	}
}

// A capability that the profile registers and nothing in the source says counts as all its values. A note names it, for new flavors.
func TestImportOfUndeclaredCapabilities(t *testing.T) {
	from := []string{filepath.Join(importExamples, "aws.yaml"), filepath.Join(t.TempDir(), "aws.yaml"), "  machineCapabilities:\n"}
	file := copyOf(t, from[0], from[1], from[2], from[2]+"  - name: gpu\n    values: [none, nvidia]\n  - name: one\n    values: [only]\n")
	source := "--from=gardenlinux:" + filepath.Join(importExamples, "metadata")
	r := importing("-w", file, source)
	const said = "note: aws: gardenlinux@1877.3.0: the source does not say gpu, so that new flavors support all its values: none, nvidia; " +
		"a map, by --map, can say it\n"
	if r.status != 0 || !strings.Contains(r.stderr, said) || strings.Contains(r.stderr, "does not say one") {
		t.Errorf("%+v", r)
	}
	if r := importing(file, source); r.status != 0 || strings.Contains(r.stderr, "does not say") {
		t.Errorf("once more: %+v", r)
	}
	mapped := filepath.Join(t.TempDir(), "map.yaml")
	write(t, mapped, strings.Replace(importing("--print-map=gardenlinux").stdout, "capabilities:\n", "capabilities:\n- name: gpu\n  values: [none]\n", 1))
	file = copyOf(t, from[0], from[1], from[2], from[2]+"  - name: gpu\n    values: [none, nvidia]\n")
	if r := importing(file, source, "--map="+mapped); r.status != 0 || strings.Contains(r.stderr, "does not say") {
		t.Errorf("with a map: %+v", r)
	}
}

// A NamespacedCloudProfile gets its own versions, and inherits those that its parent gets.
func TestImportIntoNamespacedCloudProfiles(t *testing.T) {
	dir := t.TempDir()
	parent := copyOf(t, filepath.Join(importExamples, "aws.yaml"), filepath.Join(dir, "aws.yaml"))
	child := filepath.Join(dir, "child.yaml")
	empty := "apiVersion: core.gardener.cloud/v1beta1\nkind: NamespacedCloudProfile\nmetadata: {name: team, namespace: garden-demo}\n" +
		"spec:\n  parent: # of AWS\n    kind: CloudProfile\n    name: aws\n"
	write(t, child, empty)
	before := read(t, parent)
	source := "--from=gardenlinux:" + filepath.Join(importExamples, "metadata")
	r := importing("-w", "-o", "json", parent, child, source, "--profile=garden-demo/team")
	if answer := decoded[importAnswer](t, r); r.status != 0 || answer.Profile != "garden-demo/team" || read(t, parent) != before {
		t.Fatalf("%+v", r)
	}
	golden(t, "import-namespaced.yaml", read(t, child))
	if r := runFor(clouds.All(), "", "lint", child, parent); strings.Contains(r.stdout, "child.yaml") {
		t.Errorf("%+v", r)
	}
	r = importing("-w", "-o", "json", parent, child, source)
	if r.status != 1 || read(t, parent) != before {
		t.Errorf("the parent gets what its child has: %+v", r)
	}
	write(t, child, empty)
	r = importing("-o", "json", parent, child, source)
	if answer := decoded[importAnswer](t, r); r.status != 0 || len(answer.Profiles) != 2 || answer.Profiles[0].Versions[0].Action != "added" ||
		answer.Profiles[1].Versions[0].Action != "unchanged" {
		t.Errorf("%+v", r)
	}
	if r := importing(child, source); r.status != 1 || !strings.Contains(r.stderr, "child.yaml:") {
		t.Errorf("without its parent: %+v", r)
	}
	if r := importing("-w", parent, source); r.status != 0 {
		t.Fatalf("%+v", r)
	}
	if r := importing(parent, child, source, "--profile=team", "--image=custom"); r.status != 0 {
		t.Errorf("an image that the parent does not have: %+v", r)
	}
	// Its entry for a parent's version is not its own version, so it must not be deprecated.
	write(t, child, empty+"  machineImages:\n  - name: gardenlinux\n    versions:\n    - version: 1877.3.0\n      expirationDate: \"2037-01-01T00:00:00Z\"\n")
	newer := otherRelease(t, t.TempDir(), "ami-0a1b2c3d4e5f6", "ami-0a1b2c3d4e5f7", "version: '1877.3'", "version: '1877.3.1'")
	r = importing("-w", parent, child, "--from=gardenlinux:"+newer, "--profile=garden-demo/team", "--keep=1")
	if r.status != 0 || !strings.Contains(read(t, child), "1877.3.1") || strings.Contains(read(t, child), "deprecated") {
		t.Errorf("%+v", r)
	}
	contains(t, r.stderr, "gardenlinux@1877.3.0 stays as it is, because it is a version of the parent: deprecate it there\n")
}

// A note counts the errors that a profile already has, unless they are silenced or the import repairs them. Those for which Gardener refuses
// the profile, or for which it cannot be read, are reported at their places, and nothing is written.
func TestImportIntoWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "aws.yaml")
	source := "--from=gardenlinux:" + filepath.Join(importExamples, "metadata")
	const empty, other = "  machineImages: [] # capkit import fills them in\n", "\n    versions:\n    - version: 1.0.0\n" +
		"      capabilityFlavors:\n      - architecture: [amd64]\n"
	for name, c := range map[string]struct {
		from, to, said string
		status         int
	}{
		"unknown field":        {"  type: aws\n", "  type: aws\n  bogus: 1\n", ":7:3: error: unknown field \"bogus\"", 1},
		"in the config":        {"    machineImages: []", "    machineImagess: []", "note: aws: lint finds 1 error, with the import and without it\n", 0},
		"in core alone":        {empty, "  machineImages:\n  - name: other" + other, "note: aws: lint finds 1 error, with the import and without it\n", 0},
		"silenced":             {empty, "  machineImages:\n  - name: other # capkit:ignore provider-image-missing: to come" + other, "written: ", 0},
		"Gardener's":           {"- version: 1.33.2", "- version: \"1.33\"", ":24:7: error: Invalid value: \"1.33\"", 1},
		"no type":              {"  type: aws\n", "  type: \"\"\n", ":6:3: error: the profile has no type", 1},
		"no list of images":    {empty, "", "written: ", 0},
		"no semantic version":  {"machineImages: [] #", "machineImages: [{name: other, versions: [{version: x, architectures: [amd64]}]}] #", ":21:45: error: ", 1},
		"an alias in its way":  {"machineImages: []\n", "machineImages: &a []\n    other: *a\n", "is used by an alias (*a) as well", 1},
		"two of the same name": {"providerConfig:", "providerConfig: {}\n  providerConfig:", ": error: ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			before := read(t, copyOf(t, filepath.Join(importExamples, "aws.yaml"), file, c.from, c.to))
			r := importing("-w", file, source)
			if r.status != c.status || (read(t, file) == before) != (c.status == 1) {
				t.Errorf("%+v", r)
			}
			contains(t, r.stderr, c.said)
		})
	}
}

// Profiles of several clouds, and of several landscapes with the same names, get images together. Either all of them are written, or none.
func TestImportIntoSeveralProfiles(t *testing.T) {
	dir := t.TempDir()
	var folders, files []string
	for _, landscape := range []string{"canary", "live"} {
		folder := filepath.Join(dir, landscape)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
		for _, cloud := range []string{"aws", "gcp"} {
			files = append(files, copyOf(t, filepath.Join(importExamples, cloud+".yaml"), filepath.Join(folder, cloud+".yaml")))
		}
	}
	source := "--from=gardenlinux:" + filepath.Join(importExamples, "metadata")
	args := append([]string{"-w", "-o", "json", source}, folders...)
	good := read(t, files[3])
	write(t, files[3], strings.Replace(good, "type: gcp", "type: gpc", 1))
	before := read(t, files[0])
	if r := importing(args...); r.status != 1 || read(t, files[0]) != before {
		t.Errorf("%+v", r)
	}
	write(t, files[3], good)
	if answer := decoded[importAnswer](t, importing(args...)); len(answer.Profiles) != 4 {
		t.Errorf("%+v", answer)
	}
	if read(t, files[0]) != read(t, files[2]) || read(t, files[1]) != read(t, files[3]) || read(t, files[0]) == before {
		t.Errorf("%s", read(t, files[0]))
	}
}

// With several landscapes, --profile selects profiles in any of them. Profiles without images are named.
func TestImportIntoSomeOfSeveralLandscapes(t *testing.T) {
	profile := read(t, filepath.Join(importExamples, "aws.yaml"))
	metadata, err := filepath.Abs(filepath.Join(importExamples, "metadata"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	source := "--from=gardenlinux:" + metadata
	other := strings.Replace(profile, "  name: aws\n", "  name: other\n", 1)
	write(t, "a.yaml", profile)
	write(t, "b.yaml", joined(profile, other))
	write(t, "c.yaml", strings.Replace(other, "spec:\n", "spec: [[\n", 1))
	write(t, "empty.yaml", "")
	write(t, "child.yaml", "apiVersion: core.gardener.cloud/v1beta1\nkind: NamespacedCloudProfile\nmetadata: {name: team, namespace: garden-a}\n"+
		"spec: {parent: {kind: CloudProfile, name: aws}}\n")
	r := importing("-o", "json", source, "--profile=other", "a.yaml", "b.yaml")
	if answer := decoded[importAnswer](t, r); r.status != 0 || answer.Profile != "other" || len(answer.Files) != 1 || answer.Files[0].File != "b.yaml" {
		t.Errorf("%+v", r)
	}
	for want, args := range map[string][]string{
		"--profile: othr is not in the files, which have aws, other; did you mean other?": {"--profile=othr", "a.yaml", "b.yaml"},
		"c.yaml:6:": {"--profile=other", "a.yaml", "c.yaml"},
		"note: each argument is taken for a landscape of its own, since they have objects of the same names\n":                  {"a.yaml", "b.yaml", "child.yaml"},
		"no CloudProfile or NamespacedCloudProfile in empty.yaml that is not in the arguments before it; empty.yaml is empty: ": {"a.yaml", "b.yaml", "empty.yaml"},
		"no CloudProfile or NamespacedCloudProfile in ./a.yaml that is not in the arguments before it: ":                        {"a.yaml", "b.yaml", "./a.yaml"},
	} {
		if r := importing(append(args, source)...); r.status == 0 || !strings.Contains(r.stderr, want) || strings.Contains(r.stdout, "+++") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// A NamespacedCloudProfile with a generated name gets images like any other, whatever its position among the files.
func TestImportIntoGeneratedNames(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "parent.yaml"), read(t, examples+"/cloudprofile.yaml"))
	for _, name := range []string{"a.yaml", "b.yaml"} {
		copyOf(t, examples+"/namespacedcloudprofile.yaml", filepath.Join(dir, name), "  name: team\n", "  generateName: team-\n")
	}
	list := filepath.Join(dir, "list")
	write(t, list, "apiVersion: capkit/v1\nkind: ImageList\nimages:\n- {name: gardenlinux, version: 3000.1.0, flavors: "+
		"[{capabilities: {architecture: [amd64]}, regions: [{name: europe, id: ed3b4c3d-941f-456a-a551-bd52b8397443}]}]}\n")
	r := importing("-o", "json", "--from=list:"+list, "--profile=garden-demo/team-00002", dir)
	answer := decoded[importAnswer](t, r)
	if answer.Profile != "garden-demo/team-00002" || len(answer.Files) != 1 || !strings.HasSuffix(answer.Files[0].File, "b.yaml") {
		t.Errorf("%+v", r)
	}
}

// What is the same in many regions, or for many profiles, is said once.
func TestImportSaysOnceWhatManyHave(t *testing.T) {
	regions := strings.Builder{}
	for i := range 6 {
		fmt.Fprintf(&regions, "  - {name: new-%d, zones: [{name: new-%da}]}\n", i, i)
	}
	parent := strings.Replace(read(t, examples+"/cloudprofile.yaml"), "  - name: europe\n", regions.String()+"  - name: europe\n", 1)
	files := map[string]string{"parent.yaml": parent, "list": "apiVersion: capkit/v1\nkind: ImageList\nimages:\n- name: gardenlinux\n  version: 1877.9.0\n" +
		"  flavors: [{capabilities: {architecture: [amd64], hypervisor: [virtualized]}, regions: [{name: europe, id: " +
		"ed3b4c3d-941f-456a-a551-bd52b8397443}, {name: asia, id: ed3b4c3d-941f-456a-a551-bd52b8397444}]}]\n"}
	for i := range 7 {
		child := strings.Replace(read(t, examples+"/namespacedcloudprofile.yaml"), "  name: team\n", fmt.Sprintf("  name: team-%d\n", i), 1)
		files[fmt.Sprintf("child-%d.yaml", i)] = child
	}
	inFolder(t, files)
	r := importing("--from=list:list", ".")
	const (
		flavor = "{architecture: [amd64], hypervisor: [virtualized]}"
		seven  = "garden-demo/team-0, garden-demo/team-1, garden-demo/team-2, garden-demo/team-3, garden-demo/team-4, and 2 more: gardenlinux@1877.9.0: "
	)
	contains(t, r.stderr,
		"regions new-0, new-1, new-2, new-3, new-4, and 1 more: the source has no image of gardenlinux@1877.9.0 for "+flavor+" [import-region-missing]\n",
		"note: "+seven+"its parent has the version, which it inherits\n", "\n"+seven+"unchanged, no flavors in no regions\n")
	if n := strings.Count(r.stderr, "1877.9.0: "); n != 3 {
		t.Errorf("%d lines: %s", n, r.stderr)
	}
	list, there := strings.ReplaceAll(files["list"], "1877.9.0", "1877.5.0"), ""
	for i := range 6 {
		list = strings.Replace(list, "regions: [", fmt.Sprintf("regions: [{name: new-%d, id: other-%d}, ", i, i), 1)
		there += fmt.Sprintf("          - {name: new-%d, id: 1234-%d}\n", i, i)
	}
	write(t, "list", list)
	write(t, "parent.yaml", strings.Replace(parent, "          - name: europe\n            id: 1234-amd64-virt\n", there, 1))
	contains(t, importing("--from=list:list", "parent.yaml").stderr, "regions new-0, new-1, new-2, new-3, new-4, and 2 more: "+
		"gardenlinux@1877.5.0 has another image here than in the source, for "+flavor+"; --replace replaces it [import-conflict]\n")
}

// Findings in one landscape do not prevent an import into the next one.
func TestImportIntoSeveralLandscapesWithFindings(t *testing.T) {
	dir := t.TempDir()
	var files []string
	profile := read(t, filepath.Join(importExamples, "aws.yaml"))
	for _, name := range []string{"a.yaml", "b.yaml"} {
		file := filepath.Join(dir, name)
		write(t, file, strings.Replace(profile, "  regions:\n", "  regions:\n  - name: nowhere\n", 1))
		files = append(files, file)
	}
	source := "--from=gardenlinux:" + filepath.Join(importExamples, "metadata")
	r := importing(append([]string{"-o", "json", source}, files...)...)
	answer := decoded[importAnswer](t, r)
	if len(answer.Profiles) != 2 || len(answer.Profiles[0].Versions) == 0 || r.status != 0 || !strings.Contains(r.stderr, "[import-region-missing]") {
		t.Fatalf("%+v", r)
	}
	if a, b := answer.Profiles[0].Versions, answer.Profiles[1].Versions; !slices.Equal(a, b) {
		t.Errorf("%v, and then %v", a, b)
	}
}

// Mistakes in flags are errors, not findings.
func TestImportFlags(t *testing.T) {
	file := filepath.Join(importExamples, "aws.yaml")
	metadata := "--from=gardenlinux:" + filepath.Join(importExamples, "metadata")
	parent, child := "../../example/cloudprofile.yaml", "../../example/namespacedcloudprofile.yaml"
	other := filepath.Join(t.TempDir(), "other.yaml")
	write(t, other, strings.Replace(read(t, child), "namespace: garden-demo", "namespace: garden-other", 1))
	for _, c := range []struct {
		said string
		args []string
	}{
		{"no source given", []string{file}},
		{"did you mean gardenlinux?", []string{file, "--from=gardenlinx:x"}},
		{"names no file", []string{file, "--from=list:"}},
		{"no such file", []string{file, "--from=list:nowhere.yaml"}},
		{"write KEY=GLOB", []string{file, metadata, "--match=name"}},
		{"not a semantic version: write it as x.y.z; did you mean 1877.3.0?", []string{file, metadata, "--version=1877.3"}},
		{"did you mean preview?", []string{file, metadata, "--classification=prevew"}},
		{"--keep 0: at least 1", []string{file, metadata, "--keep=0"}},
		{"--expire goes with --keep", []string{file, metadata, "--expire=+7d"}},
		{`--expire "2020-01-01" is in the past`, []string{file, metadata, "--keep=1", "--expire=2020-01-01"}},
		{"no image has plattform; the keys are architecture, ", []string{file, metadata, "--match=plattform=aws"}},
		{"no image meets all conditions of --match", []string{file, metadata, "--match=platform=aws", "--match=platform=gcp"}},
		{"no CloudProfile or NamespacedCloudProfile among the files", []string{"../../example/shoot.yaml", metadata}},
		{"there is a map for gardenlinux", []string{"--print-map=list"}},
		{"does nothing else", []string{"--print-map=gardenlinux", file}},
		{"leave --match and --map out", []string{file, "--from=list:x", "--match=a=b"}},
		{"--map is empty: name a file", []string{file, metadata, "--map="}},
		{"--profile: other is not in the files, which have aws", []string{file, metadata, "--profile=other"}},
		{
			"--profile: garden-demo/taem is not in the files, which have openstack, garden-demo/team; did you mean garden-demo/team?",
			[]string{parent, child, metadata, "--profile=garden-demo/taem"},
		},
		{"--profile: the files have several profiles named team: garden-demo/team, garden-other/team", []string{parent, child, other, metadata, "--profile=team"}},
	} {
		if r := importing(c.args...); r.status != 2 || !strings.Contains(r.stderr, c.said) {
			t.Errorf("%v: %+v, want %q", c.args, r, c.said)
		}
	}
}

// The printed map is the one in use. A given map replaces it, and mistakes in it are reported at their places.
func TestImportByMap(t *testing.T) {
	dir := t.TempDir()
	printed := importing("--print-map=gardenlinux")
	if printed.status != 0 {
		t.Fatalf("%+v", printed)
	}
	given, source := filepath.Join(dir, "map.yaml"), "--from=gardenlinux:"+filepath.Join(importExamples, "metadata")
	file := copyOf(t, filepath.Join(importExamples, "openstack.yaml"), filepath.Join(dir, "openstack.yaml"),
		"name: hypervisor", "name: host", "hypervisor: [", "host: [")
	if r := importing(file, source); r.status != 1 {
		t.Errorf("%+v", r)
	} else {
		contains(t, r.stderr, "they differ in hypervisor: register hypervisor", "[import-ambiguous]", "openstack.yaml:7:3")
	}
	write(t, given, strings.ReplaceAll(printed.stdout, "name: hypervisor", "name: host"))
	if r := importing("-w", file, source, "--map", given); r.status != 0 || !strings.Contains(read(t, file), "host: [baremetal]") {
		t.Errorf("%+v", r)
	}
	write(t, given, strings.ReplaceAll(printed.stdout, "{published_in: marketplace}", "{platform: openstackbaremetal}"))
	file = copyOf(t, filepath.Join(importExamples, "openstack.yaml"), file)
	if r := importing(file, source, "--map", given); r.status != 0 || !strings.Contains(r.stderr, "2 flavors in 2 regions") {
		t.Errorf("%+v", r)
	} else {
		contains(t, r.stderr, "an image with {platform: openstackbaremetal}, by skip of the map, is skipped")
	}
	write(t, given, "apiVersion: capkit/v1\nkind: ImageMap\nsource: list\ncapabilities:\n"+
		"- name: gardener-boot-type\n  values: [safe]\n- when: {a: '['}\n  valeus: [x]\n")
	r := importing(file, source, "--map", given)
	if r.status != 1 {
		t.Errorf("%+v", r)
	}
	contains(t, r.stderr, "map.yaml:8:3", "valeus")
	write(t, given, strings.Replace(read(t, given), "valeus", "values", 1))
	contains(t, importing(file, source, "--map", given).stderr, "map.yaml:3:1", "map.yaml:6:12", "map.yaml:7:3", "map.yaml:7:10")
	const begins = "apiVersion: capkit/v1\nkind: ImageMap\nsource: gardenlinux\n"
	write(t, given, begins+"skip: [{}]\ncapabilities: []\n")
	contains(t, importing(file, source, "--map", given).stderr, "map.yaml:4:8", "this would skip every image", "map.yaml:5:1")
	write(t, given, begins+"capabilities:\n- {name: a, values: [b], from: c}\n- {name: a}\n- {name: a, from: b, alone: [c]}\n- {name: gardener-x, values: [z]}\n")
	contains(t, importing(file, source, "--map", given).stderr, "map.yaml:5:26", "map.yaml:6:3", "map.yaml:7:22", "no capability gardener-x of Gardener's")
}

// An inventory is a source, too.
func TestImportFromInventories(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "inventory.yaml")
	var b strings.Builder
	b.WriteString("apiVersion: capkit/v1\nkind: Inventory\nprovider: openstack\ntaken: \"2026-11-23T12:00:00Z\"\nregions:\n")
	for i, region := range []string{"asia", "europe"} {
		fmt.Fprintf(&b, "- name: %s\n  images:\n", region)
		for k, hypervisor := range []string{"virtualized", "baremetal"} {
			fmt.Fprintf(&b, "  - {id: 6dd8000%d-0000-4000-8000-00000000000%d, name: gl-1877.5-%s, status: active, "+
				"architecture: amd64, properties: {hypervisor_type: %s}}\n", i, k, hypervisor, hypervisor)
		}
		fmt.Fprintf(&b, "  - {id: 6dd8000%d-0000-4000-8000-00000000000a, name: gl-1877.5-old, status: deactivated, architecture: amd64}\n", i)
		fmt.Fprintf(&b, "  - {id: 6dd8000%d-0000-4000-8000-00000000000b, name: other-1.2, status: active, architecture: amd64}\n", i)
		fmt.Fprintf(&b, "  - {id: 6dd8000%d-0000-4000-8000-00000000000c, name: gl-1877.5-arm, status: active, architecture: arm64}\n", i)
	}
	write(t, from, b.String())
	file := copyOf(t, filepath.Join(importExamples, "openstack.yaml"), filepath.Join(dir, "openstack.yaml"))
	if r := importing(file, "--from=inventory:"+from); r.status != 1 || !strings.Contains(r.stderr, "the images are of 1.2.0 and 1877.5.0") {
		t.Errorf("%+v", r)
	}
	r := importing("-w", file, "--from=inventory:"+from, "--match=name=gl-*", "--match=architecture=amd64", "--inventory="+from)
	if r.status != 0 {
		t.Fatalf("%+v", r)
	}
	contains(t, r.stderr, "2 images that are not active are skipped")
	golden(t, "import-inventory.yaml", read(t, file))
	r = importing(file, "--from=inventory:"+from, "--match=name=gl-*")
	contains(t, r.stderr, "2 images with arm64, a value of architecture that the profile does not register, are skipped")
	if r := importing(file, "--from=inventory:"+from, "--match=name=none"); r.status != 2 || !strings.Contains(r.stderr, "no image meets all conditions") {
		t.Errorf("%+v", r)
	}
	again := []string{"import", file, "--from=inventory:" + from, "--match=name=gl-*", "--inventory"}
	if given, read := runFor(clouds.All(), "", append(again, from)...), runFor(clouds.All(), read(t, from), append(again, "-")...); given != read {
		t.Errorf("%+v, and from standard input %+v", given, read)
	}
	lost := copyOf(t, from, filepath.Join(dir, "lost.yaml"), "6dd80001-0000-4000-8000-000000000000", "6dd80001-0000-4000-8000-00000000000f")
	file = copyOf(t, filepath.Join(importExamples, "openstack.yaml"), file)
	r = importing("-w", file, "--from=inventory:"+from, "--match=name=gl-*", "--inventory="+lost)
	if r.status != 1 || !strings.Contains(r.stderr, "[cloud-image-missing]") ||
		strings.Contains(read(t, file), "1877.5.0") {
		t.Errorf("%+v", r)
	}
}

// IDs that differ only in case are equal if the cloud ignores the case.
func TestImportOverIDsInOtherLetters(t *testing.T) {
	source := "--from=gardenlinux:" + filepath.Join(importExamples, "metadata")
	for cloud, letters := range map[string][]string{
		"azure":     {"/CommunityGalleries/", "/communityGalleries/"},
		"openstack": {"ed3b4c3d-941f-456a-a551-bd52b8397443", "ED3B4C3D-941F-456A-A551-BD52B8397443"},
		"gcp":       {"image: projects/", "image: https://www.googleapis.com/compute/v1/projects/"},
	} {
		file := copyOf(t, filepath.Join(importExamples, cloud+".yaml"), filepath.Join(t.TempDir(), "profile.yaml"))
		if r := importing("-w", file, source); r.status != 0 {
			t.Fatalf("%+v", r)
		}
		copyOf(t, file, file, letters...)
		if r := importing(file, source); r.status != 0 || !strings.HasSuffix(r.stderr, "nothing to import\n") {
			t.Errorf("%s: %+v", cloud, r)
		}
	}
}

// Inventory images may have properties in any case, and no architecture. Missing information is reported.
func TestImportFromIncompleteInventories(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "inventory.yaml")
	const id = "6dd80000-0000-4000-8000-000000000000"
	write(t, from, "apiVersion: capkit/v1\nkind: Inventory\nprovider: openstack\ntaken: \"2026-11-23T12:00:00Z\"\nregions:\n- name: europe\n  images:\n"+
		"  - {id: "+id+", name: gl-1877.5, status: active, properties: {hypervisor_type: BareMetal}}\n- {name: asia, unread: [images]}\n")
	file := filepath.Join(dir, "openstack.yaml")
	copyOf(t, filepath.Join(importExamples, "openstack.yaml"), file)
	r := importing("-w", file, "--from=inventory:"+from, "--inventory="+from)
	if r.status != 0 {
		t.Fatalf("%+v", r)
	}
	contains(t, read(t, file), "\n      - architecture: [amd64]\n        hypervisor: [baremetal]\n")
	contains(t, r.stderr, "note: the inventory does not know the images of asia\n",
		"note: images of region asia could not be read when the inventory was taken: nothing is concluded about that\n",
		"note: the inventory of europe, asia does not have machineTypes, zones, networks and loadBalancerProviders: nothing is concluded about that\n")
	copyOf(t, filepath.Join(importExamples, "openstack.yaml"), file, "values: [amd64]", "values: [amd64, arm64]")
	r = importing("-w", file, "--from=inventory:"+from)
	if r.status != 1 {
		t.Errorf("%+v", r)
	}
	contains(t, r.stderr, "inventory.yaml:8:5: error: nothing says the architecture of the image, and the profile registers amd64 and arm64: ")

	copyOf(t, filepath.Join(importExamples, "aws.yaml"), file)
	r = importing(file, "--from=inventory:"+from, "--match=name=gl-*")
	if want := "the source has no image for aws, since it is an inventory of openstack: give one of that cloud "; r.status != 1 {
		t.Errorf("%+v", r)
	} else {
		contains(t, r.stdout+r.stderr, want)
	}
	write(t, from, "apiVersion: capkit/v1\nkind: Inventory\nprovider: openstack\nregions:\n- {name: europe, images: []}\n- {name: asia, unread: [images]}\n")
	r = importing(file, "--from=inventory:"+from)
	want := ":4:1: error: the inventory does not know the images of asia: take one with credentials that may read them "
	if contains(t, r.stdout+r.stderr, want); r.status != 1 || strings.Contains(r.stdout+r.stderr, "no images") {
		t.Errorf("%+v", r)
	}
}

// Each mistake in a list is reported once per profile, even if many lines have the same one.
func TestImportNamesErrorsOfTheSourceOnce(t *testing.T) {
	from := filepath.Join(t.TempDir(), "list.yaml")
	write(t, from, badList(5))
	type answer struct{ Findings []struct{ Message string } }
	r := importing("-o=json", filepath.Join(importExamples, "openstack.yaml"), "--from=list:"+from)
	if got := decoded[answer](t, r); r.status != 1 || len(got.Findings) != 5 {
		t.Errorf("%+v", r)
	}
}

// Each mistake in a list is reported.
func TestImportNamesEachMistake(t *testing.T) {
	from := filepath.Join(t.TempDir(), "list.yaml")
	for text, said := range map[string][]string{
		"apiVersion: v1\nkind: ImageMap\nimages: []\n": {
			"1:1: error: apiVersion is v1, and not capkit/v1", "2:1: error: kind is ImageMap, and not ImageList",
		},
		"apiVersion: capkit/v1\nkind: ImageList\nimages: []\n": {"3:1: error: there are no images: list some"},
		"apiVersion: capkit/v1\nkind: ImageList\nimages:\n" +
			"- {name: a, version: 1.2.3, flavors: [{regions: [{name: b}, {name: b}, {id: c}]}]}\n" +
			"- {name: a, version: 1.2.3, flavors: [{capabilities: {gpu: []}}]}\n" +
			"- {version: '1.2', flavors: [{capabilities: {architecture: [amd64]}, regions: [{name: b}]}]}\n": {
			"4:39: error: write the capabilities", "region b is listed already", ": name the region", "5:3: error: a@1.2.3 is listed already, as images[0]",
			": list values, or leave the capability out", ": nothing refers to the image", "6:3: error: name the image", ": 1.2 is not a semantic version",
		},
	} {
		write(t, from, text)
		r := importing(filepath.Join(importExamples, "openstack.yaml"), "--from=list:"+from)
		contains(t, r.stderr, said...)
	}
}

// badList returns a list with this many lines, each with an error.
func badList(lines int) string {
	return "apiVersion: capkit/v1\nkind: ImageList\nimages:\n" + many(lines, "- {name: gardenlinux, version: 1.2.%d}\n")
}

// The work is proportional to the number of errors in a list: ns/line does not grow.
func BenchmarkImportOfErrors(b *testing.B) {
	for _, lines := range []int{2000, 32000} {
		b.Run(strconv.Itoa(lines), func(b *testing.B) {
			from := filepath.Join(b.TempDir(), "list.yaml")
			if err := os.WriteFile(from, []byte(badList(lines)), 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if r := importing(filepath.Join(importExamples, "openstack.yaml"), "--from=list:"+from); r.status != 1 {
					b.Fatalf("%+v", r)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/line")
		})
	}
}
