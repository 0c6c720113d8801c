// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
)

// workerConfig returns the config that the flags name, nil if they name none, and the first thing that is wrong with
// reading it.
func (g *garden) workerConfig(flags poolFlags, stdin io.Reader, provider Provider) (config *manifest.Object, fault string, err error) {
	if !slices.Contains(flags.given, "worker-config") {
		return nil, "", nil
	}
	before := len(g.findings)
	config, err = g.loadWorkerConfig(flags.workerConfig, stdin, provider)
	if len(g.findings) > before {
		fault = g.findings[before].Message
	}
	return config, fault, err
}

// loadWorkerConfig reads the file of the flag --worker-config, for a profile of a provider. What is wrong in it becomes
// findings. The error says that there is no config to ask with.
func (g *garden) loadWorkerConfig(file string, stdin io.Reader, provider Provider) (*manifest.Object, error) {
	if len(provider.workers().Settings()) == 0 {
		return nil, fmt.Errorf("--worker-config changes nothing: worker pools of provider %s ask for no image by their providerConfig; leave the flag out", provider.providerType())
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return nil, fmt.Errorf("--worker-config: %s is a directory, and a worker pool has one config: name a file", file)
	}
	objects, problems, err := manifest.Load([]string{file}, stdin)
	if err != nil {
		return nil, fmt.Errorf("--worker-config: %w", err)
	}
	for i := range problems {
		if problems[i].Rule == manifest.RuleNotAnObject {
			problems[i].Message += "; " + strings.Join(beginning(provider), ", ")
		}
	}
	g.note(problems)
	if len(objects) == 0 {
		if len(problems) == 0 {
			g.findings = append(g.findings, emptyConfig(file))
		}
		return nil, errors.New("--worker-config: nothing to read")
	}
	for _, more := range objects[1:] {
		line, _ := objects[0].Position("")
		g.error(more, problem(RuleObjectDuplicate, field.ErrorTypeDuplicate, "", nil, fmt.Sprintf(
			"a worker pool has one config, and there is one in line %d already; remove one of the two", line)))
	}
	return objects[0], nil
}

// beginning says how the worker config of a provider has to begin.
func beginning(provider Provider) []string {
	kind := provider.workers().Kind()
	return []string{"write apiVersion: " + kind.GroupVersion().String(), "write kind: " + kind.Kind}
}

// emptyConfig is the finding about a file without any document.
func emptyConfig(file string) report.Finding {
	if file == "-" {
		file = manifest.Stdin
	}
	return report.Finding{
		Severity: finding.SeverityError, Rule: RuleNotAnObject, Type: field.ErrorTypeInvalid, File: file, Line: 1, Column: 1,
		Message: "there is no worker config in here: write it, or leave out --worker-config",
	}
}

// rawConfig is a config as the providerConfig of a worker pool; nil if there is none.
func rawConfig(config *manifest.Object) *runtime.RawExtension {
	if config == nil {
		return nil
	}
	return &runtime.RawExtension{Raw: config.JSON}
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
