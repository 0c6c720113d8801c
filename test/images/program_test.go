// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/capkit/capkit/hack/images/image"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

// The kernel can run the program without anything else in the image.
func TestProgramIsStatic(t *testing.T) {
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	forEachPlatform(t, func(t *testing.T, platform v1.Platform, image v1.Image) {
		program, err := elf.NewFile(bytes.NewReader(file(t, image, described.Name)))
		if err != nil {
			t.Fatal(err)
		}
		if program.Machine != machines[platform.Architecture] || program.Type != elf.ET_EXEC {
			t.Errorf("the program is an %s for %s", program.Type, program.Machine)
		}
		for _, segment := range program.Progs {
			if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
				t.Errorf("the program has a segment %s", segment.Type)
			}
		}
		if section := program.Section(".symtab"); section != nil {
			t.Errorf("the program has a symbol table of %d bytes", section.Size)
		}
	})
}

// In another clone the compiler makes the same program of the same sources.
func TestCompiledElsewhere(t *testing.T) {
	clone := t.TempDir()
	for _, folder := range []string{"cmd", "pkg"} {
		if err := os.CopyFS(filepath.Join(clone, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(clone, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	platform := image.Platforms[0]
	path := filepath.Join(t.TempDir(), "program")
	if err := image.Compile(t.Context(), clone, described.Name, ldflags, platform, path); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(elsewhere, file(t, read(t, platform), described.Name)) {
		t.Error("the program is another one")
	}
}

// extracted writes the program of the image for this machine to a file.
func extracted(t *testing.T) (path string) {
	t.Helper()
	content := file(t, read(t, v1.Platform{OS: "linux", Architecture: runtime.GOARCH}), described.Name)
	path = filepath.Join(t.TempDir(), described.Name)
	if err := os.WriteFile(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVersion(t *testing.T) {
	command := exec.CommandContext(t.Context(), extracted(t), "--version")
	command.Env = []string{} // as an image has none
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if got, want := strings.TrimSpace(string(output)), " v1.2.3+0123456789ab"; !strings.HasSuffix(got, want) {
		t.Errorf("--version prints %q, want it to end with %q", got, want)
	}
}

// The program that is in the image does its work beside a real Gardener API.
func TestServes(t *testing.T) {
	g, err := garden.Start(t.Context(), garden.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := extension.Run(t.Context(), g, extracted(t)); err != nil {
		t.Fatal(err)
	}
}
