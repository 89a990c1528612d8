package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/membership"
)

// "wanderd gate renew" makes a new token in place of a lost one, without waiting for max_interval. Two tokens would let
// two hosts run. So all members are asked first, and none may know of a token; a member that is there but does not
// answer may hold it.

// Renew implements [control.Source].
func (s source) Renew(ctx context.Context, renew control.Renew) (control.Renewed, error) {
	var gate string
	err := do(ctx, s.a, func() error {
		g, err := s.a.renewable(renew.Gate)
		if err == nil {
			gate = g.Name()
		}
		return err
	})
	if err != nil {
		return control.Renewed{}, err
	}
	asked, err := s.a.fleet.Status(ctx)
	if err != nil {
		return control.Renewed{}, err
	}
	elsewhere, known := tokensIn(&asked, gate)
	var done control.Renewed
	err = do(ctx, s.a, func() error {
		g, err := s.a.renewable(gate)
		if err != nil {
			return err
		}
		done, err = g.Renew(elsewhere, known)
		return err
	})
	return done, err
}

// renewable returns a gate whose token can be renewed.
func (a *Agent) renewable(name string) (*gate.Gate, error) {
	g, err := a.gateFor(name)
	if err != nil {
		return nil, err
	}
	return g, g.CheckRenewable()
}

// tokensIn returns what the members of a gate know of its tokens. known has an entry for each slot of whose token
// somebody knows. unsure is not empty if a member does not answer: then any slot may have a token.
func tokensIn(f *control.Fleet, gate string) (known map[int]string, unsure string) {
	known = map[int]string{}
	for _, h := range f.Tokens {
		if h.Gate == gate && h.Missing == "" {
			known[h.Slot] = h.Name + " holds it"
		}
	}
	var silent []string
	for i := range f.Members {
		m := &f.Members[i]
		live := m.State == membership.StateAlive.String() || m.State == membership.StateSuspect.String()
		if m.Status == nil {
			if live && slices.Contains(m.Gates, gate) {
				silent = append(silent, m.Name)
			}
			continue
		}
		for k := range m.Status.Gates {
			if g := &m.Status.Gates[k]; g.Name == gate {
				knowsOf(m.Name, g, known)
			}
		}
	}
	if len(silent) > 0 {
		unsure = strings.Join(silent, ", ") +
			" did not answer, and may hold the token: ask again, or stop the agent there first"
	}
	return known, unsure
}

// knowsOf adds to known what a member knows of the tokens of a gate.
func knowsOf(member string, g *control.Gate, known map[int]string) {
	slots := g.Tokens
	if len(slots) == 0 {
		slots = []control.Slot{{State: g.State, Whereabouts: g.Whereabouts}}
	}
	for _, s := range slots {
		switch {
		case s.Holding:
			known[s.Slot] = member + " holds it"
		case s.Keeps && known[s.Slot] == "":
			known[s.Slot] = member + " keeps a copy of it, and revives it if its holder is gone"
		}
	}
}
