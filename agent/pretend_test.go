package agent

import (
	"cmp"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/transport/memnet"
)

// pretendRun is a hook that takes as long as the world decides, up to its timeout.
type pretendRun struct {
	stop, orphaned chan struct{}
	once           sync.Once
	done           chan hook.Result
	mu             sync.Mutex
	words          []hook.Word
}

func (p *pretendRun) PreSigned(words []hook.Word) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.words = words
}

// say sends the guard's messages from its own socket.
func (p *pretendRun) say(net *memnet.Network, from netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	socket := net.Endpoint(netip.AddrPortFrom(from, 50000))
	defer func() { _ = socket.Close() }()
	for _, word := range p.words {
		_ = socket.Packets.WriteTo(word.Datagram, netip.Addr{}, word.To)
	}
}

func (p *pretendRun) Extend(time.Duration)     {}
func (p *pretendRun) Stop()                    { p.once.Do(func() { close(p.stop) }) }
func (p *pretendRun) Done() <-chan hook.Result { return p.done }

func (w *world) pretend(r *resident, spec hook.Spec) gate.HookRun {
	p := &pretendRun{stop: make(chan struct{}), orphaned: make(chan struct{}), done: make(chan hook.Result, 1)}
	s := w.begins(r, spec)
	w.set(func() { r.running, r.hook = r.running+1, p })
	w.wg.Go(func() {
		start := time.Now()
		res := read(w, func() hook.Result {
			if own, has := w.results[r.cfg.Name]; has {
				return own
			}
			return w.result
		})
		takes := read(w, func() time.Duration { return cmp.Or(w.takes, w.gate.Op) })
		select {
		case <-time.After(takes):
		case <-time.After(spec.Timeout):
			res = hook.Result{TimedOut: true, Err: fmt.Errorf("timed out: %s", spec.Argv[0])}
		case <-p.stop:
			res = hook.Result{Stopped: true, Err: fmt.Errorf("stopped: %s", spec.Argv[0])}
		case <-p.orphaned:
			time.Sleep(spec.OrphanGrace)
			w.observe(gate.Observation{
				At: time.Now(), Member: r.self, Name: r.cfg.Name, Gate: w.gate.Name, Ended: true,
			})
			p.say(w.net, r.addr.Addr())
		}
		res.Took = time.Since(start)
		w.set(func() {
			r.running--
			s.to = time.Now()
			if r.hook == p {
				r.hook = nil
			}
		})
		p.done <- res
	})
	return p
}
