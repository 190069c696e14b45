package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"github.com/paxiom/relay/fleet/internal/blob"
	"github.com/paxiom/relay/fleet/internal/job"
)

// engine is where the Temporal server is. Its keys come from the environment only, by the
// names that Temporal's own tools use.
type engine struct {
	address, namespace, blobs, key string
	json, patient                  bool
	opened                         blob.Store
}

const noServer = "no Temporal server answers at %s: %w (fix: `relay fleet up` starts one; --address or TEMPORAL_ADDRESS names another)"

// dial connects, or says what was tried.
func (e *engine) dial(ctx context.Context, more ...grpc.DialOption) (client.Client, error) {
	o := client.Options{HostPort: e.address, Namespace: e.namespace, DataConverter: job.Converter(),
		Logger: sdklog.NewStructuredLogger(slog.New(quiet{slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})}))}
	o.ConnectionOptions.DialOptions = more
	var err error
	if o.ConnectionOptions.TLS, err = tlsConfig(); err != nil {
		return nil, err
	}
	if key := os.Getenv("TEMPORAL_API_KEY"); key != "" {
		o.Credentials = client.NewAPIKeyStaticCredentials(key)
		if o.ConnectionOptions.TLS == nil {
			o.ConnectionOptions.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := e.probe(ctx, o.ConnectionOptions.TLS); err != nil {
		return nil, err
	}
	c, err := client.DialContext(ctx, o)
	// A server that has just been started listens before it answers.
	for starting := (*serviceerror.Unavailable)(nil); errors.As(err, &starting) && ctx.Err() == nil; c, err = client.DialContext(ctx, o) {
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err != nil {
		return nil, fmt.Errorf(noServer, e.address, err)
	}
	return c, nil
}

// probe finds out what keeps a connection from being made, of which the SDK only says that it takes too long. nil may be anything.
func (e *engine) probe(ctx context.Context, secret *tls.Config) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", e.address)
	if errors.Is(err, syscall.ECONNREFUSED) && !e.patient {
		return fmt.Errorf(noServer, e.address, err)
	} else if err != nil {
		return nil
	}
	defer conn.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end)
	}
	if secret != nil {
		secret = secret.Clone()
		secret.ServerName, _, _ = net.SplitHostPort(e.address)
		secret.NextProtos = []string{"h2"}
		conn = tls.Client(conn, secret)
	}
	_, err = io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00") // what each client begins with
	first := []byte{0}
	if err == nil {
		_, err = conn.Read(first)
	}
	if wait := (net.Error)(nil); errors.As(err, &wait) && wait.Timeout() || err == nil && first[0] != tlsAlert {
		return nil
	} else if secret == nil {
		err = errors.New("it may expect TLS, and no certificate is named")
	}
	return fmt.Errorf("the server at %s ends the connection: %w (fix: look at TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH)", e.address, err)
}

// tlsAlert begins the answer of a server that expects TLS.
const tlsAlert = 0x15

// quiet leaves out that an attempt has failed: the worker says that itself, with words.
type quiet struct{ slog.Handler }

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "Activity error." {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

func (q quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(a)} }

// tlsConfig is nil where the environment names no certificate.
func tlsConfig() (*tls.Config, error) {
	cert, key, ca := os.Getenv("TEMPORAL_TLS_CLIENT_CERT_PATH"), os.Getenv("TEMPORAL_TLS_CLIENT_KEY_PATH"), os.Getenv("TEMPORAL_TLS_SERVER_CA_CERT_PATH")
	if cert == "" && ca == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("the client certificate can't be read: %w (fix: look at TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH)", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err == nil {
			c.RootCAs = x509.NewCertPool()
			if !c.RootCAs.AppendCertsFromPEM(pem) {
				err = errors.New("it has no certificate")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("the server's authority can't be read: %w (fix: look at TEMPORAL_TLS_SERVER_CA_CERT_PATH)", err)
		}
	}
	return c, nil
}

func (e *engine) store() blob.Store { return e.opened }

// open opens the store of blobs, which every command needs.
func (e *engine) open() (err error) {
	e.opened, err = blob.Open(e.blobs, e.key)
	return err
}

// print gives one document with --json, and a text otherwise.
func (e *engine) print(kind string, v map[string]any, text string) error {
	if !e.json {
		_, err := fmt.Print(text)
		return err
	}
	if v["version"] = 1; kind != "" {
		v["kind"] = "relay.fleet." + kind
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// dataDir is a folder of the fleet's own on this machine.
func dataDir(name string) string {
	base := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		home, _ := os.UserHomeDir()
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "relay-fleet", name)
}
