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

func (a adapter) Kill(context.Context) error {
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
func (a adapter) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}
func (a adapter) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
