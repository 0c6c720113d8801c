// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/hack/images/image"
	"github.com/capkit/capkit/hack/program"
)

// pushed is an OCI layout to be pushed to a registry.
type pushed struct{ Folder, Reference, Digest string }

// pack collects the outputs of make dist, images and charts that are published, in a folder, which it empties first: the folder files with
// their provenance and checksums, notes.md, and publish.sh with the remaining commands.
func pack(ctx context.Context, o options) error {
	files, artifacts, err := collect(o)
	if err != nil {
		return err
	}
	subjects := make([]program.Subject, 0, len(files)+len(artifacts))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		subjects = append(subjects, program.Subject{Name: name, Digest: map[string]string{"sha256": sum(files[name])}})
	}
	for _, a := range artifacts {
		subjects = append(subjects, program.Subject{Name: a.Reference, Digest: map[string]string{"sha256": strings.TrimPrefix(a.Digest, "sha256:")}})
	}
	revision := program.Revision(ctx)
	provenance, err := program.Provenance(o.version, revision, map[string]string{"registry": o.registry}, subjects...)
	if err != nil {
		return err
	}
	files["capkit_"+o.version+".intoto.json"] = provenance
	var sums bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&sums, "%s  %s\n", sum(files[name]), name)
	}
	files["SHA256SUMS"] = sums.Bytes()
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	all, err := modules(ctx)
	if err != nil {
		return err
	}
	data := map[string]any{
		"Version": o.version, "Revision": revision, "Artifacts": artifacts, "Tags": tags(all, o.version), "Files": filepath.Join(o.folder, "files"),
		"Notes": filepath.Join(o.folder, "notes.md"),
	}
	changes, found := section(string(changelog), o.version)
	if !found {
		return fmt.Errorf("CHANGELOG.md has no section %s: is this the commit of the release?", o.version)
	}
	data["Changes"] = absolute(changes, o.version)
	return save(o.folder, files, data)
}

// link matches the beginning of a Markdown link, up to the first character of its target, or its scheme.
var link = regexp.MustCompile(`\]\(([a-z]+:)?`)

// absolute returns a text whose links to files of the repository are absolute links to a version's files.
func absolute(text, version string) string {
	return link.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasSuffix(found, ":") {
			return found
		}
		return found + "https://" + own + "/blob/v" + version + "/"
	})
}

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// tags returns the tags of all published modules, the root's first.
func tags(all []module, version string) (tags []string) {
	for _, m := range all {
		if m.published() {
			tags = append(tags, m.tag(version))
		}
	}
	return tags
}

// built returns the output files of make dist, images and charts, by name.
func built(version string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, pattern := range []string{
		"dist/capkit_" + version + "_*", "dist/capkit.yaml", "images/*.cdx.json", "charts/*-" + version + ".tgz", "charts/*-" + version + ".cdx.json",
	} {
		matches, err := filepath.Glob(filepath.Join("bin", pattern))
		if err != nil || len(matches) == 0 {
			return nil, errors.Join(err, fmt.Errorf("there is no bin/%s: run make dist images charts", pattern))
		}
		for _, file := range matches {
			if files[filepath.Base(file)], err = os.ReadFile(file); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// collect returns the published files, by name, and the artifacts to be pushed.
func collect(o options) (files map[string][]byte, artifacts []pushed, err error) {
	if files, err = built(o.version); err != nil {
		return nil, nil, err
	}
	charts := chart.Options{Version: o.version, Registry: o.registry}
	for _, c := range append(components.All(), components.Controllers()...) {
		packages, err := chart.Load(".", c, charts)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range packages {
			artifacts = append(artifacts, pushed{Folder: filepath.Join("bin", "charts", p.Name), Reference: p.Reference(charts)})
		}
		for _, name := range []string{"extension.yaml", "controller-registration.yaml"} {
			content, err := os.ReadFile(filepath.Join("bin", "charts", filepath.FromSlash(chart.ManifestFolder(c)), name))
			if err == nil {
				files[c.Release()+"-"+name] = content
			} else if !errors.Is(err, os.ErrNotExist) { // a worker controller has only one of them
				return nil, nil, err
			}
		}
	}
	for _, d := range image.All() {
		d.Version = o.version
		artifacts = append(artifacts, pushed{Folder: filepath.Join("bin", "images", d.Name), Reference: o.registry + "/" + d.Name + ":" + d.Tag()})
	}
	return files, artifacts, digest(artifacts)
}

// digest sets the digests of artifacts.
func digest(artifacts []pushed) error {
	for i, a := range artifacts {
		index, err := layout.ImageIndexFromPath(a.Folder)
		if err != nil {
			return err
		}
		manifest, err := index.IndexManifest()
		if err != nil {
			return err
		}
		artifacts[i].Digest = manifest.Manifests[0].Digest.String()
	}
	return nil
}

// save writes the files into the folder.
func save(folder string, files map[string][]byte, data map[string]any) error {
	within := filepath.Join(folder, "files")
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(within, 0o755)); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(within, name), content, 0o644); err != nil {
			return err
		}
	}
	for name, text := range map[string]*template.Template{"notes.md": notes, "publish.sh": publish} {
		var content bytes.Buffer
		if err := text.Execute(&content, data); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// notes are the notes of the release.
var notes = template.Must(template.New("notes").Parse(`{{.Changes}}
### Images and charts

| reference | digest |
|---|---|
{{- range .Artifacts}}
| ` + "`{{.Reference}}` | `{{.Digest}}`" + ` |
{{- end}}

[Install](https://github.com/capkit/capkit/blob/v{{.Version}}/docs/install.md#check-what-you-have) says how to check all this.
`))

//go:embed publish.sh.tmpl
var publishing string

// publish has the remaining commands.
var publish = template.Must(template.New("publish").Funcs(template.FuncMap{
	"candidate": func(version string) bool { return strings.Contains(version, "-") },
}).Parse(publishing))
