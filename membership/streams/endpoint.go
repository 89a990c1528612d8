// Package streams has the connections of gossip, questions and certificates: how each side proves the secret, what is
// sealed, how long a message may be, and which connections get a place. It also seals datagrams.
package streams

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

// Endpoint accepts and opens connections, and decides which of them get a place. It is safe for concurrent use.
type Endpoint struct {
	Config

	// preAuth holds the incoming connections that have not proved themselves, sending the connections that send their
	// frame without a secret. queues hold the connections that have proved themselves, by purpose, and long those of
	// them with a long frame.
	preAuth, sending preAuthLimit
	queues           map[Purpose]*fairQueue
	long             fairQueue
	// Closed is done when the endpoint is closed.
	Closed  context.Context
	close   context.CancelFunc
	working sync.WaitGroup

	mu    sync.Mutex
	conns map[*Conn]struct{}

	acceptWarn timing.Throttle
	Outsiders  admission.Outsiders
}

// Config configures an endpoint.
type Config struct {
	Streams   Streams
	Seal      *Seal
	Me        *admission.Introducer
	Admission *admission.Admission
	// Serve gets each incoming connection that has proved itself, with its frame, and closes it. refuse gets the reason
	// why any other connection was cut off.
	Serve  func(*Conn)
	Refuse func(from net.Addr, why error)
	// Admitted gets each member that has introduced itself, heard each message of gossip that has passed the filter.
	Admitted func(name string, id wire.MemberID)
	Heard    func(from wire.MemberID, message []byte)
	Log      zerolog.Logger
}

// New makes an endpoint that accepts nothing before Start.
func New(cfg Config) *Endpoint {
	closed, closes := context.WithCancel(context.Background())
	return &Endpoint{
		Config:  cfg,
		preAuth: preAuthLimit{most: MaxPreAuth, perAddr: maxPreAuthPerAddr},
		sending: preAuthLimit{most: MaxSending, perAddr: maxPerSending},
		long:    fairQueue{most: maxLong, mostWaiting: MaxIncoming},
		queues: map[Purpose]*fairQueue{
			ForGossip:       {most: MaxIncoming, mostWaiting: MaxWaiting},
			ForQuestion:     {most: maxAnswering, mostWaiting: MaxWaiting},
			ForCertificates: {most: maxAnswering, mostWaiting: MaxWaiting},
		},
		Closed: closed, close: closes, conns: make(map[*Conn]struct{}),
		acceptWarn: timing.Throttle{Every: acceptWarnEvery},
	}
}

// Start begins to accept connections.
func (e *Endpoint) Start() { e.working.Go(e.accept) }

func (e *Endpoint) isClosed() bool { return e.Closed.Err() != nil }

// Shutdown ends everything that waits for the network.
func (e *Endpoint) Shutdown() error {
	e.mu.Lock()
	if e.isClosed() {
		e.mu.Unlock()
		return nil
	}
	e.close()
	open := slices.Collect(maps.Keys(e.conns))
	e.mu.Unlock()
	err := e.Streams.Close()
	for _, g := range open {
		_ = g.Close()
	}
	e.working.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil // the agent has closed it already
	}
	return err
}

// accept greets incoming connections until the transport is closed.
func (e *Endpoint) accept() {
	for {
		conn, err := e.Streams.Accept()
		if err != nil {
			if e.isClosed() || errors.Is(err, net.ErrClosed) {
				return
			}
			if ok, _ := e.acceptWarn.Allow(time.Now()); ok {
				e.Log.Warn().Err(err).Msg("cannot accept connections for gossip; trying again")
			}
			if !timing.Sleep(e.Closed, acceptPause) {
				return
			}
			continue
		}
		g := e.register(conn, ForGossip)
		if g == nil {
			continue
		}
		e.preAuth.enter(g)
		e.working.Go(func() { e.greet(g) })
	}
}

// greet hands a connection to memberlist once it has proved itself and its frame has come and passed the filter; or it
// answers its question.
func (e *Endpoint) greet(g *Conn) {
	if err := e.admit(g); err != nil {
		_ = g.Close()
		e.Refuse(g.RemoteAddr(), err)
		return
	}
	e.Serve(g)
}

// admit takes a connection through its first messages, and gives it a place.
func (e *Endpoint) admit(g *Conn) error {
	_ = g.SetDeadline(time.Now().Add(GreetingTime))
	err := g.AsAcceptor()
	if !e.preAuth.leave(g) {
		return ErrCrowded
	}
	if err != nil {
		return err
	}
	_ = g.SetDeadline(time.Now().Add(frameTime))
	if e.Seal.Clear {
		e.sending.enter(g)
		err = g.Receive()
		if !e.sending.leave(g) {
			return ErrCrowded
		}
		if err != nil {
			return err
		}
	}
	queue := e.queues[g.Purpose]
	q := queue.hold(g)
	if err := e.wait(&g.place, q); err != nil {
		return err
	}
	if e.Seal.Clear {
		return nil
	}
	err = g.Receive()
	if !queue.hear(q) {
		return ErrCrowded
	}
	return err
}

// wait waits for a place, and closes slow connections meanwhile. The connection's Close gives back the place that is
// stored in as.
func (e *Endpoint) wait(as *atomic.Pointer[queuedConn], q *queuedConn) error {
	as.Store(q)
	q.queue.enter(q, time.Now())
	late := time.NewTimer(frameTime)
	defer late.Stop()
	tick := time.NewTicker(queueTick)
	defer tick.Stop()
	for {
		select {
		case <-q.called:
			if !q.queue.has(q) {
				return ErrCrowded
			}
			return nil
		case <-tick.C:
			q.queue.relieve(time.Now())
		case <-late.C:
			return ErrBusy
		case <-e.Closed.Done():
			return ErrShutdown
		}
	}
}

// Dial opens a connection for a purpose. It returns at once when the transport is closed.
func (e *Endpoint) Dial(dst netip.AddrPort, deadline time.Time, p Purpose) (*Conn, error) {
	ctx, cancel := context.WithDeadline(e.Closed, deadline)
	defer cancel()
	conn, err := e.Streams.Dial(ctx, dst)
	if err != nil {
		return nil, err
	}
	g := e.register(conn, p)
	if g == nil {
		return nil, ErrShutdown
	}
	_ = g.SetDeadline(deadline)
	if err := g.AsCaller(); err != nil {
		_ = g.Close()
		return nil, err
	}
	return g, nil
}
