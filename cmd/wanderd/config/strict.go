package config

import (
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/tree"
)

const (
	// patience is how long an answer of another member of a strict gate may take.
	patience = 200 * time.Millisecond
	// drift bounds how much too fast or too slow a clock may be, as a share.
	drift = 0.01
	// spare is how much longer than necessary a lease is by default, before it is cut to whole seconds.
	spare = 2 * time.Second
	// leastKeep and mostKeep bound keep.
	leastKeep, mostKeep = 10 * time.Second, 24 * time.Hour
	// leastKillAfter is the shortest kill_after of a strict gate.
	leastKillAfter = 100 * time.Millisecond
)

func (g *section) isStrict() bool {
	return g.policy == usual.PolicyRing || g.policy == usual.PolicyTree
}

// strict returns the settings of the gate's protocol; which member has which key is found out later.
func (g *terms) strict() strict.Settings {
	s := strict.Settings{
		Request: g.request, Backups: g.Backups, Lease: g.lease, KillAfter: g.KillAfter, Margin: hook.KillMargin,
		Rho: drift, Patience: patience, Keep: g.Config.Keep, Soak: g.Aftercare.Soak,
		MinInterval: g.MinInterval, RetryAfter: g.RetryAfter, Windows: g.Windows, Once: g.once,
	}
	if g.policy == usual.PolicyTree {
		s.Moves = strict.Tree
	}
	return s
}

// leastLease is the shortest lease that the gate can have: three renewals, kill_after, the kill margin and a round
// trip, on the slowest clock.
func (g *terms) leastLease() time.Duration {
	return ballot.LeastLease(g.KillAfter, hook.KillMargin, patience, drift)
}

func (g *section) defaultStrict() {
	if s := g.Of(&g.lease); !s.IsGiven() {
		g.lease = (g.leastLease() + spare).Truncate(time.Second)
		g.ByRule(&g.lease, s.Rule)
		s.Broken = g.Of(&g.KillAfter).Broken
	}
	if g.isStrict() && !g.Of(&g.Backups).IsGiven() {
		most := max(len(g.Roster)-2, 0)
		if g.policy == usual.PolicyTree {
			most = min(most, tree.MaxBackups)
		}
		if g.Backups > most {
			g.Backups = most
			g.ByRule(&g.Backups, "two less than the roster")
		}
	}
}

// idle returns the settings that have no effect in this gate: those of other policies.
func (g *section) idle() (list []*settings.Setting) {
	without := []any{&g.Roster, &g.request, &g.lease, &g.KillAfter}
	switch {
	case g.isStrict():
		without = []any{&g.Walk, &g.slots, &g.Skip, &g.OnLost, &g.AskBeforeRun, &g.Op, &g.MaxInterval}
	case g.isCall():
		without = append(without, &g.Walk, &g.AskBeforeRun, &g.Op)
	}
	if g.policy == usual.PolicyTree {
		without = append(without, &g.request)
	}
	for _, at := range without {
		list = append(list, g.Of(at))
	}
	return list
}

func (g *section) applying() settings.Table {
	idle := g.idle()
	return slices.DeleteFunc(slices.Clone(g.Table), func(s *settings.Setting) bool { return slices.Contains(idle, s) })
}

// checkPolicy checks the settings that only gates with some policies have.
func (l *Layers) checkPolicy(g *section) {
	if g.isCall() {
		g.checkCall()
	}
	for _, s := range g.idle() {
		if s.Scope != "" && s.IsGiven() && !s.Broken { // it was set for this gate, and not for all
			g.Reject(s, "it has no effect in a gate with policy = %q (%s): leave it out, or set another policy",
				g.policy, g.Of(&g.policy).From())
		}
	}
	if g.isStrict() && g.checkRoster(l.Agent.Name) {
		g.checkLease()
		l.warnOfRoster(g)
	}
	g.checkSlots()
	g.checkKeep()
}

func (g *section) checkRoster(self string) bool {
	s := g.Of(&g.Roster)
	names := slices.Sorted(slices.Values(g.Roster))
	switch {
	case s.Broken:
		return false
	case len(names) == 0:
		g.Complain("%s: a gate with policy = %q needs a roster: list the names of its members, as in roster = "+
			"[\"a\", \"b\", \"c\"], the same on every host",
			g.title(), g.policy)
		return false
	case len(names) > ballot.MaxRoster:
		g.Reject(s, "the roster has %d names, and %d are allowed", len(names), ballot.MaxRoster)
	case !slices.Contains(names, self):
		g.Reject(s, "%q, which is the name of this host, is not in it: add it on every host, choose another name "+
			"with --name, or leave the gate out here", self)
	}
	for i, name := range names[1:] {
		if name == names[i] {
			g.Reject(s, "%q is in it twice: leave one out, two hosts need two names", name)
			break
		}
	}
	return !s.Broken
}

func (g *section) checkLease() {
	if s := g.Of(&g.KillAfter); s.IsSet() && g.KillAfter < leastKillAfter {
		g.Reject(s, "%s is below %s: a command needs some time to end", settings.FormatDuration(g.KillAfter),
			settings.FormatDuration(leastKillAfter))
		return
	}
	least := g.leastLease()
	if s := g.Of(&g.lease); s.IsSet() && g.lease < least {
		g.Object("%s is too short for %s: raise lease to "+
			settings.FormatDuration(least.Round(100*time.Millisecond)+100*time.Millisecond)+
			", or lower kill_after", s, g.Of(&g.KillAfter))
	}
	most := max(len(g.Roster)-2, 0)
	if s := g.Of(&g.Backups); s.IsSet() && g.Backups > most {
		g.Reject(s, "%d is too many for a roster of %d: at most %d, which is two less", g.Backups, len(g.Roster), most)
	}
}

// warnOfRoster warns of rosters that tolerate fewer failures than others: "A roster of two cannot lose anybody: warn."
func (l *Layers) warnOfRoster(g *section) {
	list := strings.Join(g.Roster, ", ")
	switch n := len(g.Roster); {
	case n == 1:
		l.warn("%s: the roster has one member (%s): nobody takes over when it fails; list three", g.title(), list)
	case n == 2:
		l.warn("%s: the roster has two members (%s): neither runs while the other one is away; three can lose one",
			g.title(), list)
	case n%2 == 0:
		l.warn("%s: the roster has %d members (%s): it can lose %d, as one of %d can", g.title(), n, list, (n-1)/2, n-1)
	}
}
