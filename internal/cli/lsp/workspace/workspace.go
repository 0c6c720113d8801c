// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/decoding"
	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/settings"
)

// Document is a file that is open in the editor. It is immutable; a changed document is a new one.
type Document struct {
	URI string
	// Name is the path of the file, or the URI if that is not a file.
	Name    string
	version *int
	*text.Text
	Outline func() *text.Outline
}

func newDocument(uri string, version *int, t *text.Text) *Document {
	return &Document{uri, nameOf(uri), version, t, sync.OnceValue(func() *text.Outline { return text.Read(t) })}
}

// Editor is the connection to the editor, with the dependencies of a workspace.
type Editor struct {
	Call *command.Call
	// Log writes a line for people, and Failed reports a recovered panic.
	Log    func(format string, args ...any)
	Failed func(what string, recovered any)
	Notify func(ctx context.Context, method string, params any) error
	// Counting returns the editor's encoding of positions.
	Counting func() text.Encoding
}

// pause is the time without changes before a check begins.
const pause = 60 * time.Millisecond

// Workspace contains the editor's open documents and the results of checks.
type Workspace struct {
	*Editor
	// kick signals that a check is necessary.
	kick chan struct{}
	// told maps URIs to the diagnostics that the editor has. Only checks use it.
	told map[string]string

	// mutex guards the following fields.
	mutex sync.Mutex
	roots []string
	docs  map[string]*Document // by URI
	// looks counts possible changes of files on disk, and changes all changes. done is the value of changes that was last checked.
	looks, changes, done int
	// ended is closed when a check ends.
	ended chan struct{}
	// stale cancels the running check; nil if there is none.
	stale context.CancelFunc
	// places are the landscapes by the names of their folders, or of the file for one that is alone.
	places map[string]*landscape
	// results are the results for the landscapes, by the same names.
	results map[string]*Result
}

// New returns an empty workspace. [Workspace.Loop] checks it.
func New(s *Editor) *Workspace {
	return &Workspace{
		Editor: s, kick: make(chan struct{}, 1), docs: map[string]*Document{}, ended: make(chan struct{}),
		places: map[string]*landscape{}, results: map[string]*Result{},
	}
}

// nameOf returns the path of a file URI, or the URI if it is none.
func nameOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return uri
	}
	path := u.Path
	if len(path) > 2 && path[2] == ':' { // a drive
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// URIOf returns the URI of a file: the editor's own if the file is open.
func URIOf(name string, open map[string]*Document) string {
	if doc := open[name]; doc != nil {
		return doc.URI
	}
	path := filepath.ToSlash(name)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// changed requests a check. The caller must hold the mutex.
func (w *Workspace) changed() {
	w.changes++
	if w.stale != nil {
		w.stale()
	}
	select {
	case w.kick <- struct{}{}:
	default: // requested already
	}
}

// Look records that files on disk may have changed.
func (w *Workspace) Look() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.looks++
	w.changed()
	return nil
}

// Folders adds and removes folders of the workspace.
func (w *Workspace) Folders(added, removed []protocol.WorkspaceFolder) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, f := range removed {
		name := nameOf(f.URI)
		w.roots = slices.DeleteFunc(w.roots, func(root string) bool { return root == name })
	}
	for _, f := range added {
		if name := nameOf(f.URI); filepath.IsAbs(name) && !vast(name) {
			w.roots = append(w.roots, name)
		}
	}
	w.looks++
	w.changed()
	return nil
}

// vast reports whether a folder is a home, contains one, or is the root: nobody wants all its files read. Symbolic links are resolved.
func vast(folder string) bool {
	home, _ := os.UserHomeDir()
	for _, name := range []*string{&folder, &home} {
		if leads, err := filepath.EvalSymlinks(*name); err == nil {
			*name = leads
		}
	}
	below, err := filepath.Rel(folder, home)
	return err == nil && home != "" && filepath.IsLocal(below) || filepath.Dir(folder) == folder
}

// Open records an opened document.
func (w *Workspace) Open(p *protocol.DocumentParams) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.docs[p.TextDocument.URI] = newDocument(p.TextDocument.URI, p.TextDocument.Version, text.New(p.TextDocument.Text))
	w.looks++
	w.changed()
	return nil
}

// Change applies changes to a document.
func (w *Workspace) Change(p *protocol.DocumentParams, encoding text.Encoding) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	doc := w.docs[p.TextDocument.URI]
	if doc == nil {
		return jrpc2.Errorf(jrpc2.InvalidParams, "a change of a document that is not open")
	}
	t := doc.Text
	for _, change := range p.ContentChanges {
		if change.Range == nil {
			t = text.New(change.Text)
			continue
		}
		t = t.Edited(change.Range.Start, change.Range.End, encoding, change.Text)
	}
	w.docs[p.TextDocument.URI] = newDocument(p.TextDocument.URI, p.TextDocument.Version, t)
	w.changed()
	return nil
}

// Close records a closed document.
func (w *Workspace) Close(p *protocol.DocumentParams) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.docs, p.TextDocument.URI)
	w.looks++
	w.changed()
	return nil
}

// Doc returns an open document, or nil.
func (w *Workspace) Doc(uri string) *Document {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.docs[uri]
}

// Known returns the last result for a document's landscape, and waits for the first one. With fresh it waits for a check that includes
// all changes so far. The error is that of the context.
func (w *Workspace) Known(ctx context.Context, doc *Document, fresh bool) (*Result, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	since := w.changes
	for {
		r := w.results[w.placeOf(doc.Name).key]
		if r != nil && !fresh || w.done >= since {
			return r, nil
		}
		ended := w.ended
		w.mutex.Unlock()
		select {
		case <-ctx.Done():
			w.mutex.Lock()
			return nil, ctx.Err()
		case <-ended:
			w.mutex.Lock()
		}
	}
}

// Named returns the open document of a file, or nil.
func (w *Workspace) Named(name string) *Document {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, doc := range w.docs {
		if doc.Name == name {
			return doc
		}
	}
	return nil
}

// place identifies the landscape of a file.
type place struct {
	// key is the name of the folder, or of the file if it is alone.
	key string
	// settings is the file with the applicable settings; empty for none.
	settings string
	alone    bool
}

// placeOf returns the landscape of a file. It is the nearest folder with settings, searched up to the workspace's folder, or to the root
// of the repository outside of one. Otherwise it is the workspace's folder, with the settings above it. A file outside of such folders is
// alone, and so is a file with the settings of a home. The caller must hold the mutex.
func (w *Workspace) placeOf(name string) place {
	if !filepath.IsAbs(name) {
		return place{key: name, alone: true}
	}
	root := ""
	for _, r := range w.roots {
		if len(r) > len(root) && strings.HasPrefix(name, r+string(filepath.Separator)) {
			root = r
		}
	}
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		if file := settings.Beside(dir); file != "" {
			if vast(dir) {
				return place{key: name, settings: file, alone: true}
			}
			return place{key: dir, settings: file}
		}
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		switch {
		case dir == root:
			return place{key: root, settings: above(root)}
		case filepath.Dir(dir) == dir, err == nil && root == "":
			return place{key: name, alone: true}
		}
	}
}

// above returns the settings of the nearest folder above dir, searched up to the root of the repository, or "".
func above(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
		if file := settings.Beside(dir); file != "" {
			return file
		}
	}
}

// Loop checks after each change, once the editor has been quiet for a moment.
func (w *Workspace) Loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.kick:
		}
		for quiet := false; !quiet; {
			select {
			case <-ctx.Done():
				return
			case <-w.kick:
			case <-time.After(pause):
				quiet = true
			}
		}
		w.check(ctx)
	}
}

// check checks the landscapes of the open documents and publishes the findings, unless something changes meanwhile.
func (w *Workspace) check(ctx context.Context) {
	defer func() {
		if failed := recover(); failed != nil {
			w.Failed("a check", failed)
			w.give()
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mutex.Lock()
	w.stale = cancel
	changes, looks, places := w.changes, w.looks, w.places
	byPlace, open := w.byPlace()
	w.mutex.Unlock()

	results := map[string]*Result{}
	now := map[string]*landscape{}
	for _, p := range slices.SortedFunc(maps.Keys(byPlace), func(a, b place) int { return strings.Compare(a.key, b.key) }) {
		l := w.landscape(places[p.key], p)
		now[p.key] = l
		r := l.check(ctx, byPlace[p], open, looks, func(name string) bool { return w.elsewhere(name, p) })
		if r == nil {
			break
		}
		results[p.key] = r
	}
	told := now
	if len(results) < len(byPlace) { // the others keep their findings for now
		told = maps.Clone(places)
		maps.Copy(told, now)
	}
	w.publish(ctx, told)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stale = nil
	if ctx.Err() != nil { // something has changed meanwhile
		maps.Copy(w.places, now)
		maps.Copy(w.results, results)
		return
	}
	w.places, w.results, w.done = now, results, changes
	w.end()
}

// byPlace returns the open documents by name: those of each landscape, and all. The caller must hold the mutex.
func (w *Workspace) byPlace() (byPlace map[place]map[string]*Document, open map[string]*Document) {
	byPlace, open = map[place]map[string]*Document{}, map[string]*Document{}
	for _, doc := range w.docs {
		p := w.placeOf(doc.Name)
		if byPlace[p] == nil {
			byPlace[p] = map[string]*Document{}
		}
		byPlace[p][doc.Name], open[doc.Name] = doc, doc
	}
	return byPlace, open
}

// landscape returns the last landscape of a place, or a new one if the place has other settings.
func (w *Workspace) landscape(last *landscape, p place) *landscape {
	if last != nil && last.place == p {
		return last
	}
	l := &landscape{Editor: w.Editor, place: p, memory: decoding.Memory{}}
	if last != nil { // told until the next result
		l.tells = last.tells
	}
	return l
}

// elsewhere reports whether a file belongs to another landscape.
func (w *Workspace) elsewhere(name string, p place) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.placeOf(name) != p
}

// give ends a failed check, so that nobody waits for it.
func (w *Workspace) give() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.stale, w.done = nil, w.changes
	w.end()
}

// end wakes the callers that wait for a check. The caller must hold the mutex.
func (w *Workspace) end() {
	close(w.ended)
	w.ended = make(chan struct{})
}
