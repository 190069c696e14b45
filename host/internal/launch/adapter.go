package launch

import (
	"context"
	"io"
	"strconv"
	"strings"
)

// adapter gives runner the methods that go-plugin wants.
type adapter struct{ *runner }

func (a adapter) Wait(context.Context) error {
	<-a.done
	return a.waitErr
}

// Kill is go-plugin's way out when it read no handshake. A process that has closed its
// standard output is ending by itself, and how it ends says more than a kill.
func (a adapter) Kill(context.Context) error {
	a.settle()
	a.kill()
	return nil
}

func (a adapter) ID() string {
	if pid := a.pid(); pid != 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

func (a adapter) Stdout() io.ReadCloser           { return handshakeReader{a.runner} }
func (a adapter) Stderr() io.ReadCloser           { return io.NopCloser(strings.NewReader("")) }
func (a adapter) Name() string                    { return a.cfg.Name }
func (a adapter) Diagnose(context.Context) string { return "" }

// PluginToHost refuses an address that is not in the plugin's own folder before
// go-plugin resolves it. [runner.dial] is what connects.
func (a adapter) PluginToHost(network, addr string) (string, string, error) {
	name, err := a.folder.Name(network, addr)
	if err != nil {
		return "", "", a.refuse(err)
	}
	a.listens.Store(&name)
	return network, addr, nil
}
func (a adapter) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
