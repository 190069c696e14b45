package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// relay version asks no server; with --check it asks github.com, here behind a proxy.
func TestVersionCheck(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	shape := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"github.com"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, shape, shape, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	latest := "v99.1.2"
	github := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/paxiom/relay/releases/latest" {
			t.Errorf("it asked for %s", r.URL)
		}
		http.Redirect(w, r, "/paxiom/relay/releases/tag/"+latest, http.StatusFound)
	}))
	github.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	github.StartTLS()
	defer github.Close()
	asked := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		up, err := net.Dial("tcp", github.Listener.Addr().String())
		if err != nil || r.Method != http.MethodConnect || r.Host != "github.com:443" {
			t.Errorf("%s %s: %v", r.Method, r.Host, err)
			return
		}
		down, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(up, down); up.Close() }()
		io.Copy(down, up)
		down.Close()
	}))
	defer proxy.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	relay := func(proxy string, args ...string) (string, int) {
		cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
		cmd.Env = []string{"HOME=" + t.TempDir(), "HTTPS_PROXY=" + proxy, "SSL_CERT_FILE=" + ca}
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := relay(proxy.URL, "version"); code != 0 || asked != 0 {
		t.Errorf("without --check: %d, asked %d times: %s", code, asked, out)
	}
	if out, code := relay(proxy.URL, "version", "--check"); code != 0 || !strings.Contains(out, "99.1.2 is there: https://") {
		t.Errorf("a newer one: %d %s", code, out)
	}
	if out, _ := relay(proxy.URL, "version", "--check", "--json"); !strings.Contains(out, `"newest": "99.1.2"`) {
		t.Errorf("as JSON: %s", out)
	}
	latest = "v0.0.0-2020"
	if out, code := relay(proxy.URL, "version", "--check"); code != 0 || !strings.Contains(out, "this is the newest release") {
		t.Errorf("an older one: %d %s", code, out)
	}
	if out, code := relay("http://127.0.0.1:1", "version", "--check"); code != 3 || !strings.Contains(out, "github.com can't be asked") {
		t.Errorf("no network: %d %s", code, out)
	}
}
