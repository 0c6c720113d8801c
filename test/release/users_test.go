// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package release

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	attestation "github.com/in-toto/attestation/go/v1"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/encoding/protojson"
)

// assets returns the folder with the files of the release.
func assets() string { return filepath.Join(released, "bin", "release", "files") }

// statement parses a statement as strictly as verifiers, and checks it against the requirements of in-toto and SLSA.
func statement(t *testing.T, content string) *attestation.Statement {
	t.Helper()
	read := &attestation.Statement{}
	if err := protojson.Unmarshal([]byte(content), read); err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); err != nil {
		t.Error(err)
	}
	predicate, err := protojson.Marshal(read.GetPredicate())
	if err != nil {
		t.Fatal(err)
	}
	made := &provenance.Provenance{}
	if err := protojson.Unmarshal(predicate, made); err != nil {
		t.Fatal(err)
	}
	if err := made.Validate(); err != nil {
		t.Error(err)
	}
	commit := in(t, released, "git", "rev-parse", "HEAD~1")
	if got := made.GetBuildDefinition().GetResolvedDependencies()[0].GetDigest()["gitCommit"]; got != commit {
		t.Errorf("it is of commit %s, not of that of the release, %s", got, commit)
	}
	if builder := made.GetRunDetails().GetBuilder().GetVersion()["go"]; builder != runtime.Version() {
		t.Errorf("built by %s", builder)
	}
	return read
}

// Every file has a checksum and, except the files that contain these, provenance.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(assets(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	if output, err := run(assets(), nil, "sha256sum", "--check", "--strict", "SHA256SUMS"); err != nil || strings.Count(output, ": OK\n") != len(files)-1 {
		t.Errorf("%d files: %v: %s", len(files), err, output)
	}
	subjects := map[string]string{}
	for _, s := range statement(t, read(t, assets(), "capkit_"+version+".intoto.json")).GetSubject() {
		subjects[s.GetName()] = s.GetDigest()["sha256"]
	}
	for _, file := range files {
		name := filepath.Base(file)
		sum := sha256.Sum256([]byte(read(t, file)))
		if got := subjects[name]; got != hex.EncodeToString(sum[:]) && name != "SHA256SUMS" && !strings.HasSuffix(name, ".intoto.json") {
			t.Errorf("the provenance of %s is of %q", name, got)
		}
	}
	for _, want := range []string{
		"capkit_" + version + "_linux_" + runtime.GOARCH + ".tar.gz", "capkit.yaml", "capkit-linux-" + runtime.GOARCH + ".cdx.json",
		"admission-openstack-runtime-" + version + ".tgz", "admission-openstack-runtime-" + version + ".cdx.json", "admission-openstack-extension.yaml",
		"provider-openstack-worker-controller-registration.yaml",
	} {
		if _, err := os.Stat(filepath.Join(assets(), want)); err != nil {
			t.Error(err)
		}
	}
	notes := read(t, released, "bin/release/notes.md")
	for name, digest := range subjects {
		if strings.HasPrefix(name, registry+"/") && !strings.Contains(notes, "\n| `"+name+"` | `sha256:"+digest+"` |\n") {
			t.Errorf("the notes say nothing of %s: %s", name, notes)
		}
	}
	if !strings.HasPrefix(notes, "### Upgrade\n\n- Read this.\n") || strings.Contains(notes, "## [") {
		t.Error(notes)
	}
}

// Bills of materials match the CycloneDX schema.
func TestMaterials(t *testing.T) {
	schemas := filepath.Join(in(t, root, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go"), "schema")
	compiler := jsonschema.NewCompiler()
	const address = "http://cyclonedx.org/schema/"
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		schema, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, schemas, file)))
		if err == nil {
			err = compiler.AddResource(address+name, schema)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile(address + "bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(assets(), "*.cdx.json"))
	if err != nil || len(files) < 15 {
		t.Errorf("%q, %v", files, err)
	}
	for _, file := range files {
		bom, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, file)))
		if err == nil {
			err = schema.Validate(bom)
		}
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}

// capkit runs a program in a folder without an environment, and returns its output.
func capkit(t *testing.T, program, folder string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir, command.Env = folder, []string{}
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v: %s", args, err, output)
	}
	return string(output)
}

// wantVersion returns the expected output of the command's version flag.
func wantVersion(t *testing.T) string {
	t.Helper()
	return "capkit version " + version + "+" + in(t, released, "git", "rev-parse", "--short=12", "HEAD~1") + " (with the rules of Gardener "
}

func TestArchive(t *testing.T) {
	folder, name := t.TempDir(), "capkit_"+version+"_linux_"+runtime.GOARCH
	in(t, assets(), "tar", "-xzf", name+".tar.gz", "-C", folder)
	unpacked := filepath.Join(folder, name)
	program := filepath.Join(unpacked, "capkit")
	if output := capkit(t, program, unpacked, "version"); !strings.HasPrefix(output, wantVersion(t)) {
		t.Error(output)
	}
	if output := capkit(t, program, unpacked, "lint", "example/"); !strings.Contains(output, " objects checked: no errors") {
		t.Error(output)
	}
}

// image returns the only image for a platform in a layout, and the statements that refer to it.
func image(t *testing.T, folder string) (found v1.Image, statements []string) {
	t.Helper()
	top, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err = index.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	for _, descriptor := range manifest.Manifests {
		content, err := index.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if descriptor.Platform.OS == "linux" {
			found = content
		} else if of := descriptor.Annotations["vnd.docker.reference.digest"]; of != "" { // buildx finds it this way
			if digest, err := found.Digest(); err != nil || digest.String() != of || descriptor.Annotations["vnd.docker.reference.type"] != "attestation-manifest" {
				t.Errorf("it is of %s: %v", of, descriptor.Annotations)
			}
			statements = append(statements, attached(t, content))
		}
	}
	return found, statements
}

// attached returns the statement in a manifest.
func attached(t *testing.T, artifact v1.Image) string {
	t.Helper()
	manifest, err := artifact.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	layer := manifest.Layers[0]
	if layer.MediaType != "application/vnd.in-toto+json" || layer.Annotations["in-toto.io/predicate-type"] != "https://slsa.dev/provenance/v1" {
		t.Errorf("%+v", layer)
	}
	layers, err := artifact.Layers()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err := errors.Join(err, reader.Close()); err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The image is unpacked like in a container runtime, and its program is run.
func TestImage(t *testing.T) {
	image, statements := image(t, filepath.Join(released, "bin", "images", "capkit"))
	if len(statements) != 1 {
		t.Fatalf("%d statements", len(statements))
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if subjects := statement(t, statements[0]).GetSubject(); len(subjects) != 1 || subjects[0].GetDigest()["sha256"] != digest.Hex {
		t.Errorf("%v, not %s", subjects, digest)
	}
	folder := t.TempDir()
	content := mutate.Extract(image)
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.Clean("/"+header.Name))
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var bytes []byte
			if bytes, err = io.ReadAll(archive); err == nil {
				err = os.WriteFile(path, bytes, header.FileInfo().Mode())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := content.Close(); err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil || len(config.Config.Entrypoint) != 1 {
		t.Fatalf("%+v, %v", config, err)
	}
	program := filepath.Join(folder, config.Config.Entrypoint[0])
	if output := capkit(t, program, released, "version"); !strings.HasPrefix(output, wantVersion(t)) {
		t.Error(output)
	}
	if output := capkit(t, program, released, "lint", "example/"); !strings.Contains(output, " objects checked: no errors") {
		t.Error(output)
	}
}
