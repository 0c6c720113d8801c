// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"encoding/json"
	"runtime"
)

const (
	// StatementType is the media type of what [Provenance] returns.
	StatementType = "application/vnd.in-toto+json"
	// PredicateType says what kind of statement it is.
	PredicateType = "https://slsa.dev/provenance/v1"
	// source is where the sources are.
	source = "https://github.com/capkit/capkit"
)

// Subject is something that was made: a file by its name, or what a registry has by its package URL.
type Subject struct {
	Name string `json:"name"`
	// Digest is in hexadecimal digits, by algorithm: sha256.
	Digest map[string]string `json:"digest"`
}

// Provenance says what subjects were made of: an in-toto statement v1 with a SLSA provenance v1. version is that of the programs,
// without v, and revision the commit; empty if it is not known. parameters are what a user of the Makefile can choose. It has no time and
// no name of a machine, so that it is always the same for the same sources; who vouches for it signs it.
func Provenance(version, revision string, parameters map[string]string, subjects ...Subject) ([]byte, error) {
	type dependency struct {
		URI    string            `json:"uri"`
		Digest map[string]string `json:"digest,omitempty"`
	}
	repository := dependency{URI: "git+" + source}
	if revision != "" {
		repository.Digest = map[string]string{"gitCommit": revision}
	}
	external := map[string]string{"version": version}
	for name, value := range parameters {
		external[name] = value
	}
	var statement struct {
		Type          string    `json:"_type"`
		Subject       []Subject `json:"subject"`
		PredicateType string    `json:"predicateType"`
		Predicate     struct {
			BuildDefinition struct {
				BuildType            string            `json:"buildType"`
				ExternalParameters   map[string]string `json:"externalParameters"`
				ResolvedDependencies []dependency      `json:"resolvedDependencies"`
			} `json:"buildDefinition"`
			RunDetails struct {
				Builder struct {
					ID      string            `json:"id"`
					Version map[string]string `json:"version"`
				} `json:"builder"`
			} `json:"runDetails"`
		} `json:"predicate"`
	}
	statement.Type, statement.PredicateType, statement.Subject = "https://in-toto.io/Statement/v1", PredicateType, subjects
	definition, builder := &statement.Predicate.BuildDefinition, &statement.Predicate.RunDetails.Builder
	definition.BuildType = source + "/blob/main/docs/releasing.md#provenance"
	definition.ExternalParameters, definition.ResolvedDependencies = external, []dependency{repository}
	builder.ID, builder.Version = source+"/blob/main/Makefile", map[string]string{"go": runtime.Version()}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(statement)
	return buffer.Bytes(), err
}
