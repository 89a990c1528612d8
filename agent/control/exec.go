package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// A caller asks for a run with a request that upgrades its connection. After that the agent sends one message, a
// refusal or a grant; what follows a grant is between the agent and the guard of the command. The run belongs to the
// caller for as long as the connection lives.

// ExecRequest asks for a run of a gate.
type ExecRequest struct {
	// Gate is the gate's name; empty if the agent has only one.
	Gate string `json:"gate,omitempty"`
	// With are further gates that the run holds.
	With []string `json:"with,omitempty"`
	// For is the gate for whose run this one is held; empty for people's requests.
	For string `json:"-"`
	// Command names the command, for people: its program, without arguments.
	Command string `json:"command"`
	// NonBlock asks to be refused rather than to wait.
	NonBlock bool `json:"nonblock,omitempty"`
	// PID is the caller's process number, which the server learns from the kernel.
	PID int `json:"-"`
}

// Together is what the runs of a gate hold besides its token. While a run has that, and waits for the rest, the gate is
// not running because of [BecauseOthers].
type Together struct {
	// With are further gates; Zone is the gate of this host's zone, and ZoneOf the gate for which this one is that.
	With   []string `json:"with,omitempty"`
	Zone   string   `json:"zone,omitempty"`
	ZoneOf string   `json:"zone_of,omitempty"`
	// WaitsFor is the gate for which the run waits, and WaitsZone is set if that is the gate of this zone. The run has
	// asked for it at WaitsSince. All are empty if it does not wait.
	WaitsFor   string    `json:"waits_for,omitempty"`
	WaitsZone  string    `json:"waits_zone,omitempty"`
	WaitsSince time.Time `json:"waits_since,omitzero"`
}

// Refusal is why an agent does not grant a request.
type Refusal struct {
	Reason Reason `json:"reason"`
	Text   string `json:"text"`
}

func (r *Refusal) Error() string { return r.Text }

// Reason tells a program what to do about a refusal.
type Reason string

const (
	// NoGate: the caller has to name another gate.
	NoGate Reason = "no_gate"
	// Busy: the caller would have to wait for the run.
	Busy Reason = "busy"
	// Late: the caller did not start its command in time, and may ask again.
	Late Reason = "late"
	// Leaving: the agent is stopping, or the gate is being removed.
	Leaving Reason = "leaving"
)

// answered is the agent's answer to a request: one of the two.
type answered struct {
	Refused *Refusal        `json:"refused,omitempty"`
	Grant   json.RawMessage `json:"grant,omitempty"`
}

const (
	upgrade = "wanderd-exec"
	// maxRequest bounds a request, in bytes. maxAnswered bounds all that a caller reads of an answer: a grant, and the
	// beginning of what follows it, take less than 2 KiB.
	maxRequest, maxAnswered = 4 << 10, 64 << 10
)

// Asked is a request that waits for its answer.
type Asked struct {
	*net.UnixConn
	from   *bufio.Reader
	client *Client
}

// Connect connects a unix socket to the agent, which waits some seconds for Ask, and takes the socket over.
func (c *Client) Connect(socket *os.File) (*Asked, error) {
	defer func() { _ = socket.Close() }()
	if err := CheckPath(c.path); err != nil {
		return nil, err
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	var refused error
	if err := raw.Control(func(fd uintptr) {
		_ = syscall.SetNonblock(int(fd), true) // an agent that is stopped may have a full queue
		refused = syscall.Connect(int(fd), &syscall.SockaddrUnix{Name: c.path})
	}); err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, c.explain(refused)
	}
	conn, err := net.FileConn(socket)
	if err != nil {
		return nil, c.explain(err)
	}
	return &Asked{
		UnixConn: conn.(*net.UnixConn), from: bufio.NewReader(io.LimitReader(conn, maxAnswered)), client: c,
	}, nil
}

// Ask asks for a run, and waits until the agent has taken the request.
func (a *Asked) Ask(ctx context.Context, asks ExecRequest) error {
	body, err := json.Marshal(asks)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://wanderd"+pathExec, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", upgrade)
	stop := context.AfterFunc(ctx, func() { _ = a.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_ = a.SetDeadline(time.Now().Add(clientTimeout))
	if err := req.Write(a.UnixConn); err != nil {
		return a.client.explain(err)
	}
	resp, err := http.ReadResponse(a.from, req)
	if err != nil {
		return a.client.explain(err)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return a.SetDeadline(time.Time{})
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	return a.client.failed(resp, text)
}

// Answer waits for the grant, and returns it with what was read beyond it. The error is a [Refusal], or [ErrNoAgent] if
// the agent has gone.
func (a *Asked) Answer() (grant json.RawMessage, heard []byte, err error) {
	var said answered
	documents := json.NewDecoder(a.from)
	switch err := documents.Decode(&said); {
	case err != nil:
		return nil, nil, fmt.Errorf("%w any longer: it has died, or was stopped", ErrNoAgent)
	case said.Refused != nil:
		return nil, nil, said.Refused
	}
	heard, _ = io.ReadAll(documents.Buffered())
	more, _ := a.from.Peek(a.from.Buffered())
	return said.Grant, append(heard, more...), nil
}

// serveExec takes the connection of a caller over from net/http.
func (s *Server) serveExec(w http.ResponseWriter, r *http.Request, peer peer) {
	var asks ExecRequest
	if err := json.NewDecoder(r.Body).Decode(&asks); err != nil || r.Header.Get("Upgrade") != upgrade {
		s.answer(w, http.StatusBadRequest, failure{
			Error: "a request is a document of at most 4 KiB with an Upgrade: " + upgrade,
		})
		return
	}
	asks.PID = peer.pid
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.answer(w, http.StatusInternalServerError, failure{Error: err.Error()})
		return
	}
	_ = conn.SetDeadline(time.Time{})
	s.execs.Go(func() {
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+upgrade+
			"\r\n\r\n")
		err := s.source.Exec(asks, struct {
			io.Reader
			io.Writer
		}{buffered.Reader, conn})
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			_ = json.NewEncoder(conn).Encode(answered{Refused: refusal})
		}
	})
}
