// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package archive packs the command capkit for a release. Each platform has an archive with the program, its man pages and completions, the
// documents and the examples. In addition there are an archive with JSON Schemas, a bill of materials of each program, a manifest for krew,
// and checksums. The files are reproducible: they depend only on the sources and the version of Go.
//
// Start with [Release.Make].
package archive

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/capkit/capkit/hack/program"
)

// name is the name of the command.
const name = "capkit"

// Platforms are the platforms for which archives can be built.
var Platforms = []v1.Platform{
	{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"},
	{OS: "darwin", Architecture: "amd64"}, {OS: "darwin", Architecture: "arm64"},
}

// Release is a release to be packed.
type Release struct {
	// Version of the command, without v: 0.1.0-dev+0123456789ab. The part after the plus appears in no file name.
	Version string
	// Created is the time of the commit, and the modification time of all files.
	Created time.Time
	// Base is the URL below which each release has its files in a folder like v0.1.0.
	Base string
}

// Tag returns the name of the release.
func (r Release) Tag() string {
	version, _, _ := strings.Cut(r.Version, "+")
	return "v" + version
}

// Name returns the name of the archive for a platform, without an extension, which is also the name of its folder.
func (r Release) Name(platform v1.Platform) string {
	return strings.Join([]string{name, strings.TrimPrefix(r.Tag(), "v"), platform.OS, platform.Architecture}, "_")
}

// Make compiles the command for platforms, and packs it into the folder, which it empties first. root is the folder of the repository,
// ldflags are additional flags of the linker. It returns the names of the files, in their order.
func (r Release) Make(ctx context.Context, root, ldflags, folder string, platforms []v1.Platform) (names []string, err error) {
	programs, err := os.MkdirTemp("", "dist-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(programs)) }()
	for _, platform := range platforms {
		fmt.Fprintf(os.Stderr, "compiling %s for %s, which takes minutes the first time\n", name, platform)
		if err := program.Compile(ctx, root, ldflags, programs, platform, name); err != nil {
			return nil, err
		}
	}
	return r.Pack(root, programs, folder, platforms)
}

// Pack is Make with programs that are already compiled, at [program.Path].
func (r Release) Pack(root, programs, folder string, platforms []v1.Platform) ([]string, error) {
	common, err := r.common(root)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return nil, err
	}
	content := map[string][]byte{}
	for _, platform := range platforms {
		binary, err := program.Read(program.Path(programs, platform, name), platform)
		if err != nil {
			return nil, err
		}
		packed, err := r.pack(r.Name(platform), append([]file{{name, 0o755, binary}}, common...))
		if err != nil {
			return nil, err
		}
		content[r.Name(platform)+".tar.gz"] = packed
		if content[r.Name(platform)+".cdx.json"], err = r.materials(binary); err != nil {
			return nil, err
		}
	}
	if content[r.schemas()+".tar.gz"], err = r.pack(r.schemas(), schemas()); err != nil {
		return nil, err
	}
	manifest, err := r.krew(platforms, content)
	if err != nil {
		return nil, err
	}
	content[name+".yaml"] = manifest
	return write(folder, content)
}

// write writes files and their checksums, in the format of sha256sum. It returns the file names.
func write(folder string, content map[string][]byte) (names []string, err error) {
	for file := range content {
		names = append(names, file)
	}
	slices.Sort(names)
	var sums bytes.Buffer
	for _, file := range names {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content[file]), file)
	}
	names, content["SHA256SUMS"] = append(names, "SHA256SUMS"), sums.Bytes()
	for _, file := range names {
		if err := os.WriteFile(filepath.Join(folder, file), content[file], 0o644); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// file is a file in an archive. Its path has slashes, and is relative to the folder of the archive.
type file struct {
	path    string
	mode    int64
	content []byte
}

// common returns the files that all platforms share, ordered by path. It omits Go sources among the examples.
func (r Release) common(root string) ([]file, error) {
	files := append(r.manPages(), completions()...)
	found, err := program.Files(root, "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "MAINTAINERS.md", "SECURITY.md", "docs", "example")
	if err != nil {
		return nil, err
	}
	for _, at := range found {
		if path.Ext(at) == ".go" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(at)))
		if err != nil {
			return nil, err
		}
		files = append(files, file{at, 0o644, content})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return files, nil
}

// schemas returns the name of the archive with the JSON Schemas, which all platforms share.
func (r Release) schemas() string { return name + "_" + strings.TrimPrefix(r.Tag(), "v") + "_schemas" }

// pack returns an archive of files below a folder. They belong to root, and have the time of the release.
func (r Release) pack(folder string, files []file) ([]byte, error) {
	var buffer bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(folder, f.path), Mode: f.mode, Size: int64(len(f.content)),
			ModTime: r.Created, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

// materials returns the bill of materials of a program: everything that is linked into it.
func (r Release) materials(binary []byte) ([]byte, error) {
	application, linked, err := program.Materials(name, r.Version, binary)
	if err != nil {
		return nil, err
	}
	return program.Encode(application, linked, []cdx.Dependency{
		{Ref: application.BOMRef, Dependencies: program.References(linked...)},
	})
}
