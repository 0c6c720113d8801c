// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/capkit/capkit/test/debian"
)

//go:embed files
var files embed.FS

// packages are those of Debian that have the services. What depends on nova-compute is not needed: the hypervisor is a
// part of python3-nova.
var packages = []string{
	"keystone", "glance-api", "placement-api", "neutron-server", "nova-api", "nova-conductor", "nova-scheduler", "python3-nova",
	"cinder-api", "octavia-api",
}

// release is that of Debian whose OpenStack this is about.
const release = "bookworm"

// installation is OpenStack as a folder: the packages, extracted, and databases without content. It is not changed any
// more, but for what Python compiles.
type installation struct {
	folder string
}

func (i installation) root() string      { return filepath.Join(i.folder, "root") }
func (i installation) databases() string { return filepath.Join(i.folder, "databases") }
func (i installation) files() string     { return filepath.Join(i.folder, "files") }

// environment is what programs of the packages need to find each other.
func (i installation) environment() []string {
	root := i.root()
	return []string{
		"PYTHONPATH=" + filepath.Join(root, "usr", "lib", "python3", "dist-packages") + ":" + filepath.Join(i.files(), "mechanism"),
		"LD_LIBRARY_PATH=" + debian.Libraries(root),
		"PYTHONWARNINGS=ignore", "PYTHONUNBUFFERED=1",
	}
}

// path returns where a file of a package is: in the folder, unless the package was on this machine before.
func (i installation) path(name string) string {
	if extracted := filepath.Join(i.root(), name); exists(extracted) {
		return extracted
	}
	return "/" + name
}

// python returns the interpreter that the packages are for.
func (i installation) python() string { return i.path("usr/bin/python3.11") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// install returns the installation of this machine, and makes it if there is none: that takes minutes, and needs the
// package sources of this machine, but no rights. progress receives what is being done.
func install(ctx context.Context, progress io.Writer) (installation, error) {
	if err := suitable(); err != nil {
		return installation{}, err
	}
	key, err := key()
	if err != nil {
		return installation{}, err
	}
	folder, err := debian.Once(filepath.Join("openstack", key), func(folder string) error {
		say := func(what string) { _, _ = fmt.Fprintln(progress, "openstack: "+what) }
		say("installing it below " + filepath.Dir(folder) + "; that is done once, and takes some minutes")
		return build(ctx, installation{folder}, say)
	})
	return installation{folder}, err
}

// suitable returns an error if this is no machine that the packages are for.
func suitable() error {
	system, err := os.ReadFile("/etc/os-release")
	if err != nil || !bytes.Contains(system, []byte("VERSION_CODENAME="+release+"\n")) {
		return fmt.Errorf("OpenStack is run from the packages of Debian 12 (%s), and this is another system; use a machine or a container with it", release)
	}
	return nil
}

// key tells installations apart: by the files of this package and by the platform.
func key() (string, error) {
	hash := sha256.New()
	_, _ = fmt.Fprintln(hash, runtime.GOARCH, release, packages, (&cloud{}).steps())
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(path)
		_, _ = fmt.Fprintf(hash, "%s %d\n%s", path, len(content), content)
		return err
	})
	return hex.EncodeToString(hash.Sum(nil))[:16], err
}

func build(ctx context.Context, i installation, say func(string)) error {
	content, err := fs.Sub(files, "files")
	if err != nil {
		return err
	}
	if err := os.CopyFS(i.files(), content); err != nil {
		return err
	}
	if err := debian.Extract(ctx, packages, i.root(), say); err != nil {
		return err
	}
	say("creating databases")
	return prepare(ctx, i)
}

// prepare creates the databases, side by side: each of the programs reads thousands of files before it begins.
func prepare(ctx context.Context, i installation) error {
	c := &cloud{installation: i, folder: i.databases()}
	if err := c.configure(); err != nil {
		return err
	}
	var all errgroup.Group
	for _, chain := range c.steps() {
		all.Go(func() error {
			for _, step := range chain {
				if err := c.python(ctx, step[0], step[1:]...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return errors.Join(err, c.logs())
	}
	return nil
}

// steps returns what creates the databases: chains of programs with their arguments. Those of a chain run in order.
func (c *cloud) steps() [][][]string {
	manage := func(service string, args ...string) []string {
		program := c.installation.path("usr/bin/" + service + "-manage")
		return append([]string{program, "--config-file", filepath.Join(c.folder, service+".conf")}, args...)
	}
	keys := []string{"--keystone-user", strconv.Itoa(os.Getuid()), "--keystone-group", strconv.Itoa(os.Getgid())}
	sqlite := func(name string) string { return "sqlite:///" + filepath.Join(c.folder, name) }
	return [][][]string{
		{
			manage("keystone", "db_sync"),
			manage("keystone", append([]string{"fernet_setup"}, keys...)...),
			manage("keystone", append([]string{"credential_setup"}, keys...)...),
			manage("keystone", "bootstrap", "--bootstrap-password", AdminPassword, "--bootstrap-region-id", Region,
				"--bootstrap-public-url", "http://127.0.0.1/v3"),
		},
		{
			manage("nova", "api_db", "sync"),
			manage("nova", "cell_v2", "map_cell0", "--database_connection", sqlite("nova_cell0.db")),
			manage("nova", "cell_v2", "create_cell", "--name", "cell1", "--transport-url", "fake://",
				"--database_connection", sqlite("nova_cell1.db")),
			manage("nova", "db", "sync"),
		},
		{
			{filepath.Join(c.installation.files(), "schema.py"), filepath.Join(c.folder, "neutron.db")},
			manage("glance", "db_sync"),
			manage("placement", "db", "sync"),
			manage("cinder", "db", "sync"),
		},
	}
}
