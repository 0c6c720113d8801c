// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"net/url"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/capkit/capkit/hack/program"
)

// billOfMaterials returns the bill of materials of an image, as CycloneDX: the program, all modules that are linked into it, the standard
// library, and the CA certificates.
func billOfMaterials(d Description, platform v1.Platform, image v1.Image, content []byte, certificatesVersion string) ([]byte, error) {
	digest, err := image.Digest()
	if err != nil {
		return nil, err
	}
	application, linked, err := program.Materials("/"+d.Name, d.Version, content)
	if err != nil {
		return nil, err
	}
	authorities, err := certificateComponent(certificatesVersion)
	if err != nil {
		return nil, err
	}
	container := imageComponent(d, platform, digest)
	// The program does not record the dependencies between modules.
	return program.Encode(container, append([]cdx.Component{application, authorities}, linked...), []cdx.Dependency{
		{Ref: container.BOMRef, Dependencies: program.References(application, authorities)},
		{Ref: application.BOMRef, Dependencies: program.References(linked...)},
	})
}

func imageComponent(d Description, platform v1.Platform, digest v1.Hash) cdx.Component {
	reference := fmt.Sprintf("pkg:oci/%s@%s?arch=%s&tag=%s", d.Name, url.QueryEscape(digest.String()), platform.Architecture, url.QueryEscape(d.Tag()))
	return cdx.Component{
		Type: cdx.ComponentTypeContainer, Name: d.Name, Version: d.Version, Description: d.Text, PackageURL: reference, BOMRef: reference,
		Licenses: program.Apache(),
	}
}

func certificateComponent(version string) (cdx.Component, error) {
	content, err := certificates()
	if err != nil {
		return cdx.Component{}, err
	}
	component := program.Component(cdx.ComponentTypeFile, certificatesModule, version)
	component.Name = CertificatesPath
	component.Description = "CA certificates that Mozilla trusts, as they are in " + certificatesModule
	component.Hashes = program.Sum256(content)
	return component, nil
}
