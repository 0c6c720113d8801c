// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package dist checks the archives of make dist: their contents, that builds are reproducible, and that the examples of
// README.md run on a machine without Go from an archive alone. Only the archive for this machine is packed.
package dist

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/capkit/capkit/hack/dist/archive"
	"github.com/capkit/capkit/hack/program"
)

const root = "../.."

var (
	here    = v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	release = archive.Release{
		Version: "1.2.3+0123456789ab", Created: time.Unix(1700000000, 0), Base: "https://downloads.example.com/capkit/",
	}
	// programs is the folder of the compiled program, packed the folder of the release's files, and unpacked the folder of the archive.
	programs, packed, unpacked string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "dist-test-")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		programs, packed = filepath.Join(folder, "programs"), filepath.Join(folder, "packed")
		err = program.Compile(context.Background(), root, "-X github.com/capkit/capkit/pkg/cli.Version="+release.Version, programs, here, "capkit")
		if err == nil {
			_, err = release.Pack(root, programs, packed, []v1.Platform{here})
		}
		if err == nil {
			err = exec.Command("tar", "-xzf", filepath.Join(packed, release.Name(here)+".tar.gz"), "-C", folder).Run()
		}
		if err != nil {
			panic(err)
		}
		unpacked = filepath.Join(folder, release.Name(here))
		return m.Run()
	}())
}

func read(t *testing.T, names ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(names...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// capkit runs the archive's program in its folder, under a name and without an environment, and returns its output and exit status.
func capkit(t *testing.T, name string, args ...string) (output string, status int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(unpacked, "capkit"), args...)
	command.Dir, command.Env, command.Args[0] = unpacked, []string{}, name
	content, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(content), command.ProcessState.ExitCode()
}

func TestFiles(t *testing.T) {
	entries, err := os.ReadDir(packed)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	prefix := "capkit_1.2.3_linux_" + runtime.GOARCH
	if want := []string{"SHA256SUMS", "capkit.yaml", prefix + ".cdx.json", prefix + ".tar.gz", "capkit_1.2.3_schemas.tar.gz"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	content, err := gzip.NewReader(bytes.NewReader(read(t, packed, prefix+".tar.gz")))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		mode := int64(0o644)
		if name := path.Base(header.Name); name == "capkit" || name == "kubectl_complete-capkit" {
			mode = 0o755
		}
		if header.Mode != mode || header.Uid+header.Gid != 0 || header.Uname+header.Gname != "" || !header.ModTime.Equal(release.Created) {
			t.Errorf("%s: mode %o, owner %d:%d, %s", header.Name, header.Mode, header.Uid, header.Gid, header.ModTime)
		}
		name, below := strings.CutPrefix(header.Name, prefix+"/")
		if !below {
			t.Errorf("%s is in no folder of its own", header.Name)
		}
		if path.Ext(name) == ".go" {
			t.Errorf("%s is of no use without Go", name)
		}
		found[name] = true
	}
	for _, want := range []string{
		"capkit", "LICENSE", "README.md", "example/cloudprofile.yaml", "example/.capkitignore", "example/broken/no-image-fits.yaml",
		"completions/capkit.bash", "completions/_capkit", "completions/capkit.fish", "completions/capkit.ps1",
		"man/man1/capkit.1", "man/man1/capkit-lint.1", "man/man1/capkit-exit-statuses.1",
	} {
		if !found[want] {
			t.Errorf("%s is not in the archive", want)
		}
	}
}

func TestSameBytesAgain(t *testing.T) {
	again := t.TempDir()
	stray := filepath.Join(again, "capkit_0.9.0_linux_amd64.tar.gz")
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := release.Pack(root, programs, again, []v1.Platform{here})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stray); err == nil {
		t.Error("what was there before is still there")
	}
	for _, name := range names {
		if !bytes.Equal(read(t, again, name), read(t, packed, name)) {
			t.Errorf("%s is another one", name)
		}
	}
}

func TestChecksums(t *testing.T) {
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = packed
	if output, err := check.CombinedOutput(); err != nil || strings.Count(string(output), ": OK\n") != 4 {
		t.Errorf("%v: %s", err, output)
	}
}

func TestOtherPlatforms(t *testing.T) {
	if _, err := program.ParsePlatforms(archive.Platforms, "darwin/arm64,windows/amd64"); err == nil ||
		err.Error() != `platform "windows/amd64" is not one of linux/amd64, linux/arm64, darwin/amd64, darwin/arm64` {
		t.Error(err)
	}
	_, err := release.Pack(root, programs, t.TempDir(), []v1.Platform{{OS: "darwin", Architecture: "arm64"}})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not compiled is packed: %v", err)
	}
}

func TestVersion(t *testing.T) {
	if output, status := capkit(t, "capkit", "version"); status != 0 ||
		!strings.HasPrefix(output, "capkit version 1.2.3+0123456789ab (with the rules of Gardener v1.") ||
		!strings.Contains(output, "\n  commit:   0123456789ab\n") {
		t.Errorf("status %d: %s", status, output)
	}
	// krew links the program under this name into a folder on kubectl's search path.
	if output, _ := capkit(t, "/home/me/.krew/bin/kubectl-capkit", "--version"); !strings.HasPrefix(output, "kubectl capkit version 1.2.3+") {
		t.Error(output)
	}
}

// console matches the terminal sessions in README.md.
var console = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// link matches the target of a link or picture in README.md, without its fragment.
var link = regexp.MustCompile(`\]\(([^)#]+)`)

func TestLinksOfReadme(t *testing.T) {
	links := link.FindAllStringSubmatch(string(read(t, unpacked, "README.md")), -1)
	if len(links) < 10 {
		t.Errorf("%d links", len(links))
	}
	for _, l := range links {
		if strings.HasPrefix(l[1], "https://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(unpacked, filepath.FromSlash(l[1]))); err != nil {
			t.Error(err)
		}
	}
}

// The unpacked archive prints the outputs in README.md, where […] replaces omitted lines.
func TestExamplesOfReadmeWithoutGo(t *testing.T) {
	ran, status, output := 0, 0, ""
	for _, block := range console.FindAllStringSubmatch(string(read(t, unpacked, "README.md")), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			command, isCommand := strings.CutPrefix(line, "$ ")
			switch args := strings.Fields(command); {
			case isCommand && command == "echo $?":
				output = fmt.Sprintln(status)
			case isCommand && args[0] == "capkit" && !strings.ContainsAny(command, `|<>'"`):
				ran++
				output, status = capkit(t, "capkit", args[1:]...)
			case isCommand:
				t.Errorf("cannot run %q", command)
			case !strings.Contains(line, "[…]") && !strings.Contains("\n"+output, "\n"+line+"\n"):
				t.Errorf("README.md shows a line that is not printed: %s\nprinted: %s", line, output)
			}
		}
	}
	if ran < 3 {
		t.Errorf("%d commands", ran)
	}
	if output, status := capkit(t, "capkit", "lint", "example/"); status != 0 || !strings.Contains(output, " objects checked: no errors") {
		t.Errorf("lint example/: status %d: %s", status, output)
	}
}

func TestMaterials(t *testing.T) {
	var bom cdx.BOM
	content := read(t, packed, release.Name(here)+".cdx.json")
	if err := cdx.NewBOMDecoder(bytes.NewReader(content), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	binary := read(t, unpacked, "capkit")
	sum := sha256.Sum256(binary)
	if about := bom.Metadata.Component; about.Name != "capkit" || about.Version != "v1.2.3+0123456789ab" ||
		(*about.Hashes)[0].Value != hex.EncodeToString(sum[:]) {
		t.Errorf("%+v", about)
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"std " + strings.TrimPrefix(info.GoVersion, "go")}
	for _, module := range info.Deps {
		if strings.HasPrefix(module.Path, "github.com/capkit/capkit") {
			module.Version = "v1.2.3+0123456789ab"
		}
		want = append(want, module.Path+" "+module.Version)
	}
	var listed []string
	for _, component := range *bom.Components {
		listed = append(listed, component.Name+" "+component.Version)
	}
	if !slices.Equal(listed, want) {
		t.Errorf("%q, want %q", listed, want)
	}
}

// Files that an editor or a system leaves in a clone are not packed, and neither are uncommitted files.
func TestOnlyWhatIsTrackedIsPacked(t *testing.T) {
	clone, folder := filepath.Join(t.TempDir(), "capkit"), t.TempDir()
	if output, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "--shared", root, clone).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	strays := []string{"docs/.DS_Store", "example/.shoot.yaml.swp", "docs/draft.md"}
	for _, name := range strays {
		if err := os.WriteFile(filepath.Join(clone, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := release.Pack(clone, programs, folder, []v1.Platform{here}); err != nil {
		t.Fatal(err)
	}
	listed, err := exec.CommandContext(t.Context(), "tar", "-tzf", filepath.Join(folder, release.Name(here)+".tar.gz")).Output()
	if err != nil || !bytes.Contains(listed, []byte("/docs/README.md\n")) {
		t.Errorf("%v: %s", err, listed)
	}
	for _, name := range strays {
		if bytes.Contains(listed, []byte("/"+name+"\n")) {
			t.Errorf("%s is packed", name)
		}
	}
}
