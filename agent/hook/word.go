package hook

import (
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Word is a datagram that the guard sends in the agent's name, if the agent has died before the operation was over. The
// agent has sealed and signed it beforehand, because the guard has no key.
type Word struct {
	To       netip.AddrPort `json:"to"`
	Datagram []byte         `json:"datagram"`
}

// How often the guard sends its pre-signed releases, and how far apart: the network may lose a datagram, or two.
const (
	releaseTimes = 3
	releaseApart = 25 * time.Millisecond
)

// say sends words. It ignores errors, because nobody is left to hear of them.
func say(words []Word) {
	for times := range releaseTimes {
		if times > 0 && len(words) > 0 {
			time.Sleep(releaseApart)
		}
		for _, w := range words {
			_ = w.send()
		}
	}
}

// send sends a word from a socket of its own. Package net would do the same, but would make the guard start more
// slowly.
func (w *Word) send() error {
	var to unix.Sockaddr
	addr, family := w.To.Addr().Unmap(), unix.AF_INET
	if addr.Is4() {
		to = &unix.SockaddrInet4{Port: int(w.To.Port()), Addr: addr.As4()}
	} else {
		family = unix.AF_INET6
		to = &unix.SockaddrInet6{Port: int(w.To.Port()), Addr: addr.As16(), ZoneId: zoneID(addr.Zone())}
	}
	socket, err := unix.Socket(family, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	return unix.Sendto(socket, w.Datagram, 0, to)
}
