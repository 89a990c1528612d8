package membership

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

// endpoint accepts and opens connections, and decides which of them get a place. It is safe for concurrent use.
type endpoint struct {
	endpointConfig

	// preAuth holds the incoming connections that have not proved themselves, sending the connections that send their
	// frame without a secret. queues hold the connections that have proved themselves, by purpose, and long those of them
	// with a long frame.
	preAuth, sending preAuthLimit
	queues           map[purpose]*fairQueue
	long             fairQueue
	// closed is done when the endpoint is closed.
	closed  context.Context
	close   context.CancelFunc
	working sync.WaitGroup

	mu    sync.Mutex
	conns map[*guardedConn]struct{}

	acceptWarn timing.Throttle
	outsiders  admission.Outsiders
}

// endpointConfig is what an endpoint is given.
type endpointConfig struct {
	streams   Streams
	seal      *seal
	me        *admission.Introducer
	admission *admission.Admission
	// serve gets each incoming connection that has proved itself, with its frame, and closes it; refuse gets the reason
	// why another one was cut off.
	serve  func(*guardedConn)
	refuse func(from net.Addr, why error)
	// admitted gets each member that has introduced itself, heard each message of gossip that has passed the filter.
	admitted func(name string, id wire.MemberID)
	heard    func(from wire.MemberID, message []byte)
	log      zerolog.Logger
}

func newEndpoint(cfg endpointConfig) *endpoint {
	closed, closes := context.WithCancel(context.Background())
	return &endpoint{
		endpointConfig: cfg,
		preAuth:        preAuthLimit{most: maxPreAuth, perAddr: maxPreAuthPerAddr},
		sending:        preAuthLimit{most: maxSending, perAddr: maxPerSending},
		long:           fairQueue{most: maxLong, mostWaiting: maxIncoming},
		queues: map[purpose]*fairQueue{
			forGossip: {most: maxIncoming, mostWaiting: maxWaiting}, forQuestion: {most: maxAnswering, mostWaiting: maxWaiting},
			forCertificates: {most: maxAnswering, mostWaiting: maxWaiting},
		},
		closed: closed, close: closes, conns: make(map[*guardedConn]struct{}),
		acceptWarn: timing.Throttle{Every: acceptWarnEvery},
	}
}

// start begins to accept connections.
func (e *endpoint) start() { e.working.Go(e.accept) }

func (e *endpoint) isClosed() bool { return e.closed.Err() != nil }

// shutdown ends all that waits for the network.
func (e *endpoint) shutdown() error {
	e.mu.Lock()
	if e.isClosed() {
		e.mu.Unlock()
		return nil
	}
	e.close()
	open := slices.Collect(maps.Keys(e.conns))
	e.mu.Unlock()
	err := e.streams.Close()
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
func (e *endpoint) accept() {
	for {
		conn, err := e.streams.Accept()
		if err != nil {
			if e.isClosed() || errors.Is(err, net.ErrClosed) {
				return
			}
			if ok, _ := e.acceptWarn.Allow(time.Now()); ok {
				e.log.Warn().Err(err).Msg("cannot accept connections for gossip; trying again")
			}
			if !timing.Sleep(e.closed, acceptPause) {
				return
			}
			continue
		}
		g := e.guard(conn, forGossip)
		if g == nil {
			continue
		}
		e.preAuth.enter(g)
		e.working.Go(func() { e.greet(g) })
	}
}

// greet hands a connection to memberlist once it has proved itself, and its frame is there and has passed the filter;
// or answers its question.
func (e *endpoint) greet(g *guardedConn) {
	if err := e.admit(g); err != nil {
		_ = g.Close()
		e.refuse(g.RemoteAddr(), err)
		return
	}
	e.serve(g)
}

// admit takes a connection through its first messages, and gives it a place.
func (e *endpoint) admit(g *guardedConn) error {
	_ = g.SetDeadline(time.Now().Add(greetingTime))
	err := g.answerCall()
	if !e.preAuth.leave(g) {
		return errCrowded
	}
	if err != nil {
		return err
	}
	_ = g.SetDeadline(time.Now().Add(frameTime))
	if e.seal.clear {
		e.sending.enter(g)
		err = g.receive()
		if !e.sending.leave(g) {
			return errCrowded
		}
		if err != nil {
			return err
		}
	}
	queue := e.queues[g.purpose]
	q := queue.hold(g)
	if err := e.wait(&g.place, q); err != nil {
		return err
	}
	if e.seal.clear {
		return nil
	}
	err = g.receive()
	if !queue.hear(q) {
		return errCrowded
	}
	return err
}

// wait waits for a place, and closes slow connections meanwhile. The connection's Close gives back the place that is
// stored in as.
func (e *endpoint) wait(as *atomic.Pointer[queuedConn], q *queuedConn) error {
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
				return errCrowded
			}
			return nil
		case <-tick.C:
			q.queue.relieve(time.Now())
		case <-late.C:
			return errBusy
		case <-e.closed.Done():
			return errShutdown
		}
	}
}

// dial opens a connection for a purpose. It returns at once when the transport is closed.
func (e *endpoint) dial(dst netip.AddrPort, deadline time.Time, p purpose) (*guardedConn, error) {
	ctx, cancel := context.WithDeadline(e.closed, deadline)
	defer cancel()
	conn, err := e.streams.Dial(ctx, dst)
	if err != nil {
		return nil, err
	}
	g := e.guard(conn, p)
	if g == nil {
		return nil, errShutdown
	}
	_ = g.SetDeadline(deadline)
	if err := g.call(); err != nil {
		_ = g.Close()
		return nil, err
	}
	return g, nil
}
