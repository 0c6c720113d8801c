// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package openstack runs a real OpenStack on this machine, for tests: Keystone, Placement, Glance, Neutron, Nova and the APIs of
// Cinder and Octavia, as Debian has them. Servers are real to Nova, with all that it checks of them; below it there is no hypervisor,
// and nothing is ever booted. There are no volumes and no load balancers, but the types of them. In a second region there is Glance alone.
//
// The packages are extracted into a folder of the user's cache, so that no rights are needed and nothing of this
// machine changes. Everything listens on 127.0.0.1 only, on ports that are free.
//
//   - install.go: the packages and the databases, which are made once
//   - openstack.go: Start and Stop
//   - world.go: what there is in it: projects, a user, a network, images
//   - files/: configuration, and Nova in one process
package openstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/capkit/capkit/test/debian"
	"github.com/capkit/capkit/test/garden"
)

const (
	// Region is the one with all services.
	Region = "europe"
	// SecondRegion has images of its own, and no other service.
	SecondRegion = "asia"
	// Zone is the only availability zone.
	Zone = "nova"

	// AdminPassword is that of the administrator: of something that lives for minutes, and that others cannot reach.
	AdminPassword = "administrator"
)

// OpenStack is an OpenStack that is ready. Its methods may be called from several goroutines, but for Stop and those
// that stop and start a service.
type OpenStack struct {
	cloud
	World
	processes map[string]*garden.Process
}

// cloud is where an OpenStack has its files, and where its services are.
type cloud struct {
	installation installation
	folder       string
	// Ports of the services. Asia is Glance in the second region.
	Ports struct{ Keystone, Placement, Glance, Asia, Neutron, Nova, Cinder, Octavia int }
}

// For templates.

// Folder is where the files are.
func (c *cloud) Folder() string { return c.folder }

// Share is where the packages have files that do not change.
func (c *cloud) Share() string {
	return strings.TrimSuffix(c.installation.path("usr/share/nova-common"), "/nova-common")
}

// Region is that of all services.
func (c *cloud) Region() string { return Region }

// AdminPassword is the password of admin.
func (c *cloud) AdminPassword() string { return AdminPassword }

// patience is how long a service may take to answer for the first time.
const patience = 3 * time.Minute

// Start starts an OpenStack and waits until servers can be created. It has to be stopped, and stops also when this
// process ends without that. Nothing is left behind if it fails; the error has the ends of the logs. progress receives
// what is being installed; nil is os.Stderr.
func Start(ctx context.Context, progress io.Writer) (*OpenStack, error) {
	if progress == nil {
		progress = os.Stderr
	}
	installed, err := install(ctx, progress)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "openstack-")
	if err != nil {
		return nil, err
	}
	o := &OpenStack{cloud: cloud{installation: installed, folder: folder}, processes: map[string]*garden.Process{}}
	if err := o.start(ctx); err != nil {
		return nil, errors.Join(err, o.logs(), o.Stop())
	}
	return o, nil
}

func (o *OpenStack) start(ctx context.Context) error {
	if err := copyTree(o.folder, o.installation.databases()); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(o.folder, "asia.db"), filepath.Join(o.folder, "glance.db")); err != nil {
		return err
	}
	if err := o.choosePorts(); err != nil {
		return err
	}
	if err := o.configure(); err != nil {
		return err
	}
	args := []string{o.folder}
	for _, s := range [][3]string{
		{"identity", Region, o.Keystone()}, {"placement", Region, o.url(o.Ports.Placement)}, {"image", Region, o.url(o.Ports.Glance)},
		{"network", Region, o.url(o.Ports.Neutron)}, {"compute", Region, o.url(o.Ports.Nova) + "/v2.1"},
		{"volumev3", Region, o.url(o.Ports.Cinder) + "/v3"}, {"load-balancer", Region, o.url(o.Ports.Octavia)},
		{"image", SecondRegion, o.url(o.Ports.Asia)},
	} {
		args = append(args, strings.Join(s[:], "="))
	}
	if err := o.python(ctx, filepath.Join(o.installation.files(), "place.py"), args...); err != nil {
		return err
	}
	for _, name := range []string{"keystone", "placement", "glance", "asia", "neutron", "cinder", "octavia"} {
		if err := o.launch(ctx, name); err != nil {
			return err
		}
	}
	for name, port := range map[string]int{"keystone": o.Ports.Keystone, "placement": o.Ports.Placement} { // Nova begins by asking them
		if err := o.wait(ctx, name, func() bool { return answers(ctx, o.url(port)) }); err != nil {
			return err
		}
	}
	if err := o.StartNova(ctx); err != nil {
		return err
	}
	for name, port := range map[string]int{
		"glance": o.Ports.Glance, "asia": o.Ports.Asia, "neutron": o.Ports.Neutron, "cinder": o.Ports.Cinder, "octavia": o.Ports.Octavia,
	} {
		if err := o.wait(ctx, name, func() bool { return answers(ctx, o.url(port)) }); err != nil {
			return err
		}
	}
	var err error
	o.World, err = o.populate(ctx)
	return err
}

// StartNova starts Nova, which must have been stopped, and waits until servers can be created.
func (o *OpenStack) StartNova(ctx context.Context) error {
	if err := os.RemoveAll(o.ready()); err != nil {
		return err
	}
	if err := o.launch(ctx, "nova"); err != nil {
		return err
	}
	return o.wait(ctx, "nova", func() bool { return exists(o.ready()) && answers(ctx, o.url(o.Ports.Nova)) })
}

// StopNova stops Nova, and what it is doing.
func (o *OpenStack) StopNova() error {
	err := o.processes["nova"].Kill()
	delete(o.processes, "nova")
	return err
}

// Stop stops it and removes all files.
func (o *OpenStack) Stop() error {
	var errs []error
	for _, p := range o.processes {
		errs = append(errs, p.Kill())
	}
	return errors.Join(append(errs, os.RemoveAll(o.folder))...)
}

// Keystone returns the URL of the identity service.
func (o *OpenStack) Keystone() string { return o.url(o.Ports.Keystone) + "/v3" }

func (o *OpenStack) url(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

func (o *OpenStack) ready() string { return filepath.Join(o.folder, "ready") }

// launch starts a service. It lives until Stop.
func (o *OpenStack) launch(ctx context.Context, name string) error {
	bin := func(program string) string { return o.installation.path("usr/bin/" + program) }
	conf := filepath.Join(o.folder, name+".conf")
	args := map[string][]string{
		"keystone":  {bin("keystone-wsgi-public"), "--host", "127.0.0.1", "--port", fmt.Sprint(o.Ports.Keystone)},
		"placement": {bin("placement-api"), "--host", "127.0.0.1", "--port", fmt.Sprint(o.Ports.Placement)},
		"glance":    {bin("glance-api"), "--config-file", conf},
		"asia":      {bin("glance-api"), "--config-file", conf},
		"cinder":    {bin("cinder-api"), "--config-file", conf},
		"octavia":   {bin("octavia-api"), "--config-file", conf},
		"neutron":   {bin("neutron-server"), "--config-file", conf},
		"nova":      {filepath.Join(o.installation.files(), "whole.py"), conf, o.ready()},
	}[name]
	p, err := garden.Launch(context.WithoutCancel(ctx), garden.ProcessOptions{
		Path: o.installation.python(), Args: args, LogFile: filepath.Join(o.folder, "log", name+".out"),
		Env: append(o.installation.environment(), "OS_KEYSTONE_CONFIG_FILES="+filepath.Join(o.folder, "keystone.conf"),
			"OS_KEYSTONE_CONFIG_DIR="+o.folder, "OS_PLACEMENT_CONFIG_DIR="+o.folder),
	})
	if err != nil {
		return err
	}
	o.processes[name] = p
	return nil
}

// wait waits until a service is there. It is an error if it ends instead.
func (o *OpenStack) wait(ctx context.Context, name string, there func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !there() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w", name, context.Cause(ctx))
		case <-o.processes[name].Done():
			return fmt.Errorf("%s has ended: %w", name, o.processes[name].Wait())
		case <-tick.C:
		}
	}
	return nil
}

// answers reports whether there is a service at a URL, whatever it says.
func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode < http.StatusInternalServerError
}

// logs returns the ends of all logs as an error.
func (c *cloud) logs() error {
	var errs []error
	names, _ := filepath.Glob(filepath.Join(c.folder, "log", "*"))
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		const most = 4000
		errs = append(errs, fmt.Errorf("%s:\n%s", filepath.Base(name), content[max(0, len(content)-most):]))
	}
	return errors.Join(errs...)
}

// choosePorts chooses ports that are free.
func (o *OpenStack) choosePorts() error {
	for _, port := range []*int{
		&o.Ports.Keystone, &o.Ports.Placement, &o.Ports.Glance, &o.Ports.Asia, &o.Ports.Neutron, &o.Ports.Nova, &o.Ports.Cinder, &o.Ports.Octavia,
	} {
		address, err := garden.FreeAddress()
		if err != nil {
			return err
		}
		_, number, _ := net.SplitHostPort(address)
		if *port, err = strconv.Atoi(number); err != nil {
			return err
		}
	}
	return nil
}

// configure writes the configuration of all services.
func (c *cloud) configure() error {
	for _, folder := range []string{"log", "glance-images", "asia-images", "state", "lock", "fernet", "credential"} {
		if err := os.MkdirAll(filepath.Join(c.folder, folder), 0o700); err != nil {
			return err
		}
	}
	functions := template.FuncMap{"dict": func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[fmt.Sprint(pairs[i])] = pairs[i+1]
		}
		return m
	}}
	templates, err := template.New("").Funcs(functions).ParseFS(files, "files/*.conf")
	if err != nil {
		return err
	}
	for _, name := range []string{"keystone", "placement", "glance", "asia", "neutron", "nova", "cinder", "octavia"} {
		var text strings.Builder
		if err := templates.ExecuteTemplate(&text, name+".conf", c); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.folder, name+".conf"), []byte(text.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// python runs a program of the packages to its end.
func (c *cloud) python(ctx context.Context, program string, args ...string) error {
	return debian.Run(ctx, c.installation.environment(), c.installation.python(), append([]string{program}, args...)...)
}

// copyTree copies what prepare has left, without its logs.
func copyTree(to, from string) error {
	return fs.WalkDir(os.DirFS(from), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == "log":
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, path), 0o700)
		}
		return copyFile(filepath.Join(to, path), filepath.Join(from, path))
	})
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
