package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A strict gate has a roster: names, the same on all of its members. Each name stands for a key, and all members must
// count the same keys: with two hosts called b, {a, b} and {b, c} would be two majorities without a common member. So
// the members agree on the roster once:
//
//   - A name is bound to the first key that answers to it, and stays bound: the binding is saved.
//   - A member that has a key for each name declares names and keys to all (a hash, in what it announces of itself).
//     Before that, it has saved that any former roster is over for it.
//   - When all members of the roster have declared the same, that is saved, and the gate takes part. From then on a
//     majority is enough.
//
// A member counts in one roster at a time. A roster may differ from the one that was last agreed on by one name or one
// key, so any majority of the one has a member of every majority of the other.

// electorate is the roster of one gate on its way from names to members. Only the loop uses it. A gate without a roster
// has a nil electorate.
type electorate struct {
	env  *Env
	gate wire.GateID
	name string
	log  *zerolog.Logger
	// gather is called when a save has ended, after which the agreement may go on.
	gather func()
	// names are the names in the configuration, in order.
	names []string
	// known is the newest state, and saved the state on the disk. saving is true while a save is under way; err is why
	// the last save failed.
	known, saved statedir.Roster
	saving       bool
	err          error
	// said is what the log last reported of the roster.
	said []string
}

// CheckRoster returns what is wrong with a gate's roster, by what the state directory knows. self is this member.
func CheckRoster(dir *statedir.Dir, self policy.Voter, cfg *Config) error {
	_, err := electorateOf(dir, self, cfg)
	return err
}

// electorateOf returns what a state directory knows of a gate's roster.
func electorateOf(dir *statedir.Dir, me policy.Voter, cfg *Config) (*electorate, error) {
	if len(cfg.Roster) == 0 {
		return nil, nil
	}
	e := &electorate{names: slices.Sorted(slices.Values(cfg.Roster))}
	saved, err := dir.LoadRoster(cfg.Name)
	if err != nil {
		return nil, err
	}
	e.saved, e.known = saved, saved
	named := func(v policy.Voter, name string) bool { return v.Name == name }
	if !saved.Agreed || !slices.EqualFunc(saved.Voters, e.names, named) {
		e.begin(me)
	}
	if v, ok := e.voter(me.Name); !ok || v.ID != me.ID {
		return nil, fmt.Errorf("gate %q knows %q by the key of %s, and this host has another one, that of %s: "+
			"give it its node key back; or take the name out of the roster on all hosts, "+
			"and put it back when they have agreed without it, with %s removed here",
			cfg.Name, me.Name, v.ID.Short(), me.ID.Short(), dir.RosterPath(cfg.Name))
	}
	if changed := e.changed(); len(changed) > 1 {
		return nil, fmt.Errorf("the roster of gate %q was agreed on as (%s) and is now (%s): "+
			"change one name at a time on all hosts, and wait until \"wanderd status\" says that all agree (%s); "+
			"or stop the gate on all hosts, and on each of them remove %s and run \"wanderd gate reset %s "+
			"--all-stopped\"; only a host that the roster was without in between does that alone", cfg.Name,
			strings.Join(namesOf(e.known.Former), ", "), e.list(), strings.Join(changed, " "),
			dir.RosterPath(cfg.Name), cfg.Name)
	}
	return e, nil
}

// begin forgets the names that the configuration no longer has, and with them any former agreement.
func (e *electorate) begin(me policy.Voter) {
	if e.known.Agreed {
		e.known.Former, e.known.Agreed = e.known.Voters, false
	}
	var voters []policy.Voter
	for _, name := range e.names {
		for _, from := range [][]policy.Voter{e.known.Voters, e.known.Former, {me}} {
			if v, ok := find(from, name); ok {
				voters = append(voters, v)
				break
			}
		}
	}
	e.known.Voters = voters
}

// changed lists the differences between the configured roster and the one that was last agreed on.
func (e *electorate) changed() (changes []string) {
	if e.known.Agreed || len(e.known.Former) == 0 {
		return nil
	}
	for _, name := range e.names {
		if v, bound := e.voter(name); !bound || !slices.Contains(e.known.Former, v) {
			changes = append(changes, "+"+name)
		}
	}
	for _, v := range e.known.Former {
		if !slices.Contains(e.known.Voters, v) {
			changes = append(changes, "-"+v.Name)
		}
	}
	return changes
}

func (e *electorate) voter(name string) (policy.Voter, bool) { return find(e.known.Voters, name) }

func find(voters []policy.Voter, name string) (policy.Voter, bool) {
	for _, v := range voters {
		if v.Name == name {
			return v, true
		}
	}
	return policy.Voter{}, false
}

func (e *electorate) isSaved() bool {
	return !e.saving && e.saved.Agreed == e.known.Agreed && slices.Equal(e.saved.Voters, e.known.Voters) &&
		slices.Equal(e.saved.Former, e.known.Former)
}

func (e *electorate) isComplete() bool { return len(e.known.Voters) == len(e.names) }

// hash returns what members declare: eight bytes of a SHA-256 hash of names and keys, and never a protocol.
func (e *electorate) hash() uint64 {
	h := sha256.New()
	for _, v := range e.known.Voters {
		_, _ = fmt.Fprintf(h, "%d\x00%s", len(v.Name), v.Name)
		_, _ = h.Write(v.ID[:])
	}
	return max(binary.BigEndian.Uint64(h.Sum(nil)), mostProtocol+1)
}

// gather advances the agreement as far as the view allows, and lets the gate take part once there is one.
func (g *Gate) gather() {
	defer g.contain()
	if g.roster == nil {
		return
	}
	g.roster.advance()
	if u, waits := g.machine.Machine.(*notConfigured); waits {
		u.why = "waits for its roster: " + cmp.Or(strings.Join(g.roster.troubles(), "; "), "it is being saved")
		if g.roster.isInForce() && !g.exit.leaving {
			g.takePart()
		}
	}
}

// isInForce reports whether all members have agreed, and the agreement is saved.
func (e *electorate) isInForce() bool { return e.known.Agreed && e.isSaved() && e.env.Moved == "" }

// advance goes on towards an agreement as far as the view allows.
func (e *electorate) advance() {
	here := e.env.Moved == ""
	if !e.known.Agreed && here {
		e.bind()
	}
	e.save()
	if e.isComplete() && e.isSaved() && here {
		e.env.Fleet.Declare(e.gate, e.hash())
		if !e.known.Agreed && e.allDeclare() {
			e.known.Agreed, e.known.Former = true, nil
			e.save()
		}
	}
	e.tell()
}

// bind looks for the keys of the names that have none.
func (e *electorate) bind() {
	for _, name := range e.names {
		if _, bound := e.voter(name); bound {
			continue
		}
		if id, why := e.keyOf(name); why == "" {
			voters := append(slices.Clone(e.known.Voters), policy.Voter{Name: name, ID: id})
			slices.SortFunc(voters, func(x, y policy.Voter) int { return cmp.Compare(x.Name, y.Name) })
			e.known.Voters = voters
			e.log.Info().Str("name", name).Str("key", id.String()).
				Msg("from now on this key has that name of the roster")
		}
	}
}

// keyOf returns the key for a name of a roster for which this host has none yet. It is the key of the first live member
// of the gate that has the name and is not bound to another name: ssh(1) accepts the key of an unknown host in the same
// way. With trust = known_hosts, such a member has a key that the file gives to the name. If two members have the name,
// neither counts; why is what is missing.
func (e *electorate) keyOf(name string) (id wire.MemberID, why string) {
	var called []Peer
	for _, m := range e.env.Fleet.Members(e.gate) {
		otherwise := slices.ContainsFunc(e.known.Voters, func(v policy.Voter) bool {
			return v.ID == m.ID && v.Name != name
		})
		if m.Name == name && m.InGate && !otherwise {
			called = append(called, m)
		}
	}
	switch len(called) {
	case 0:
		return id, fmt.Sprintf("%s was never seen", name)
	case 1:
		return called[0].ID, ""
	}
	return id, fmt.Sprintf("two members are called %s: %s at %s and %s at %s; give one of them another name", name,
		called[0].ID.Short(), called[0].Addr, called[1].ID.Short(), called[1].Addr)
}

// allDeclare reports whether every member of the roster is here, and has declared the roster that this one has.
func (e *electorate) allDeclare() bool {
	hash := e.hash()
	return !slices.ContainsFunc(e.known.Voters, func(v policy.Voter) bool {
		m, ok := e.env.Fleet.Lookup(e.gate, v.ID)
		return v.ID != e.env.Self && (!ok || m.Declared != hash)
	})
}

// save begins a save of the newest state, unless it is saved or one is under way.
func (e *electorate) save() {
	if e.saving || e.isSaved() {
		return
	}
	e.saving = true
	newest := e.known
	go func() {
		err := e.env.Disk.SaveRoster(e.name, newest)
		e.env.Ended <- func() { e.onSaved(newest, err) }
	}()
}

// onSaved ends a save. A save that has failed is repeated with the next view.
func (e *electorate) onSaved(newest statedir.Roster, err error) {
	e.saving, e.err = false, err
	if err != nil {
		e.log.Error().Err(e.err).Msg("cannot save the roster of the gate, which takes no part until that is done")
		return
	}
	e.saved = newest
	e.gather()
}

// takePart lets a gate take part.
func (g *Gate) takePart() {
	g.log.Info().Strs("roster", g.roster.names).Msg("all members of the roster agree on it; this one takes part")
	g.machine.Machine = g.cfg.Protocol.Machine(g.machineEnv())
	g.event.Kind, g.event.State = policy.Started, g.state
	g.step()
	g.event.Kind = policy.PeersChanged
	g.event.Peers, g.event.TokenKnown = g.protocols.peers(g.env, g.id, &g.log)
	g.callers.told = false
	g.step()
}

func namesOf(voters []policy.Voter) (names []string) {
	for _, v := range voters {
		names = append(names, v.Name)
	}
	return names
}

// troubles returns why a roster is not agreed on, or what else is wrong with it; nothing if all is well.
func (e *electorate) troubles() (list []string) {
	switch {
	case e == nil:
		return nil
	case e.env.Moved != "":
		return []string{e.env.Moved}
	}
	if e.err != nil {
		list = append(list, e.err.Error())
	}
	declares, members := e.isComplete() && e.isSaved(), e.env.Fleet.Members(e.gate)
	for _, name := range e.names {
		v, bound := e.voter(name)
		if !bound {
			_, why := e.keyOf(name)
			list = append(list, why)
			continue
		}
		for _, m := range members {
			if m.Name == name && m.ID != v.ID && m.InGate {
				list = append(list, fmt.Sprintf("%s at %s is not the %s of the roster: "+
					"it has the key of %s, and not that of %s; it does not count",
					name, m.Addr, name, m.ID.Short(), v.ID.Short()))
			}
		}
		if v.ID == e.env.Self {
			continue
		}
		m, live := e.env.Fleet.Lookup(e.gate, v.ID)
		switch {
		case !live && !e.known.Agreed:
			list = append(list, name+" has to agree, and is away")
		case !live || !declares:
		case m.Declared == 0:
			if !e.known.Agreed {
				list = append(list, name+" has to agree, and does not know all keys yet")
			}
		case m.Declared <= mostProtocol:
			list = append(list, fmt.Sprintf("%s at %s has no roster in this gate, but the protocol %s: it does not "+
				"count; configure the same policy on all hosts", name, m.Addr, declaredName(m.Declared)))
		case m.Declared != e.hash():
			list = append(list, fmt.Sprintf("%s at %s has another roster than this host (%s): it does not count; "+
				"configure the same names on all, and compare the keys in \"wanderd status\"", name, m.Addr, e.list()))
		}
	}
	for _, m := range members {
		if m.InGate && !slices.Contains(e.names, m.Name) {
			list = append(list, fmt.Sprintf("%s at %s takes part in the gate, and is not in its roster (%s): "+
				"it does not count", m.Name, m.Addr, e.list()))
		}
	}
	return list
}

func (e *electorate) list() string { return strings.Join(e.names, ", ") }

// tell logs what is wrong with a roster, when that has changed.
func (e *electorate) tell() {
	troubles := e.troubles()
	for _, text := range troubles {
		if !slices.Contains(e.said, text) {
			e.log.Warn().Msg(text)
		}
	}
	e.said = troubles
}

// describe describes the roster for operators.
func (e *electorate) describe() (list []control.Voter) {
	if e == nil {
		return nil
	}
	for _, name := range e.names {
		v, bound := e.voter(name)
		if !bound {
			list = append(list, control.Voter{Name: name})
			continue
		}
		m, live := e.env.Fleet.Lookup(e.gate, v.ID)
		list = append(list, control.Voter{
			Name: name, Member: v.ID.String(), Self: v.ID == e.env.Self, Live: live,
			Agrees: live && e.isComplete() && m.Declared == e.hash(),
		})
	}
	return list
}

// notConfigured stands in for the machine of a strict gate until its roster is known and agreed on. It sends nothing,
// accepts nothing and runs nothing.
type notConfigured struct{ why string }

var _ policy.Machine = (*notConfigured)(nil)

func (u *notConfigured) Step(_ policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if ev.Kind == policy.Leave {
		out = append(out, policy.Effect{Kind: policy.Gone})
	}
	return out
}

func (u *notConfigured) NextWake() (policy.Time, bool)                        { return policy.Never, false }
func (u *notConfigured) Expects(*wire.Message) bool                           { return false }
func (u *notConfigured) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }
func (u *notConfigured) String() string                                       { return control.Agreeing }

func (u *notConfigured) Status(policy.Time) policy.Status {
	return policy.Status{Phase: u.String(), Why: u.why, NextRun: policy.Never}
}
