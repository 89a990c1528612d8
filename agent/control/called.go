package control

import "time"

// Called is what a member knows of a token that is called, beside where it is. All of it is this member's own
// knowledge: other members may have another view.
type Called struct {
	// Homes are the members that queue callers, as this member chooses them from its own view; it calls the first one
	// first.
	Homes []Guardian `json:"homes"`
	// Queue is who waits; absent if this member is neither home, holder nor guardian, and is told of nobody.
	Queue *Queue `json:"queue,omitempty"`
	// Since is since when this member has been calling the token; absent if it does not. Turn is what a home, or the
	// holder, has answered last; absent if nobody has answered yet.
	Since time.Time `json:"since,omitzero"`
	Turn  *Turn     `json:"turn,omitempty"`
}

// Queue is who waits for a token, as one member knows.
type Queue struct {
	// As is as what this member knows it: [AsHome], [AsHolder] or [AsGuardian].
	As string `json:"as"`
	// Waiters is how many members wait, Oldest at most nine of them, those that have waited longest first.
	Waiters int      `json:"waiters"`
	Oldest  []Waiter `json:"oldest,omitempty"`
}

// As what a member knows who waits. All members call a home, so it knows of all. A holder or guardian knows only of
// those of which homes have told it, and that have called it themselves.
const (
	AsHome     = "home"
	AsHolder   = "holder"
	AsGuardian = "guardian"
)

// Waiter is a member that waits for a token.
type Waiter struct {
	Member string    `json:"member"`
	Name   string    `json:"name"`
	Since  time.Time `json:"since"`
	// Silent is true if the member did not answer lately: the others have their turns first.
	Silent bool `json:"silent,omitempty"`
}

// Turn is a waiting member's place in a queue.
type Turn struct {
	// Member has answered, at a time: a home, or the holder.
	Member string    `json:"member"`
	Name   string    `json:"name"`
	At     time.Time `json:"at"`
	// Before is how many members wait before this one. Held is for how long, at that time, the answering member had
	// known the present holder to have the token; absent if it knew of no holder.
	Before int      `json:"before"`
	Held   Duration `json:"held,omitzero"`
}

// CalledTokens returns what this member knows of each token of a gate that is called; none if the tokens go round.
func (g *Gate) CalledTokens() (list []*Called) {
	if len(g.Tokens) == 0 && g.Called != nil {
		return []*Called{g.Called}
	}
	for i := range g.Tokens {
		if c := g.Tokens[i].Called; c != nil {
			list = append(list, c)
		}
	}
	return list
}
