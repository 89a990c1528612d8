package streams

import (
	"bytes"
	"net"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
)

// FuzzPreamble: whatever a caller sends first, it gets no more bytes than it has sent, and no place without the proof.
func FuzzPreamble(f *testing.F) {
	f.Add([]byte(string(ForGossip) + string(make([]byte, CallerNonce+ProofSize))))
	f.Add([]byte(string(ForQuestion) + string(make([]byte, CallerNonce))))
	f.Add([]byte(string(ForCertificates) + string(make([]byte, CallerNonce+ProofSize))))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	seal := newTestSeal(f, secretOne)
	f.Fuzz(func(t *testing.T, said []byte) {
		conn := &monologue{in: bytes.NewReader(said)}
		g := &Conn{Conn: conn, End: New(Config{Seal: seal, Me: introducerOf(1), Admission: admission.New(nil)})}
		if err := g.AsAcceptor(); err == nil {
			t.Errorf("%x has proved the secret", said)
		}
		if conn.out > len(said) {
			t.Errorf("%d bytes for %d", conn.out, len(said))
		}
	})
}

// monologue is a connection whose other side has already sent everything.
type monologue struct {
	net.Conn
	in  *bytes.Reader
	out int
}

func (c *monologue) Read(b []byte) (int, error) { return c.in.Read(b) }

func (c *monologue) Write(b []byte) (int, error) {
	c.out += len(b)
	return len(b), nil
}

func (c *monologue) SetDeadline(time.Time) error { return nil }
