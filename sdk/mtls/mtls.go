package mtls

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"time"
)

// Variable is the environment variable in which a plugin gets its host's certificate.
const Variable = "PLUGIN_CLIENT_CERT"

// name is whom both certificates are for. The socket belongs to the two alone.
const name = "localhost"

// Host gives the host's side, and the value of Variable for the plugin. Whom it
// accepts is added once the plugin's handshake line is there; go-plugin does that.
func Host() (*tls.Config, string, error) {
	cert, err := certificate()
	if err != nil {
		return nil, "", err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: x509.NewCertPool(),
		MinVersion: tls.VersionTLS13, ServerName: name}, string(text), nil
}

// Plugin gives the plugin's side for the host whose certificate is in Variable, and
// what the handshake line has to end with.
func Plugin(host string) (*tls.Config, string, error) {
	hosts := x509.NewCertPool()
	if !hosts.AppendCertsFromPEM([]byte(host)) {
		return nil, "", errors.New("the host's certificate in " + Variable + " can't be read")
	}
	cert, err := certificate()
	if err != nil {
		return nil, "", err
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: hosts, RootCAs: hosts,
		MinVersion: tls.VersionTLS13, ServerName: name}, base64.RawStdEncoding.EncodeToString(cert.Certificate[0]), nil
}

// certificate makes a key and a certificate that it signs itself.
func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	shape := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name, Organization: []string{"relay"}}, DNSNames: []string{name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0), // clocks are set while a plugin runs
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, shape, shape, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
