// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package protocol contains the parts of the Language Server Protocol 3.17 that the language server uses, and its channel. It does not
// interpret messages. Start reading at [NewWire] for the channel.
package protocol

import (
	"encoding/json"

	"github.com/capkit/capkit/internal/cli/lsp/text"
)

// The types have the names of the protocol, except Span, which is a Range.

// InitializeParams are the properties of an editor, which it sends first.
type InitializeParams struct {
	RootURI          string            `json:"rootUri"`
	WorkspaceFolders []WorkspaceFolder `json:"workspaceFolders"`
	Capabilities     struct {
		General struct {
			PositionEncodings []text.Encoding `json:"positionEncodings"`
		} `json:"general"`
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

// WorkspaceFolder is an open folder.
type WorkspaceFolder struct {
	URI string `json:"uri"`
}

// FoldersParams are folders that were added and removed.
type FoldersParams struct {
	Event struct {
		Added   []WorkspaceFolder `json:"added"`
		Removed []WorkspaceFolder `json:"removed"`
	} `json:"event"`
}

// Span is the protocol's Range.
type Span struct {
	Start text.Position `json:"start"`
	End   text.Position `json:"end"`
}

// Location is a range in a file.
type Location struct {
	URI   string `json:"uri"`
	Range Span   `json:"range"`
}

// DocumentParams is a document that is opened, changed or closed.
type DocumentParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version *int   `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
	ContentChanges []struct {
		Range *Span  `json:"range"`
		Text  string `json:"text"`
	} `json:"contentChanges"`
}

// PlaceParams is a place in a document.
type PlaceParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Position text.Position `json:"position"`
}

// ActionParams is a range for which the editor requests actions.
type ActionParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Range   Span `json:"range"`
	Context struct {
		Only []string `json:"only"`
	} `json:"context"`
}

// CancelParams identifies a cancelled request.
type CancelParams struct {
	ID json.RawMessage `json:"id"`
}

// Diagnostic is a finding.
type Diagnostic struct {
	Range    Span   `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code,omitempty"`
	// CodeDescription is absent for a rule that is not in the catalogue.
	CodeDescription *CodeDescription `json:"codeDescription,omitempty"`
	Source          string           `json:"source"`
	Message         string           `json:"message"`
	Related         []Related        `json:"relatedInformation,omitempty"`
}

// CodeDescription is a link to the description of a rule.
type CodeDescription struct {
	Href string `json:"href"`
}

// Related is another place that concerns a finding.
type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// PublishParams are all findings in a file.
type PublishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// TextEdit is a change of a text.
type TextEdit struct {
	Range   Span   `json:"range"`
	NewText string `json:"newText"`
}

// WorkspaceEdit maps the URIs of files to changes.
type WorkspaceEdit struct {
	Changes map[string][]TextEdit `json:"changes"`
}

// CodeAction is a repair.
type CodeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *WorkspaceEdit `json:"edit"`
}

// Markup is a text with its format.
type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Hover is the text for a place.
type Hover struct {
	Contents Markup `json:"contents"`
	Range    Span   `json:"range"`
}

// CompletionItem is a completion for a place.
type CompletionItem struct {
	Label    string `json:"label"`
	Kind     int    `json:"kind"`
	Detail   string `json:"detail,omitempty"`
	SortText string `json:"sortText"`
	// FilterText is the text that an editor compares with its input; empty for the label.
	FilterText string   `json:"filterText,omitempty"`
	Tags       []int    `json:"tags,omitempty"`
	TextEdit   TextEdit `json:"textEdit"`
}

// Kinds of completions, tags and severities.
const (
	KindProperty    = 10
	KindValue       = 12
	KindEnum        = 13
	TagDeprecated   = 1
	SeverityError   = 1
	SeverityWarning = 2
)

// Error codes of the protocol, in addition to those of JSON-RPC.
const (
	CodeNotInitialized   = -32002
	CodeRequestCancelled = -32800
)
