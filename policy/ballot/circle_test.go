package ballot_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// The constants of a circle's members.
const (
	lease    = 8 * time.Second
	rho      = 0.01
	patience = 100 * time.Millisecond
	grace    = 4 * time.Second
	margin   = 100 * time.Millisecond
	soak     = 10 * time.Minute
	wall     = int64(1_700_000_000) * int64(time.Second)
)

// held is H for these constants.
const held = 7841584158 * time.Nanosecond

// circle is members of one roster on one clock. Messages stay in the air until the test delivers them.
type circle struct {
	t      *testing.T
	now    policy.Time
	roster ballot.Roster
	m      []*ballot.Machine
	air    []wire.Message
	notes  []policy.Note
	end    ballot.Outcome
	asked  wire.Exchange
	// words are what was pre-signed for guards.
	words []wire.Message
	run   policy.Effect
	// keep is how long grants outlive their hosts.
	keep time.Duration
}

// newCircle returns members whose quarantine is over.
func newCircle(t *testing.T, n int) *circle {
	t.Helper()
	return newKeepingCircle(t, n, 0)
}

// newKeepingCircle returns members whose quarantine is over, and whose grants may outlive their hosts.
func newKeepingCircle(t *testing.T, n int, keep time.Duration) *circle {
	t.Helper()
	c := &circle{t: t, now: policy.Time(time.Hour), keep: keep}
	var err error
	if c.roster, err = ballot.NewRoster(names(n)); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		m := ballot.New(c.config(i))
		m.Start(c.now, &policy.State{})
		c.m = append(c.m, &m)
	}
	c.now = c.now.Add(max(lease, keep))
	return c
}

func (c *circle) config(i int) ballot.Config {
	return ballot.Config{
		Gate: 7, Roster: &c.roster, Self: i, Lease: lease, MostLease: lease, KillAfter: grace, Margin: margin, Rho: rho,
		Patience: patience, Keep: c.keep, Soak: soak,
		Entropy: rand.NewPCG(uint64(i), 1),
	}
}

func (c *circle) instant() policy.Instant {
	return policy.Instant{Time: c.now, Wall: wall + int64(c.now)}
}

// did carries out what a member does.
func (c *circle) did(out []policy.Effect) {
	for i := range out {
		switch e := &out[i]; e.Kind {
		case policy.Send:
			c.air = append(c.air, e.Msg)
		case policy.Tell:
			c.notes = append(c.notes, e.Note)
		case policy.PreSign:
			c.words = append(c.words, e.Msg)
		case policy.Run:
			c.run = *e
		case policy.Save, policy.Extend, policy.Stop, policy.Took, policy.Gave, policy.Announce, policy.Proclaim,
			policy.Gone:
			c.t.Fatalf("a ballot has no business with %v", e.Kind)
		}
	}
}

// step lets a member do something, and saves at once what it asks for.
func (c *circle) step(i int, do func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect) {
	c.t.Helper()
	c.stepUnsaved(i, do)
	if c.m[i].NeedsSave() {
		c.did(c.m[i].OnSaved(c.now, false, &c.end, nil))
	}
}

func (c *circle) stepUnsaved(i int, do func(m *ballot.Machine, end *ballot.Outcome,
	out []policy.Effect) []policy.Effect,
) {
	c.t.Helper()
	c.end = ballot.Outcome{}
	c.did(do(c.m[i], &c.end, nil))
}

// receive gives a message to its addressee and returns what is sent for it.
func (c *circle) receive(msg wire.Message) []wire.Message {
	c.t.Helper()
	before := len(c.air)
	to, _ := c.roster.Rank(msg.To)
	c.step(to, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.Receive(c.instant(), &msg, end, out)
	})
	sent := append([]wire.Message(nil), c.air[before:]...)
	c.air = c.air[:before]
	return sent
}

// deliver delivers everything that is in the air, and everything sent in answer, to all but the absent, and returns the
// last outcome.
func (c *circle) deliver(absent ...int) (end ballot.Outcome) {
	c.t.Helper()
	for len(c.air) > 0 {
		msg := c.air[0]
		c.air = c.air[1:]
		lost := func(i int) bool { return msg.To == c.roster.ID(i) || msg.From == c.roster.ID(i) }
		if !slices.ContainsFunc(absent, lost) {
			c.air = append(c.air, c.receive(msg)...)
			if c.end.Ending != ballot.Pending && c.end.Ending != ballot.Promised {
				end = c.end
			}
		}
	}
	return end
}

// advance lets time pass, and wakes all when they are due.
func (c *circle) advance(d time.Duration) {
	c.t.Helper()
	for end := c.now.Add(d); ; {
		next, who := policy.Never, -1
		for i, m := range c.m {
			if at, ok := m.NextWake(); ok && at < next {
				next, who = at, i
			}
		}
		if next > end {
			c.now = end
			return
		}
		c.now = max(c.now, next)
		c.wake(who)
	}
}

func (c *circle) wake(i int) {
	c.t.Helper()
	c.step(i, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.Wake(c.instant(), end, out)
	})
}

// elect lets a member make a token with the promises of all.
func (c *circle) elect(i int) wire.Ref {
	c.t.Helper()
	c.m[i].Propose(c.now, 0)
	c.wake(i)
	end := c.deliver()
	if end.Ending != ballot.Won {
		c.t.Fatalf("member %d has not won: %+v", i, end)
	}
	c.air = nil
	return end.Token
}

// need lets member 0, the holder, ask for its lease.
func (c *circle) need() {
	c.t.Helper()
	c.step(0, func(m *ballot.Machine, end *ballot.Outcome, out []policy.Effect) []policy.Effect {
		return m.Need(c.now, end, out)
	})
}

// renew lets member 0, the holder, get its lease from now on.
func (c *circle) renew() {
	c.t.Helper()
	c.need()
	if end := c.deliver(); end.Ending != ballot.Renewed {
		c.t.Fatalf("the lease is not renewed: %+v", end)
	}
}

// wantNotes wants exactly these notes since the last call.
func (c *circle) wantNotes(want ...policy.Note) {
	c.t.Helper()
	if !slices.Equal(c.notes, want) {
		c.t.Fatalf("notes %v, want %v", ballot.Notes().Names(c.notes), ballot.Notes().Names(want))
	}
	c.notes = nil
}

// epoch returns the epoch of a proposal: n seconds after the circle's origin.
func epoch(n, rank int) wire.Seq { return wire.Seq(uint64(1_700_003_608+n)<<31 | uint64(rank)<<23) }

// ask returns a question.
func (c *circle) ask(kind wire.Kind, from, to int, seq wire.Seq, number wire.Exchange) wire.Message {
	m := wire.Message{
		Gate: 7, Kind: kind, From: c.roster.ID(from), To: c.roster.ID(to), Exchange: number,
		Token: ballot.EpochOf(seq).Token(c.roster.ID(ballot.EpochOf(seq).Rank())),
	}
	m.Token.Seq = seq
	span := lease
	if kind == ballot.KindRelease {
		m.Exchange, span = 0, 0
	}
	ballot.SetLoad(&m.Load, c.roster.Hash(), span, 0)
	if !ballot.WellFormed(&m) {
		c.t.Fatalf("not well-formed: %+v", m)
	}
	return m
}

// number returns a number that no question had yet.
func (c *circle) number() wire.Exchange {
	c.asked++
	return 1000 + c.asked
}

// wantAnswer wants one answer. It returns for how long the answer's sender is busy, and what it has promised or kept.
func (c *circle) wantAnswer(sent []wire.Message, want wire.Kind) (span time.Duration, number wire.Seq) {
	c.t.Helper()
	if len(sent) != 1 || sent[0].Kind != want {
		c.t.Fatalf("sent %+v, want one %s", sent, ballot.Kinds().Of(want).Name)
	}
	if !ballot.WellFormed(&sent[0]) {
		c.t.Errorf("the answer is not well-formed: %+v", sent[0])
	}
	return ballot.LoadOf(&sent[0].Load)
}
