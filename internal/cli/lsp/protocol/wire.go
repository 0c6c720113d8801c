// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"slices"
	"strconv"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
)

// mostMessage is the size of a message, in bytes, from which on it is not read: three times what a document may have, escaped as JSON.
const mostMessage = 96 << 20

// wire is the channel of the protocol. It writes as package channel does, and reads what that refuses or takes for granted: other types of
// content, which the protocol allows, and lengths, which decide how much memory is asked for.
type wire struct {
	channel.Channel
	in *textproto.Reader
}

// NewWire returns the channel between two streams.
func NewWire(in io.Reader, out io.Writer) channel.Channel {
	return wire{channel.Header("")(in, writer{out}), textproto.NewReader(bufio.NewReader(in))}
}

// The code of a cancelled request, of package jrpc2 for one that has not begun and of the protocol, as no text in JSON can have them.
var (
	cancelled        = fmt.Appendf(nil, `"code":%d`, jrpc2.Cancelled)
	requestCancelled = fmt.Appendf(nil, `"code":%d`, CodeRequestCancelled)
)

// Send writes a message.
func (w wire) Send(message []byte) error {
	return w.Channel.Send(bytes.ReplaceAll(message, cancelled, requestCancelled))
}

// Recv returns the next message. The error ends the connection: [io.EOF] says that the other side has.
func (w wire) Recv() ([]byte, error) {
	header, err := w.in.ReadMIMEHeader()
	if malformed := textproto.ProtocolError(""); errors.As(err, &malformed) { // it quotes the line, which may be one of a manifest
		return nil, errors.New("a message begins with something other than a header: what comes after it cannot be read")
	} else if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	switch {
	case err != nil || length < 0:
		return nil, errors.New("a message without a Content-Length that is a number: what comes after it cannot be read")
	case length > mostMessage:
		return nil, errors.New("a message is larger than " + strconv.Itoa(mostMessage>>20) + " MiB")
	}
	message := make([]byte, length)
	if _, err := io.ReadFull(w.in.R, message); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return refusable(message), nil
}

// refusable returns a message that package jrpc2 can refuse at any time. When a connection ends, that package still handles the notifications
// that wait, and where one of them is faulty it writes the refusal to a channel that is nil, which ends the program. Without its method a
// message is no notification: the same refusal is its answer, and nothing of it is left at the end.
func refusable(message []byte) []byte {
	requests, err := jrpc2.ParseRequests(message)
	faulty := func(r *jrpc2.ParsedRequest) bool { return r.Error != nil && r.ID == "" && r.Method != "" }
	if err != nil || !slices.ContainsFunc(requests, faulty) {
		return message
	}
	// What ParseRequests has taken apart is JSON, and a faulty request is an object.
	parts := []json.RawMessage{message}
	if requests[0].Batch {
		_ = json.Unmarshal(message, &parts)
	}
	for i, request := range requests {
		if faulty(request) {
			var members map[string]json.RawMessage
			_ = json.Unmarshal(parts[i], &members)
			delete(members, "method")
			parts[i], _ = json.Marshal(members)
		}
	}
	if !requests[0].Batch {
		return parts[0]
	}
	message, _ = json.Marshal(parts)
	return message
}

// writer is standard output, which nobody closes.
type writer struct{ io.Writer }

// Close does nothing.
func (writer) Close() error { return nil }
