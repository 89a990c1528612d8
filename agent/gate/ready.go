package gate

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/downcount"
	"github.com/wanderd/wanderd/policy/ready"
	"github.com/wanderd/wanderd/wire"
)

// The ready check asks whether this host needs a run of the gate's hook. It runs while the token is elsewhere, so that
// no token waits for the answer: see package ready. Like the hook, it is a process of its own with a guard: nothing is
// left of it when its time is over, or when this process has died.

// readyGrace is how long a ready check may take from SIGTERM to SIGKILL.
const readyGrace = time.Second

// asking is the ready check of one gate. Only the loop uses it.
type asking struct {
	ready.Question
	// run is its process, and begun when that began; nil if there is none.
	run   *launch
	begun time.Time
	// said is the last answer, at when it came, and why what was wrong with it. answers counts the answers.
	said control.Answer
	at   time.Time
	why  string
	// yesSince is when the latest unbroken row of answers "yes" began; zero if the last answer was another.
	yesSince time.Time
	answers  map[string]uint64
}

// noAnswers returns a count of zero for each answer: an alert sees a count rise only if the count was there before.
func noAnswers() map[string]uint64 {
	return map[string]uint64{string(control.AnswerYes): 0, string(control.AnswerNo): 0, string(control.AnswerError): 0}
}

// asks reports whether this host has a ready check at all.
func (g *Config) asks() bool { return len(g.Ready) > 0 && !g.OnDemand() }

// isReady reports whether this host's answer allows the hook to run.
func (g *Gate) isReady(now policy.Time) bool { return !g.cfg.asks() || g.asking.Ready(now) }

// askAt returns when this host has to be asked next.
func (g *Gate) askAt(now policy.Time) policy.Time {
	if !g.cfg.asks() || g.run != nil || g.exit.leaving {
		return policy.Never
	}
	due := policy.Never
	if m, ok := g.machine.Machine.(policy.Askable); ok {
		due = m.DueAt(now)
	}
	if g.callers.ownPlace() >= 0 && !g.machine.Paused() {
		due = now
	}
	g.asking.Timeout, g.asking.Again = g.cfg.ReadyTimeout, g.cfg.ReadyAgain
	return g.asking.AskAt(due)
}

// tellReady tells the machine whether this host is ready. It runs before each step, so no machine relies on a yes that
// is too old.
func (g *Gate) tellReady(now policy.Time) {
	if m, ok := g.machine.Machine.(policy.Askable); ok {
		callers := mayStart(g)
		g.down.told = !callers
		m.SetReady(callers && mayRun(g, now), callers)
	}
}

// mayStart reports whether nothing but the answer of this host keeps a run from starting here.
func mayStart(g *Gate) bool {
	return g.down.why(g) == "" && g.deferral.Why(g.env.Clock.Now().Time) == ""
}

// considerAsking starts the ready check if it is time.
func (g *Gate) considerAsking() {
	if now := g.env.Clock.Now().Time; g.askAt(now) > now {
		return
	}
	q := &g.asking
	q.Ask()
	q.run, q.begun = &launch{}, time.Now()
	run, spec := q.run, hook.Spec{
		Argv: g.cfg.Ready, Env: hook.Environ(os.Environ(), g.environment()...), Question: true,
		Limits: hook.Limits{Timeout: g.cfg.ReadyTimeout, Grace: readyGrace},
		Log:    hookLog{g.log.With().Bool("ready", true).Logger()},
	}
	go func() {
		result := stoppedBefore()
		if !run.isStopped() {
			result = run.await(g.env.Start(spec))
		}
		g.env.Ended <- func() { g.onAnswered(&result) }
	}()
}

// unask ends a ready check whose answer is no longer wanted, and forgets its earlier answers.
func (q *asking) unask() {
	q.Used()
	if q.run != nil {
		q.run.Stop()
	}
}

func (g *Gate) onAnswered(r *hook.Result) {
	q := &g.asking
	said := answerIn(r)
	q.run = nil
	if q.Answer(g.env.Clock.Now().Time, said == control.AnswerYes) {
		g.hear(said, r)
	}
	g.tellDue()
	g.event.Kind = policy.Woke
	g.step()
}

// answerIn returns the answer in the result of a ready check: status 0 is yes, 75 is no, and everything else an error.
func answerIn(r *hook.Result) control.Answer {
	return map[policy.Outcome]control.Answer{
		policy.Succeeded: control.AnswerYes, policy.NotNow: control.AnswerNo, policy.Failed: control.AnswerError,
	}[outcomeOf(r)]
}

// hear counts an answer, logs it if it is new, and tells it to the callers that wait for a run of the hook.
func (g *Gate) hear(said control.Answer, r *hook.Result) {
	q := &g.asking
	news := said != q.said
	q.said, q.at, q.why = said, time.Now(), ""
	switch {
	case said != control.AnswerYes:
		q.yesSince = time.Time{}
	case q.yesSince.IsZero():
		q.yesSince = q.at
	}
	q.answers[string(said)]++
	level := zerolog.DebugLevel
	if news {
		level = zerolog.InfoLevel
	}
	switch said {
	case control.AnswerYes:
		g.log.WithLevel(level).Msg("ready: the hook is needed")
		return
	case control.AnswerNo:
		g.log.WithLevel(level).Dur("ask_again", g.cfg.ReadyAgain).Msg("ready said 75: the hook is not needed now")
		g.refuseOwn(&UnreadyError{Text: saidNo, Exit: r.Status()})
		return
	case control.AnswerError:
	}
	q.why = strings.Join(append([]string{r.Err.Error()}, lastOf(r.Tail)...), ": ")
	g.log.Error().Err(r.Err).Dur("ask_again", g.cfg.ReadyAgain).Msg("ready has failed, so the hook does not run")
	g.refuseOwn(&UnreadyError{Text: hasFailed + q.why, Exit: r.Status()})
}

// The answers of a host, in words.
const (
	saidNo    = "ready said 75: not needed now"
	hasFailed = "ready has failed: "
)

// UnreadyError is why a hook that a caller waits for does not run.
type UnreadyError struct {
	Text string
	// Exit is the exit status of the ready check.
	Exit uint8
}

func (e *UnreadyError) Error() string { return e.Text }

// lastOf returns the last of some lines, if there is one.
func lastOf(lines []string) []string { return lines[max(len(lines)-1, 0):] }

// refuseOwn tells the callers that wait for a run of the hook that it does not run.
func (g *Gate) refuseOwn(why error) {
	if at := g.callers.ownPlace(); at >= 0 {
		g.callers.take(at).refuse(why)
	}
}

// readyStatus returns what is known of the ready check.
func (g *Gate) readyStatus(now policy.Time) *control.Ready {
	if !g.cfg.asks() {
		return nil
	}
	q := &g.asking
	s := &control.Ready{Answer: q.said, At: q.at, Error: q.why, Counts: q.Ready(now), Answers: maps.Clone(q.answers)}
	if q.Asking() {
		s.AskingSince = q.begun
	} else if next := g.askAt(now); next < policy.Never {
		s.Next = g.env.Clock.At(max(next, now))
	}
	return s
}

// down are the other members that are down, as far as this one knows: those that have failed, and one whose grant is
// kept while it is away. While too many are, this member is not ready, for its own operation and for callers: the token
// passes by.
type down struct {
	failed []Peer
	// told is true if the machine was told that no run may start.
	told bool
	// lookAt is when the view is looked at again: a member that was forgotten, or has left after all, changes no view.
	lookAt time.Time
}

// lookAgain is how long a list of failed members counts.
const lookAgain = time.Minute

// look finds out who has failed. In a strict gate that is whoever of the roster is not here, and not forgotten.
func (d *down) look(g *Gate) {
	if d.failed, d.lookAt = nil, time.Now().Add(lookAgain); g.cfg.MaxDown.Of(1) == 0 {
		return
	}
	if g.roster == nil {
		d.failed = slices.DeleteFunc(g.env.Fleet.Away(g.id), func(p Peer) bool { return p.Left })
		return
	}
	for _, v := range g.roster.known.Voters {
		if _, live := g.env.Fleet.Lookup(g.id, v.ID); !live && v.ID != g.env.Self && !g.env.Fleet.IsForgotten(v.ID) {
			d.failed = append(d.failed, Peer{ID: v.ID, Name: v.Name})
		}
	}
}

// count counts who is down.
func (d *down) count(g *Gate) downcount.Down {
	k := &g.state.Kept
	known := slices.ContainsFunc(d.failed, func(p Peer) bool { return p.ID == k.Holder })
	n := downcount.Down{
		Members: g.members + len(d.failed), Failed: len(d.failed), Slots: 1,
		Kept: k.Is() && k.Holder != g.env.Self && !known && !g.env.Fleet.IsForgotten(k.Holder),
	}
	_, n.Here = g.env.Fleet.Lookup(g.id, k.Holder)
	if g.roster != nil {
		n.Members = len(g.roster.names)
	}
	if several, ok := g.machine.Machine.(policy.Slotted); ok {
		n.Slots = several.Slots()
	}
	return n
}

// names says who is down, and why.
func (d *down) names(g *Gate, n *downcount.Down) (list []string) {
	k := &g.state.Kept
	for i := range d.failed {
		why := "failed"
		if g.roster != nil {
			why = "not here"
		}
		if k.Holder == d.failed[i].ID {
			why = "away, its grant is kept"
		}
		list = append(list, d.failed[i].Name+" ("+why+")")
	}
	if n.Kept && !n.Here {
		list = append(list, g.nameOf(k.Holder)+" (its grant is kept)")
	}
	if n.Slots > 1 {
		list = append(list, fmt.Sprintf("%d that may run under the other tokens", n.Slots-1))
	}
	return list
}

// why returns why no run may start here because others are down; empty if one may.
func (d *down) why(g *Gate) string {
	n := d.count(g)
	if !g.cfg.MaxDown.Bars(&n) {
		return ""
	}
	return fmt.Sprintf("too many are down (max_down = %v, which is %d here): %s", g.cfg.MaxDown,
		g.cfg.MaxDown.Of(n.Members), strings.Join(d.names(g, &n), ", "))
}

// LookAround looks again who is down, and who holds this member up: members were forgotten, or are back.
func LookAround(g *Gate) {
	g.down.lookAround(g)
	lookAtStages(g, true)
}

// Absent returns the member of the roster with that name that is not here.
func Absent(g *Gate, name string) (wire.MemberID, bool) {
	if g.roster == nil {
		return wire.MemberID{}, false
	}
	v, known := g.roster.voter(name)
	_, live := g.env.Fleet.Lookup(g.id, v.ID)
	return v.ID, known && !live && v.ID != g.env.Self
}

// lookAround looks who is down. If a run may start again, the machine reconsiders.
func (d *down) lookAround(g *Gate) {
	was := d.why(g)
	d.look(g)
	switch is := d.why(g); {
	case (is == "") == (was == ""):
		return
	case is == "":
		g.log.Info().Msg("no longer too many are down: a run may start")
	default:
		g.log.Warn().Msg(is + "; no run starts here")
	}
	g.event.Kind = policy.Woke
	g.step()
}
