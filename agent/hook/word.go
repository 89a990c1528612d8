package hook

import (
	"net"
	"net/netip"
	"time"
)

// Word is a datagram that the guard sends in the agent's name, if the agent has died before the operation was over. The agent
// has sealed and signed it beforehand: its guard has no key.
type Word struct {
	To       netip.AddrPort `json:"to"`
	Datagram []byte         `json:"datagram"`
}

// How often the guard says its last words, and how far apart: the network may lose a datagram, or two.
const (
	lastWords      = 3
	lastWordsApart = 25 * time.Millisecond
)

// say sends words. Nobody is left whom an error could be told.
func say(words []Word) {
	if len(words) == 0 {
		return
	}
	conn, err := net.ListenUDP("udp", nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	for times := range lastWords {
		if times > 0 {
			time.Sleep(lastWordsApart)
		}
		for _, w := range words {
			_, _ = conn.WriteToUDPAddrPort(w.Datagram, w.To)
		}
	}
}
