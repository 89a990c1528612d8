package tree

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
)

// custody knows where the tokens are. A regeneration is false if a site has a token, or if one is on its way to a site
// that is up.
type custody struct {
	held []bool
	// flying is how many tokens are on their way to each site.
	flying        []int
	made, falsely int
}

// holder returns the site that has a token, or is to have it next.
func (k *custody) holder() (site int, ok bool) {
	for i := range k.held {
		if k.held[i] || k.flying[i] > 0 {
			return i, true
		}
	}
	return 0, false
}

// Watch follows the tokens.
func (k *custody) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	switch {
	case o.Ends():
		k.held[o.Member], k.flying[o.Member] = false, 0
	case o.Kind == sim.Lost && o.Msg.Kind == tree.KindToken && k.flying[sim.IndexOf(o.Msg.To)] > 0:
		k.flying[sim.IndexOf(o.Msg.To)]--
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Took:
			k.took(o.Member, e)
		case e.Kind == policy.Gave:
			k.held[o.Member] = false
			if to := e.Peer; e.Cause == policy.CausePassed && !to.IsZero() && c.Up(sim.IndexOf(to)) {
				k.flying[sim.IndexOf(to)]++
			}
		}
	}
	return nil
}

func (k *custody) took(site int, e *policy.Effect) {
	if e.Cause == policy.CauseReceived && k.flying[site] > 0 {
		k.flying[site]--
	}
	if e.Cause == policy.CauseMade && e.Token.Seq > 1 {
		k.made++
		if _, there := k.holder(); there {
			k.falsely++
		}
	}
	k.held[site] = true
}
