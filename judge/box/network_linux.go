package box

import (
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// netCaps are what pid 1 needs on top, in the box's own network only.
var netCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE}

// enterNetwork makes the loopback interface of a new network usable, and hands
// sockets that listen on it to the host. A socket belongs to the network that it was
// made in, whichever process accepts from it: so the host serves what the box connects to, and
// no byte needs to be carried over by anyone.
func enterNetwork(p *plan) error {
	if !p.OwnNetwork {
		return nil
	}
	if err := loopbackUp(); err != nil {
		return fail("bring up the loopback interface", "", err)
	}
	var sockets []int
	for _, at := range p.Listen {
		fd, err := listen(at)
		if err != nil {
			return fail("listen at", at, err)
		}
		sockets = append(sockets, fd)
	}
	if len(sockets) == 0 {
		return nil
	}
	err := unix.Sendmsg(fdHand, []byte{0}, unix.UnixRights(sockets...), nil, 0)
	for _, fd := range append(sockets, fdHand) {
		unix.Close(fd)
	}
	return fail("hand over the sockets", "", err)
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
	}
	return err
}

func listen(at string) (int, error) {
	addr, err := netip.ParseAddrPort(at)
	if err != nil {
		return 0, err
	}
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(addr.Port()), Addr: addr.Addr().As16()})
	if addr.Addr().Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err = unix.Bind(fd, to); err == nil {
		err = unix.Listen(fd, 128)
	}
	if err != nil {
		unix.Close(fd)
	}
	return fd, err
}

// socketPair makes the way by which sockets are handed over.
func socketPair() (here, there *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "sockets"), os.NewFile(uintptr(fds[1]), "sockets"), nil
}

// receiveSockets takes the sockets that pid 1 has handed over, want of them.
func receiveSockets(from *os.File, want int) ([]*os.File, error) {
	if want == 0 {
		return nil, nil
	}
	room := make([]byte, unix.CmsgSpace(4*want))
	_, n, _, _, err := unix.Recvmsg(int(from.Fd()), make([]byte, 1), room, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(room[:n])
	if err != nil || len(messages) != 1 {
		return nil, unix.EPROTO
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	var sockets []*os.File
	for i, fd := range fds {
		unix.SetNonblock(fd, true)
		sockets = append(sockets, os.NewFile(uintptr(fd), "listener "+string(rune('0'+i))))
	}
	return sockets, nil
}
