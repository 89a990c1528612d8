package call_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/wire"
)

const (
	skip  = time.Second
	delay = time.Millisecond
	noon  = 1_750_000_000_000_000_000
)

func id(i int) wire.MemberID { return wire.MemberID{byte(i + 1), 0, 0, byte(i + 1)} }

// coming is a message on its way.
type coming struct {
	at  policy.Time
	msg wire.Message
}

// fleet is some members on a network that takes a millisecond. lost says which messages are lost.
type fleet struct {
	t        *testing.T
	settings *call.Settings
	now      policy.Time
	members  []policy.Machine
	coming   []coming
	sent     []wire.Message
	runs     []int
	stops    []int
	left     []int
	slots    []uint8
	notes    []policy.Note
	saved    []policy.State
	lost     func(*wire.Message) bool
	down     []bool
}

func newFleet(t *testing.T, n int) *fleet {
	return newGate(t, n, &call.Settings{Skip: skip, Backups: 2})
}

func newGate(t *testing.T, n int, settings *call.Settings) *fleet {
	f := &fleet{
		t: t, settings: settings, now: policy.Time(time.Hour), down: make([]bool, n), saved: make([]policy.State, n),
	}
	var all []wire.MemberID
	for i := range n {
		all = append(all, id(i))
		f.members = append(f.members, f.newMember(i))
	}
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.Started})
	}
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.PeersChanged, Peers: all})
	}
	f.advance(10 * skip)
	return f
}

func (f *fleet) newMember(i int) policy.Machine {
	return f.settings.Machine(policy.Env{Gate: 7, Self: id(i), OnDemand: true, Entropy: f.entropy(i)})
}

func (f *fleet) entropy(i int) policy.Entropy { return rand.NewPCG(uint64(i), 9) }

// restart gives a member that knows nothing a view of all.
func (f *fleet) restart(i int) {
	var all []wire.MemberID
	for each := range f.members {
		all = append(all, id(each))
	}
	f.members[i] = f.newMember(i)
	f.step(i, policy.Event{Kind: policy.Started})
	f.step(i, policy.Event{Kind: policy.PeersChanged, Peers: all})
}

// withToken is a fleet with a token that rests at member 2.
func withToken(t *testing.T, n int) *fleet {
	f := newFleet(t, n)
	f.run(2)
	f.sent, f.runs, f.notes = nil, nil, nil
	return f
}

// run lets a member want a run, and waits until it has ended.
func (f *fleet) run(at int) {
	f.t.Helper()
	f.step(at, policy.Event{Kind: policy.Wanted})
	f.advance(3 * skip)
	if !slices.Contains(f.runs, at) {
		f.t.Fatalf("member %d does not run: %v", at, f.members[at])
	}
	f.step(at, policy.Event{Kind: policy.Finished})
	f.advance(skip)
}

func (f *fleet) step(i int, ev policy.Event) {
	if f.down[i] {
		return
	}
	saves := false
	for _, e := range f.members[i].Step(policy.Instant{Time: f.now, Wall: noon + int64(f.now)}, &ev, nil) {
		switch e.Kind {
		case policy.Send:
			d := call.Descriptor()
			if !d.WellFormed(&e.Msg) {
				f.t.Errorf("member %d sends %+v", i, e.Msg)
			}
			f.sent = append(f.sent, e.Msg)
			if f.lost == nil || !f.lost(&e.Msg) {
				f.coming = append(f.coming, coming{f.now.Add(delay), e.Msg})
			}
		case policy.Run:
			f.runs, f.slots = append(f.runs, i), append(f.slots, e.Token.Slot)
		case policy.Tell:
			f.notes = append(f.notes, e.Note)
		case policy.Save:
			saves, f.saved[i] = true, e.State
		case policy.Gone:
			f.left = append(f.left, i)
		case policy.Stop:
			f.stops = append(f.stops, i)
		case policy.Extend, policy.PreSign, policy.Took, policy.Gave, policy.Announce, policy.Proclaim:
		}
	}
	if saves {
		f.step(i, policy.Event{Kind: policy.Saved})
	}
}

// advance lets time pass.
func (f *fleet) advance(d time.Duration) {
	for end := f.now.Add(d); ; {
		next, who := end+1, -1
		for i, m := range f.members {
			if at, ok := m.NextWake(); ok && at < next && !f.down[i] {
				next, who = at, i
			}
		}
		switch {
		case len(f.coming) > 0 && f.coming[0].at <= min(next, end):
			c := f.coming[0]
			f.coming = f.coming[1:]
			f.now = max(f.now, c.at)
			f.step(int(c.msg.To[0])-1, policy.Event{Kind: policy.Received, Msg: c.msg})
		case who >= 0:
			f.now = max(f.now, next)
			f.step(who, policy.Event{Kind: policy.Woke})
		default:
			f.now = end
			return
		}
	}
}

// holder is the member that holds a token.
func (f *fleet) holder() int {
	return slices.IndexFunc(f.members, func(m policy.Machine) bool { return m.Status(f.now).Holding })
}

// caller is a member that is neither the first home nor the holder.
func (f *fleet) caller() int {
	home, holder := f.home(), f.holder()
	return slices.IndexFunc(f.members, func(m policy.Machine) bool {
		return m != f.members[home] && m != f.members[holder]
	})
}

// home is the first home: the member that is called first, by all but itself.
func (f *fleet) home() int {
	f.t.Helper()
	for i := range f.members {
		if i == f.holder() {
			continue
		}
		f.step(i, policy.Event{Kind: policy.Wanted})
		f.advance(3 * skip)
		f.step(i, policy.Event{Kind: policy.Finished})
		f.advance(skip)
		at := slices.IndexFunc(f.sent, func(m wire.Message) bool { return m.Kind == call.KindCall })
		if at < 0 {
			continue
		}
		to := int(f.sent[at].To[0]) - 1
		f.run(2)
		f.sent, f.runs, f.notes = nil, nil, nil
		return to
	}
	f.t.Fatal("nobody calls")
	return -1
}
