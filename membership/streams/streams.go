package streams

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/wire"
)

// Streams accepts and opens connections at the agent's bound address.
type Streams interface {
	// Accept waits for the next incoming connection. After Close it returns net.ErrClosed.
	Accept() (net.Conn, error)
	// Dial connects to dst, unless ctx is done first.
	Dial(ctx context.Context, dst netip.AddrPort) (net.Conn, error)
	// Close ends Accept. It may be called more than once.
	Close() error
}

// A connection carries gossip, a question and its answer (see question), or certificates. It begins with a challenge of
// each side, so that a host without the secret takes no place and no memory, and gets nothing to read:
//
//	caller                                                    acceptor
//	  |-- preamble 4, nonce 32 ---------------------------------->|   the nonce begins with the mark of the secret
//	  |<-- nonce 16, proof 16 ------------------------------------|   of the acceptor, over both nonces; shorter
//	  |-- proof 16, frame ---------------------------------------->|   who calls, signed, and memberlist's message
//	  |<-- frame --------------------------------------------------|
const (
	PreambleSize  = 4
	CallerNonce   = 32
	AcceptorNonce = 16
	ProofSize     = 16

	// MaxPreAuth is how many connections may be on their way to prove themselves, maxPreAuthPerAddr how many of one
	// address.
	MaxPreAuth        = 256
	maxPreAuthPerAddr = 32
	// MaxSending and maxPerSending are the same bounds for connections that send their frame without a secret, which
	// takes memory.
	MaxSending    = 16
	maxPerSending = 4
	// GreetingTime is how long an incoming connection may take to prove itself, frameTime to send its frame and to find
	// a place.
	GreetingTime = 2 * time.Second
	frameTime    = 5 * time.Second
	// acceptWarnEvery is the least time between two warnings that nothing can be accepted.
	acceptWarnEvery = 5 * time.Minute
	// acceptPause is how long to wait after Accept failed, for example because no file descriptor was free.
	acceptPause = 250 * time.Millisecond
)

var (
	errNoPreamble = errors.New("it does not speak this protocol")
	// ErrShutdown is returned once the endpoint is closed.
	ErrShutdown = errors.New("shutting down")
	// ErrCrowded is returned for a connection that was closed to make room.
	ErrCrowded = errors.New("too many connections have not proved themselves")
	// ErrBusy is returned if too many connections wait, or one of the same member is being served.
	ErrBusy   = errors.New("too many connections wait")
	errSecond = errors.New("a connection carries one message of each side")
)

// Purpose is what a connection is for. Its value is the connection's preamble.
type Purpose string

const (
	// ForGossip is gossip.
	ForGossip Purpose = "wdg\x03"
	// ForQuestion is a question and its answer.
	ForQuestion Purpose = "wdq\x01"
	// ForCertificates is a question for certificates.
	ForCertificates Purpose = "wdc\x01"
)

// label makes the keys of one purpose useless for the others.
func (p Purpose) label() string {
	switch p {
	case ForQuestion:
		return "wanderd question stream v1"
	case ForCertificates:
		return "wanderd certificate stream v1"
	case ForGossip:
	}
	return "wanderd gossip stream v2"
}

func (p Purpose) introduces() bool { return p == ForGossip || p == ForCertificates }

// longest returns the greatest length, in bytes, of a frame that comes in unasked.
func (p Purpose) longest(sealed bool) int {
	switch {
	case p == ForQuestion:
		return QuestionOverhead + MaxQuestion
	case p == ForCertificates:
		return admission.MaxIntroduction + admission.MaxUnverified*len(wire.MemberID{})
	case sealed:
		return maxFrame
	}
	return maxClear
}
