package wander

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/trace"
	"github.com/wanderd/wanderd/wire"
)

// TestScriptedScenarios runs the scripts in testdata: each is one situation, and what must follow from it, message by
// message. With -rewrite the scripts are rewritten from what happens; read the difference as you would read a change of
// the protocol.
//
// The commands, with their defaults:
//
//	cluster members=2 skip=1s op=2s min=10s max=0s backups=0 slots=0 share=0 on_lost=finish latency=10ms gossip=1s
//	        detect=5s seed=1 soak=0s max_down=0 canaries=0 first_wait=0s [once] [ask] [demand]
//	boot                        start everybody at once, with a complete membership
//	start a [b …] [wait] [slots=1]     start members, each alone at first; with wait, they wait until they see
//	                            another one; those that are started from now on have so many slots
//	run for=5s [beats|notes|quietly]   let time pass; tell all but the heartbeats that are no news, or these too, or
//	                            the turning points only, or nothing
//	lose|twice kind=Commit [from=a] [to=b] [count=1]   let the network lose or double the next messages of a kind
//	late kind=Token by=3s [count=1]                    or deliver them late
//	break from=a to=b           let nothing arrive that a sends to b
//	mend                        let the network be as it was before these
//	play handoff=1              an adversary plays the first handoff again: Token, and Commit a moment later
//	hand to=a from=c born=-5s seq=7   c, who is down, passes a token of that age to a, message by message
//	forge from=a to=b seq=… [born=0s]     a, gone bad, offers a token that there is not
//	disk a [takes=5s] [fails] [hangs]                  from its next save on
//	want a · unwant a           somebody waits for a run of a, in a cluster on demand, or nobody does any more
//	crash a [before=2]          kill a now, or just before it carries out its second effect from now
//	powercut a                  kill a, and its run and the guard of it, now
//	renew a · resume a          an operator asks a for a new token, or resumes the gate there
//	leave a · sleep a for=5s · pause a for=5s · part a b · heal
//	status                      what every member says of itself
func TestScriptedScenarios(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s := &script{}
			datadriven.RunTest(t, path, s.command)
		})
	}
}

// script is a world of a scenario.
type script struct {
	c     *sim.Cluster
	world Scenario
	text  bytes.Buffer
	turns bytes.Buffer
	trace *trace.Trace
	// heartbeats is true if every heartbeat is told.
	heartbeats bool
	// runs is true while only runs are told.
	runs  bool
	rules []*rule
	heard []handedOver
}

// handedOver is a handoff that the network has seen: the messages of its sender.
type handedOver struct{ token, commit wire.Message }

// rule is what the network does to the next messages of a kind, or of any kind if the rule names none.
type rule struct {
	kind     string
	from, to string
	left     int
	fate     sim.Fate
}

func (s *script) command(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.text.Reset()
	switch d.Cmd {
	case "cluster":
		s.cluster(t, d)
	case "boot":
		s.c.Boot()
	case "start":
		s.world.WaitAlone = d.HasArg("wait")
		s.world.Slots = count(t, d, "slots", s.world.Slots)
		s.each(t, d, s.c.Start)
	case "crash":
		s.crash(t, d)
	case "powercut":
		s.each(t, d, s.c.PowerCut)
	case "disk":
		s.disk(t, d)
	case "want":
		s.each(t, d, s.c.Want)
	case "renew":
		s.each(t, d, func(i int) { s.c.Renew(i, 0) })
	case "resume":
		s.each(t, d, func(i int) { s.c.Give(i, 0, false) })
	case "unwant":
		s.each(t, d, s.c.Unwant)
	case "leave":
		s.each(t, d, s.c.Leave)
	case "sleep":
		s.each(t, d, func(i int) { s.c.Sleep(i, span(t, d, "for", 0)) })
	case "pause":
		s.each(t, d, func(i int) { s.c.Pause(i, span(t, d, "for", 0)) })
	case "part":
		sides := make([]bool, s.c.Members())
		s.each(t, d, func(i int) { sides[i] = true })
		s.c.Part(sides, false)
	case "heal":
		s.c.Heal()
	case "lose", "twice", "late":
		s.rule(t, d)
	case "break":
		r := &rule{left: math.MaxInt, fate: sim.Fate{Lose: true}}
		d.ScanArgs(t, "from", &r.from)
		d.ScanArgs(t, "to", &r.to)
		s.rules = append(s.rules, r)
	case "mend":
		s.rules = nil
	case "play":
		s.play(t, d)
	case "hand":
		s.hand(t, d)
	case "forge":
		s.forge(t, d)
	case "run":
		return s.run(t, d)
	case "status":
		return s.status()
	default:
		d.Fatalf(t, "no such command: %s", d.Cmd)
	}
	return s.told(t, d)
}

// told returns what has happened since its last call.
func (s *script) told(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	if s.c.Err() != nil {
		d.Fatalf(t, "%v", s.c.Err())
	}
	return s.text.String()
}

func (s *script) cluster(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	onLost := soft.Finish.String()
	d.MaybeScanArgs(t, "on_lost", &onLost)
	lost, ok := map[string]soft.OnLost{"finish": soft.Finish, "stop": soft.Stop}[onLost]
	if !ok {
		d.Fatalf(t, "on_lost=%s", onLost)
	}
	s.world = Scenario{
		Order: sim.InOrder, Seed: uint64(count(t, d, "seed", 1)), Members: count(t, d, "members", 2),
		Skip: span(t, d, "skip", time.Second), Op: span(t, d, "op", 2*time.Second),
		MinInterval: span(t, d, "min", 10*time.Second), MaxInterval: span(t, d, "max", 0),
		Backups: count(t, d, "backups", 0), Slots: count(t, d, "slots", 0), OnLost: lost,
		SlotsShare: count(t, d, "share", 0),
		AskFirst:   d.HasArg("ask"), AskBeforeRun: d.HasArg("ask_before_run"),
		Network: sim.Network{Latency: span(t, d, "latency", 10*time.Millisecond), Encode: true},
		Membership: sim.Membership{
			GossipAfter: span(t, d, "gossip", time.Second), DetectAfter: span(t, d, "detect", 5*time.Second),
			RejoinAfter: span(t, d, "rejoin", 5*time.Second),
		},
	}
	s.world.Hook.Takes, s.world.Hook.Soak = s.world.Op, span(t, d, "soak", 0)
	s.world.Shape = sim.Shape{
		MaxDown: count(t, d, "max_down", 0), Canaries: count(t, d, "canaries", 0),
		FirstWait: span(t, d, "first_wait", 0),
	}
	if d.HasArg("once") {
		s.world.Operators = sim.Operators{Once: s.world.MinInterval}
	}
	if d.HasArg("demand") {
		s.world.Demand.Every = math.MaxInt64 / 2 // Only the script asks for runs.
	}
	s.trace = trace.NewTrace(&s.text, Words())
	s.rules, s.heard = nil, nil
	s.c = s.world.NewCluster(append([]sim.Watcher{s}, s.world.Checkers()...)...)
	s.c.Intercept(s.decide)
}

func (s *script) each(t *testing.T, d *datadriven.TestData, do func(int)) {
	t.Helper()
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 && a.Key != "wait" {
			do(s.member(t, d, a.Key))
		}
	}
}

func (s *script) member(t *testing.T, d *datadriven.TestData, name string) int {
	t.Helper()
	for i := range s.c.Members() {
		if sim.MemberName(i) == name {
			return i
		}
	}
	d.Fatalf(t, "no such member: %s", name)
	return 0
}

func (s *script) crash(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	s.each(t, d, func(i int) {
		if n := count(t, d, "before", 0); n > 0 {
			s.c.CrashBefore(i, n)
			return
		}
		s.c.Crash(i)
	})
}

// disk gives members disks of their own.
func (s *script) disk(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	disk := sim.Disk{Takes: span(t, d, "takes", 0)}
	if d.HasArg("fails") {
		disk.Fails = 1
	}
	if d.HasArg("hangs") {
		disk.Hangs = 1
	}
	s.c.SetDisk(s.member(t, d, d.CmdArgs[0].Key), disk)
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	before := s.c.Steps()
	s.turns.Reset()
	s.runs = d.HasArg("runs")
	s.heartbeats = d.HasArg("beats")
	if err := s.c.Run(s.c.Now().Add(span(t, d, "for", 0))); err != nil {
		d.Fatalf(t, "%v\n%s", err, s.text.String())
	}
	switch {
	case d.HasArg("notes"), s.runs:
		return s.turns.String()
	case d.HasArg("quietly"):
		return fmt.Sprintf("%10s  … %d steps\n", sim.Seconds(s.c.Now()), s.c.Steps()-before)
	}
	return s.told(t, d)
}

// Watch writes the trace, and its turning points.
func (s *script) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if s.heartbeats || !heartbeatsOnly(o) {
		if err := s.trace.Watch(c, o); err != nil {
			return err
		}
	}
	if o.Ends() {
		fmt.Fprintf(&s.turns, "%10s  %s %s\n", sim.Seconds(o.At), sim.MemberName(o.Member), o.Kind)
	}
	if s.runs {
		s.toldRuns(o)
		return nil
	}
	for i := range o.Effects {
		if e := &o.Effects[i]; isTurn(e) {
			fmt.Fprintf(&s.turns, "%10s  %s %s\n", sim.Seconds(o.At), sim.MemberName(o.Member), s.trace.Effect(e))
		}
	}
	return nil
}

// toldRuns writes when operations begin, and when what follows them is over.
func (s *script) toldRuns(o *sim.Occurrence) {
	at := fmt.Sprintf("%10s  %s ", sim.Seconds(o.At), sim.MemberName(o.Member))
	for range o.Did(policy.Run) {
		s.turns.WriteString(at + "runs\n")
	}
	switch {
	case !o.On(policy.Finished):
	case o.Event.Denied:
		s.turns.WriteString(at + "does not start\n")
	default:
		s.turns.WriteString(at + "has " + o.Event.Outcome.String() + "\n")
	}
}

// isTurn reports whether an effect is more than a token's daily round.
func isTurn(e *policy.Effect) bool {
	turns := []policy.Note{
		wander.NoteCreated, wander.NoteRegenerated, wander.NoteReplaced, wander.NoteDenied, wander.NoteRemoved,
		wander.NoteMet,
		handoff.NoteNoAck, handoff.NoteNoCommit,
		wander.NoteGaveUp, guardian.NoteUnanswered, wander.NoteYielded, wander.NoteDropped, wander.NoteLeft,
		wander.NoteWaiting,
		guardian.NoteSuspected, wander.NoteRevived, guardian.NoteStoodDown, guardian.NoteDoubting, wander.NoteOvertaken,
		wander.NoteOutdated, soft.NoteSeqRefused, soft.NoteBirthRefused,
	}
	return e.Kind == policy.Run || e.Kind == policy.Stop || e.Kind == policy.Tell && slices.Contains(turns, e.Note)
}

func (s *script) rule(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	r := &rule{left: count(t, d, "count", 1)}
	d.MaybeScanArgs(t, "from", &r.from)
	d.MaybeScanArgs(t, "to", &r.to)
	d.ScanArgs(t, "kind", &r.kind)
	switch d.Cmd {
	case "lose":
		r.fate.Lose = true
	case "twice":
		r.fate.Copies = 1
	case "late":
		r.fate.Delay = span(t, d, "by", 0)
	}
	s.rules = append(s.rules, r)
}

// decide is the network of a script.
func (s *script) decide(m *wire.Message) sim.Fate {
	s.listen(m)
	for _, r := range s.rules {
		if r.left > 0 && (r.kind == "" || r.kind == wander.Kinds().Of(m.Kind).Name) &&
			(r.from == "" || r.from == sim.MemberName(sim.IndexOf(m.From))) &&
			(r.to == "" || r.to == sim.MemberName(sim.IndexOf(m.To))) {
			r.left--
			return r.fate
		}
	}
	return sim.Fate{}
}

func (s *script) listen(m *wire.Message) {
	i := slices.IndexFunc(s.heard, func(h handedOver) bool { return h.token.Exchange == m.Exchange })
	switch {
	case m.Kind == handoff.KindToken && i < 0:
		s.heard = append(s.heard, handedOver{token: *m})
	case m.Kind == handoff.KindCommit && i >= 0:
		s.heard[i].commit = *m
	}
}

func (s *script) play(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	h := s.heard[count(t, d, "handoff", 1)-1]
	s.c.Inject(h.token)
	s.c.After(50*time.Millisecond, func() { s.c.Inject(h.commit) })
}

// hand makes a member that is down pass a token on, as its machine would.
func (s *script) hand(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	var to, from string
	d.ScanArgs(t, "to", &to)
	d.ScanArgs(t, "from", &from)
	giver := s.c.ID(s.member(t, d, from))
	born := s.c.Now().Add(span(t, d, "born", 0))
	descriptor := wander.Descriptor()
	offer := wire.Message{
		Gate: wire.GateIDOf("default"), Protocol: descriptor.ID, Version: descriptor.Version, Kind: handoff.KindToken,
		From: giver, To: s.c.ID(s.member(t, d, to)),
		Exchange: wire.Exchange(sim.Mix(uint64(s.c.Now()))),
		Token: wire.Ref{
			ID:  wire.TokenID{Birth: sim.Epoch + int64(born), Generator: giver, Random: sim.Mix(uint64(born))},
			Seq: wire.Seq(count(t, d, "seq", 1)),
		},
	}
	s.c.Intercept(func(m *wire.Message) sim.Fate {
		if m.Kind == handoff.KindAck && m.Exchange == offer.Exchange {
			commit := handoff.Reply(m, handoff.KindCommit, m.Nonce)
			descriptor.Stamp(&commit)
			s.c.After(2*s.world.Network.Latency, func() { s.c.Inject(commit) })
			s.c.Intercept(s.decide)
		}
		return s.decide(m)
	})
	s.c.Inject(offer)
}

// forge makes a member offer a token that does not exist. Its own machine does not know of that.
func (s *script) forge(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	var to, from string
	d.ScanArgs(t, "to", &to)
	d.ScanArgs(t, "from", &from)
	var seq uint64
	d.ScanArgs(t, "seq", &seq)
	born := s.c.Now().Add(span(t, d, "born", 0))
	s.c.Forge(s.member(t, d, from), s.member(t, d, to), sim.Epoch+int64(born), wire.Seq(seq))
}

func (s *script) status() string {
	var b strings.Builder
	for i := range s.c.Members() {
		if !s.c.Up(i) {
			fmt.Fprintf(&b, "%s is down\n", sim.MemberName(i))
			continue
		}
		st := Detail(s.c, i)
		fmt.Fprintf(&b, "%s %s: %v", sim.MemberName(i), st.Phase, st.Why)
		if st.Holding {
			fmt.Fprintf(&b, "; holds %s", s.trace.Token(st.Token))
		}
		if st.HasRun {
			fmt.Fprintf(&b, "; ran %s", sim.Seconds(st.LastRun))
		}
		if st.HasRun && st.NextRun < policy.Never {
			fmt.Fprintf(&b, ", due %s", sim.Seconds(st.NextRun))
		}
		fmt.Fprintf(&b, "; regenerates after %v", st.RegenerateAfter)
		if st.RegenerateArmed {
			fmt.Fprintf(&b, ", at %s", sim.Seconds(st.RegenerateAt))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func span(t *testing.T, d *datadriven.TestData, name string, otherwise time.Duration) time.Duration {
	t.Helper()
	var text string
	d.MaybeScanArgs(t, name, &text)
	if text == "" {
		return otherwise
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%s: %v", name, err)
	}
	return v
}

func count(t *testing.T, d *datadriven.TestData, name string, otherwise int) int {
	t.Helper()
	d.MaybeScanArgs(t, name, &otherwise)
	return otherwise
}
