// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// A page with CodeMirror at a file, which talks to capkit lsp through the server that the page comes from.

import { autocompletion } from '@codemirror/autocomplete';
import { yaml } from '@codemirror/lang-yaml';
import { lintGutter } from '@codemirror/lint';
import { hoverTooltips, jumpToDefinitionKeymap, LSPClient, serverCompletion, serverDiagnostics } from '@codemirror/lsp-client';
import { keymap } from '@codemirror/view';
import { basicSetup, EditorView } from 'codemirror';

const { root, uri, text } = await (await fetch('file')).json();

// What the client says is posted, one message after the other; what the server says comes as events.
const events = new EventSource('lsp'), handlers = new Set();
events.onmessage = (event) => handlers.forEach((handler) => handler(event.data));
let posted = Promise.resolve();
const transport = {
  send(message) { posted = posted.then(() => fetch('lsp', { method: 'POST', body: message })); },
  subscribe(handler) { handlers.add(handler); },
  unsubscribe(handler) { handlers.delete(handler); },
};

const client = new LSPClient({
  rootUri: root,
  extensions: [serverDiagnostics(), serverCompletion({ validFor: /^[\w.-]*$/ }), hoverTooltips(), keymap.of(jumpToDefinitionKeymap)],
  timeout: 10 * 60 * 1000, // ends what hangs
}).connect(transport);
const view = new EditorView({
  doc: text,
  extensions: [basicSetup, yaml(), lintGutter(), client.plugin(uri), autocompletion({ interactionDelay: 0 })], // a test accepts at once
  parent: document.body,
});

// What tests need to know: where a part of the text is on the screen, what the text is, and where the cursor is.
window.place = (part, offset) => {
  const at = view.state.doc.toString().indexOf(part) + offset;
  return new Promise((done) => view.requestMeasure({ read: () => view.coordsAtPos(at, -1), write: done }));
};
window.written = () => view.state.doc.toString();
window.cursor = () => view.state.doc.lineAt(view.state.selection.main.head).number;
// leave ends the conversation.
window.leave = async () => {
  await client.request('shutdown');
  client.notification('exit');
  await client.initializing;
  await posted;
  events.close();
};
await client.initializing;
document.documentElement.dataset.drawn = 'yes';
