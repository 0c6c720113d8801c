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

type WorkspaceFolder struct {
	URI string `json:"uri"`
}

type FoldersParams struct {
	Event struct {
		Added   []WorkspaceFolder `json:"added"`
		Removed []WorkspaceFolder `json:"removed"`
	} `json:"event"`
}

type InitializeResult struct {
	Capabilities map[string]any    `json:"capabilities"`
	ServerInfo   map[string]string `json:"serverInfo"`
}

// Span is a Range.
type Span struct {
	Start text.Position `json:"start"`
	End   text.Position `json:"end"`
}

type Location struct {
	URI   string `json:"uri"`
	Range Span   `json:"range"`
}

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

type PlaceParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Position text.Position `json:"position"`
}

type ActionParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Range   Span `json:"range"`
	Context struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type CancelParams struct {
	ID json.RawMessage `json:"id"`
}

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

type CodeDescription struct {
	Href string `json:"href"`
}

type Related struct {
	Location Location `json:"location"`
	Message  string   `json:"message"`
}

type PublishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

type TextEdit struct {
	Range   Span   `json:"range"`
	NewText string `json:"newText"`
}

type WorkspaceEdit struct {
	Changes map[string][]TextEdit `json:"changes"`
}

type CodeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Edit        *WorkspaceEdit `json:"edit"`
}

type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type Hover struct {
	Contents Markup `json:"contents"`
	Range    Span   `json:"range"`
}

type CompletionItem struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *Markup  `json:"documentation,omitempty"`
	SortText      string   `json:"sortText"`
	Tags          []int    `json:"tags,omitempty"`
	TextEdit      TextEdit `json:"textEdit"`
}

// Kinds of completions, tags and severities.
const (
	KindProperty, KindValue, KindEnum = 10, 12, 13
	TagDeprecated                     = 1
	SeverityError, SeverityWarning    = 1, 2
)

// Codes of errors that the protocol adds to those of JSON-RPC.
const (
	CodeNotInitialized   = -32002
	CodeRequestCancelled = -32800
)
