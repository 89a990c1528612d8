package wander

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Coverage counts what has occurred, over any number of runs. It is a [sim.Watcher]. The zero value has seen nothing.
type Coverage struct {
	counts [classesEnd][mostOfAClass]uint64
	// suspicions has each member's last question of the present run, since its start; patience is the guardians'.
	suspicions map[int]suspicion
	patience   time.Duration
}

// mostOfAClass bounds the things of a class.
const mostOfAClass = 128

// class is a class of things that can occur.
type class uint8

const (
	// classParameter: a parameter of a scenario that is not zero.
	classParameter class = iota
	classOccurrence
	classEvent
	classMessage
	classTimer
	classCase
	classEffect
	classNote

	classesEnd
)

// timer is a deadline of a machine. Deadlines with a note of their own are left out.
type timer uint8

const (
	timerTokenAgain timer = iota
	timerAckAgain
	timerRested
	timerDue
	timerLinger
	timerBeat
	timerAskAgain
	timerNoAnswer
	timerInquiryAgain
	timerSaveHangs

	timersEnd
)

func (t timer) String() string {
	return [timersEnd]string{
		"Token is repeated", "Ack is repeated", "token has rested", "min_interval is over", "nobody needs a member that leaves", "beat",
		"Ask is repeated", "no answer came", "Inquiry is repeated", "a save takes too long",
	}[t]
}

// situation is a case of a rule or a fault that is neither an occurrence nor a note.
type situation uint8

const (
	caseMetYounger situation = iota
	caseMetOlder
	caseMetOlderInRun
	caseChased
	caseLap
	caseMissed
	caseRestart
	caseMidStep
	caseOneWay
	caseEarlyWake
	caseRecruited
	caseReleased
	caseCalmed
	caseRevivedLater
	caseRevivedAnswered
	caseRevivedMet
	caseRevivedRemoved
	caseRefused
	caseSure
	caseCorrected
	caseOvertakenStops
	caseOvertakenFinishes
	caseDeafHolder
	caseMuteHolder
	caseFarApart
	caseLongRuns
	caseWrongOp
	caseShortMaxInterval
	caseOneIsDeaf
	caseOneIsMute
	caseTwoParts
	caseBrokenPairs
	caseNothingArrives

	casesEnd
)

func (s situation) String() string {
	return [casesEnd]string{
		"a holder gets a younger token", "a holder gets an older token", "an older token during a run", "a token chases an older one",
		"a lap is over", "a member was missed", "restart after a run", "crash between two effects", "cut in one direction",
		"woken too early", "a guardian that never held it", "a guardian is released", "a guardian calms another",
		"revived by a higher rank", "revived when all had answered", "revived where one is held", "revived, and removed",
		"a handoff ends with an Ask", "a holder is sure again", "a holder is corrected", "an overtaken run is stopped",
		"an overtaken run finishes",
		"a holder hears nothing", "a holder is not heard", "datagrams take longer than a skip", "runs longer than max_interval", "runs longer than op says",
		"max_interval shorter than a lap", "one stays deaf", "one stays mute", "two parts stay apart", "pairs stay broken",
		"nothing arrives for long",
	}[s]
}

// Drew counts the parameters of a scenario that are not zero.
func (v *Coverage) Drew(s *Scenario) {
	v.patience = wander.Patience(s.Skip)
	i := 0
	s.each(func(_ string, value reflect.Value) {
		if !value.IsZero() {
			v.counts[classParameter][i]++
		}
		i++
	})
	v.when(s.Network.Latency > s.Skip, caseFarApart)
	v.when(s.Hook.Longest() > s.MaxIntervalInForce(), caseLongRuns)
	v.when(s.Hook.Takes > 5*s.Op, caseWrongOp)
	v.when(0 < s.MaxInterval && s.MaxInterval < s.lap(), caseShortMaxInterval)
	if s.Standing != NothingStands {
		v.counts[classCase][caseOneIsDeaf+situation(s.Standing-OneIsDeaf)]++
	}
}

// when counts a case, if it is one.
func (v *Coverage) when(is bool, which situation) {
	if is {
		v.counts[classCase][which]++
	}
}

// Watch implements [sim.Watcher].
func (v *Coverage) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	v.counts[classOccurrence][o.Kind]++
	v.when(o.Kind == sim.Cut && o.OneWay, caseOneWay)
	if o.Kind == sim.Came {
		delete(v.suspicions, o.Member)
	}
	if o.Kind == sim.Stepped {
		v.step(o)
		v.walk(c, o)
		v.guard(c, o)
		// Holders with a network that works in one direction only.
		if hears, isHeard := c.Hears(o.Member), c.IsHeard(o.Member); !(hears && isHeard) && o.Completes() && c.Status(o.Member).Holding {
			v.when(!hears, caseDeafHolder)
			v.when(!isHeard, caseMuteHolder)
		}
	}
	return nil
}

// walk counts the cases of a walk that goes round. A member that is due has run under no token lately.
func (v *Coverage) walk(c *sim.Cluster, o *sim.Occurrence) {
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Send && e.Msg.Kind == handoff.KindToken:
			route := wander.RouteOf(&e.Msg.Load)
			v.when(route.Lap > 0, caseLap)
			v.when(route.Tries[0] > 0, caseMissed)
		case e.Kind == policy.Tell && e.Note == wander.NoteRemoved && o.Completes():
			s := c.Status(o.Member)
			v.when(!s.HasRun || s.NextRun <= o.At, caseChased)
		}
	}
}

func (v *Coverage) step(o *sim.Occurrence) {
	v.counts[classEvent][o.Event.Kind]++
	if o.On(policy.Received) {
		v.counts[classMessage][o.Event.Msg.Kind]++
	}
	v.when(o.On(policy.Started) && o.Event.State.HasRun, caseRestart)
	v.when(o.On(policy.Woke) && !o.Due, caseEarlyWake)
	v.when(!o.Completes(), caseMidStep)
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

// wake counts the timer that effect i of a wake-up is a sign of.
func (v *Coverage) wake(effects []policy.Effect, i int) {
	e := &effects[i]
	offers := i > 0 && effects[i-1].Note == handoff.NoteOffered
	switch {
	case e.Kind == policy.Send && e.Msg.Kind == handoff.KindToken && !offers:
		v.counts[classTimer][timerTokenAgain]++
	case e.Kind == policy.Send && e.Msg.Kind == handoff.KindAck:
		v.counts[classTimer][timerAckAgain]++
	case e.Kind == policy.Save && i == 0:
		v.counts[classTimer][timerDue]++
	case e.Kind != policy.Tell:
	case e.Note == wander.NoteDenied:
		v.counts[classTimer][timerSaveHangs]++
	case e.Note == wander.NoteLeft:
		v.counts[classTimer][timerLinger]++
	case e.Note == handoff.NoteOffered && i == 0:
		v.counts[classTimer][timerRested]++
	}
}

// meeting counts which of two tokens survives, and where. A member that gets an older token during a run saves that it runs under that one
// now.
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
	v.when(met && younger, caseMetYounger)
	v.when(met && !younger && saves, caseMetOlderInRun)
	v.when(met && !younger && !saves, caseMetOlder)
}

// Add adds what another coverage has seen.
func (v *Coverage) Add(o *Coverage) {
	for class := range v.counts {
		for i, n := range o.counts[class] {
			v.counts[class][i] += n
		}
	}
}

// Counted is how often something occurred.
type Counted struct {
	What  string
	Times uint64
}

// Counts returns all that can occur, by class.
func (v *Coverage) Counts() []Counted {
	var all []Counted
	add := func(c class, label, what string, i int) { all = append(all, Counted{label + what, v.counts[c][i]}) }
	i := 0
	new(Scenario).each(func(name string, _ reflect.Value) {
		// Papers on other protocols assume the first two, a soft gate does without; the third is for tests that give orders themselves.
		if name != "Network.FIFO" && name != "Membership.Perfect" && name != "Operators.Scripted" {
			add(classParameter, "parameter ", name, i)
		}
		i++
	})
	for k := sim.Stepped; k <= sim.Healed; k++ {
		add(classOccurrence, "occurrence ", k.String(), int(k))
	}
	for k := policy.Started; k <= policy.Woke; k++ {
		add(classEvent, "event ", k.String(), int(k))
	}
	for _, k := range wander.Kinds() {
		add(classMessage, "message ", k.Name, int(k.Kind))
	}
	for k := range timersEnd {
		add(classTimer, "timer ", k.String(), int(k))
	}
	for k := range casesEnd {
		add(classCase, "case ", k.String(), int(k))
	}
	for k := policy.Save; k <= policy.Gone; k++ {
		if k != policy.Extend { // A soft gate's grant has no end that could be put off.
			add(classEffect, "effect ", k.String(), int(k))
		}
	}
	for _, n := range wander.Family().Notes {
		add(classNote, "note ", n.Name, int(n.Note))
	}
	return all
}

// Missing returns what has never occurred.
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
