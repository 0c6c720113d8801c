// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/decoding"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/manifest/folder"
	"github.com/capkit/capkit/internal/cli/settings"
	"github.com/capkit/capkit/internal/strictyaml"
	"github.com/capkit/capkit/pkg/finding"
)

// landscape is a set of files that are checked together. Only one check at a time uses it.
type landscape struct {
	*Editor
	place
	// looks is the workspace's value of looks when the files were last searched.
	looks int
	// call has the providers of this landscape, and options are those of lint with its settings.
	call    *command.Call
	options *checks.Options
	rules   []finding.Rule
	// configured is the content of the settings when they were last read.
	configured string
	// empty is an input without objects. faults are the errors of the settings.
	empty *input.Given
	// missing are the errors about unreadable inputs in the settings.
	faults, missing []*strictyaml.Fault
	// files are the checked files by name, and order has their names in lint's order.
	files map[string]*file
	order []string
	// memory memoizes decoded manifests.
	memory decoding.Memory
	last   *Result
	// tells maps URIs to the findings for the editor.
	tells map[string]protocol.PublishParams
}

// file is a checked file, as on disk or in the editor.
type file struct {
	of *manifest.Found
	manifest.Input
	// doc is the document that it was read from. For a file on disk it is nil, and size and time are those at that moment.
	doc *Document
	// memory memoizes parts of the document; nil for a file on disk.
	memory *manifest.Memory
	size   int64
	time   time.Time
	// text returns the outline; nil if the file is unreadable.
	text func() *text.Outline
	// elsewhere is set if it belongs to another landscape, which reports its findings.
	elsewhere bool
}

// check checks changed files. docs are the landscape's open documents, by name, and open are all. elsewhere
// reports whether a file belongs to another landscape. check returns nil if the context ends first.
func (l *landscape) check(ctx context.Context, docs, open map[string]*Document, looks int, elsewhere func(string) bool) *Result {
	if l.options == nil || l.looks != looks {
		if said := l.said(); l.options == nil || said != l.configured {
			l.configure(elsewhere)
			l.configured = l.said()
		}
		l.find(docs, elsewhere)
		l.looks = looks
	}
	for _, name := range l.order {
		if ctx.Err() != nil {
			return nil
		}
		l.read(name, open[name])
	}
	r := l.run(ctx, open)
	if r == nil {
		return nil
	}
	l.last = r
	l.tell(r, docs)
	return r
}

// said returns the content of the settings, and of the descriptions that they name.
func (l *landscape) said() string {
	if l.settings == "" {
		return ""
	}
	names := []string{l.settings}
	if l.options != nil {
		names = append(names, l.options.Settings.ProviderFiles...)
	}
	var all strings.Builder
	for _, name := range names {
		var content []byte
		err := folder.Ends(name)
		if err == nil {
			content, err = folder.ReadFile(name)
		}
		fmt.Fprintf(&all, "%s\x00%v\x00", content, err)
	}
	return all.String()
}

// configure reads the settings, and the descriptions that they name.
func (l *landscape) configure(elsewhere func(string) bool) {
	call := *l.Call
	call.Providers = maps.Clone(call.Providers)
	cmd := &cobra.Command{Use: "lint"}
	options := &checks.Options{Flags: input.NewFlags(cmd)}
	options.Add(cmd, &call)
	misnamed := settings.Misnamed(l.settings)
	if l.settings == "" || misnamed != nil {
		_ = cmd.Flags().Set("no-config", "true") // it exists
	} else {
		_ = cmd.Flags().Set("config", l.settings)
	}
	err := errors.Join(misnamed, options.Prepare([]string{l.key}, checks.Catalogue(&call)))
	if options.Settings == nil { // they are unreadable
		options.Settings = &settings.Settings{}
	}
	l.faults = faultsOf(err, strictyaml.Fault{File: l.settings, Line: 1, Column: 1}, elsewhere)
	for i, file := range options.Settings.ProviderFiles {
		err := call.Describe([]string{file}, "providerFiles")
		l.faults = append(l.faults, faultsOf(err, l.entry("providerFiles", i), elsewhere)...)
	}
	empty, err := options.Empty(&call) // it has these descriptions already
	l.faults = append(l.faults, faultsOf(err, strictyaml.Fault{File: l.settings, Line: 1, Column: 1}, elsewhere)...)
	l.call, l.options, l.rules, l.empty = &call, options, checks.Catalogue(&call), empty
	l.last, l.files = nil, nil // they used other settings: a file may be an input now, and have been one of a folder
}

// entry returns the position of an entry of a list in the settings, or their beginning if it is unknown.
func (l *landscape) entry(list string, i int) strictyaml.Fault {
	place := strictyaml.Fault{File: l.settings, Line: 1, Column: 1}
	o := onDisk(l.settings)
	if items := o.Documents[0].Items(list); i < len(items) {
		place.Line, place.Column = o.Place(items[i].ValueStart)
	}
	return place
}

// onDisk returns the outline of a saved file with settings or a description. It is empty if the file is unreadable.
func onDisk(name string) *text.Outline {
	content, _ := folder.ReadFile(name)
	return text.Read(text.New(string(content)))
}

// faultsOf returns the faults of settings in an error, which may be joined. A fault without a position in the settings is at the position
// at. A fault of a description is also at its own position, unless the description is elsewhere: another landscape reports it.
func faultsOf(err error, at strictyaml.Fault, elsewhere func(string) bool) (faults []*strictyaml.Fault) {
	if err == nil {
		return nil
	}
	if joined, isJoined := err.(interface{ Unwrap() []error }); isJoined {
		for _, err := range joined.Unwrap() {
			faults = append(faults, faultsOf(err, at, elsewhere)...)
		}
		return faults
	}
	fault := new(strictyaml.Fault)
	isFault := errors.As(err, &fault)
	if isFault && fault.File == at.File {
		return []*strictyaml.Fault{fault}
	}
	at.Message = err.Error()
	if isFault && !elsewhere(fault.File) {
		return []*strictyaml.Fault{&at, fault}
	}
	return []*strictyaml.Fault{&at}
}

// find searches for the landscape's files. These are the files that lint would read, without those of other landscapes, unless the
// settings name them. Open files that are not on disk, or not named by the settings, are added.
func (l *landscape) find(docs map[string]*Document, elsewhere func(string) bool) {
	args := []string{l.key}
	if len(l.inputs()) > 0 {
		args = l.inputs()
	}
	if l.alone {
		args = nil
	}
	files, order := map[string]*file{}, []string(nil)
	add := func(name string, of *manifest.Found) {
		isElsewhere := elsewhere(name)
		if files[name] != nil || isElsewhere && len(l.inputs()) == 0 {
			return
		}
		f := l.files[name]
		if f == nil {
			f = &file{}
		}
		f.of, f.elsewhere, files[name] = of, isElsewhere, f
		order = append(order, name)
	}
	l.missing = nil
	for i, arg := range args {
		found, err := l.filesOf(arg)
		if err != nil && len(l.inputs()) == 0 {
			l.Log("%s", err.Error())
		} else if err != nil {
			l.missing = append(l.missing, faultsOf(fmt.Errorf("inputs: %w", err), l.entry("inputs", i), elsewhere)...)
		}
		for _, name := range found.Files {
			add(filepath.Clean(name), &found)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		_, err := os.Lstat(name)
		if l.alone || err != nil || len(l.inputs()) > 0 {
			of := manifest.OfFolder(decoding.APIGroups)
			add(name, &of)
		}
	}
	if len(l.inputs()) == 0 { // in lint's order, which is that of the names in each folder
		slices.SortFunc(order, func(a, b string) int {
			return slices.Compare(strings.Split(a, string(filepath.Separator)), strings.Split(b, string(filepath.Separator)))
		})
	}
	l.files, l.order = files, order
}

// filesOf returns the files of an input.
func (l *landscape) filesOf(arg string) (manifest.Found, error) {
	if len(l.inputs()) > 0 && vast(arg) { // the author of the settings may be a stranger
		return manifest.Found{}, fmt.Errorf("%s is not read: it is a home folder, or above one", arg)
	}
	return manifest.Find(arg, decoding.APIGroups)
}

// inputs returns the inputs of the settings.
func (l *landscape) inputs() []string {
	if l.options == nil {
		return nil
	}
	return l.options.Settings.Inputs
}

// read reads a file if it has changed: the open document, or else the file on disk.
func (l *landscape) read(name string, doc *Document) {
	f := l.files[name]
	if doc != nil {
		if f.doc == doc {
			return
		}
		f.doc, f.text = doc, doc.Outline
		if f.memory == nil {
			f.memory = new(manifest.Memory)
		}
		f.Input, _ = f.of.Read(name, strings.NewReader(doc.String()), input.Unread, f.memory)
		return
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		*f = file{of: f.of, elsewhere: f.elsewhere}
		return
	case f.doc == nil && f.size == info.Size() && f.time.Equal(info.ModTime()):
		return
	}
	f.doc, f.memory, f.size, f.time = nil, nil, info.Size(), info.ModTime()
	if f.Input, err = f.of.Read(name, nil, input.Unread, nil); err != nil {
		l.Log("%s", err.Error())
	}
	f.text = sync.OnceValue(func() *text.Outline {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil
		}
		return text.Read(text.New(string(content)))
	})
}

// outlined returns the outline of a file, or nil.
func (f *file) outlined() *text.Outline {
	if f == nil || f.text == nil {
		return nil
	}
	return f.text()
}

// Short shortens the file names in a message, relative to the landscape's folder.
func (l *landscape) Short(message string) string {
	folder := l.key
	if l.alone {
		folder = filepath.Dir(l.key)
	}
	return strings.ReplaceAll(message, folder+string(filepath.Separator), "")
}

// shape describes the properties of the inputs that affect all objects: existing profiles, unreadable documents, and further objects.
func shape(g *input.Given) string {
	var b strings.Builder
	for _, s := range g.Profiles.All {
		fmt.Fprintln(&b, s.Name, s.Object == nil)
	}
	for _, s := range g.Namespaced.All {
		fmt.Fprintln(&b, s.Name, s.Object == nil)
	}
	for _, p := range g.Lost {
		fmt.Fprintln(&b, p.File, p.Line, p.Column, p.Identity)
	}
	for _, began := range g.Began {
		if !began.Checked {
			fmt.Fprintln(&b, began)
		}
	}
	return b.String()
}
