// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/capkit/capkit/pkg/words"
)

const servedPath = "/webhooks/validate-shoot"

// startServer starts the component's server in front of a handler. Its deadlines are long, because the machine may be busy, unless change
// sets others.
func startServer(t *testing.T, handler http.HandlerFunc, change func(*server)) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	c := &certificate{log: logr.Discard(), folder: issued(t), reader: &trusting{}}
	if err := c.check(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(servedPath, handler)
	s := &server{
		log: logr.Discard(), address: listener.Addr().String(), handler: mux, certificate: c, tls: &tlsOptions{minVersion: "VersionTLS13"},
		limits: newLimits(logr.Discard(), 10*time.Second), hearing: newHearing(logr.Discard(), time.Minute), signalled: t.Context(),
	}
	s.limits.maxReceiving, s.limits.maxAnswering = time.Minute, 2*time.Minute
	change(s)
	if err := s.tls.complete(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the server listens", func() bool { return s.listening(&http.Request{}) == nil })
	return s
}

func patient(*server) {}

// impatient sets how long a server waits for requests and handshakes.
func impatient(maxReceiving time.Duration) func(*server) {
	return func(s *server) { s.limits.maxReceiving, s.limits.maxAnswering = maxReceiving, 2*maxReceiving }
}

// pair holds a certificate and its key, by file name. It is cached because it is slow to generate.
var pair map[string][]byte

// issued returns a folder with a certificate.
func issued(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if pair == nil {
		issue(t, folder, time.Hour, time.Hour)
		pair = map[string][]byte{}
		for _, name := range []string{"tls.crt", "tls.key"} {
			content, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			pair[name] = content
		}
	}
	for name, content := range pair {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// dial connects to the server as a client with these versions and cipher suites.
func (s *server) dial(t *testing.T, config *tls.Config) (*tls.Conn, error) {
	t.Helper()
	config.InsecureSkipVerify = true
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Minute}, "tcp", s.address, config)
	if err == nil {
		t.Cleanup(func() { _ = conn.Close() })
	}
	return conn, err
}

func speaking(second bool) *http.Client {
	transport := &http.Transport{ForceAttemptHTTP2: second, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	return &http.Client{Timeout: 5 * time.Minute, Transport: transport}
}

func (s *server) url() string { return "https://" + s.address + servedPath }

func TestTLSVersions(t *testing.T) {
	const required, chacha = http2Suite, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"
	only := func(suites ...uint16) *tls.Config {
		return &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS12, CipherSuites: suites}
	}
	for _, test := range []struct {
		name       string
		minVersion string
		suites     []string
		client     *tls.Config
		want       uint16 // version; 0 if the connection must fail
	}{
		{"by default TLS 1.3", "VersionTLS13", nil, &tls.Config{}, tls.VersionTLS13},
		{"by default no TLS 1.2", "VersionTLS13", nil, only(), 0},
		{"TLS 1.2 if asked for", "VersionTLS12", nil, only(), tls.VersionTLS12},
		{"TLS 1.3 nevertheless", "VersionTLS12", nil, &tls.Config{}, tls.VersionTLS13},
		{"never TLS 1.1", "VersionTLS12", nil, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, 0},
		{"no suites but Gardener's", "VersionTLS12", nil, only(tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_128_GCM_SHA256), 0},
		{"a suite that was chosen", "VersionTLS12", []string{required, chacha}, only(tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256), tls.VersionTLS12},
		{"no other suite", "VersionTLS12", []string{required}, only(tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := startServer(t, echo, func(s *server) { s.tls.minVersion, s.tls.cipherSuites = test.minVersion, test.suites })
			conn, err := s.dial(t, test.client)
			if test.want == 0 && err == nil {
				t.Error("it connects")
			} else if test.want != 0 && (err != nil || conn.ConnectionState().Version != test.want) {
				t.Errorf("it does not connect as it should: %v", err)
			}
		})
	}
}

func TestTLSOptionsThatMakeNoSense(t *testing.T) {
	const required = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
	for _, test := range []struct {
		minVersion string
		suites     []string
		want       string
	}{
		{"", nil, `invalid --tls-min-version: ""; it is one of VersionTLS12, VersionTLS13`},
		{"1.3", nil, `invalid --tls-min-version: "1.3"`},
		{"VersionTLS11", nil, `invalid --tls-min-version: "VersionTLS11"`},
		{"VersionTLS12", []string{"NONE"}, `invalid --tls-cipher-suites: "NONE"; possible are ` + required + ","},
		{"VersionTLS12", []string{"TLS_RSA_WITH_RC4_128_SHA"}, `"TLS_RSA_WITH_RC4_128_SHA"`},
		{"VersionTLS12", []string{"TLS_AES_128_GCM_SHA256"}, `"TLS_AES_128_GCM_SHA256"`},
		{"VersionTLS12", []string{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"},
			"invalid --tls-cipher-suites: " + required + " must be among them, since HTTP/2 requires it"},
		{"VersionTLS13", tls12Suites(),
			"--tls-cipher-suites is about TLS 1.2, which is not accepted; add --tls-min-version=VersionTLS12, or leave it out"},
	} {
		options := &tlsOptions{minVersion: test.minVersion, cipherSuites: test.suites}
		if err := options.complete(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: the error is %v", options, err)
		}
	}
	if len(tls12Suites()) != 3 {
		t.Errorf("there are the suites %q", tls12Suites())
	}
}

// TestConnectionsThatSayNothing opens connections that never complete a request. A patient server keeps serving others; an impatient one
// closes them.
func TestConnectionsThatSayNothing(t *testing.T) {
	patient, impatient := startServer(t, echo, patient), startServer(t, echo, impatient(3*time.Second))
	for name, connect := range map[string]func(t *testing.T, s *server) (net.Conn, error){
		"no handshake": func(_ *testing.T, s *server) (net.Conn, error) { return net.Dial("tcp", s.address) },
		"no request":   func(t *testing.T, s *server) (net.Conn, error) { return s.dial(t, &tls.Config{}) },
		"half a header": func(t *testing.T, s *server) (net.Conn, error) {
			conn, err := s.dial(t, &tls.Config{})
			if err == nil {
				_, err = conn.Write([]byte("POST " + servedPath + " HTTP/1.1\r\nHost: localhost\r\nX-Slow: "))
			}
			return conn, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			silent, err := connect(t, patient)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = silent.Close() }()
			patient.expect(t, speaking(true), 100, http.StatusOK, "100 bytes")
			var conn net.Conn
			eventually(t, "the machine is quick enough to connect in time", func() bool {
				conn, err = connect(t, impatient)
				return err == nil
			})
			defer func() { _ = conn.Close() }()
			if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Errorf("the connection stays open: %v", err)
			}
		})
	}
}

func TestLargeHeaders(t *testing.T) {
	eachProtocol(t, echo, asItIs, func(t *testing.T, s *server, c *http.Client) {
		for size, fits := range map[int]bool{1 << 10: true, 100 << 10: false} {
			request, err := http.NewRequest(http.MethodPost, s.url(), some(100))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", jsonType)
			request.Header.Set("X-Large", strings.Repeat("x", size))
			response, err := c.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if accepted := err == nil && response.StatusCode == http.StatusOK; accepted != fits {
				t.Errorf("%d bytes: %v, %v", size, response, err)
			}
		}
	})
}

// TestLimitsHoldEverywhere sends slowly with other methods, and to unknown paths.
func TestLimitsHoldEverywhere(t *testing.T) {
	s := startServer(t, echo, impatient(time.Second))
	for _, target := range []string{"POST " + servedPath, "PUT " + servedPath, "POST /nonsense", "NONSENSE /"} {
		eventually(t, "an answer to "+target, func() bool { // none if the machine is too busy for the header
			conn, err := s.dial(t, &tls.Config{})
			if err != nil {
				return false
			}
			_, _ = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf", target)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil && response.StatusCode != http.StatusRequestTimeout {
				t.Fatalf("%s: %v", target, response)
			}
			return err == nil
		})
	}
}

// TestRequestsThatAreTakenBack starts requests and resets them at once (CVE-2023-44487). The client reconnects when the server closes a
// connection, or is late, so requests are counted per connection.
func TestRequestsThatAreTakenBack(t *testing.T) {
	var mu sync.Mutex
	running, most := map[string]int{}, 0
	s := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		running[r.RemoteAddr]++
		most = max(most, running[r.RemoteAddr])
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		echo(w, r)
		mu.Lock()
		running[r.RemoteAddr]--
		mu.Unlock()
	}, patient)
	friend := speaking(true)
	ask := func() {
		if response, text, err := s.answerTo(friend, some(100)); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("a request is answered with %v %s, %v", response, text, err)
		}
	}
	ask()
	attacker := speaking(true)
	var attacks sync.WaitGroup
	for range 20 {
		attacks.Go(func() {
			for range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
				request, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.url(), some(1000))
				request.Header.Set("Content-Type", jsonType)
				if response, err := attacker.Do(request); err == nil {
					_ = response.Body.Close()
				}
				cancel()
			}
		})
	}
	for range 20 {
		ask()
	}
	attacks.Wait()
	if mu.Lock(); most > 250 {
		t.Errorf("%d requests of a connection were served at the same time", most)
	}
	mu.Unlock()
	eventually(t, "nothing is held any more", func() bool { return s.limits.held.Load() == 0 })
}

// TestWhatTheHTTPServerSaysIsPrintable logs an error whose text a client has chosen.
func TestWhatTheHTTPServerSaysIsPrintable(t *testing.T) {
	var log strings.Builder
	logger := zap.New(zap.WriteTo(&log), zap.Level(zapcore.DebugLevel), zap.ConsoleEncoder())
	if _, err := (quiet{logger}).Write([]byte("a\x1b[31m\n\u009b\u202e\n")); err != nil {
		t.Fatal(err)
	}
	line := strings.ReplaceAll(strings.TrimSuffix(log.String(), "\n"), "\t", " ")
	if words.Printable(line) != line || !strings.Contains(line, "[31m") {
		t.Errorf("the log is %q", line)
	}
}
