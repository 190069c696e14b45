package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
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
	json                           bool
	opened                         blob.Store
}

// dial connects, or says what was tried.
func (e *engine) dial(ctx context.Context, more ...grpc.DialOption) (client.Client, error) {
	o := client.Options{HostPort: e.address, Namespace: e.namespace, DataConverter: job.Converter(),
		Logger: sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))}
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
	c, err := client.DialContext(ctx, o)
	// A server that has just been started listens before it answers.
	for starting := (*serviceerror.Unavailable)(nil); errors.As(err, &starting) && ctx.Err() == nil; c, err = client.DialContext(ctx, o) {
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err != nil {
		return nil, fmt.Errorf("no Temporal server answers at %s: %w (fix: start one, or name it with --address or TEMPORAL_ADDRESS)", e.address, err)
	}
	return c, nil
}

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
	v["kind"], v["version"] = "relay.fleet."+kind, 1
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
