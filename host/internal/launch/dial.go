package launch

import (
	"context"
	"errors"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/paxiom/relay/sdk/socket"
)

// window is how much of a stream may be under way, in bytes. A fixed one keeps gRPC from
// growing it to 16 MiB for a plugin that sends faster than it is read.
const window = 1 << 20

// streamMessage is the largest message of go-plugin's own streams, in bytes.
const streamMessage = 1 << 20

// The streams that go-plugin opens by itself.
const (
	brokerStream = "/plugin.GRPCBroker/StartStream"
	stdioStream  = "/plugin.GRPCStdio/StreamStdio"
)

var errNoBroker = errors.New("relay takes no connections from plugins")

// bounded is what keeps the memory of a connection small. go-plugin's broker, by which a
// plugin offers further connections, is not opened: relay uses none, and each offer would
// be kept for a while.
func bounded(message int) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(message)),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		grpc.WithMaxHeaderListSize(64 << 10),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			switch method {
			case brokerStream:
				return nil, errNoBroker
			case stdioStream:
				opts = append(opts, grpc.MaxCallRecvMsgSize(streamMessage))
			}
			return open(ctx, desc, conn, method, opts...)
		}),
	}
}

// dial connects to the socket that the plugin made in its folder, whatever address gRPC
// names, and keeps why it did not.
func (r *runner) dial(ctx context.Context, _ string) (net.Conn, error) {
	name := r.listens.Load()
	if name == nil {
		return nil, errors.New("no socket was announced")
	}
	conn, err := r.folder.Dial(ctx, *name, r.owns)
	if err != nil {
		return nil, r.refuse(err)
	}
	return conn, nil
}

// refuse keeps the reason for which an address is not connected to.
func (r *runner) refuse(err error) error {
	if bad, ok := errors.AsType[*socket.Error](err); ok {
		r.refused.Store(bad)
	}
	return err
}

// owns reports whether a process is the plugin's: it descends from what was started, or
// from an orphan of it.
func (r *runner) owns(pid int) bool {
	r.mu.Lock()
	proc := r.proc
	r.mu.Unlock()
	if proc == nil || pid <= 0 {
		return false
	}
	if descends(pid, proc.Pid()) {
		return true
	}
	p, ok := proc.(interface{ Owns(pid int) bool })
	return ok && p.Owns(pid)
}

// ready waits for the connection; go-plugin itself is content with a failed one.
func ready(ctx context.Context, conn *grpc.ClientConn) error {
	conn.Connect()
	for {
		switch s := conn.GetState(); s {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			return whyNot(ctx, conn)
		default:
			if !conn.WaitForStateChange(ctx, s) {
				return ctx.Err()
			}
		}
	}
}

// whyNot asks a connection that failed for its reason, which only a call is told.
func whyNot(ctx context.Context, conn *grpc.ClientConn) error {
	if _, err := conn.NewStream(ctx, &grpc.StreamDesc{}, "/relay.v1.Nothing/Nothing"); err != nil {
		said := status.Convert(err).Message()
		for _, frame := range []string{"last connection error: ", "connection error: ", "desc = "} {
			if _, after, ok := strings.Cut(said, frame); ok {
				said = after
			}
		}
		return errors.New(clip(strings.Trim(said, `"`), 500))
	}
	return errors.New("the connection failed")
}
