package transpeer

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// ClientConfig configures the clients of a ring.
type ClientConfig struct {
	Gate wire.GateID
	Self wire.MemberID
	// Routers are the ring.
	Routers []wire.MemberID
	// Transactions is how many transactions are submitted: 1 to MaxTransactions. One comes every Every, to one router
	// after the other.
	Transactions int
	Every        time.Duration
}

// Client is all clients of a ring in one machine. It is not a member of the ring.
type Client struct {
	cfg ClientConfig
	// began has when each transaction was first submitted; took, how long it took until it was answered; at, the router
	// where it is or was.
	began []policy.Time
	took  []time.Duration
	at    []int
	// next is when the next transaction is submitted.
	next     policy.Time
	live     []wire.MemberID
	answered int
}

// NewClient returns the clients.
func NewClient(cfg ClientConfig) *Client {
	return &Client{
		cfg: cfg, began: make([]policy.Time, 0, cfg.Transactions), took: make([]time.Duration, cfg.Transactions),
		at: make([]int, cfg.Transactions),
	}
}

// Took returns how long each transaction took, 0 for those that have not been answered, and how many have been
// answered.
func (m *Client) Took() (took []time.Duration, answered int) { return m.took, m.answered }

// Step handles one event.
func (m *Client) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	switch ev.Kind {
	case policy.Started:
		m.next = now.Time.Add(m.cfg.Every)
	case policy.Woke:
		if m.submitting() && now.Time >= m.next {
			m.next = m.next.Add(m.cfg.Every)
			m.began = append(m.began, now.Time)
			return m.submit(len(m.began)-1, (len(m.began)-1)%len(m.cfg.Routers), out)
		}
	case policy.Received:
		m.onDone(now.Time, int(ev.Msg.Token.Seq)-1)
	case policy.PeersChanged:
		m.live = ev.Peers
		for i := range m.began {
			if m.took[i] == 0 && m.dead(m.at[i]) {
				out = policy.AppendTell(out, NoteAgain, m.cfg.Routers[m.at[i]], &wire.Ref{Seq: wire.Seq(i + 1)})
				out = m.submit(i, m.at[i], out)
			}
		}
	case policy.Saved, policy.Finished, policy.Soaks, policy.Wanted, policy.Unwanted, policy.Suspended,
		policy.Directed, policy.Renew, policy.Leave:
	}
	return out
}

func (m *Client) submitting() bool { return len(m.began) < m.cfg.Transactions }

func (m *Client) dead(router int) bool {
	_, alive := slices.BinarySearchFunc(m.live, m.cfg.Routers[router], wire.MemberID.Compare)
	return m.live != nil && !alive
}

// submit sends a transaction to a router, or to the next live one after it.
func (m *Client) submit(i, router int, out []policy.Effect) []policy.Effect {
	for range m.cfg.Routers {
		if !m.dead(router) {
			break
		}
		router = (router + 1) % len(m.cfg.Routers)
	}
	m.at[i] = router
	msg := message(KindTransaction, m.cfg.Gate, m.cfg.Self, m.cfg.Routers[router], i+1)
	return policy.AppendSend(out, &msg)
}

func (m *Client) onDone(now policy.Time, i int) {
	if i < 0 || i >= len(m.began) || m.took[i] != 0 {
		return
	}
	m.took[i] = max(now.Sub(m.began[i]), 1)
	m.answered++
}

// NextWake returns when the next transaction is submitted.
func (m *Client) NextWake() (at policy.Time, ok bool) { return m.next, m.submitting() }

// Expects reports whether msg could change anything now.
func (m *Client) Expects(msg *wire.Message) bool {
	i := int(msg.Token.Seq) - 1
	return msg.Kind == KindDone && i >= 0 && i < len(m.began) && m.took[i] == 0
}

// Status describes the clients.
func (m *Client) Status(policy.Time) policy.Status {
	return policy.Status{Phase: "client", Why: "nothing runs here", NextRun: policy.Never}
}

// Facts appends nothing.
func (m *Client) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }

// String returns one line for traces.
func (m *Client) String() string {
	return fmt.Sprintf("%d of %d answered", m.answered, m.cfg.Transactions)
}
