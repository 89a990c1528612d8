package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// probe is a machine without a protocol: it does what a test tells it to do, and records the events that it is given.
type probe struct {
	self   wire.MemberID
	answer func(*policy.Event) []policy.Effect
	got    *[]given
	wakeAt policy.Time
}

// given is an event that a machine was given.
type given struct {
	At     policy.Time
	Member int
	Kind   policy.EventKind
	From   int
	Peers  int
	Known  bool
	Void   bool
	Denied bool
	Failed bool
	// Outcome is the outcome of a run.
	Outcome policy.Outcome
}

func (p *probe) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	g := given{At: now.Time, Member: IndexOf(p.self), Kind: ev.Kind}
	switch ev.Kind {
	case policy.Received:
		g.From = IndexOf(ev.Msg.From)
	case policy.PeersChanged:
		g.Peers, g.Known = len(ev.Peers), ev.TokenKnown
	case policy.Woke:
		p.wakeAt = 0
	case policy.Finished:
		g.Void, g.Denied, g.Outcome = ev.Void, ev.Denied, ev.Outcome
	case policy.Saved:
		g.Failed = ev.Failed
	case policy.Started, policy.Soaks, policy.Wanted, policy.Unwanted, policy.Suspended, policy.Leave, policy.Directed,
		policy.Renew:
	}
	*p.got = append(*p.got, g)
	if p.answer == nil {
		return out
	}
	return append(out, p.answer(ev)...)
}

func (p *probe) NextWake() (policy.Time, bool)                        { return p.wakeAt, p.wakeAt > 0 }
func (p *probe) Expects(*wire.Message) bool                           { return true }
func (p *probe) Status(policy.Time) policy.Status                     { return policy.Status{} }
func (p *probe) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }
func (p *probe) String() string                                       { return "probe" }

// world is a cluster of probes.
type world struct {
	*Cluster
	probes []*probe
	got    []given
}

// descriptor returns a descriptor with a kind of message for each part.
func descriptor() policy.Descriptor {
	kinds := policy.Kinds{
		{Kind: 1, Name: "Offer", Part: policy.Offers},
		{Kind: 2, Name: "Accept", Part: policy.Accepts},
		{Kind: 3, Name: "Pass", Part: policy.Passes},
		{Kind: 4, Name: "Tell", Part: policy.Tells},
		{Kind: 5, Name: "Ask", Part: policy.Asks},
		{Kind: 6, Name: "Other"},
	}
	return policy.Descriptor{ID: 7, Version: 3, Kinds: kinds}
}

func newWorld(cfg Config) *world {
	w := &world{probes: make([]*probe, cfg.Members)}
	cfg.Order, cfg.Descriptor = InOrder, descriptor()
	cfg.Machine = func(s Env) policy.Machine {
		if w.probes[s.Index] == nil {
			w.probes[s.Index] = &probe{self: s.Self, got: &w.got}
		}
		return w.probes[s.Index]
	}
	w.Cluster = New(cfg)
	return w
}

// events returns the events since the last call, without the first view and other events that are of no interest to a
// test.
func (w *world) events(kinds ...policy.EventKind) []given {
	all := w.got
	w.got = nil
	return slices.DeleteFunc(all, func(g given) bool { return !slices.Contains(kinds, g.Kind) })
}

func (w *world) message(from, to int) wire.Message {
	return wire.Message{
		Gate: 1, Protocol: descriptor().ID, Version: descriptor().Version, Kind: 1, From: w.ID(from), To: w.ID(to),
		Exchange: 1,
		Token:    wire.Ref{ID: wire.TokenID{Birth: Epoch, Generator: w.ID(from), Random: 1}, Seq: 1},
	}
}

func (w *world) run(t *testing.T, d time.Duration) {
	t.Helper()
	if err := w.Run(w.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
}

func TestACrashBetweenTwoEffectsKeepsWhatWasDone(t *testing.T) {
	w := newWorld(Config{Members: 2})
	w.Boot()
	m := w.message(0, 1)
	w.probes[0].answer = func(ev *policy.Event) []policy.Effect {
		if ev.Kind != policy.Leave {
			return nil
		}
		return []policy.Effect{
			{Kind: policy.Save, State: policy.State{Seq: 7}}, {Kind: policy.Run}, {Kind: policy.Send, Msg: m},
		}
	}
	w.CrashBefore(0, 2)
	w.events()
	w.Leave(0)
	w.run(t, time.Hour)
	if w.Up(0) || w.Disk(0).Seq != 7 {
		t.Errorf("up %v, saved %+v; want a crash after the save", w.Up(0), w.Disk(0))
	}
	if got := w.events(policy.Received, policy.Finished); len(got) > 0 {
		t.Errorf("what was not done yet happened: %+v", got)
	}
}

func TestAShellSaysWhatItSpeaksAndHearsNothingElse(t *testing.T) {
	w := newWorld(Config{Members: 2, Network: Network{Encode: true}})
	w.Boot()
	w.probes[0].answer = func(ev *policy.Event) []policy.Effect {
		if ev.Kind != policy.Leave {
			return nil
		}
		m := w.message(0, 1)
		m.Protocol, m.Version = 0, 0
		return []policy.Effect{{Kind: policy.Send, Msg: m}}
	}
	w.events()
	other, later := w.message(0, 1), w.message(0, 1)
	other.Protocol++
	later.Version++
	w.Inject(other)
	w.Inject(later)
	w.run(t, time.Minute)
	if got := w.events(policy.Received); len(got) > 0 {
		t.Errorf("of another protocol, or of another version, and heard: %+v", got)
	}
	w.Leave(0)
	w.run(t, time.Minute)
	if got := w.events(policy.Received); len(got) != 1 {
		t.Errorf("a machine's message came %d times", len(got))
	}
}

func TestAPausedMemberFindsItsMessagesLater(t *testing.T) {
	w := newWorld(Config{Members: 2})
	w.Boot()
	w.events()
	w.Pause(1, time.Minute)
	w.Inject(w.message(0, 1))
	w.run(t, time.Hour)
	want := []given{{At: policy.Time(time.Minute), Member: 1, Kind: policy.Received, From: 0}}
	if d := cmp.Diff(want, w.events(policy.Received, policy.Suspended)); d != "" {
		t.Error(d)
	}
}

func TestAHostThatSleptHasLostItsMessagesAndIsTold(t *testing.T) {
	w := newWorld(Config{Members: 2})
	w.Boot()
	w.events()
	w.probes[1].wakeAt = policy.Time(time.Second)
	w.alarms.set(1, key{at: w.probes[1].wakeAt, seq: 1})
	w.Sleep(1, time.Minute)
	w.Inject(w.message(0, 1))
	w.run(t, time.Hour)
	want := []given{
		{At: policy.Time(time.Minute), Member: 1, Kind: policy.Suspended},
		{At: policy.Time(time.Minute), Member: 1, Kind: policy.Woke},
	}
	if d := cmp.Diff(want, w.events(policy.Received, policy.Suspended, policy.Woke)); d != "" {
		t.Error(d)
	}
}

func TestAPartitionStopsMessagesThatCrossIt(t *testing.T) {
	for _, oneWay := range []bool{false, true} {
		w := newWorld(Config{Members: 3})
		w.Boot()
		w.Part([]bool{false, true, true}, oneWay)
		w.events()
		for _, pair := range [][2]int{{0, 1}, {1, 0}, {1, 2}} {
			m := w.message(pair[0], pair[1])
			w.send(&m)
		}
		w.run(t, time.Second)
		var arrived [][2]int
		for _, g := range w.events(policy.Received) {
			arrived = append(arrived, [2]int{g.From, g.Member})
		}
		want := [][2]int{{1, 2}}
		if oneWay {
			want = [][2]int{{1, 0}, {1, 2}}
		}
		if d := cmp.Diff(want, arrived); d != "" {
			t.Errorf("one way %v: %s", oneWay, d)
		}
	}
}

func TestBrokenPairsAreASteadyShareOfAll(t *testing.T) {
	n, count := network{Network: Network{Broken: 0.3}}, 0
	for from := range 100 {
		for to := range 100 {
			if n.broken(1, from, to) {
				count++
			}
		}
	}
	if count < 2800 || count > 3200 {
		t.Errorf("%d of 10000 pairs are broken, want about 3000", count)
	}
}

func TestViewsFollowEventsAfterTheirDelay(t *testing.T) {
	w := newWorld(Config{Members: 3, Membership: Membership{GossipAfter: time.Second, DetectAfter: 10 * time.Second}})
	w.Boot()
	w.events()
	w.Crash(2)
	w.run(t, time.Minute)
	w.Start(2)
	w.run(t, time.Minute)
	at := func(s int) policy.Time { return policy.Time(time.Duration(s) * time.Second) }
	want := []given{
		{At: at(10), Member: 0, Kind: policy.PeersChanged, Peers: 2},
		{At: at(10), Member: 1, Kind: policy.PeersChanged, Peers: 2},
		{At: at(60), Member: 2, Kind: policy.PeersChanged, Peers: 1},
		{At: at(61), Member: 2, Kind: policy.PeersChanged, Peers: 3},
		{At: at(61), Member: 0, Kind: policy.PeersChanged, Peers: 3},
		{At: at(61), Member: 1, Kind: policy.PeersChanged, Peers: 3},
	}
	if d := cmp.Diff(want, w.events(policy.PeersChanged)); d != "" {
		t.Error(d)
	}
	if w.members[0].seen.peers != w.members[1].seen.peers {
		t.Error("two members of one side have views of their own")
	}
}

// A member that is back in time was never gone, and its next death is noticed separately.
func TestADeathThatIsOverIsNotNoticed(t *testing.T) {
	w := newWorld(Config{Members: 2, Membership: Membership{DetectAfter: 10 * time.Second}})
	w.Boot()
	w.events()
	w.Crash(1)
	w.run(t, 5*time.Second)
	w.Start(1)
	w.run(t, 4*time.Second)
	w.Crash(1)
	w.run(t, time.Minute)
	var noticed []policy.Time
	for _, g := range w.events(policy.PeersChanged) {
		if g.Member == 0 {
			noticed = append(noticed, g.At)
		}
	}
	if len(noticed) != 1 || noticed[0] != policy.Time(19*time.Second) {
		t.Errorf("noticed at %v", noticed)
	}
}

func TestAnAnnouncementIsKnownToTheOthers(t *testing.T) {
	w := newWorld(Config{Members: 3, Membership: Membership{GossipAfter: time.Second}})
	w.Boot()
	w.events()
	w.announce(0)
	w.run(t, time.Minute)
	w.announce(1)
	w.run(t, time.Minute)
	at := func(s int) policy.Time { return policy.Time(time.Duration(s) * time.Second) }
	want := []given{
		{At: at(1), Member: 1, Kind: policy.PeersChanged, Peers: 3, Known: true},
		{At: at(1), Member: 2, Kind: policy.PeersChanged, Peers: 3, Known: true},
		{At: at(61), Member: 0, Kind: policy.PeersChanged, Peers: 3, Known: true},
	}
	if d := cmp.Diff(want, w.events(policy.PeersChanged)); d != "" {
		t.Error(d)
	}
}

func TestAMemberThatIsTakenForDeadKeepsItsView(t *testing.T) {
	w := newWorld(Config{Members: 2, Membership: Membership{GossipAfter: time.Second, DetectAfter: 5 * time.Second}})
	w.Boot()
	w.events()
	w.Pause(1, time.Minute)
	w.run(t, time.Hour)
	want := []given{
		{At: policy.Time(5 * time.Second), Member: 0, Kind: policy.PeersChanged, Peers: 1},
		{At: policy.Time(61 * time.Second), Member: 0, Kind: policy.PeersChanged, Peers: 2},
	}
	if d := cmp.Diff(want, w.events(policy.PeersChanged)); d != "" {
		t.Error(d)
	}
}

// played counts what an adversary replays, by kind, and keeps what was never sent.
type played struct {
	sent   map[wire.Message]bool
	times  map[wire.Kind]int
	forged []wire.Message
}

func (p *played) Watch(_ *Cluster, o *Occurrence) error {
	if o.Kind != Played {
		return nil
	}
	p.times[o.Msg.Kind]++
	if !p.sent[*o.Msg] {
		p.forged = append(p.forged, *o.Msg)
	}
	return nil
}

func TestAnAdversaryPlaysHandoffsAndWordsAgainAndForgesNothing(t *testing.T) {
	p := &played{sent: map[wire.Message]bool{}, times: map[wire.Kind]int{}}
	w := newWorld(Config{Members: 2, Network: Network{Replay: 5, ReplayWithin: time.Minute}, Watchers: []Watcher{p}})
	w.Boot()
	for i := range 200 {
		for _, kind := range descriptor().Kinds {
			m := w.message(i%2, 1-i%2)
			m.Kind, m.Exchange, m.Nonce = kind.Kind, wire.Exchange(i+1), wire.Nonce(i+1)
			p.sent[m] = true
			w.send(&m)
		}
	}
	w.run(t, time.Hour)
	for _, kind := range descriptor().Kinds {
		want := kind.Part != policy.NoPart && kind.Part != policy.Accepts
		if got := p.times[kind.Kind] > 0; got != want {
			t.Errorf("%s was played %d times", kind.Name, p.times[kind.Kind])
		}
	}
	if len(p.forged) > 0 {
		t.Errorf("played, and never sent: %+v", p.forged)
	}
}

func TestWallClocksDifferAndMonotonicTimeDoesNot(t *testing.T) {
	k := Clock{Skew: time.Hour, Drift: 0.01}
	now := policy.Time(100 * time.Second)
	want := policy.Instant{Time: now, Wall: Epoch + int64(100*time.Second+time.Hour+time.Second)}
	if got := k.instant(now); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
