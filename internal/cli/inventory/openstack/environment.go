// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/capkit/capkit/pkg/words"
)

// Cloud has the URL and the credentials of a cloud.
type Cloud struct {
	auth      gophercloud.AuthOptions
	endpoints string // the interface: public, internal or admin
	tls       *tls.Config
	from      string   // its name in messages
	secrets   []string // never shown in messages
}

// String returns the name of the cloud's description: a cloud in a file, or the environment.
func (c *Cloud) String() string { return c.from }

// environment returns the settings of the environment variables OS_*.
func environment(getenv func(string) string) settings {
	os := func(name string) string { return getenv("OS_" + name) }
	return settings{
		AuthType: os("AUTH_TYPE"),
		Auth: auth{
			AuthURL: os("AUTH_URL"), Username: os("USERNAME"), UserID: os("USER_ID"), Password: os("PASSWORD"), Token: os("TOKEN"),
			CredentialID: os("APPLICATION_CREDENTIAL_ID"), CredentialName: os("APPLICATION_CREDENTIAL_NAME"),
			CredentialSecret: os("APPLICATION_CREDENTIAL_SECRET"),
			ProjectName:      os("PROJECT_NAME"), ProjectID: os("PROJECT_ID"), TenantName: os("TENANT_NAME"), TenantID: os("TENANT_ID"),
			UserDomainName: os("USER_DOMAIN_NAME"), UserDomainID: os("USER_DOMAIN_ID"),
			ProjectDomainName: os("PROJECT_DOMAIN_NAME"), ProjectDomainID: os("PROJECT_DOMAIN_ID"),
			DomainName: os("DOMAIN_NAME"), DomainID: os("DOMAIN_ID"), DefaultDomain: os("DEFAULT_DOMAIN"),
			TrustID: os("TRUST_ID"), SystemScope: os("SYSTEM_SCOPE"),
		},
		Interface: cmp.Or(os("INTERFACE"), os("ENDPOINT_TYPE")),
		Insecure:  os("INSECURE"), CACert: os("CACERT"), Cert: os("CERT"), Key: os("KEY"),
	}
}

// cloud returns the cloud that the settings describe, or an error that lists everything wrong with them. from is its name in messages,
// which write the name of a setting with this prefix and letter case.
func (s *settings) cloud(from, prefix string, letters func(string) string) (*Cloud, error) {
	var errs []error
	wrong := func(format string, args ...any) {
		for i, arg := range args {
			if name, isName := arg.(setting); isName {
				args[i] = prefix + letters(string(name))
			}
		}
		errs = append(errs, fmt.Errorf("%s "+format, append([]any{from}, args...)...))
	}
	a := &s.Auth
	c := &Cloud{from: from, secrets: []string{a.Password, a.Token, a.CredentialSecret}}
	c.secrets = slices.DeleteFunc(c.secrets, func(secret string) bool { return secret == "" })
	switch address, err := url.Parse(a.AuthURL); {
	case a.AuthURL == "":
		wrong("has no %s: that of Keystone, as in https://keystone.example.com:5000/v3", setting("auth_url"))
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https":
		wrong("has an %s that is not a URL", setting("auth_url"))
	case address.User != nil:
		wrong("has a user in its %s; write it as %s and %s", setting("auth_url"), setting("username"), setting("password"))
	}
	var known bool
	if c.endpoints, known = interfaces[cmp.Or(s.Interface, s.EndpointType)]; !known {
		wrong("has the %s %s: use public, internal or admin", setting("interface"), words.Quoted(cmp.Or(s.Interface, s.EndpointType)))
	}
	c.auth = s.who(wrong)
	var err error
	if c.tls, err = s.tls(); err != nil {
		wrong("%w", err)
	}
	return c, errors.Join(errs...)
}

// setting is the name of a setting in clouds.yaml. The environment spells it differently.
type setting string

var interfaces = map[string]string{
	"": "public", "public": "public", "publicURL": "public", "internal": "internal", "internalURL": "internal", "admin": "admin", "adminURL": "admin",
}

// The authentication methods, by their names in auth_type.
var (
	byPassword   = []string{"password", "v3password"}
	byToken      = []string{"token", "v3token"}
	byCredential = []string{"v3applicationcredential"}
)

// who returns the credentials, and the project that the token is for.
func (s *settings) who(wrong func(string, ...any)) gophercloud.AuthOptions {
	a := &s.Auth
	options := gophercloud.AuthOptions{IdentityEndpoint: a.AuthURL, AllowReauth: true}
	switch way := s.AuthType; {
	case slices.Contains(byCredential, way) || way == "" && a.CredentialSecret != "":
		s.byCredential(&options, wrong)
	case slices.Contains(byToken, way) || way == "" && a.Token != "" && a.Password == "":
		options.TokenID, options.AllowReauth, options.Scope = a.Token, false, a.scope()
		if a.Token == "" {
			wrong("has no %s", setting("token"))
		}
	case slices.Contains(byPassword, way) || way == "":
		s.byPassword(&options, wrong)
	default:
		wrong("has the %s %s: use %s", setting("auth_type"), words.Quoted(way), words.Or(slices.Concat(byPassword[:1], byToken[:1], byCredential)))
	}
	return options
}

// byCredential authenticates by an application credential. It belongs to one project, so it needs no scope.
func (s *settings) byCredential(options *gophercloud.AuthOptions, wrong func(string, ...any)) {
	a := &s.Auth
	options.ApplicationCredentialID, options.ApplicationCredentialName = a.CredentialID, a.CredentialName
	options.ApplicationCredentialSecret = a.CredentialSecret
	if a.CredentialSecret == "" {
		wrong("has no %s", setting("application_credential_secret"))
	}
	if a.CredentialID != "" {
		return
	}
	if a.CredentialName == "" || a.Username == "" && a.UserID == "" {
		wrong("has no %s", setting("application_credential_id"))
	}
	s.user(options)
}

func (s *settings) byPassword(options *gophercloud.AuthOptions, wrong func(string, ...any)) {
	a := &s.Auth
	s.user(options)
	options.Password, options.Scope = a.Password, a.scope()
	if a.Username == "" && a.UserID == "" {
		wrong("has no %s", setting("username"))
	}
	if a.Password == "" {
		wrong("has no %s", setting("password"))
	}
	if options.Scope == nil {
		wrong("has no %s, and so no regions", setting("project_name"))
	}
}

// user sets the user, by ID or else by name and domain.
func (s *settings) user(options *gophercloud.AuthOptions) {
	a := &s.Auth
	if options.UserID = a.UserID; a.UserID == "" {
		options.Username = a.Username
		options.DomainID, options.DomainName = domain(
			[2]string{a.UserDomainID, a.UserDomainName}, [2]string{a.DomainID, a.DomainName}, [2]string{a.DefaultDomain, ""},
			[2]string{a.ProjectDomainID, a.ProjectDomainName})
	}
}

// scope returns the scope of the token; nil if the settings name none.
func (a *auth) scope() *gophercloud.AuthScope {
	id, name := cmp.Or(a.ProjectID, a.TenantID), cmp.Or(a.ProjectName, a.TenantName)
	switch {
	case a.TrustID != "":
		return &gophercloud.AuthScope{TrustID: a.TrustID}
	case id != "":
		return &gophercloud.AuthScope{ProjectID: id}
	case name != "":
		scope := &gophercloud.AuthScope{ProjectName: name}
		scope.DomainID, scope.DomainName = domain(
			[2]string{a.ProjectDomainID, a.ProjectDomainName}, [2]string{a.DomainID, a.DomainName}, [2]string{a.DefaultDomain, ""},
			[2]string{a.UserDomainID, a.UserDomainName})
		return scope
	case a.SystemScope != "":
		return &gophercloud.AuthScope{System: true}
	case a.DomainID != "" || a.DomainName != "":
		scope := &gophercloud.AuthScope{}
		scope.DomainID, scope.DomainName = domain([2]string{a.DomainID, a.DomainName})
		return scope
	}
	return nil
}

// domain returns the first non-empty domain of pairs of ID and name, by its ID or else by its name. If all are empty, it is "default", the
// domain of every cloud.
func domain(said ...[2]string) (id, name string) {
	for _, d := range said {
		if d[0] != "" {
			return d[0], ""
		}
		if d[1] != "" {
			return "", d[1]
		}
	}
	return "default", ""
}

// on and off report whether a setting is true, and whether it is false. Other values are neither.
func on(value string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on", "t", "y"}, strings.ToLower(value))
}

func off(value string) bool {
	return slices.Contains([]string{"0", "false", "no", "off", "f", "n"}, strings.ToLower(value))
}
