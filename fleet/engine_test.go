package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A command says at once that no server is there.
func TestNoServer(t *testing.T) {
	e := &engine{address: "127.0.0.1:" + free(t)}
	begun := time.Now()
	if _, err := e.dial(t.Context()); err == nil || !strings.Contains(err.Error(), "`relay fleet up` starts one") || time.Since(begun) > 10*time.Second {
		t.Error(err, time.Since(begun))
	}
}

// Of a server that wants certificates it is said which are wrong: none, another authority's, or another client's.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	put := func(name, kind string, der []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	client := func(name string) (cert, key string, parsed *x509.Certificate) {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, c, c, own.Public(), own)
		raw, err2 := x509.MarshalPKCS8PrivateKey(own)
		parsed, err3 := x509.ParseCertificate(der)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		return put(name+".crt", "CERTIFICATE", der), put(name+".key", "PRIVATE KEY", raw), parsed
	}
	cert, key, known := client("known")
	other, otherKey, _ := client("other")
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.EnableHTTP2, s.Config.ErrorLog = true, nil
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()}
	s.TLS.ClientCAs.AddCert(known)
	s.StartTLS()
	defer s.Close()
	ca := put("ca.crt", "CERTIFICATE", s.Certificate().Raw)
	e := &engine{address: s.Listener.Addr().String()}
	for _, c := range []struct{ cert, key, ca, want string }{
		{"", "", "", "it may expect TLS"},
		{"", "", ca, "certificate required"},
		{cert, key, other, "unknown authority"},
		{other, otherKey, ca, "remote error"},
		{cert, key, ca, ""},
	} {
		t.Setenv("TEMPORAL_TLS_CLIENT_CERT_PATH", c.cert)
		t.Setenv("TEMPORAL_TLS_CLIENT_KEY_PATH", c.key)
		t.Setenv("TEMPORAL_TLS_SERVER_CA_CERT_PATH", c.ca)
		secret, err := tlsConfig()
		if err == nil {
			err = e.probe(t.Context(), secret)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "TEMPORAL_TLS_CLIENT_KEY_PATH")) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
