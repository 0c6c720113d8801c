// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bufio"
	"errors"
	"io"
	"net/textproto"
	"strconv"

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

// Recv returns the next message. The error ends the connection: [io.EOF] says that the other side has.
func (w wire) Recv() ([]byte, error) {
	header, err := w.in.ReadMIMEHeader()
	if err != nil {
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
	return message, nil
}

// writer is standard output, which nobody closes.
type writer struct{ io.Writer }

// Close does nothing.
func (writer) Close() error { return nil }
