package config

import (
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/policy/call"
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
		Windows: g.Windows, Backups: g.Backups, OnLost: g.OnLost, Slots: g.Slots, Keep: g.Config.Keep,
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
	case !g.isStrict() && g.Slots > 1:
		g.Object("%s and %s: grants that outlive their hosts need a gate with one token", s, g.Of(&g.Slots))
	case !g.isStrict() && g.Backups == 0:
		g.Object("%s and %s: grants that outlive their hosts need guardians, which keep them", s, g.Of(&g.Backups))
	}
}

const adviceWander = "set policy = \"" + usual.PolicyWander + "\" for it on all hosts"
