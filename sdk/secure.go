package sdk

import (
	"bufio"
	"crypto/tls"
	"os"
	"strings"

	"github.com/paxiom/relay/sdk/mtls"
)

// secured gives the plugin's side of the mutual TLS that its host asks for, and where
// go-plugin is to write the handshake line: the certificate is added to it on the way
// to the host. A host that asks for none gets the line as it is.
func secured(to *os.File) (func() (*tls.Config, error), *os.File, error) {
	host := os.Getenv(mtls.Variable)
	if host == "" {
		return nil, to, nil
	}
	conf, cert, err := mtls.Plugin(host)
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	go func() {
		defer r.Close()
		line, err := bufio.NewReader(r).ReadString('\n')
		if err == nil {
			line = certified(line, cert) + "\n"
		}
		_, _ = to.WriteString(line) // a host that is gone is noticed elsewhere
	}()
	return func() (*tls.Config, error) { return conf, nil }, w, nil
}

// certified puts the certificate into its place of a handshake line, the sixth.
func certified(line, cert string) string {
	parts := strings.Split(strings.TrimRight(line, "\n"), "|")
	if len(parts) >= 6 {
		parts[5] = cert
	}
	return strings.Join(parts, "|")
}
