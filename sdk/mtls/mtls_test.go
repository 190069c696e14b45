package mtls

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net"
	"strings"
	"testing"
)

// pair gives both sides, the host's with the plugin's certificate as go-plugin adds it.
func pair(t *testing.T) (host, plugin *tls.Config) {
	t.Helper()
	host, text, err := Host()
	if err != nil {
		t.Fatal(err)
	}
	plugin, line, err := Plugin(text)
	if err != nil {
		t.Fatal(err)
	}
	der, err := base64.RawStdEncoding.DecodeString(line)
	if err != nil || len(line) <= 50 || strings.ContainsAny(line, "|\n") { // go-plugin takes shorter ones for none
		t.Fatal(line, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	host.RootCAs = x509.NewCertPool()
	host.RootCAs.AddCert(cert)
	return host, plugin
}

// shake connects the two and says how each side saw it.
func shake(host, plugin *tls.Config) (hostErr, pluginErr error) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	done := make(chan error, 1)
	go func() {
		c := tls.Server(b, plugin)
		err := c.Handshake()
		if err == nil {
			_, err = c.Write([]byte("x"))
		}
		b.Close()
		done <- err
	}()
	c := tls.Client(a, host)
	_, hostErr = c.Read(make([]byte, 1))
	a.Close()
	return hostErr, <-done
}

func TestOnlyTheTwo(t *testing.T) {
	host, plugin := pair(t)
	if a, b := shake(host, plugin); a != nil || b != nil {
		t.Fatal(a, b)
	}
	otherHost, otherPlugin := pair(t)
	if a, _ := shake(host, otherPlugin); a == nil {
		t.Error("the host takes any plugin")
	}
	if _, b := shake(otherHost, plugin); b == nil {
		t.Error("the plugin takes any host")
	}
	bare := host.Clone()
	bare.Certificates = nil
	if _, b := shake(bare, plugin); b == nil {
		t.Error("the plugin takes a host without a certificate")
	}
	if _, _, err := Plugin("no certificate"); err == nil {
		t.Error("a broken certificate is taken")
	}
}
