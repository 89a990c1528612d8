package config

import (
	"fmt"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/downcount"
	"github.com/wanderd/wanderd/wire"
)

const (
	// policyRule is the default of a gate's policy. Hooks are due by themselves, so a token that goes round finds work
	// wherever it comes; commands come from anywhere at any time.
	policyRule = usual.PolicyWander + " with a hook, " + usual.PolicyCall + " without one"
	// callMaxRule is the default of max_interval in a gate on call.
	callMaxRule = "the longer of 3 × min_interval and 60 × skip"
)

func (g *section) isCall() bool { return g.policy == usual.PolicyCall }

// call returns the settings of a gate on call.
func (g *terms) call() call.Settings {
	return call.Settings{
		Skip: g.Skip, MinInterval: g.MinInterval, RetryAfter: g.RetryAfter, MaxInterval: g.MaxInterval,
		Windows: g.Windows, Backups: g.Backups, OnLost: g.OnLost, Slots: g.slots.Count, SlotsShare: g.slots.Percent,
		Keep: g.Config.Keep, Soak: g.Aftercare.Soak,
	}
}

// defaultPolicy chooses the policy of a gate for which no person has chosen one.
func (g *section) defaultPolicy(hasHook bool) {
	if !g.Of(&g.policy).IsGiven() {
		rule := "without a hook"
		if g.policy = usual.PolicyCall; hasHook {
			g.policy, rule = usual.PolicyWander, "with a hook"
		}
		g.ByRule(&g.policy, rule)
	}
	if g.isCall() {
		g.Of(&g.MaxInterval).Rule = callMaxRule
	}
}

// checkCall checks what a gate on call cannot do, also if it is set for all gates.
func (g *section) checkCall() {
	if s := g.Of(&g.Backups); s.IsSet() && g.Backups == 0 {
		g.Reject(s, "a gate with policy = %q needs a guardian, which queues the callers: set 1 or more, or %s",
			usual.PolicyCall, adviceWander)
	}
}

// mostSlots is how many hosts may run at once, at most.
func (g *terms) mostSlots() int {
	if g.slots.Percent > 0 {
		return wire.MaxSlots
	}
	return g.slots.Count
}

// parseSlots reads how many hosts may run at once: a number, or a share of the members.
func parseSlots(text string) (downcount.Limit, error) {
	l, err := downcount.Parse(text)
	if err != nil || l.Percent == 0 && (l.Count < 1 || l.Count > wire.MaxSlots) {
		return downcount.Limit{}, fmt.Errorf("%q is neither a number from 1 to %d nor a share from 1%% to 100%%", text,
			wire.MaxSlots)
	}
	return l, nil
}

// checkSlots checks a share of the members as the number of hosts that may run at once.
func (g *section) checkSlots() {
	s, down := g.Of(&g.slots), g.Of(&g.MaxDown)
	switch {
	case s.Broken || g.isStrict():
	case down.Broken || g.MaxDown == downcount.Limit{}:
	case g.slots.Percent > g.MaxDown.Percent:
		g.Reject(down, "hosts that may run at once count as down, so nobody could run with %s: give a share of %d%% "+
			"at least", s.Quote(), g.slots.Percent)
	case g.MaxDown.Count > 0 && g.MaxDown.Count < g.slots.Count:
		g.Reject(down, "nobody could run: with slots = %d as many hosts may run at once, and they count as down: at "+
			"least %d", g.slots.Count, g.slots.Count)
	}
}

// checkKeep checks how long grants outlive their hosts.
func (g *section) checkKeep() {
	s, keep := g.Of(&g.Config.Keep), g.Config.Keep
	if o := g.Of(&g.keepOver); g.keepOver == keepStandStill && o.Scope != "" && keep == 0 && !o.Broken {
		g.Reject(o, "it has no effect without keep: set keep, as in keep = \"15m\", or leave it out")
	}
	switch {
	case keep == 0 || s.Broken:
	case keep < leastKeep:
		g.Reject(s, "%s is too short for a host to go down and come up: at least %s, or leave it out",
			settings.FormatDuration(keep), settings.FormatDuration(leastKeep))
	case keep > mostKeep:
		g.Reject(s, "%s is too long: a host that stays away keeps all others waiting; at most %s",
			settings.FormatDuration(keep), settings.FormatDuration(mostKeep))
	case g.isStrict() && keep < g.lease:
		g.Object("%s is shorter than %s: raise keep", s, g.Of(&g.lease))
	case !g.isStrict() && g.mostSlots() > 1:
		g.Object("%s and %s: grants that outlive their hosts need a gate with one token", s, g.Of(&g.slots))
	case !g.isStrict() && g.Backups == 0:
		g.Object("%s and %s: grants that outlive their hosts need guardians, which keep them", s, g.Of(&g.Backups))
	}
}

const adviceWander = "set policy = \"" + usual.PolicyWander + "\" for it on all hosts"
