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
	// StatementType is the media type of the result of [Provenance].
	StatementType = "application/vnd.in-toto+json"
	// PredicateType is the kind of statement.
	PredicateType = "https://slsa.dev/provenance/v1"
	// Source is the URL of the sources.
	Source = "https://github.com/capkit/capkit"
)

// Subject is a build result: a file by its name, or an artifact in a registry by its package URL.
type Subject struct {
	Name string `json:"name"`
	// Digest has hexadecimal digests by algorithm: sha256.
	Digest map[string]string `json:"digest"`
}

// Provenance returns the sources of subjects, as an in-toto statement v1 with a SLSA provenance v1. version is the programs' version
// without v, revision the commit, empty if it is unknown. parameters are the options that a user of the Makefile has chosen. The statement
// has no time and no host name, so that it is reproducible. It is unsigned: sign it to vouch for it.
func Provenance(version, revision string, parameters map[string]string, subjects ...Subject) ([]byte, error) {
	type dependency struct {
		URI    string            `json:"uri"`
		Digest map[string]string `json:"digest,omitempty"`
	}
	repository := dependency{URI: "git+" + Source}
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
	definition.BuildType = Source + "/blob/main/docs/releasing.md#provenance"
	definition.ExternalParameters, definition.ResolvedDependencies = external, []dependency{repository}
	builder.ID, builder.Version = Source+"/blob/main/Makefile", map[string]string{"go": runtime.Version()}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(statement)
	return buffer.Bytes(), err
}
