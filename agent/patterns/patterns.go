// Package patterns has gates that come into being when somebody names them.
//
// A pattern is a gate whose name ends with a star. Every host that has the pattern is a member of all gates that match
// it, from the time at which the host has joined the fleet: only the machine of such a gate is made when the gate is
// first named here, or when the first message of it comes, and is forgotten a while after nobody needed it. So the
// first token of such a gate is made like that of any other, once all members have said that they have none.
//
// Its decisions, in docs/decisions: 107.
package patterns

import (
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const (
	// star ends the name of a pattern.
	star = "*"
	// alphabet has the characters of the name of a gate.
	alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-_."
	// MostName is how many characters the name of a gate may have.
	MostName = 64
	// Forgets is how long after its last use a gate on demand is forgotten.
	Forgets = 10 * time.Minute
	// Spared is how long a gate on demand is not forgotten after its last use, although another one needs its place.
	Spared = 10 * time.Second
	// remembered is for how long a larger fleet is remembered.
	remembered = 10 * time.Minute
)

// IsPattern reports whether a name is one of a pattern: it has one star, at its end, after one character at least.
func IsPattern(name string) bool {
	return strings.HasSuffix(name, star) && IsName(strings.TrimSuffix(name, star))
}

// IsName reports whether a name is one of a gate.
func IsName(name string) bool {
	return name != "" && len(name) <= MostName && name != "." && name != ".." && strings.Trim(name, alphabet) == ""
}

// Pattern is a pattern in the configuration of this host. Only the loop uses it.
type Pattern struct {
	Config gate.Config
	// ID is what this member announces: the identity of the pattern as if it were the name of a gate.
	ID wire.GateID
	// most is the largest fleet of late, now is the present one.
	most, now gate.Sight
}

// New returns the patterns among some gates.
func New(gates []gate.Config) (list []*Pattern) {
	for _, c := range gates {
		if IsPattern(c.Name) {
			list = append(list, &Pattern{Config: c, ID: wire.GateIDOf(c.Name)})
		}
	}
	return list
}

// Matching returns the longest pattern that a name matches; nil if there is none.
func Matching(list []*Pattern, name string) (best *Pattern) {
	for _, p := range list {
		start := strings.TrimSuffix(p.Config.Name, star)
		if IsName(name) && len(name) > len(start) && strings.HasPrefix(name, start) &&
			(best == nil || len(p.Config.Name) > len(best.Config.Name)) {
			best = p
		}
	}
	return best
}

// Of returns the pattern of a gate; nil if it has none.
func Of(list []*Pattern, id wire.GateID) *Pattern {
	if i := slices.IndexFunc(list, func(p *Pattern) bool { return id != p.ID && id.In(p.ID) }); i >= 0 {
		return list[i]
	}
	return nil
}

// See notes who has the pattern, and reports whether that has changed.
func (p *Pattern) See(now policy.Instant, ids []wire.MemberID) bool {
	if slices.Equal(ids, p.now.Members) {
		return false
	}
	if late := now.Time.Sub(p.now.At.Time) > remembered; len(p.now.Members) >= len(p.most.Members) || late {
		p.most = p.now
	}
	if p.now = (gate.Sight{At: now, Members: ids}); len(ids) >= len(p.most.Members) {
		p.most = p.now
	}
	return true
}

// Gate returns the configuration of a gate of the pattern. Its name may be empty, if only its identity is known.
func (p *Pattern) Gate(id wire.GateID, name string) gate.Config {
	c := p.Config
	if c.Name = name; name == "" {
		c.Name = p.Config.Name + id.String()[4:] // as people see it, until somebody here names it
	}
	c.Pattern, c.ID = p.Config.Name, id
	return c
}

// Sights are what a member knows that had the machine of each gate of the pattern since it has joined the fleet.
func (p *Pattern) Sights() []gate.Sight {
	if p.most.At == p.now.At {
		return []gate.Sight{p.now}
	}
	return []gate.Sight{p.most, p.now}
}
