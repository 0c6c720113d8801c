// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command pictures draws the pictures of the documents into docs/pictures: from the examples, and from what the command says
// about them. Run it from the root of the repository.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

// pictures are drawn by these, each into a file of its name.
var pictures = map[string]func() (*canvas, error){
	"halves":         halves,
	"worker-pool":    workerPool,
	"matrix":         matrix,
	"request":        request,
	"floating-pools": floatingPools,
	"recording":      recording,
}

func main() {
	log.SetFlags(0)
	for name, draw := range pictures {
		picture, err := draw()
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(file(name), []byte(picture.String()), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// file is where a picture is.
func file(name string) string {
	return filepath.Join("docs", "pictures", name+".svg")
}

// load reads the documents of a manifest, as plain values.
func load[T any](file string) (documents []T, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var value T
		if err := yaml.Unmarshal([]byte(document), &value); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		documents = append(documents, value)
	}
	return documents, nil
}

// capkit runs the command, and returns what it prints and its exit status. The status 2 is an error.
func capkit(args ...string) (output string, status int, err error) {
	var stdout, stderr bytes.Buffer
	status = cli.Run(append([]string{"capkit"}, args...), strings.NewReader(""), &stdout, &stderr, clouds.All()...)
	if status > 1 {
		return "", status, fmt.Errorf("capkit %s: %s", strings.Join(args, " "), stderr.String())
	}
	return stdout.String() + stderr.String(), status, nil
}

// ask runs the command with JSON as its output, and reads that.
func ask(answer any, args ...string) error {
	output, _, err := capkit(append([]string{args[0], "--output=json"}, args[1:]...)...)
	if err != nil {
		return err
	}
	return json.NewDecoder(strings.NewReader(output)).Decode(answer)
}
