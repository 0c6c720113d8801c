// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/clouds"
)

// importExamples are profiles without images, one for each cloud, and the metadata of a release.
const importExamples = "../../docs/examples/import"

// importing runs import, of all clouds.
func importing(args ...string) result {
	return runFor(clouds.All(), "", append([]string{"import"}, args...)...)
}

// importAnswer is the JSON of import.
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

// rulesOf are those of the findings, each once.
func (a importAnswer) rulesOf() (rules []string) {
	for _, f := range a.Findings {
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

// copyOf copies a file, changed by pairs of old and new text that are all in it.
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

// From no images to a profile of which lint has nothing to say, by one command, in each cloud.
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

// copyRelease copies the metadata of a release for some platforms into a folder.
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

const plainAWS = "aws-gardener_prod-amd64.s3_metadata.yaml"

// What is wrong with a source is said at its place, and nothing is written.
func TestImportFromWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		// change changes the files of the release in a folder.
		change func(t *testing.T, folder string)
		// rule, place and said are of the finding.
		rule, place, said string
		args              []string
	}{
		"truncated": {func(t *testing.T, folder string) {
			text := read(t, filepath.Join(folder, plainAWS))
			write(t, filepath.Join(folder, plainAWS), text[:strings.Index(text, "us-east-1")+5])
		}, "import-source", plainAWS + ":24", "truncated", nil},
		"empty": {func(t *testing.T, folder string) { write(t, filepath.Join(folder, plainAWS), "") },
			"import-source", plainAWS + ":1", "empty", nil},
		"no YAML": {func(t *testing.T, folder string) { write(t, filepath.Join(folder, plainAWS), "a: [1\nb: 'c") },
			"import-source", plainAWS + ":", "not valid YAML", nil},
		"two releases": {func(t *testing.T, folder string) {
			file := filepath.Join(folder, "aws-gardener_prod-arm64.s3_metadata.yaml")
			copyOf(t, file, file, "version: '1877.3'", "version: '1877.4'")
		}, "import-source", "aws-gardener_prod-arm64.s3_metadata.yaml:31", "this is release 1877.4, and", nil},
		"an image in two files": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, plainAWS), filepath.Join(folder, "copy.yaml"))
		}, "import-source", "copy.yaml:1", "by platform, architecture and modifiers", nil},
		"a region twice": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, plainAWS), filepath.Join(folder, plainAWS), "us-east-1", "eu-central-1")
		}, "import-source", plainAWS + ":23", "region eu-central-1 has an image already, in line 20", nil},
		"no semantic version": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, plainAWS), filepath.Join(folder, plainAWS), "version: '1877.3'", "version: today")
		}, "import-source", plainAWS + ":33", "today is no semantic version", nil},
		"of another cloud": {func(t *testing.T, folder string) {
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			copyRelease(t, folder, "gcp")
		}, "import-profile", "aws.yaml:6", "the source has no image for aws", nil},
		"metadata that contradicts itself": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, plainAWS), filepath.Join(folder, plainAWS), "published_aws_images", "published_openstack_images")
		}, "import-source", plainAWS + ":19", "there is no list published_aws_images", nil},
		"no AMI": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, plainAWS), filepath.Join(folder, plainAWS), "ami-0a1b2c3d4e5f60002", "wrong")
		}, "import-source", plainAWS + ":23", "is not the ID of an AMI", nil},
		"an image of two": {func(t *testing.T, folder string) {
			copyOf(t, filepath.Join(folder, plainAWS), filepath.Join(folder, plainAWS), "ami-0a1b2c3d4e5f60001", "ami-0a1b2c3d4e5f60011")
		}, "import-source", "aws-gardener_prod-arm64.s3_metadata.yaml:20", "this image is in", nil},
		"no metadata": {func(t *testing.T, folder string) { write(t, filepath.Join(folder, "a.yaml"), "- 1\n") },
			"import-source", "a.yaml:1", "no metadata of a release", nil},
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

// imageList writes an ImageList of image-0 and image-1, whatever is in it, for a cloud.
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

// In a random profile nothing but lines are added, importing again changes nothing, and it does not matter which of two releases is first.
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
		cloud := []string{"openstack", "aws", "gcp", "azure", "alicloud"}[seed%5]
		text := newLegacy(r, cloud).b.String()
		write(t, file, text)
		if seed%3 > 0 {
			args := []string{"migrate", "-w", file}
			if seed%3 == 2 {
				args = append(args, "--provider-config")
			}
			if m := runFor(clouds.All(), "", args...); m.status != 0 {
				t.Fatalf("seed %d: %+v", seed, m)
			}
			text = read(t, file)
		}
		write(t, one, imageList(r, cloud, "1900.1.0", "1803.0.0"))
		write(t, two, imageList(r, cloud, "1850.0.0"))
		step(seed, "--from=list:"+one)
		step(seed, "--from=list:"+two)
		first := read(t, file)
		write(t, file, text)
		step(seed, "--from=list:"+two)
		step(seed, "--from=list:"+one)
		if second := read(t, file); first != second {
			t.Fatalf("seed %d: one, two:\n%s\ntwo, one:\n%s", seed, first, second)
		}
	}
}
