// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package npm has npm's packages for tests, in folders of the user's cache: those that a package-lock.json names, by their hashes.
package npm

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/capkit/capkit/test/debian"
)

// Installed is a folder with packages, in node_modules, and what runs them.
type Installed struct {
	// Folder is where they are, and Node the path of node, which needs Environment besides the usual one.
	Folder, Node string
	Environment  []string
}

// Install installs what package.json and package-lock.json in a folder name in a folder of the cache, unless that has it. Scripts of
// packages are not run. If there is no node or no npm on the machine, those of Debian are extracted into the cache. say receives what is
// being done.
func Install(ctx context.Context, from, name string, say func(string)) (*Installed, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	in := &Installed{Folder: filepath.Join(cache, "capkit", name)}
	npm, err := in.programs(ctx, say)
	if err != nil {
		return nil, err
	}
	lock, err := os.ReadFile(filepath.Join(from, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	done := filepath.Join(in.Folder, "installed.json") // written last
	if installed, err := os.ReadFile(done); err == nil && bytes.Equal(installed, lock) {
		return in, nil
	}
	if err := os.MkdirAll(in.Folder, 0o755); err != nil {
		return nil, err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(in.Folder, name), text, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	say("npm installs " + name)
	args := slices.Concat(npm[1:], []string{"ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", in.Folder})
	if err := debian.Run(ctx, in.Environment, npm[0], args...); err != nil {
		return nil, err
	}
	return in, os.WriteFile(done, lock, 0o600)
}

// programs finds node, and returns how npm is called: those of the machine or, if one is missing, Debian's.
func (in *Installed) programs(ctx context.Context, say func(string)) (npm []string, err error) {
	node, noNode := exec.LookPath("node")
	found, noNPM := exec.LookPath("npm")
	if noNode == nil && noNPM == nil {
		in.Node = node
		return []string{found}, nil
	}
	root, err := debian.Cached(ctx, "node", []string{"nodejs", "npm"}, say)
	if err != nil {
		return nil, err
	}
	share, usr := filepath.Join(root, "usr", "share"), filepath.Join(root, "usr")
	machine := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	in.Environment = []string{
		"LD_LIBRARY_PATH=" + debian.Libraries(root),
		"NODE_PATH=" + strings.Join([]string{filepath.Join(share, "nodejs"), filepath.Join(usr, "lib", "nodejs"), filepath.Join(usr, "lib", machine, "nodejs")}, ":"),
	}
	in.Node = filepath.Join(usr, "bin", "node")
	return []string{in.Node, filepath.Join(share, "nodejs", "npm", "bin", "npm-cli.js")}, nil
}
