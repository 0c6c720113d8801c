// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package image

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
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// billOfMaterials returns, as CycloneDX, what is in the image: the program, all modules that are linked
// into it, the standard library, and the CA certificates. It is made of what the compiler wrote into the program, and has
// neither a time nor a serial number, so that it is always the same for the same image.
func billOfMaterials(d Description, platform v1.Platform, image v1.Image, program []byte, certificatesVersion string) ([]byte, error) {
	digest, err := image.Digest()
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	authorities, err := certificateComponent(certificatesVersion)
	if err != nil {
		return nil, err
	}
	application := programComponent(d, info, program)
	components := []cdx.Component{application, authorities, standardLibrary(info.GoVersion)}
	var linked []string
	for _, module := range info.Deps {
		component, err := moduleComponent(module)
		if err != nil {
			return nil, err
		}
		components = append(components, component)
	}
	for _, component := range components[2:] {
		linked = append(linked, component.BOMRef)
	}

	container := imageComponent(d, platform, digest)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &container}
	bom.Components = &components
	// Which module needs which is not in the program.
	bom.Dependencies = &[]cdx.Dependency{
		{Ref: container.BOMRef, Dependencies: &[]string{application.BOMRef, authorities.BOMRef}},
		{Ref: application.BOMRef, Dependencies: &linked},
	}
	var buffer bytes.Buffer
	encoder := cdx.NewBOMEncoder(&buffer, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := encoder.EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

// settings returns how a program was built: GOARCH and the like.
func settings(program []byte) (map[string]string, error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(info.Settings))
	for _, setting := range info.Settings {
		values[setting.Key] = setting.Value
	}
	return values, nil
}

func imageComponent(d Description, platform v1.Platform, digest v1.Hash) cdx.Component {
	reference := fmt.Sprintf("pkg:oci/%s@%s?arch=%s&tag=%s", d.Name, url.QueryEscape(digest.String()), platform.Architecture, url.QueryEscape(d.Tag()))
	return cdx.Component{
		Type: cdx.ComponentTypeContainer, Name: d.Name, Version: d.Version, Description: d.Text, PackageURL: reference, BOMRef: reference,
		Licenses: apache(),
	}
}

func programComponent(d Description, info *debug.BuildInfo, program []byte) cdx.Component {
	component := component(cdx.ComponentTypeApplication, info.Main.Path, "v"+d.Version)
	component.Name = "/" + d.Name
	component.Hashes = sum256(program)
	component.Licenses = apache()
	return component
}

func certificateComponent(version string) (cdx.Component, error) {
	content, err := certificates()
	if err != nil {
		return cdx.Component{}, err
	}
	component := component(cdx.ComponentTypeFile, certificatesModule, version)
	component.Name = CertificatesPath
	component.Description = "CA certificates that Mozilla trusts, as they are in " + certificatesModule
	component.Hashes = sum256(content)
	return component, nil
}

// standardLibrary has the name under which vulnerabilities of Go are reported.
func standardLibrary(version string) cdx.Component {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "go"), " ") // experiments follow a blank
	return component(cdx.ComponentTypeLibrary, "std", version)
}

// moduleComponent returns a module as it is linked in. Its hash is that of go.sum, over all its files.
func moduleComponent(module *debug.Module) (cdx.Component, error) {
	if module.Replace != nil {
		module = module.Replace
	}
	component := component(cdx.ComponentTypeLibrary, module.Path, module.Version)
	if sum, ok := strings.CutPrefix(module.Sum, "h1:"); ok {
		hash, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return cdx.Component{}, fmt.Errorf("the sum of module %s: %w", module.Path, err)
		}
		component.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(hash)}}
	}
	return component, nil
}

// component returns a component that is a Go module, or comes from one.
func component(kind cdx.ComponentType, module, version string) cdx.Component {
	reference := "pkg:golang/" + strings.ToLower(module) + "@" + url.QueryEscape(version)
	return cdx.Component{Type: kind, Name: module, Version: version, PackageURL: reference, BOMRef: reference}
}

func sum256(content []byte) *[]cdx.Hash {
	sum := sha256.Sum256(content)
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
}

func apache() *cdx.Licenses {
	return &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
}
