// Package kcopies keeps the token of any ring algorithm alive although members crash: Arantes and Sopena, "Easily
// rendering token-ring algorithm fault tolerant" (k-copies), and its earlier form, "Mais valem k + 1 tokens voando do
// que um na mão" (Mais valem). Sections and figure 2 are those of k-copies; the lines of figure 2 have the numbers of
// Mais valem.
//
// "Whenever the node that holds the token grants it to its direct successor by sending a <TOKEN> message, the former
// also transparently sends a copy of such a message to k successors of the latter in the ring." (section 1)
//
//	        S_i                S_i+1       S_i+2       …  S_i+k+1
//	SafeSendToken ── TOKEN ──▶ REAL        BACKUP         BACKUP       <TOKEN, S_T = S_i+1, count>
//	 NONE, D = {}              D={S_i+1}   D={S_i+1,S_i+2}  D={S_i+1 … S_i+k+1}
//
// A member with a copy watches the members before it, back to the holder: the detection sets D are nested. If all
// watched members have crashed, its copy becomes the token. The token survives k crashes in a row, and more that are
// not in a row. Messages may arrive in any order.
//
// What an owner does:
//
//   - [New] is Initialisation: one member holds the token, its k successors have copies. [NewObject] begins without an
//     object, for requests and claims: a member makes the object later with [Machine.Issue].
//   - [Machine.SafeSendToken] passes the token and its copies on. If the real token goes by a handoff, the owner calls
//     [Machine.Hop] for what the handoff carries, [Machine.Hopped] when the sender gives the token up, and
//     [Machine.Arrived] where the token arrives.
//   - [Machine.Receive] and [Machine.Suspect] take a message and the detector's view. The [Outcome] is their
//     result.
//   - Delivered and Regenerated are the paper's DeliverToken. After Regenerated the owner first does its UpdateToken:
//     Crashed is the paper's #(D) − 1.
//   - MayRegenerate is a question to the owner: this member would regenerate the token. The owner calls
//     [Machine.UseBackup] at once (the papers' perfect detector), or later, or never; until then the token stays
//     BACKUP.
//   - The owner emits Took and Gave, because not every object is a token of its gate.
//
// Figure 2 lacks these rules; each was found by running it as printed. Only a BACKUP becomes REAL by UseBackup.
// Suspecting a member that is not in D has no effect (otherwise a holder with D = {S_i} that hears of any crash would
// deliver the token twice). D is {S_i} after UseBackup, as in k-copies (Mais valem leaves it unchanged).
//
// The package needs members that know the same ring in the same order, k ≤ N − 2, messages that are not lost, and a
// detector that never suspects a living member. Without such a detector, the owner's answer to MayRegenerate takes its
// place.
//
// Files: kcopies.go (variables and Initialisation), send.go, receive.go, suspect.go, backup.go (the functions of figure
// 2), message.go (the TOKEN message), note.go. Package application has what is common to the applications. Package
// proof has the appendix's properties as checks, package survival the study of k. Packages lelann, martin, misra,
// election and transpeer are the paper's applications: machines that run by themselves. Package beyond has the sets of
// tokens that do not go round a ring.
//
// Its decisions, in docs/decisions: 066.
package kcopies

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Site is S_i: a member, given by its place in the ring, from 0.
type Site uint16

// Config configures one token of a ring.
type Config struct {
	Gate wire.GateID
	// Ring is Π in ring order, N members: the same at all of them, shared, and never changed.
	Ring []wire.MemberID
	// Self is S_i.
	Self Site
	// K is the number of crashes in a row that the token survives: 0 to N − 2. "Let k (k < N − 1), which is known to
	// every process, be the maximum number of consecutive faulty processes in the ring" (section 2).
	K int
	// Backwards reverses the ring: the successor of S_i is S_i−1.
	Backwards bool
	// ID names the token on every hop. If it is zero, the token has the ID of the last token that was made: see
	// IssueAs.
	ID wire.TokenID
}

// Token is the paper's token_Si.
type Token uint8

const (
	// None "when S_i holds neither a REAL nor a BACKUP token" (section 2.1).
	None Token = iota
	// Backup: S_i "maintains a valid copy of the token".
	Backup
	// Real: "S_i has the right to use the token (token holder)".
	Real
)

// String returns the paper's word.
func (t Token) String() string {
	return policy.Name([]string{None: "NONE", Backup: "BACKUP", Real: "REAL"}, t)
}

// Machine is one member's part for one token. It is a plain value.
type Machine struct {
	cfg *Config
	// count "is used to avoid that a site considers an old <TOKEN> message as a valid one" (section 2.1).
	count wire.Seq
	id    wire.TokenID
	token Token
	// monitors is true if D is not empty. Then D = {S_T … S_i}, "the set of processes between S_T and S_i in the ring
	// increasing order, including both sites".
	monitors bool
	st       Site
	// live is the complement of F, "the set of processes that S_i has detected to be faulty": see Suspect. It is nil
	// while F is empty.
	live []wire.MemberID
	// data is what the copy carries while the token is BACKUP.
	data Data
}

// New is Initialisation (lines 3–15), with any first holder in place of S_0: the first holder, its k successors with
// copies, and the others. cfg is kept, and must not change.
func New(cfg *Config, first Site, data Data) Machine {
	m := NewObject(cfg)
	switch d := cfg.Distance(first, cfg.Self); {
	case d == 0: // lines 6–8
		m.token, m.monitors, m.st = Real, true, first
	case d <= cfg.K: // lines 9–11
		m.token, m.monitors, m.st, m.data = Backup, true, first, data
	}
	return m
}

// NewObject returns the machine of an object that is not made yet: "the initialisation function of our algorithm
// ensures the presence of k + 1 copies of the token but not of the requests" (section 3.1).
func NewObject(cfg *Config) Machine { return Machine{cfg: cfg, id: cfg.ID} }

// Config returns the configuration of the token.
func (m *Machine) Config() *Config { return m.cfg }

// Issue makes the object here, without copies yet, with a count of at least the given one. No other member may hold it.
func (m *Machine) Issue(count wire.Seq) {
	m.count = max(m.count, count)
	m.become(Real, m.cfg.Self)
}

// IssueAs is Issue under another name. The configured ID must be zero.
func (m *Machine) IssueAs(token *wire.Ref) {
	m.id = token.ID
	m.Issue(token.Seq)
}

// isNamed reports whether a token with the given ID can be this token.
func (m *Machine) isNamed(id wire.TokenID) bool { return m.cfg.ID.IsZero() || m.cfg.ID == id }

// Lose drops the real token, which is here, because a newer one exists.
func (m *Machine) Lose() { m.becomeNone() }

// become sets token_Si and D = {S_T … S_i}.
func (m *Machine) become(t Token, st Site) { m.token, m.monitors, m.st = t, true, st }

// becomeNone empties D, too (lines 19–20).
func (m *Machine) becomeNone() { m.token, m.monitors = None, false }

// Token returns token_Si.
func (m *Machine) Token() Token { return m.token }

// Count returns count_Si.
func (m *Machine) Count() wire.Seq { return m.count }

// Ref names the token as this member knows it.
func (m *Machine) Ref() wire.Ref { return m.ref(m.count) }

func (m *Machine) ref(count wire.Seq) wire.Ref {
	return wire.Ref{ID: m.id, Seq: count}
}

// Monitored returns S_T if D = {S_T … S_i}; ok is false if D is empty.
func (m *Machine) Monitored() (st Site, ok bool) { return m.st, m.monitors }

// D returns #(D).
func (m *Machine) D() int {
	if !m.monitors {
		return 0
	}
	return m.cfg.Distance(m.st, m.cfg.Self) + 1
}

// String returns one line for traces.
func (m *Machine) String() string {
	if !m.monitors {
		return fmt.Sprintf("%v count %d", m.token, m.count)
	}
	return fmt.Sprintf("%v count %d D={S%d…S%d}", m.token, m.count, m.st, m.cfg.Self)
}

// Distance is the number of hops from one site to another, 0 to N − 1.
func (c *Config) Distance(from, to Site) int {
	if c.Backwards {
		from, to = to, from
	}
	d := int(to) - int(from)
	if d < 0 {
		d += len(c.Ring)
	}
	return d
}

// After returns the site that comes the given number of hops, 0 to N, after s.
func (c *Config) After(s Site, hops int) Site {
	if c.Backwards {
		hops = len(c.Ring) - hops
	}
	return Site((int(s) + hops) % len(c.Ring))
}

// Successor is S_i+1.
func (c *Config) Successor() Site { return c.After(c.Self, 1) }

// Outcome is the result of a call. A call writes to the caller's variable only if it has a result.
type Outcome struct {
	Ending Ending
	// Token and Data come with Delivered and Regenerated.
	Token wire.Ref
	Data  Data
	// Crashed comes with Regenerated: #(D) − 1, the number of crashed members before this one, from S_T on.
	Crashed int
}

// Ending is the result of a call.
type Ending uint8

const (
	// Pending: there is no result for the owner.
	Pending Ending = iota
	// MayRegenerate: this member would regenerate the token, because all others in D have crashed. See UseBackup.
	MayRegenerate
	// Delivered: the real token has come (line 28).
	Delivered
	// Regenerated: a copy has become the real token (lines 41 and 42).
	Regenerated
)

func (m *Machine) deliver(how Ending, data *Data, end *Outcome) {
	end.Ending, end.Token, end.Data, end.Crashed = how, m.Ref(), *data, 0
}

// tell appends a note about the token as it is here.
func (m *Machine) tell(note policy.Note, peer wire.MemberID, out []policy.Effect) []policy.Effect {
	ref := m.Ref()
	return policy.AppendTell(out, note, peer, &ref)
}

// Tell writes into a status which member holds the token, as far as this member knows.
func (m *Machine) Tell(s *policy.Status) {
	s.Holding, s.Token = m.token == Real, m.Ref()
	if m.monitors {
		s.Holder = m.cfg.Ring[m.st]
	}
}
