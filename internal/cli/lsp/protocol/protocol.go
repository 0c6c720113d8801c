// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package protocol is what the language server reads and writes of the Language Server Protocol 3.17, and the channel that it does so by.
// Nothing here knows what is said.
package protocol

import (
	"encoding/json"

	"github.com/capkit/capkit/internal/cli/lsp/text"
)

// The types have the names of the protocol but for Span, which is a Range.

// InitializeParams is what an editor says of itself first.
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

// WorkspaceFolder is a folder that it has open.
type WorkspaceFolder struct {
	URI string `json:"uri"`
}

// FoldersParams is which folders come and go.
type FoldersParams struct {
	Event struct {
		Added   []WorkspaceFolder `json:"added"`
		Removed []WorkspaceFolder `json:"removed"`
	} `json:"event"`
}

// Span is a Range.
type Span struct {
	Start text.Position `json:"start"`
	End   text.Position `json:"end"`
}

// Location is a range of a file.
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

// ActionParams is a range for which actions are asked.
type ActionParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Range   Span `json:"range"`
	Context struct {
		Only []string `json:"only"`
	} `json:"context"`
}

// CancelParams is which request is cancelled.
type CancelParams struct {
	ID json.RawMessage `json:"id"`
}

// Diagnostic is something that was found.
type Diagnostic struct {
	Range    Span   `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code,omitempty"`
	// CodeDescription is absent for a rule that the catalogue does not have.
	CodeDescription *CodeDescription `json:"codeDescription,omitempty"`
	Source          string           `json:"source"`
	Message         string           `json:"message"`
	Related         []Related        `json:"relatedInformation,omitempty"`
}

// CodeDescription is where a rule is described.
type CodeDescription struct {
	Href string `json:"href"`
}

// Related is another place that a finding is about.
type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

// PublishParams is all that was found in a file.
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

// WorkspaceEdit is changes of files, by their URIs.
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

// Markup is a text with its form.
type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Hover is what is shown at a place.
type Hover struct {
	Contents Markup `json:"contents"`
	Range    Span   `json:"range"`
}

// CompletionItem is what can be written at a place.
type CompletionItem struct {
	Label    string `json:"label"`
	Kind     int    `json:"kind"`
	Detail   string `json:"detail,omitempty"`
	SortText string `json:"sortText"`
	// FilterText is what an editor compares with what is typed; empty for the label.
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

// Codes of errors that the protocol adds to those of JSON-RPC.
const (
	CodeNotInitialized   = -32002
	CodeRequestCancelled = -32800
)
