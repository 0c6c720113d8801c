// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/internal/cli/manifest/folder"
	"github.com/capkit/capkit/pkg/words"
)

// settings are the settings of one cloud, a member of clouds in clouds.yaml, named as in openstacksdk. All of them are strings, because a
// password may look like a number.
type settings struct {
	Profile string `yaml:"profile"`
	Cloud   string `yaml:"cloud"` // the older name of profile

	AuthType     string `yaml:"auth_type"`
	Auth         auth   `yaml:"auth"`
	Interface    string `yaml:"interface"`
	EndpointType string `yaml:"endpoint_type"` // the older name of interface

	Verify   string `yaml:"verify"`
	Insecure string `yaml:"insecure"`
	CACert   string `yaml:"cacert"`
	Cert     string `yaml:"cert"`
	Key      string `yaml:"key"`
}

// auth has the credentials of a user, and the project that the token is for.
type auth struct {
	AuthURL string `yaml:"auth_url"`

	Username string `yaml:"username"`
	UserID   string `yaml:"user_id"`
	Password string `yaml:"password"`
	Token    string `yaml:"token"`

	CredentialID     string `yaml:"application_credential_id"`
	CredentialName   string `yaml:"application_credential_name"`
	CredentialSecret string `yaml:"application_credential_secret"`

	ProjectName string `yaml:"project_name"`
	ProjectID   string `yaml:"project_id"`
	TenantName  string `yaml:"tenant_name"` // the older names of project_name and project_id
	TenantID    string `yaml:"tenant_id"`

	UserDomainName    string `yaml:"user_domain_name"`
	UserDomainID      string `yaml:"user_domain_id"`
	ProjectDomainName string `yaml:"project_domain_name"`
	ProjectDomainID   string `yaml:"project_domain_id"`
	DomainName        string `yaml:"domain_name"`
	DomainID          string `yaml:"domain_id"`
	DefaultDomain     string `yaml:"default_domain"`

	TrustID     string `yaml:"trust_id"`
	SystemScope string `yaml:"system_scope"`
}

// Find returns the named cloud of clouds.yaml. If the name is empty, it returns the cloud that OS_CLOUD names, else the cloud that OS_*
// describe, else the only cloud of clouds.yaml. getenv reads the environment of the process.
func Find(name string, getenv func(string) string) (*Cloud, error) {
	env := environment(getenv)
	if name = cmp.Or(name, getenv("OS_CLOUD")); name == "" && env.Auth.AuthURL != "" {
		return env.cloud("the environment", "OS_", strings.ToUpper)
	}
	found, from, err := named(name, getenv)
	if err != nil {
		return nil, err
	}
	found.override(&env)
	return found.cloud(from, "", strings.ToLower)
}

// override applies environment variables that do not identify the user, as other clients do; they win over the file. It also takes the
// password from the environment if the file has none, because many people keep it out of files.
func (s *settings) override(env *settings) {
	s.Interface = cmp.Or(env.Interface, s.Interface)
	s.CACert, s.Cert, s.Key = cmp.Or(env.CACert, s.CACert), cmp.Or(env.Cert, s.Cert), cmp.Or(env.Key, s.Key)
	s.Insecure = cmp.Or(env.Insecure, s.Insecure)
	s.Auth.Password = cmp.Or(s.Auth.Password, env.Auth.Password)
}

// file is a file that describes clouds.
type file struct {
	name   string
	clouds map[string]yaml.Node
}

// named returns the settings of a cloud, and its name in messages. clouds.yaml overrides the cloud's profile in clouds-public.yaml, and
// secure.yaml overrides both.
func named(name string, getenv func(string) string) (s *settings, from string, err error) {
	clouds, err := firstFile(getenv, "OS_CLIENT_CONFIG_FILE", "clouds", "clouds")
	if err != nil {
		return nil, "", err
	}
	switch {
	case clouds.name == "" && name != "":
		return nil, "", fmt.Errorf("there is no clouds.yaml that has cloud %s: set OS_CLIENT_CONFIG_FILE, or write ~/.config/openstack/clouds.yaml", name)
	case clouds.name == "":
		return nil, "", errors.New("no cloud is named, and there is no clouds.yaml: set OS_AUTH_URL and the other OS_*, or OS_CLIENT_CONFIG_FILE, " +
			"or write ~/.config/openstack/clouds.yaml")
	}
	if name, err = clouds.choose(name); err != nil {
		return nil, "", err
	}
	s, from = &settings{}, fmt.Sprintf("cloud %s in %s", name, clouds.name)
	if err := clouds.read(name, s); err != nil {
		return nil, "", err
	}
	if profile := cmp.Or(s.Profile, s.Cloud); profile != "" {
		public, err := firstFile(getenv, "OS_CLIENT_VENDOR_FILE", "clouds-public", "public-clouds")
		if err != nil {
			return nil, "", err
		}
		if _, found := public.clouds[profile]; !found {
			return nil, "", fmt.Errorf("%s has the profile %s, which is in no clouds-public.yaml here; profiles that other clients bring along "+
				"are not known: write what it says into clouds.yaml", from, words.Quoted(profile))
		}
		*s = settings{}
		if err := errors.Join(public.read(profile, s), clouds.read(name, s)); err != nil {
			return nil, "", err
		}
	}
	secure, err := firstFile(getenv, "OS_CLIENT_SECURE_FILE", "secure", "clouds")
	if err != nil {
		return nil, "", err
	}
	return s, from, secure.read(name, s)
}

// choose returns the name of the requested cloud, or of the only one if the name is empty.
func (f *file) choose(name string) (string, error) {
	names := slices.Sorted(maps.Keys(f.clouds))
	switch _, found := f.clouds[name]; {
	case found:
		return name, nil
	case len(names) == 0:
		return "", fmt.Errorf("%s has no clouds", f.name)
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", fmt.Errorf("%s has several clouds: use --os-cloud with one of %s", f.name, strings.Join(names, ", "))
	}
	return "", fmt.Errorf("%s has no cloud %s, but %s%s", f.name, words.Quoted(name), strings.Join(names, ", "), words.DidYouMean(words.Choice(name, names)))
}

// read overwrites settings with those that the file has for a cloud.
func (f *file) read(name string, into *settings) error {
	node, found := f.clouds[name]
	if !found {
		return nil
	}
	// Older files have the credentials beside auth. If a file has both, auth wins.
	if err := node.Decode(&into.Auth); err != nil {
		return unreadable(f.name, err)
	}
	return unreadable(f.name, node.Decode(into))
}

// firstFile reads the first file of a name that exists: the file that the variable names, else a file in the working directory, in the user's
// settings folder, or in /etc/openstack. It returns an empty file if there is none. Its clouds are in the member key.
func firstFile(getenv func(string) string, variable, name, key string) (*file, error) {
	if path := getenv(variable); path != "" {
		text, err := folder.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%w: that is what %s names", err, variable)
		}
		return parse(path, text, key)
	}
	config := cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(getenv("HOME"), ".config"))
	for _, within := range []string{".", filepath.Join(config, "openstack"), "/etc/openstack"} {
		for _, extension := range []string{".yaml", ".yml", ".json"} {
			path := filepath.Join(within, name+extension)
			text, err := folder.ReadFile(path)
			switch {
			case err == nil:
				return parse(path, text, key)
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
		}
	}
	return &file{}, nil
}

func parse(path string, text []byte, key string) (*file, error) {
	var content map[string]yaml.Node
	if err := yaml.Unmarshal(text, &content); err != nil {
		return nil, unreadable(path, err)
	}
	f := &file{name: path, clouds: map[string]yaml.Node{}}
	if node, found := content[key]; found {
		if err := node.Decode(&f.clouds); err != nil {
			return nil, unreadable(path, err)
		}
	}
	return f, nil
}

// values matches the parts of a YAML decoder's error that quote the file, because they may contain a part of a password. A value that
// begins with * is quoted as an alias.
var values = regexp.MustCompile(" ?`[^`]*`|( anchor) '[^']*'")

// unreadable returns an error about a file that does not quote its content; nil if err is nil.
func unreadable(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s cannot be read: %s", path, strings.Join(strings.Fields(values.ReplaceAllString(err.Error(), "$1")), " "))
}
