package netproxy

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// Host is one thing that may be reached.
type Host struct {
	// Name is a host name in lower case, "*." and a name for all names below it, or
	// the text of an IP address.
	Name string
	Port uint16
	// Loopback: an address of this machine itself, such as a local model's.
	Loopback bool
}

const defaultPort = 443

var (
	hostName  = regexp.MustCompile(`^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)
	onlyDigit = regexp.MustCompile(`^[0-9.]+$`)
)

// ParseHost reads "name", "name:port", "*.name", "address:port" or "[address]:port".
// Without a port it is 443.
func ParseHost(text string) (Host, error) {
	name, port := text, strconv.Itoa(defaultPort)
	if n, p, err := net.SplitHostPort(text); err == nil {
		name, port = n, p
	} else if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		name = text[1 : len(text)-1]
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return Host{}, fmt.Errorf("%q has no port from 1 to 65535", text)
	}
	h := Host{Name: canonical(name), Port: uint16(number)}
	if ip, err := netip.ParseAddr(h.Name); err == nil {
		if ip.Zone() != "" || ip.IsUnspecified() || ip.IsMulticast() {
			return Host{}, fmt.Errorf("%q is not an address of a single host", text)
		}
		h.Name, h.Loopback = ip.Unmap().String(), ip.Unmap().IsLoopback()
		return h, nil
	}
	if len(h.Name) > 253 || !hostName.MatchString(h.Name) || onlyDigit.MatchString(h.Name) {
		return Host{}, fmt.Errorf("%q is not a host: write it like api.example.org, *.example.org, api.example.org:8443 or 127.0.0.1:8080", text)
	}
	h.Loopback = h.Name == "localhost" || strings.HasSuffix(h.Name, ".localhost")
	if h.Loopback {
		h.Name = "127.0.0.1"
	}
	return h, nil
}

// ParseHosts reads a list of them.
func ParseHosts(list []string) ([]Host, error) {
	var hosts []Host
	for _, text := range list {
		h, err := ParseHost(text)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// canonical is how names are compared: in lower case, without the final dot.
func canonical(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// String writes it as ParseHost reads it.
func (h Host) String() string { return net.JoinHostPort(h.Name, strconv.Itoa(int(h.Port))) }

// Entry is the shortest text that ParseHost reads as this.
func (h Host) Entry() string {
	if h.Port == defaultPort {
		return h.Name
	}
	return h.String()
}

// allows reports whether the name and port that a program asks for are this host.
func (h Host) allows(name string, port uint16) bool {
	if h.Port != port || h.Loopback {
		return false
	}
	if below, ok := strings.CutPrefix(h.Name, "*."); ok {
		return strings.HasSuffix(name, "."+below) && netip.Addr{} == address(name)
	}
	return h.Name == name
}

// Covers reports whether a right to reach h is a right to reach o as well.
func (h Host) Covers(o Host) bool {
	below, wide := strings.CutPrefix(h.Name, "*.")
	return h == o || wide && h.Port == o.Port && strings.HasSuffix(strings.TrimPrefix(o.Name, "*"), "."+below)
}

// address is the IP address that a text is; the zero one when it is a name.
func address(name string) netip.Addr {
	ip, _ := netip.ParseAddr(name)
	return ip.Unmap()
}
