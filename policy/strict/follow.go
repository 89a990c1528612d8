package strict

import "github.com/wanderd/wanderd/policy"

// inside gives an event to the ring or tree, and follows its effects.
func (g *Machine) inside(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	from := len(out)
	return g.follow(now, from, g.in.Step(now, ev, out))
}

// follow tells the ballot what the ring or tree has done: its effects are out[from:]. The runs and saves of the ring or
// tree are not carried out; its messages get the roster's hash.
func (g *Machine) follow(now policy.Instant, from int, out []policy.Effect) []policy.Effect {
	kept := from
	for i := from; i < len(out); i++ {
		e := &out[i]
		switch e.Kind {
		case policy.Run:
			g.enter()
			continue
		case policy.Save:
			g.recorded = true
			continue
		case policy.Stop:
			if g.turn.state != running {
				continue
			}
		case policy.Send:
			g.stamp(&e.Msg)
		case policy.Took:
			g.hadTurn = false
			if e.Cause == policy.CauseReceived {
				token := e.Token
				took, left := g.in.Inherited()
				out = g.b.Hold(now.Time, &token, took, left, out)
			}
		case policy.Gave:
			if e.Cause == policy.CausePassed {
				g.b.LetGo()
			} else {
				out = g.b.Release(now.Time, out) // the ring or tree has discarded it
			}
		case policy.Gone:
			g.gone = true
		case policy.Extend, policy.PreSign, policy.Announce, policy.Proclaim, policy.Tell:
		}
		if kept < i {
			out[kept] = out[i]
		}
		kept++
	}
	return out[:kept]
}
