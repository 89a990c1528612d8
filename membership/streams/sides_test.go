package streams

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// sides returns two sides of a connection with these secrets, and what they sent in the challenge.
func sides(t *testing.T, caller, acceptor []byte) (c, a *Conn, callErr, answerErr error) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() {
		_ = near.Close()
		_ = far.Close()
	})
	with := func(conn net.Conn, secret []byte) *Conn {
		g := &Conn{Conn: conn, End: New(Config{
			Seal: newTestSeal(t, secret), Me: introducerOf(1), Admission: admission.New(nil),
			Admitted: func(string, wire.MemberID) {}, Heard: func(wire.MemberID, []byte) {},
		})}
		g.IsFor(ForGossip)
		return g
	}
	c, a = with(near, caller), with(far, acceptor)
	answered := make(chan error)
	go func() { answered <- a.AsAcceptor() }()
	callErr = c.AsCaller()
	return c, a, callErr, <-answered
}

func TestBothSidesNoticeAnotherSecret(t *testing.T) {
	for _, secrets := range [][2][]byte{{secretOne, secretTwo}, {secretOne, nil}, {nil, secretOne}} {
		if _, _, callErr, answerErr := sides(t, secrets[0], secrets[1]); !errors.Is(callErr, packets.ErrForeignSeal) ||
			!errors.Is(answerErr, packets.ErrForeignSeal) {
			t.Errorf("the caller says %v, the acceptor %v", callErr, answerErr)
		}
	}
}

func TestEachSideSendsOneMessageThatPassesTheFilter(t *testing.T) {
	for _, secret := range [][]byte{secretOne, nil} {
		c, a, callErr, answerErr := sides(t, secret, secret)
		if callErr != nil || answerErr != nil {
			t.Fatal(callErr, answerErr)
		}
		sent := peertest.Pack(packets.PingMsg, "SeqNo", 7)
		go func() { _, _ = c.Write(sent) }()
		if got, err := io.ReadAll(a); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("got %x, %v", got, err)
		}
		if _, err := c.Write(sent); !errors.Is(err, errSecond) {
			t.Errorf("a second message: %v", err)
		}
		go func() { _, _ = a.Write(append(peertest.Pack(packets.PushPullMsg, "Nodes", 1<<20), 1)) }()
		if got, err := io.ReadAll(c); !errors.Is(err, packets.ErrMalformed) {
			t.Errorf("2^20 nodes: %x, %v", got, err)
		}
	}
}
