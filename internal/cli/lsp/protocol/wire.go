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

// mostMessage bounds the size of a message, in bytes: three times the limit of a document, escaped as JSON.
const mostMessage = 96 << 20

// wire is the channel of the protocol. It writes like package channel. It reads messages itself because that package refuses other
// content types, which the protocol allows, and trusts lengths, which determine the memory to allocate.
type wire struct {
	channel.Channel
	in *textproto.Reader
}

// NewWire returns the channel over two streams.
func NewWire(in io.Reader, out io.Writer) channel.Channel {
	return wire{channel.Header("")(in, writer{out}), textproto.NewReader(bufio.NewReader(in))}
}

// The code of a cancelled request that has not begun, as written by package jrpc2 and as required by the protocol. No JSON string can
// contain these texts.
var (
	cancelled        = fmt.Appendf(nil, `"code":%d`, jrpc2.Cancelled)
	requestCancelled = fmt.Appendf(nil, `"code":%d`, CodeRequestCancelled)
)

// Send writes a message.
func (w wire) Send(message []byte) error {
	return w.Channel.Send(bytes.ReplaceAll(message, cancelled, requestCancelled))
}

// Recv returns the next message. An error ends the connection. It is [io.EOF] if the other side has closed it.
func (w wire) Recv() ([]byte, error) {
	header, err := w.in.ReadMIMEHeader()
	if malformed := textproto.ProtocolError(""); errors.As(err, &malformed) { // the error quotes the line, which may be from a manifest
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

// refusable returns a message that package jrpc2 can refuse at any time. When a connection ends, that package still handles waiting
// notifications. If one of them is faulty, it writes the refusal to a nil channel, which crashes the program. Without its method a
// message is not a notification. Then the refusal is its answer, and nothing is left at the end.
func refusable(message []byte) []byte {
	requests, err := jrpc2.ParseRequests(message)
	faulty := func(r *jrpc2.ParsedRequest) bool { return r.Error != nil && r.ID == "" && r.Method != "" }
	if err != nil || !slices.ContainsFunc(requests, faulty) {
		return message
	}
	// ParseRequests has parsed the message, so it is JSON, and a faulty request is an object.
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

// writer is standard output without the ability to close it.
type writer struct{ io.Writer }

// Close does nothing.
func (writer) Close() error { return nil }
