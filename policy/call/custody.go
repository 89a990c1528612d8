package call

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
)

// state is what a member does.
//
//	state     token   ends with
//	absent    no      a token that arrives
//	resting   yes     a waiter; this member being due
//	asking    yes     a Heard: before a run the holder must hear a home
//	saving    yes     a Saved; half a patience
//	running   yes¹    the end of the protected operation
//	offering  yes     an Ack; the handoff's patience
//	gone      no      nothing: the member has left
//
// ¹ unless it was given up during the run, because another copy has a higher number or another token is older.
type state uint8

const (
	absent state = iota
	resting
	asking
	saving
	running
	offering
	gone
)

func (s state) String() string {
	return [...]string{
		absent: "absent", resting: "resting", asking: "asking", saving: "saving", running: "running",
		offering: "offering", gone: "gone",
	}[s]
}

// mayBecome reports whether one state may follow another.
func (s state) mayBecome(next state) bool {
	switch next {
	case running:
		return s == saving
	case gone:
		return s == absent
	case absent, resting, asking, saving, offering:
	}
	return s != gone
}

// custody is what a member holds and what it does with that.
type custody struct {
	state state
	// holding is true while this member holds token. Otherwise token is the last one that it held. grants is true if a
	// run follows the state saving. leaving is true while this member is stopping.
	holding, grants, leaving bool
	// kept is true if the grant outlives its host, resumed if it has done so: see keep.go. asksKeep is true while the
	// homes are asked to keep it, before it is saved; late, if some of them have not answered for a while.
	kept, resumed, asksKeep, late bool
	// until is when saving ends. deniedUntil is until when this member does not want a run, because one was denied.
	until, deniedUntil policy.Time
	token              guardian.Token
}

func (c *custody) in(s state) bool { return c.state == s }
func (c *custody) holds() bool     { return c.holding }

// keeps reports whether this member has a kept grant.
func (c *custody) keeps() bool { return c.kept && c.holding && !c.asksKeep }

// granting reports whether the start of a run is being saved.
func (c *custody) granting() bool { return c.state == saving && c.grants }

// held returns the token that this member holds, or nil.
func (c *custody) held() *guardian.Token {
	if !c.holding {
		return nil
	}
	return &c.token
}

func (c *custody) become(next state) {
	if !c.state.mayBecome(next) {
		panic(fmt.Sprintf("call: a member that is %v cannot become %v", c.state, next))
	}
	c.state = next
}

// wakesAt is when the state ends by itself.
func (c *custody) wakesAt() policy.Time {
	if c.state == saving {
		return c.until
	}
	return policy.Never
}
