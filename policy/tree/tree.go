// Package tree is mutual exclusion on demand: Naimi and Tréhel's tree and queue, with the fair fault-tolerant extension
// of Sopena, Arantes and Sens ("Performance evaluation of a fair fault-tolerant mutual exclusion algorithm"), and with
// Naimi and Tréhel's own recovery for comparison. "Section" and "line" in this package refer to the paper of Sopena,
// Arantes and Sens, and to its Figure 2.
//
// "Naimi-Tréhel's algorithm manages two dynamic structures: (1) a logical tree, where the root is the last node that
// will receive the token among the current requesting ones and (2) a distributed queue of pending token requests."
// (section 1)
//
//	request.go       lines 1–8 and 15–26: ReqCS, ReceiveREQ
//	token.go         lines 9–14, 27–28: ReleaseCS, ReceiveToken; the links on which a token goes
//	commit.go        lines 29–32: ReceiveCommit
//	liveness.go      lines 33–45: TimeoutToken, the question to a predecessor and its answer
//	connection.go    lines 57–59: ReceiveCONNECTION
//	reconnection.go  lines 46–56: TimeoutReconnection; lines 65–69: ReceivePOSITION
//	searchpos.go     lines 39–43, 60–64: SEARCH_POS
//	searchqueue.go   lines 70–76, 77–88: SEARCH_QUEUE, and the election by logical clock
//	regenerate.go    lines 47–49: may I regenerate?
//	baseline.go      section 3: CONSULT, FAILURE, ELECTION, ELECTED
//	body.go          what the messages carry, byte by byte
//
// Figure 2 as printed hangs, and closes cycles. The rules that it lacks are numbered (i) to (vii). The code that
// follows a rule quotes it:
//
//	(i)   An idle holder has a position. A token that comes without a COMMIT gives a position, and next is told at
//	      once.
//	(ii)  A predecessor counts as alive only with a position smaller than mine. A site that has left the queue is no
//	      predecessor.
//	(iii) The answer to the liveness question tells whether I am next. A site that was bypassed searches.
//	(iv)  After SEARCH_QUEUE, the found site's next is asked before it is displaced: the next may only lack its
//	      position.
//	(v)   A site that has no position for several TokenTimers starts SEARCH_QUEUE.
//	(vi)  Requests are numbered. A token for a site that no longer wants it goes on to its next.
//	(vii) A site to which a token is under way has no position yet: it answers a search when the token is there.
//
// "Crashes are permanent" (section 4). A member that starts again holds no token and waits in no queue. It has saved
// only the number of its last section, so that numbers do not fall. Sites that still name it find that out as with a
// site that has left the queue. Its requests have numbers above those of its earlier life: by the wall clock, or as
// BEHIND tells it.
//
// Its decisions, in docs/decisions: 064.
package tree

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/wire"
)

// MaxBackups is the largest k, because a COMMIT has room for that many predecessors. MaxRoster is the largest number of
// sites.
const (
	MaxBackups = 20
	MaxRoster  = int(nobody)
)

// Recovery is what a site does when it waits too long.
type Recovery uint8

const (
	// Fair is the extension: "the algorithm recovers the distributed request queue by re-assembling disconnected
	// portions of the queue".
	Fair Recovery = iota
	// Baseline is Naimi and Tréhel's own recovery, section 3.
	Baseline
)

// String returns the name that operators use.
func (r Recovery) String() string {
	return policy.Name([]string{Fair: "fair", Baseline: "baseline"}, r)
}

// Links is how a token goes from one site to the next.
type Links uint8

const (
	// Paper: by one message. "Communication channels are reliable, but messages might be delivered out of order."
	// (section 4)
	Paper Links = iota
	// UDP: by a handoff of three messages. Searches are repeated, because any message may be lost.
	UDP
)

// Timers are the timers of section 4.1, the same on all sites.
type Timers struct {
	// Commit is CommitTimer: how long a request may be without a COMMIT. With Baseline it is the NT-Timer.
	Commit time.Duration
	// Token is TokenTimer: how often a waiting site asks whether its closest predecessor is alive.
	Token time.Duration
	// Reconnection is ReconnectionTimer: how long answers to a search are awaited. It must be longer than three
	// messages take.
	Reconnection time.Duration
	// Liveness is how long the answer of one site is awaited. It must be longer than two messages take.
	Liveness time.Duration
}

// Config configures a site.
type Config struct {
	Gate wire.GateID
	Self wire.MemberID
	// Roster is Π, "a distributed system consisting of N sites" (section 4): the same on all of them, 1 to MaxRoster,
	// Self among them. The first one is the root, with the token. The roster must not be changed afterwards.
	Roster []wire.MemberID
	// Backups is k: how many predecessors a waiting site knows. 1 to MaxBackups.
	Backups  int
	Recovery Recovery
	Links    Links
	Timers   Timers
	// Rejoins is true if the member was up before: then the first site makes no token, and requests have numbers above
	// those of the earlier life.
	Rejoins bool
	// AsksFirst is true if the gate decides whether this site may regenerate: see [Machine.AsksToRegenerate]. If it is
	// false, the site may.
	AsksFirst bool
	Entropy   policy.Entropy
	// Marks is what the rare branches of a handoff hit; nil if nobody listens.
	Marks *marks.Marker
}

// latest is the highest number that a token can have when a clock reads wall. A gate with AsksFirst numbers its tokens
// by ballots.
func (c *Config) latest(wall int64) wire.Seq {
	if c.AsksFirst {
		return ballot.Latest(wall)
	}
	return wire.LatestSeq(wall)
}

// rank is a site's place in the roster, S_0 to S_(N-1); nobody is the paper's NIL.
type rank = uint16

const nobody rank = 0xffff

// none is the paper's -1: no position.
const none position = -1

// position is a place in the next queue. It rises along the queue, and from the holder to its next: "the site holding
// the token keeps the smallest position" (section 4.1). A site keeps its position when the queue before it shortens.
type position = int64

// Machine is one site. It is a plain value, except for two tables with an entry for each site, and the handoffs on UDP.
type Machine struct {
	cfg  Config
	self rank

	// "For each site Si, the original Naimi-Tréhel algorithm defines the following local variables" (section 4.1):
	// "last: points to the last node that has requested the token to Si"; "next: points to the node that will receive
	// the token when Si releases it"; "req: indicates if Si has requested the token or not".
	last rank
	next link
	req  bool

	// "We add the following variables: pos: current position of Si in the next queue"; newPred, "the identifier,
	// position, and the following node of the probable new predecessor of site Si in the next queue after failure
	// recovery"; "candidate: boolean variable that indicates if node Si has started a failure recovery process or not".
	// pred are the k predecessors, the closest first.
	pos       position
	newPred   newPred
	candidate bool
	pred      [MaxBackups]rank

	// "Only one timer can be active at a given time. If a new timer is set, the previous one is canceled." (section
	// 4.1)
	timer timer
	due   policy.Time
	// repeatAt is when a search is sent again, on links that lose messages; otherwise Never.
	repeatAt policy.Time

	// number is the number of this site's latest request; heard has the latest number of each other site: rule (vi).
	number uint64
	heard  []uint64
	// commitNumber is the number of the request whose COMMIT this site has; servedNumber is the number of the request
	// that brought the last token.
	commitNumber, servedNumber uint64

	// wanted is the demand; leaving is true once this member stops.
	wanted, leaving bool
	// holds is true while token is here; running, while the section is in progress; passing, while a handoff of token
	// is.
	holds, running, passing bool
	token                   wire.Ref
	// seen is the highest number that a token had here; known is the highest that this site knows of.
	seen, known wire.Seq
	lastRun     policy.Time
	hasRun      bool
	since       policy.Time
	peers       []wire.MemberID

	liveness liveness
	election election
	searches searches
	// asksToRegenerate is true while this site waits for the gate to decide whether it may make a token.
	asksToRegenerate bool

	// handoff passes tokens on UDP; it is nil on links that lose nothing.
	handoff *handoffs
	// askedAt is when this site last asked others, while it waits for their answers.
	askedAt policy.Time
	// firstAnswer is how long a search waited for its first answer lately; zero if none had one. searchedAt is when the
	// first of the searches began that have had no answer yet; zero if there is none.
	firstAnswer time.Duration
	searchedAt  policy.Time
	in          body
}

// handoffs are the handoffs of a site, and how the last one ended.
type handoffs struct {
	handoff.Machine
	outcome handoff.Outcome
}

// link is a site, and the number of its request by which it became next.
type link struct {
	rank   rank
	number uint64
}

// timer is what happens when the one timer triggers.
type timer uint8

const (
	timerOff timer = iota
	commitTimer
	tokenTimer
	reconnectionTimer
	// livenessTimer: pred[0] was asked whether it is alive; predsTimer: the other predecessors were.
	livenessTimer
	predsTimer
	// displaceTimer: the next of newPred was asked, rule (iv).
	displaceTimer
	// The last three timers belong to the baseline.
	consultTimer
	failureTimer
	electionTimer
)

// New returns the machine of a site, which waits for Started. It panics if Self is not in the roster, or if Backups is
// out of range.
func New(cfg Config) *Machine {
	self := slices.Index(cfg.Roster, cfg.Self)
	if self < 0 || len(cfg.Roster) > MaxRoster || cfg.Backups < 1 || cfg.Backups > MaxBackups {
		panic(fmt.Sprintf("tree: %d sites, this one at %d, and %d backups", len(cfg.Roster), self, cfg.Backups))
	}
	m := &Machine{cfg: cfg, self: rank(self), repeatAt: policy.Never}
	m.last, m.next, m.pos = 0, link{rank: nobody}, none
	m.forgetPredecessors()
	m.heard = make([]uint64, len(cfg.Roster))
	m.searches.sites = make([]search, len(cfg.Roster))
	m.election.leader = nobody
	if cfg.Links == UDP {
		m.handoff = &handoffs{Machine: handoff.New(handoff.Config{
			Gate: cfg.Gate, Self: cfg.Self, Timeout: max(cfg.Timers.Liveness, leastPatience), Entropy: cfg.Entropy,
			Marks: cfg.Marks,
		})}
	}
	return m
}

// leastPatience is the least timeout of a handoff.
const leastPatience = 250 * time.Millisecond

// Step applies an event.
func (m *Machine) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if m.number > uint64(wire.LatestBirth(now.Wall)) {
		m.number = uint64(max(now.Wall, 0)) // The clock was set back since: no site would believe this number.
	}
	switch ev.Kind {
	case policy.Started:
		out = m.onStarted(now, ev, out)
	case policy.Received:
		out = m.onMessage(now, &ev.Msg, out)
	case policy.PeersChanged:
		m.peers = ev.Peers
	case policy.Wanted:
		out = m.onWanted(now, out)
	case policy.Unwanted:
		m.wanted = false
	case policy.Finished:
		out = m.onFinished(now, out)
	case policy.Leave:
		out = m.onLeave(now, out)
	case policy.Woke:
		out = m.onWoke(now, out)
	case policy.Saved, policy.Soaks, policy.Suspended, policy.Directed, policy.Renew:
	}
	if m.leaving {
		return m.maybeGo(out)
	}
	return out
}

// onStarted: "Initially, the root of the last tree is the token holder and the last of all other nodes points to the
// root" (section 3). Rule (i): "an idle holder and the initial holder have position 0".
func (m *Machine) onStarted(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	m.since, m.known = now.Time, max(ev.State.Seq, 1)
	m.hasRun, m.lastRun = ev.State.HasRun, ev.State.LastRun
	if m.self == 0 {
		m.last = nobody
	}
	if m.cfg.Rejoins {
		// The number is in nanoseconds. No site asks so often that its earlier requests have higher numbers, unless its
		// clock was set back.
		m.number = uint64(max(now.Wall, 0))
		return out
	}
	if m.self != 0 {
		return out
	}
	m.pos = 0
	token := m.newToken(now, m.known)
	return m.create(&token, NoteCreated, out)
}

// onMessage hands a message to the routine that Figure 2 has for it.
func (m *Machine) onMessage(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	if handoff.Owns(msg.Kind) {
		return m.onHandoff(now, msg, out)
	}
	b := &m.in
	switch {
	case !m.read(&msg.Load, msg.From, b):
		return policy.AppendTell(out, NoteForeign, msg.From, nil)
	case !m.believes(now, b), msg.Token.Seq > m.cfg.latest(now.Wall):
		return policy.AppendTell(out, NoteImpossible, msg.From, nil)
	}
	m.election.clock, m.known = max(m.election.clock, b.clock), max(m.known, b.known)
	if m.cfg.Recovery == Baseline && msg.Kind >= KindConsult {
		return m.onBaseline(now, msg, b, out)
	}
	switch kind := msg.Kind; {
	case kind == KindRequest:
		return m.receiveREQ(now, b, out)
	case kind == KindToken:
		return m.receiveToken(now, msg.From, &msg.Token, b, out)
	case kind == KindCommit:
		return m.receiveCommit(now, b, out)
	case kind == KindRefuse:
		return m.receiveRefuse(now, b, out)
	case kind == KindQuestion:
		return m.receiveQuestion(b, out)
	case kind == KindAnswer:
		return m.receiveAnswer(now, b, out)
	case kind == KindConnection:
		return m.receiveCONNECTION(now, b, out)
	case kind == KindSearchPos:
		return m.receiveSEARCHPOS(now, b, out)
	case kind == KindPosition:
		return m.receivePOSITION(now, b, out)
	case kind == KindSearchQueue:
		return m.receiveSEARCHQUEUE(now, b, out)
	case kind == KindBehind:
		return m.receiveBehind(now, b, out)
	}
	return policy.AppendTell(out, NoteForeign, msg.From, nil)
}

func (m *Machine) onWoke(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.handoff != nil {
		out = m.wakeHandoff(now, out)
	}
	if now.Time >= m.repeatAt {
		out = m.repeatSearch(now.Time, out)
	}
	if m.timer == timerOff || now.Time < m.due {
		return out
	}
	what := m.timer
	m.resetAlarm()
	switch what {
	case commitTimer:
		return m.giveUpWaiting(now, out)
	case tokenTimer:
		return m.timeoutToken(now, out)
	case livenessTimer:
		return m.firstPredecessorFailed(now, out)
	case predsTimer:
		return m.choosePredecessor(now, out)
	case reconnectionTimer:
		return m.timeoutReconnection(now, out)
	case displaceTimer:
		return m.displace(now.Time, out)
	case consultTimer:
		return m.failure(now.Time, out)
	case failureTimer:
		return m.startElection(now.Time, out)
	case electionTimer:
		return m.elected(now, out)
	case timerOff:
	}
	return out
}

// alarm sets the timer: the paper's Alarm.
func (m *Machine) alarm(t timer, now policy.Time, after time.Duration) {
	m.timer, m.due, m.repeatAt = t, now.Add(after), policy.Never
	switch t {
	case livenessTimer, predsTimer, displaceTimer, reconnectionTimer:
		m.askedAt = now
	case timerOff, commitTimer, tokenTimer, consultTimer, failureTimer, electionTimer:
	}
}

// resetAlarm is line 28: "Reset alarm".
func (m *Machine) resetAlarm() { m.timer, m.repeatAt = timerOff, policy.Never }

// NextWake returns when the timer triggers, or when the handoff has something to do.
func (m *Machine) NextWake() (at policy.Time, ok bool) {
	if m.timer != timerOff {
		at, ok = min(m.due, m.repeatAt), true
	}
	if m.handoff != nil {
		if t, wakes := m.handoff.NextWake(); wakes && (!ok || t < at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// Expects reports whether a message could change anything: a handoff expects it, or it is readable and its sender names
// its own rank.
func (m *Machine) Expects(msg *wire.Message) bool {
	if handoff.Owns(msg.Kind) {
		return m.handoff != nil && m.handoff.Expects(msg)
	}
	var b body
	return m.read(&msg.Load, msg.From, &b)
}

// becomeIdle makes this site the root: it holds the token, and no site waits behind it.
func (m *Machine) becomeIdle() {
	m.req, m.running, m.passing = false, false, false
	m.last, m.next = nobody, link{rank: nobody}
	m.pos = max(m.pos, 0)
}

// idle reports whether the token rests here.
func (m *Machine) idle() bool { return m.holds && !m.running && !m.passing }

// predecessors returns the predecessors that this site knows, the closest first.
func (m *Machine) predecessors() []rank {
	known := m.pred[:m.cfg.Backups]
	if end := slices.Index(known, nobody); end >= 0 {
		return known[:end]
	}
	return known
}

func (m *Machine) forgetPredecessors() {
	for i := range m.pred {
		m.pred[i] = nobody
	}
}

// String returns one line for traces.
func (m *Machine) String() string {
	return fmt.Sprintf("S%d %s: last %s, next %s, req %v, pos %d, pred %s, candidate %v",
		m.self, m.phase(), name(m.last), name(m.next.rank), m.req, m.pos, name(m.pred[0]), m.candidate)
}

func name(r rank) string {
	if r == nobody {
		return "NIL"
	}
	return fmt.Sprintf("S%d", r)
}
