package wander_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// fleet is several members on a network where nothing is lost: a message takes a millisecond, news of a token gossips
// for as long as the test says, and an operation takes op.
type fleet struct {
	t       *testing.T
	now     policy.Time
	members []*fleetMember
	coming  []coming
	// gossip is how long it takes until the others know that a member has met a token.
	gossip time.Duration
	// broken reports whether a message from one member to another is lost; nil means that none is.
	broken func(from, to int) bool
	// lie, if it is set, sees each message that is sent, and may send another one.
	lie func(*wire.Message) (forged wire.Message, lies bool)
	// visits are the members at which a token arrived, in order.
	visits []int
	// created, regenerated and replaced count the tokens that were made.
	created, regenerated, replaced int
}

type fleetMember struct {
	index   int
	m       *wander.Machine
	view    []wire.MemberID
	runs    int
	crashed bool
	// known is true if the others know from knownFrom on that this member has met a token.
	known     bool
	knownFrom policy.Time
}

// coming is something that happens to a member later. A change of peers without peers brings the view as it is then.
type coming struct {
	at   policy.Time
	to   int
	what policy.Event
}

func newFleet(t *testing.T, n int, cfg wander.Config) *fleet {
	f := &fleet{t: t, gossip: 500 * time.Millisecond, now: policy.Time(time.Hour)}
	for i := range n {
		own := cfg
		own.Self, own.Entropy = id(i), rand.NewPCG(uint64(i), 9)
		f.members = append(f.members, &fleetMember{index: i, m: wander.New(own)})
		f.step(i, policy.Event{Kind: policy.Started})
	}
	return f
}

// sees gives a member its view at some time from now.
func (f *fleet) sees(in time.Duration, member int, others ...int) {
	peers := []wire.MemberID{id(member)}
	for _, o := range others {
		if o != member {
			peers = append(peers, id(o))
		}
	}
	slices.SortFunc(peers, wire.MemberID.Compare)
	f.later(in, member, policy.Event{Kind: policy.PeersChanged, Peers: peers})
}

// seesAll gives a member the view of the whole fleet.
func (f *fleet) seesAll(in time.Duration, member int) {
	all := make([]int, len(f.members))
	for i := range all {
		all[i] = i
	}
	f.sees(in, member, all...)
}

func (f *fleet) later(in time.Duration, to int, what policy.Event) {
	f.coming = append(f.coming, coming{f.now.Add(in), to, what})
}

func (f *fleet) step(i int, ev policy.Event) {
	m := f.members[i]
	if m.crashed {
		return
	}
	if ev.Kind == policy.PeersChanged {
		if ev.Peers == nil {
			ev.Peers = m.view
		}
		m.view = ev.Peers
		ev.TokenKnown = slices.ContainsFunc(f.members, func(o *fleetMember) bool {
			return o != m && o.known && o.knownFrom <= f.now && slices.Contains(m.view, id(o.index))
		})
	}
	saves := false
	for _, e := range m.m.Step(policy.Instant{Time: f.now, Wall: noon + int64(f.now)}, &ev, nil) {
		switch e.Kind {
		case policy.Send:
			if f.lie != nil {
				f.hearLie(&e.Msg)
			}
			to := slices.IndexFunc(f.members, func(o *fleetMember) bool { return id(o.index) == e.Msg.To })
			if f.broken == nil || !f.broken(i, to) {
				f.later(time.Millisecond, to, policy.Event{Kind: policy.Received, Msg: e.Msg})
			}
		case policy.Run:
			m.runs++
			f.later(op, i, policy.Event{Kind: policy.Finished})
		case policy.Announce:
			f.announce(i)
		case policy.Tell:
			f.told(i, e.Note)
		case policy.Save:
			saves = true
		case policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave, policy.Gone, policy.Proclaim:
		}
	}
	if saves {
		f.step(i, policy.Event{Kind: policy.Saved})
	}
}

func (f *fleet) told(by int, n policy.Note) {
	if n == wander.NoteArrived {
		f.visits = append(f.visits, by)
	}
	if n == wander.NoteCreated {
		f.created++
	}
	if n == wander.NoteRegenerated {
		f.regenerated++
	}
	if n == wander.NoteReplaced {
		f.replaced++
	}
}

// announce lets the others know after a while.
func (f *fleet) announce(from int) {
	f.members[from].known, f.members[from].knownFrom = true, f.now.Add(f.gossip)
	for i := range f.members {
		if i != from {
			f.later(f.gossip, i, policy.Event{Kind: policy.PeersChanged})
		}
	}
}

// advance lets time pass, and everything happen that is due.
func (f *fleet) advance(d time.Duration) {
	f.t.Helper()
	for end := f.now.Add(d); ; {
		next, waking := end+1, -1
		for i, m := range f.members {
			if at, ok := m.m.NextWake(); ok && at < next && !m.crashed {
				next, waking = at, i
			}
		}
		first := -1
		for i := range f.coming {
			if c := &f.coming[i]; c.at <= next && (first < 0 || c.at < f.coming[first].at) {
				first = i
			}
		}
		switch {
		case first >= 0 && f.coming[first].at <= end:
			c := f.coming[first]
			f.coming = slices.Delete(f.coming, first, first+1)
			f.now = max(f.now, c.at)
			f.step(c.to, c.what)
		case waking >= 0:
			f.now = max(f.now, next)
			f.step(waking, policy.Event{Kind: policy.Woke})
		default:
			f.now = end
			return
		}
	}
}

// wantOneToken wants that one token was made, as the first.
func (f *fleet) wantOneToken() {
	f.t.Helper()
	if f.created != 1 || f.regenerated != 0 {
		f.t.Fatalf("%d tokens were created and %d regenerated, want one and none", f.created, f.regenerated)
	}
}
