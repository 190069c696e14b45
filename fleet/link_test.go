package main

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// link is a way through the network that can be cut: while it is, what is sent is held back, and who connects waits.
type link struct {
	net.Listener
	to string

	mu    sync.Mutex
	whole *sync.Cond
	cut   bool
	conns map[net.Conn]bool
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{Listener: l, to: to, conns: map[net.Conn]bool{}}
	k.whole = sync.NewCond(&k.mu)
	t.Cleanup(func() { l.Close(); k.heal(true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go k.carry(c)
		}
	}()
	return k
}

func (k *link) at() string { return k.Addr().String() }

// pass waits until the link is whole.
func (k *link) pass() {
	k.mu.Lock()
	for k.cut {
		k.whole.Wait()
	}
	k.mu.Unlock()
}

func (k *link) carry(c net.Conn) {
	defer c.Close()
	k.pass()
	d, err := net.DialTimeout("tcp", k.to, time.Second)
	if err != nil {
		return
	}
	defer d.Close()
	k.mu.Lock()
	k.conns[c], k.conns[d] = true, true
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		delete(k.conns, c)
		delete(k.conns, d)
		k.mu.Unlock()
	}()
	go func() { k.copy(d, c) }()
	k.copy(c, d)
}

// copy passes on one direction. The other one ends with it, as relay's peers speak in turn or for good.
func (k *link) copy(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		k.pass()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			if half, ok := to.(*net.TCPConn); ok && err == io.EOF {
				_ = half.CloseWrite()
				return
			}
			break
		}
	}
	to.Close()
	from.Close()
}

func (k *link) sever() {
	k.mu.Lock()
	k.cut = true
	k.mu.Unlock()
}

// heal makes it whole. The connections of before are gone, or were only slow.
func (k *link) heal(gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.conns {
		if gone {
			c.Close()
		}
	}
	k.cut = false
	k.whole.Broadcast()
}
