// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// Materials returns a program as a component, and its parts: the standard library and all modules, which the compiler has recorded in the
// program. name is the path of the program, version its version without v.
func Materials(name, version string, content []byte) (application cdx.Component, linked []cdx.Component, err error) {
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return application, nil, fmt.Errorf("%s: %w", name, err)
	}
	application = Component(cdx.ComponentTypeApplication, info.Main.Path, "v"+version)
	application.Name, application.Hashes, application.Licenses = name, Sum256(content), Apache()
	linked = []cdx.Component{standardLibrary(info.GoVersion)}
	for _, module := range info.Deps {
		component, err := moduleComponent(module, "v"+version)
		if err != nil {
			return application, nil, err
		}
		linked = append(linked, component)
	}
	return application, linked, nil
}

// References returns the references of components in a bill of materials.
func References(components ...cdx.Component) *[]string {
	references := make([]string, len(components))
	for i, component := range components {
		references[i] = component.BOMRef
	}
	return &references
}

// Encode writes a bill of materials as CycloneDX. It has neither a time nor a serial number, so that it is reproducible.
func Encode(about cdx.Component, components []cdx.Component, dependencies []cdx.Dependency) ([]byte, error) {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &about}
	bom.Components = &components
	bom.Dependencies = &dependencies
	var buffer bytes.Buffer
	encoder := cdx.NewBOMEncoder(&buffer, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := encoder.EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

// standardLibrary returns the standard library under the name that Go's vulnerability reports use.
func standardLibrary(version string) cdx.Component {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "go"), " ") // experiments follow a space
	return Component(cdx.ComponentTypeLibrary, "std", version)
}

// moduleComponent returns a linked module. Its hash is the one in go.sum, of all its files. A module of the workspace belongs to this
// repository, and has the program's version.
func moduleComponent(module *debug.Module, own string) (cdx.Component, error) {
	switch {
	case module.Version == "(devel)":
		component := Component(cdx.ComponentTypeLibrary, module.Path, own)
		component.Licenses = Apache()
		return component, nil
	case module.Replace != nil:
		module = module.Replace
	}
	component := Component(cdx.ComponentTypeLibrary, module.Path, module.Version)
	if sum, ok := strings.CutPrefix(module.Sum, "h1:"); ok {
		hash, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return cdx.Component{}, fmt.Errorf("the sum of module %s: %w", module.Path, err)
		}
		component.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(hash)}}
	}
	return component, nil
}

// Component returns a component that is a Go module, or is part of one.
func Component(kind cdx.ComponentType, module, version string) cdx.Component {
	reference := "pkg:golang/" + strings.ToLower(module) + "@" + url.QueryEscape(version)
	return cdx.Component{Type: kind, Name: module, Version: version, PackageURL: reference, BOMRef: reference}
}

// Sum256 returns the SHA-256 of some content.
func Sum256(content []byte) *[]cdx.Hash {
	sum := sha256.Sum256(content)
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
}

// Apache returns the license of this repository.
func Apache() *cdx.Licenses {
	return &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
}
