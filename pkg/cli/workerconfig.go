// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/consistency"
)

// workerConfig reads the file of the flag --worker-config, for a profile of a provider; it returns nil without the
// flag. What is wrong in the file becomes findings, of which fault is the first. The error says that there is no
// config to ask with.
func (g *garden) workerConfig(
	flags *poolFlags, stdin io.Reader, provider Provider,
) (config *manifest.Object, fault string, err error) {
	if !flags.given("worker-config") {
		return nil, "", nil
	}
	file := flags.workerConfig
	if len(provider.Workers().Settings()) == 0 {
		return nil, "", fmt.Errorf("--worker-config changes nothing: worker pools of provider %s ask for no image by their "+
			"providerConfig; leave the flag out", provider.Type())
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return nil, "", fmt.Errorf("--worker-config: %s is a directory, and a worker pool has one config: name a file", file)
	}
	objects, problems, err := manifest.Load([]string{file}, stdin)
	if err != nil {
		return nil, "", fmt.Errorf("--worker-config: %w", err)
	}
	for i := range problems {
		if problems[i].Rule == manifest.RuleNotAnObject {
			kind := provider.Workers().Kind()
			problems[i].Message += "; write apiVersion: " + kind.GroupVersion().String() + ", write kind: " + kind.Kind
		}
	}
	if len(objects)+len(problems) == 0 {
		if file == "-" {
			file = manifest.Stdin
		}
		problems = []manifest.Problem{{
			File: file, Line: 1, Column: 1, Rule: manifest.RuleNotAnObject,
			Message: "there is no worker config in here: write it, or leave out --worker-config",
		}}
	}
	before := len(g.findings)
	g.note(problems)
	if len(objects) == 0 {
		return nil, "", errors.New("--worker-config: nothing to read")
	}
	for _, more := range objects[1:] {
		line, _ := objects[0].Position("")
		g.error(more, problem(ruleObjectDuplicate, field.ErrorTypeDuplicate, "", nil, fmt.Sprintf(
			"a worker pool has one config, and there is one in line %d already; remove one of the two", line)))
	}
	if len(g.findings) > before {
		fault = g.findings[before].Message
	}
	return objects[0], fault, nil
}

// noteFurther takes down the errors of a question by flags that its answer is not about: as findings those that lead
// into the worker config, as notes those about flags.
func (g *garden) noteFurther(config *manifest.Object, errs field.ErrorList) {
	for _, err := range errs {
		if config == nil || err.Origin == consistency.RuleRequestUnregistered && !config.HasPath(err.Field) {
			g.notes = append(g.notes, err.Detail)
			continue
		}
		g.error(config, err)
	}
}
