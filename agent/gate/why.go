package gate

import (
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Around is what an agent knows beyond the gate that concerns the gate's status.
type Around struct {
	// Alone is true if this agent sees no other member, and waits for one. OtherSecret is the address of a host that
	// seems to have another secret; empty if there is none.
	Alone       bool
	OtherSecret string
	// CutOff is true if no other member of the gate answers datagrams of this host.
	CutOff bool
}

// situation is what decides why a gate does not run here: its status with the report of its machine, and what only the
// shell knows.
type situation struct {
	gate *control.Gate
	now  time.Time
	// bar is what, as the machine reports, keeps the gate from running.
	bar policy.Bar
	// alone, otherSecret and cutOff are as in [Around]; alone only while no token is here.
	alone       bool
	otherSecret string
	// down is who is down, if that keeps the gate from running; putOff is why its run was put off.
	down   string
	putOff string
	cutOff bool
	// stage is which earlier stage holds up the gate's own operation, if one does.
	stage string
	// leaving is true if the gate was told to leave; unwanted is true if it runs on demand and no caller waits. started
	// is when the agent started.
	leaving, unwanted bool
	// wanted is true if a caller waits with a command, for which this host needs no ready check. beside is true if the
	// gate has an operation of its own beside.
	wanted, beside bool
	// since are times before which this gate could not wait for the token: the start of the agent, the end of the
	// interval after the last run, the opening of the window, the end of the last pause, and the time of the host's
	// yes.
	since []time.Time
}

func (s *situation) closed() bool { return len(s.gate.Windows) > 0 && !s.gate.WindowOpen }

// why returns the reason why a gate does not run here, and completes "not running because …"; both are empty if there
// is none. The first reason that holds is reported. What an operator has directed comes before times, and times come
// before what is broken, because a broken disk matters only when a run is due. The words are the machine's, unless only
// the shell knows the reason.
func (s *situation) why() (code control.Because, text string) {
	g := s.gate
	said, unready := g.NotRunning, s.notReady()
	switch {
	case g.State == control.Closed:
		return control.BecauseFault, said
	case s.leaving:
		return control.BecauseLeaving, said
	case s.bar == policy.BarPaused:
		return control.BecausePaused, said
	case g.State == control.Agreeing, s.bar == policy.BarNoMajority:
		return control.BecauseNoMajority, said
	case s.unwanted:
		return control.BecauseUnwanted, said
	case s.closed():
		return control.BecauseWindow, said
	case g.NextRun.After(s.now) && !s.callersWait():
		return control.BecauseNotDue, said
	case s.down != "":
		return control.BecauseDown, s.down
	case s.putOff != "":
		return control.BecauseOthers, s.putOff
	case unready != "":
		return control.BecauseNotReady, unready
	case s.stage != "" && !s.wanted:
		return control.BecauseStage, s.stage
	case g.SaveError != "":
		return control.BecauseDisk, "due, but the start of a run cannot be recorded: " + g.SaveError
	case !g.SavingSince.IsZero() && s.now.Sub(g.SavingSince) > slowDisk:
		return control.BecauseDisk, "due, but the disk is slow or hangs, and the start of a run cannot be recorded"
	case s.alone && s.otherSecret != "":
		return control.BecauseOtherSecret, "sees no other member, and " + s.otherSecret +
			" seems to have another secret: all members need the same --secret-file"
	case s.alone:
		return control.BecauseAlone, said
	case !g.Holding && s.cutOff:
		return control.BecauseUnreachable, "due, but no other member answers the datagrams of this host: " +
			"no token can come; see the warnings"
	case !g.Holding:
		return control.BecauseWaiting, said
	}
	return "", ""
}

// callersWait reports whether a caller waits with a command for which min_interval does not count, and something else
// keeps it from running.
func (s *situation) callersWait() bool {
	return s.beside && s.wanted && (s.down != "" || s.putOff != "")
}

// slowDisk is how long a save may take before it is the reason.
const slowDisk = time.Second

func (s *situation) explain() {
	code, text := s.why()
	if text == "" {
		return
	}
	s.gate.NotRunning, s.gate.Because = text, code
	if code == control.BecauseWaiting || code == control.BecauseUnreachable {
		s.wait()
	}
}

// notReady describes the last answer of the ready check. The next run is reported as if the answer were a yes.
func (s *situation) notReady() string {
	r := s.gate.Ready
	switch {
	case r == nil || r.Counts || s.wanted:
		return ""
	case r.Answer == control.AnswerNo:
		return saidNo
	case r.Answer == control.AnswerError:
		return hasFailed + r.Error
	case !r.AskingSince.IsZero():
		return "due, and ready is being asked"
	}
	return "due, and ready is asked next"
}

// wait sets for how long the gate has been waiting for the token, and for how many laps.
func (s *situation) wait() {
	for _, at := range s.since {
		if at.After(s.gate.DueSince) {
			s.gate.DueSince = at
		}
	}
	if lap := time.Duration(s.gate.Lap); lap > 0 {
		s.gate.LapsWaited = s.now.Sub(s.gate.DueSince).Seconds() / lap.Seconds()
	}
}

func (g *Gate) situation(s *control.Gate, bar policy.Bar, facts []policy.Fact, around *Around) *situation {
	now := time.Unix(0, g.env.Clock.Now().Wall)
	return &situation{
		gate: s, now: now, bar: bar, leaving: g.exit.left || g.exit.removed,
		down:     g.down.why(g),
		stage:    g.watch.Why(time.Now()),
		putOff:   g.deferral.Why(g.env.Clock.Now().Time),
		unwanted: g.cfg.OnDemand() && len(s.Callers) == 0,
		wanted:   g.callers.command() >= 0, beside: !g.cfg.OnDemand(), since: g.dueSince(facts),
		alone: around.Alone && !s.Holding, otherSecret: around.OtherSecret, cutOff: around.CutOff,
	}
}

// dueSince returns the times before which a gate could not wait for the token.
func (g *Gate) dueSince(facts []policy.Fact) []time.Time {
	list := []time.Time{g.env.Started}
	for i := range facts {
		if f := &facts[i]; f.Key == policy.KeyIntervalEnds || f.Key == policy.KeyWindowOpened {
			list = append(list, g.env.Clock.At(f.At))
		}
	}
	switch o := g.machine.Newest(); {
	case o.Stamp == 0 || o.Until == wire.ForEver:
	case o.Until == 0:
		list = append(list, time.UnixMilli(int64(o.Stamp)))
	default:
		list = append(list, time.Unix(0, o.Until))
	}
	if here := g.machine.Here(); here != 0 && here != wire.ForEver {
		list = append(list, time.Unix(0, here))
	}
	if g.cfg.asks() && g.callers.command() < 0 {
		list = append(list, g.asking.yesSince)
	}
	if at := g.callers.waitingSince(); g.cfg.OnDemand() {
		list = append(list, at)
	}
	return list
}
