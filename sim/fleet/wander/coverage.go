package wander

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Coverage counts what has occurred, over any number of runs. It is a [sim.Watcher]. The zero value has seen nothing.
type Coverage struct {
	counts [classesEnd][mostOfAClass]uint64
	// named counts the parameters, and the cases that [situations] lists, by name.
	named map[string]uint64
	// suspicions has each member's last question since its start, in the present run. patience is the guardians'.
	suspicions map[int]suspicion
	patience   time.Duration
}

// mostOfAClass bounds the number of things in a class.
const mostOfAClass = 256

// class is a class of things that other packages number.
type class uint8

const (
	classOccurrence class = iota
	classEvent
	classMessage
	classEffect
	classNote

	classesEnd
)

// pieceClass begins the names of pieces, among all that can occur.
const pieceClass = "piece "

// situations are the deadlines of machines that have no note of their own, and the cases of rules and faults that are
// neither an occurrence nor a note. A situation that is counted under another name shows as missing in every hunt.
func situations() []string {
	return append([]string{
		"timer Token is repeated", "timer Ack is repeated", "timer token has rested", "timer min_interval is over",
		"timer nobody needs a member that leaves", "timer heartbeat", "timer Ask is repeated", "timer no answer came",
		"timer Inquiry is repeated",
		"timer a save takes too long",
		"case a holder gets a younger token", "case a holder gets an older token", "case an older token during a run",
		"case a token chases an older one", "case a lap is over", "case a member was missed",
		"case restart after a run",
		"case crash between two effects", "case cut in one direction", "case woken too early",
		"case a guardian that never held it",
		"case a guardian is released", "case a guardian calms another", "case revived by a higher rank",
		"case revived when all had answered", "case revived where one is held", "case revived, and removed",
		"case a handoff ends with an Ask", "case a holder is sure again", "case a holder is corrected",
		"case an overtaken run is stopped", "case an overtaken run finishes", "case a holder hears nothing",
		"case a holder is not heard",
		"case datagrams take longer than a skip", "case runs longer than max_interval", "case runs longer than op says",
		"case max_interval shorter than a lap",
	}, standingCases()...)
}

// standingCases are the names of faults that stay, in the order of [Standing].
func standingCases() []string {
	return []string{
		"case one stays deaf", "case one stays mute", "case two parts stay apart", "case pairs stay broken",
		"case nothing arrives for long",
		"case one link stays cut", "case one disk stays slow",
	}
}

// Drew counts what a seed draws: the pieces, and the parameters that are not zero.
func (v *Coverage) Drew(seed uint64) {
	s, pieces := draw(seed)
	for _, name := range pieces {
		v.count(pieceClass + name)
	}
	v.patience = wander.Patience(s.Skip)
	s.each(func(name string, value reflect.Value) { v.when(!value.IsZero(), "parameter "+name) })
	v.when(s.Network.Latency > s.Skip, "case datagrams take longer than a skip")
	v.when(s.Hook.Longest() > s.MaxIntervalInForce(), "case runs longer than max_interval")
	v.when(s.Hook.Takes > 5*s.Op, "case runs longer than op says")
	v.when(0 < s.MaxInterval && s.MaxInterval < s.lap(), "case max_interval shorter than a lap")
	if s.Standing != NothingStands {
		v.count(standingCases()[s.Standing-OneIsDeaf])
	}
}

func (v *Coverage) count(what string) {
	if v.named == nil {
		v.named = map[string]uint64{}
	}
	v.named[what]++
}

func (v *Coverage) when(is bool, what string) {
	if is {
		v.count(what)
	}
}

// Watch implements [sim.Watcher].
func (v *Coverage) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	v.counts[classOccurrence][o.Kind]++
	v.when(o.Kind == sim.Cut && o.OneWay, "case cut in one direction")
	if o.Kind == sim.Came {
		delete(v.suspicions, o.Member)
	}
	if o.Kind == sim.Stepped {
		v.step(o)
		v.walk(c, o)
		v.guard(c, o)
		// Count holders while the network works in one direction only.
		if hears, isHeard := c.Hears(o.Member), c.IsHeard(o.Member); !(hears && isHeard) && o.Completes() &&
			c.Status(o.Member).Holding {
			v.when(!hears, "case a holder hears nothing")
			v.when(!isHeard, "case a holder is not heard")
		}
	}
	return nil
}

// walk counts the cases of a walk that goes round. A member that is due has not run under a token lately.
func (v *Coverage) walk(c *sim.Cluster, o *sim.Occurrence) {
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Send && e.Msg.Kind == handoff.KindToken:
			route := wander.RouteOf(&e.Msg.Load)
			v.when(route.Lap > 0, "case a lap is over")
			v.when(route.Tries[0] > 0, "case a member was missed")
		case e.Kind == policy.Tell && e.Note == wander.NoteRemoved && o.Completes():
			s := c.Status(o.Member)
			v.when(!s.HasRun || s.NextRun <= o.At, "case a token chases an older one")
		}
	}
}

func (v *Coverage) step(o *sim.Occurrence) {
	v.counts[classEvent][o.Event.Kind]++
	if o.On(policy.Received) {
		v.counts[classMessage][o.Event.Msg.Kind]++
	}
	v.when(o.On(policy.Started) && o.Event.State.HasRun, "case restart after a run")
	v.when(o.On(policy.Woke) && !o.Due, "case woken too early")
	v.when(!o.Completes(), "case crash between two effects")
	for i := range o.Effects {
		e := &o.Effects[i]
		v.counts[classEffect][e.Kind]++
		if e.Kind == policy.Tell {
			v.counts[classNote][e.Note]++
		}
		if o.Due {
			v.wake(o.Effects, i)
		}
	}
	v.meeting(o)
}

// wake counts the timer that the i-th effect of a wake-up gives away.
func (v *Coverage) wake(effects []policy.Effect, i int) {
	e := &effects[i]
	offers := i > 0 && effects[i-1].Note == handoff.NoteOffered
	switch {
	case e.Kind == policy.Send && e.Msg.Kind == handoff.KindToken && !offers:
		v.count("timer Token is repeated")
	case e.Kind == policy.Send && e.Msg.Kind == handoff.KindAck:
		v.count("timer Ack is repeated")
	case e.Kind == policy.Save && i == 0:
		v.count("timer min_interval is over")
	case e.Kind != policy.Tell:
	case e.Note == wander.NoteDenied:
		v.count("timer a save takes too long")
	case e.Note == wander.NoteLeft:
		v.count("timer nobody needs a member that leaves")
	case e.Note == handoff.NoteOffered && i == 0:
		v.count("timer token has rested")
	}
}

// meeting counts which of two tokens survives, and where. A member that gets an older token during a run saves that it
// now runs under that one.
func (v *Coverage) meeting(o *sim.Occurrence) {
	var arrived wire.TokenID
	met, younger := false, false
	for e := range o.Did(policy.Tell) {
		switch {
		case e.Note == wander.NoteArrived:
			arrived = e.Token.ID
		case e.Note == wander.NoteMet:
			met, younger = true, e.Token.ID == arrived
		}
	}
	saves := o.Does(policy.Save)
	v.when(met && younger, "case a holder gets a younger token")
	v.when(met && !younger && saves, "case an older token during a run")
	v.when(met && !younger && !saves, "case a holder gets an older token")
}

// Add adds the counts of another coverage.
func (v *Coverage) Add(o *Coverage) {
	for class := range v.counts {
		for i, n := range o.counts[class] {
			v.counts[class][i] += n
		}
	}
	if v.named == nil {
		v.named = map[string]uint64{}
	}
	for what, n := range o.named {
		v.named[what] += n
	}
}

// Counted is how often something occurred.
type Counted struct {
	What  string
	Times uint64
}

// Counts returns everything that can occur, by class, with its count.
func (v *Coverage) Counts() []Counted {
	var all []Counted
	named := func(what string) { all = append(all, Counted{what, v.named[what]}) }
	numbered := func(c class, what string, i int) { all = append(all, Counted{what, v.counts[c][i]}) }
	new(Scenario).each(func(name string, _ reflect.Value) {
		// Papers on other protocols assume the first two, and a soft gate does without them. The third is for tests
		// that give directives themselves, the fourth for those that know when a host is back. Only hunts of their own
		// have a core, or gates that run once for all.
		switch name {
		case "Network.FIFO", "Membership.Perfect", "Operators.Scripted", "Hook.Reboots.Exactly", "Core.Of",
			"Core.Stays", "Operators.Once":
		default:
			named("parameter " + name)
		}
	})
	for _, p := range pieces() {
		named(pieceClass + p.name)
	}
	for k := sim.Stepped; k <= sim.Healed; k++ {
		numbered(classOccurrence, "occurrence "+k.String(), int(k))
	}
	for k := policy.Started; k <= policy.Woke; k++ {
		numbered(classEvent, "event "+k.String(), int(k))
	}
	for _, k := range wander.Kinds() {
		numbered(classMessage, "message "+k.Name, int(k.Kind))
	}
	for _, what := range situations() {
		named(what)
	}
	for k := policy.Save; k <= policy.Gone; k++ {
		if k != policy.Extend { // The end of a soft gate's grant is never put off, because there is none.
			numbered(classEffect, "effect "+k.String(), int(k))
		}
	}
	for _, n := range wander.Descriptor().Notes {
		// A token is too many only where members have stayed away for a minute: a seed in some ten thousand.
		if n.Note != wander.NoteRetired {
			numbered(classNote, "note "+n.Name, int(n.Note))
		}
	}
	return all
}

// Pieces returns how many scenarios had each of the rare pieces, by name.
func (v *Coverage) Pieces() []Counted {
	var all []Counted
	for _, p := range pieces() {
		all = append(all, Counted{p.name, v.named[pieceClass+p.name]})
	}
	return all
}

// Missing returns the names of what has never occurred.
func (v *Coverage) Missing() []string {
	var missing []string
	for _, c := range v.Counts() {
		if c.Times == 0 {
			missing = append(missing, c.What)
		}
	}
	return missing
}

// String returns one line for each thing that can occur, with its count.
func (v *Coverage) String() string {
	var b strings.Builder
	for _, c := range v.Counts() {
		fmt.Fprintf(&b, "%-36s %d\n", c.What, c.Times)
	}
	return b.String()
}

// suspicion is the token of a guardian's last question.
type suspicion struct {
	token wire.Ref
	trail guardian.Trail
}

// guard counts the cases of guardians.
func (v *Coverage) guard(c *sim.Cluster, o *sim.Occurrence) {
	if o.Event.Kind == policy.Received && !handoff.Owns(o.Event.Msg.Kind) && o.Expected {
		v.word(c, o)
	}
	if o.Due {
		v.guardWake(o)
	}
	for e := range o.Did(policy.Tell) {
		v.guardNote(c, o, e)
	}
}

// word counts what became of expected messages between holder and guardians.
func (v *Coverage) word(c *sim.Cluster, o *sim.Occurrence) {
	m, self := &o.Event.Msg, c.ID(o.Member)
	first := &policy.Effect{}
	if len(o.Effects) > 0 {
		first = &o.Effects[0]
	}
	trail := guardian.TrailOf(&m.Load)
	answered := m.Exchange != 0 && m.Kind != guardian.KindAsk
	switch {
	case m.Kind == guardian.KindHeartbeat && first.Kind == 0 && trail.Has(self) &&
		c.Status(o.Member).Token.ID != m.Token.ID:
		v.count("case a guardian that never held it")
	case m.Kind == guardian.KindHeartbeat && first.Kind == policy.Send:
		v.count("case a holder is corrected")
	case m.Kind == guardian.KindKnown && m.Exchange == 0 && first.Kind == 0:
		v.count("case a guardian is released")
	case m.Kind == guardian.KindHeard && first.Kind == 0 && v.calmed(o):
		v.count("case a guardian calms another")
	case answered && first.Kind == policy.Send && first.Msg.Kind == guardian.KindHeartbeat:
		v.count("case a holder is sure again")
	}
}

// calmed reports whether an answer has put a guardian off: it brings no new number, but another guardian has heard the
// holder within the patience.
func (v *Coverage) calmed(o *sim.Occurrence) bool {
	m := &o.Event.Msg
	asked, ok := v.suspicions[o.Member]
	return ok && m.Token.Seq <= asked.token.Seq && time.Duration(m.Nonce) < v.patience
}

// guardWake counts the timers of holders, guardians, and members that ask before they make a token.
func (v *Coverage) guardWake(o *sim.Occurrence) {
	asks := false
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Send && e.Msg.Kind == guardian.KindHeartbeat && i == 0:
			v.count("timer heartbeat")
		case e.Kind == policy.Send && e.Msg.Kind == guardian.KindAsk && !asks:
			asks = true
			v.count("timer Ask is repeated")
		case e.Kind == policy.Send && e.Msg.Kind == wander.KindInquiry && !asks:
			asks = true
			v.count("timer Inquiry is repeated")
		case e.Kind != policy.Tell:
		case e.Note == guardian.NoteSuspected || e.Note == guardian.NoteDoubting || e.Note == guardian.NoteUnanswered ||
			e.Note == wander.NoteInquired:
			asks = true
		case e.Note == wander.NoteRevived:
			v.count("timer no answer came")
		}
	}
}

func (v *Coverage) guardNote(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) {
	switch {
	case e.Note == guardian.NoteSuspected:
		if v.suspicions == nil {
			v.suspicions = map[int]suspicion{}
		}
		v.suspicions[o.Member] = suspicion{token: e.Token, trail: asks(o, e.Token.ID)}
	case e.Note == guardian.NoteDoubting || e.Note == guardian.NoteUnanswered:
		delete(v.suspicions, o.Member)
	case e.Note == wander.NoteRevived:
		v.revived(c, o)
	case e.Note == handoff.NoteNoCommit && o.Event.Kind == policy.Received && o.Event.Msg.Kind == guardian.KindAsk:
		v.count("case a handoff ends with an Ask")
	case e.Note == wander.NoteOvertaken && o.Completes() && c.Status(o.Member).Why == wander.WhyRunning:
		v.when(o.Does(policy.Stop), "case an overtaken run is stopped")
		v.when(!o.Does(policy.Stop), "case an overtaken run finishes")
	}
}

// revived counts the rank of a guardian that revives a token, the reason, and the token that it meets.
func (v *Coverage) revived(c *sim.Cluster, o *sim.Occurrence) {
	asked := v.suspicions[o.Member]
	rank, _ := asked.trail.Rank(c.ID(o.Member))
	v.when(rank > 0, "case revived by a higher rank")
	v.when(o.On(policy.Received), "case revived when all had answered")
	for e := range o.Did(policy.Tell) {
		v.when(e.Note == wander.NoteMet, "case revived where one is held")
		v.when(e.Note == wander.NoteRemoved, "case revived, and removed")
	}
}
