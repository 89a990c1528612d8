package peers

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/timing"
)

const (
	// joinFirst and JoinMax bound the pause between two attempts to join an address while no other member is known.
	joinFirst = 500 * time.Millisecond
	// JoinMax bounds that pause.
	JoinMax = 15 * time.Second
	// JoinSlow is the pause while others are known. These attempts unite two fleets that were started apart.
	JoinSlow      = time.Minute
	joinWarnEvery = 10 * time.Minute
	// MirrorFor is how long an address is not tried after it turned out to be this agent's own.
	MirrorFor = 10 * time.Minute
	// healFirst is the pause before the first attempt to reach a failed member; it doubles up to HealMax. About healers
	// members of the fleet make each attempt, so the number of attempts does not grow with the fleet. healAtOnce bounds
	// the concurrent attempts of one member.
	healFirst = 2 * time.Second
	// HealMax bounds that pause.
	HealMax    = 30 * time.Second
	healers    = 3
	healAtOnce = 32
	// healPause is the least pause between two scans for failed members, healLook the longest: each scan also logs what
	// the log limiter has held back.
	healPause = 10 * time.Millisecond
	healLook  = 10 * time.Second
	// settleFirst is when a newcomer asks another member for the whole membership again; the pause doubles settleRounds
	// times.
	settleFirst  = time.Second
	settleRounds = 5
)

var errItself = errors.New("it is this agent itself")

// Joiner joins the fleet, and joins it again after a split. It works until ctx is done.
type Joiner struct {
	ctx   context.Context
	cfg   *Config
	list  *memberlist.Memberlist
	peers *Table
	// spawn starts a goroutine that ends before Shutdown returns.
	spawn func(func())
	// unsettled triggers settle; its capacity is one.
	unsettled chan struct{}
	// joined is true once the log has reported that this member has joined the fleet.
	joined atomic.Bool

	// mirrors are addresses that turned out to be this agent's own.
	mirrors rests
	// Met are addresses of members that were asked for their certificates.
	Met rests

	// seeking has the addresses that are tried, by their text, with the functions that end the attempts.
	seeking map[string]context.CancelFunc

	mu sync.Mutex
	// refusals has the addresses to join that do not answer, by their text.
	refusals map[string]Refusal
}

// NewJoiner makes a joiner that works until ctx is done. The goroutines that it spawns end with ctx, too.
func NewJoiner(
	ctx context.Context, cfg *Config, list *memberlist.Memberlist, peers *Table, spawn func(func()),
) *Joiner {
	if cfg.Resolve == nil {
		cfg.Resolve = systemResolver
	}
	if cfg.Ask == nil {
		cfg.Ask = Services(net.DefaultResolver)
	}
	return &Joiner{
		ctx: ctx, cfg: cfg, list: list, peers: peers, spawn: spawn, unsettled: make(chan struct{}, 1),
		seeking: make(map[string]context.CancelFunc), refusals: make(map[string]Refusal),
	}
}

// rests has addresses that are left alone for a while. It is safe for concurrent use.
type rests struct {
	mu    sync.Mutex
	until map[netip.AddrPort]time.Time
}

// Add leaves an address alone for the given time.
func (r *rests) Add(addr netip.AddrPort, how time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(r.until, func(_ netip.AddrPort, until time.Time) bool { return now.After(until) })
	if r.until == nil {
		r.until = make(map[netip.AddrPort]time.Time)
	}
	r.until[addr] = now.Add(how)
}

// Has reports whether an address is left alone now.
func (r *rests) Has(addr netip.AddrPort) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.until[addr])
}

// Refusal is an address that could not be joined while no other member was known.
type Refusal struct {
	// Join is the address as given, Reason the cause and its remedy.
	Join, Reason string
	At           time.Time
}

// refused records that an address did not answer. A nil error clears the record: the address has answered, or others
// do.
func (j *Joiner) refused(t Target, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.refusals, t.text)
	if err != nil {
		j.refusals[t.text] = Refusal{Join: t.text, Reason: Explain(err), At: time.Now()}
	}
}

// Refusals returns the addresses to join that do not answer, sorted by text.
func (j *Joiner) Refusals() []Refusal {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.SortedFunc(maps.Values(j.refusals), func(a, b Refusal) int { return strings.Compare(a.Join, b.Join) })
}

// Start starts the attempts to reach lost members, and a newcomer's further syncs.
func (j *Joiner) Start() {
	j.spawn(func() { j.heal(j.ctx) })
	j.spawn(func() { j.settle(j.ctx) })
}

// Follow tries to join these addresses, and no longer any others. Only one goroutine at a time may call it.
func (j *Joiner) Follow(targets map[string]Target) {
	for text, stop := range j.seeking {
		if _, stays := targets[text]; !stays {
			stop()
			delete(j.seeking, text)
			j.refused(Target{text: text}, nil)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(targets)) {
		t := targets[text]
		if j.seeking[text] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(j.ctx)
		j.seeking[text] = cancel
		j.spawn(func() {
			defer cancel()
			j.seek(ctx, t)
		})
	}
}

// Unsettle arranges that random members are asked for the whole membership again.
func (j *Joiner) Unsettle() { timing.Signal(j.unsettled) }

func (j *Joiner) alone() bool { return j.list.NumMembers() < 2 }

// seek tries to join one address until ctx is done: often while this member knows no other, rarely afterwards.
func (j *Joiner) seek(ctx context.Context, t Target) {
	warn, itself := timing.Throttle{Every: joinWarnEvery}, timing.Throttle{Every: joinWarnEvery}
	log := j.cfg.Log.With().Str("join", t.text).Logger()
	backoff, last := joinFirst, &answer{}
	for {
		wasAlone := j.alone()
		err := j.try(ctx, t, last)
		if ctx.Err() != nil {
			return
		}
		pause := JoinSlow
		if j.alone() {
			j.joined.Store(false)
			pause = backoff
			backoff = min(2*backoff, JoinMax)
		} else {
			backoff = joinFirst
		}
		now := time.Now()
		refusal := err
		if errors.Is(err, errItself) || !j.alone() {
			refusal = nil
		}
		j.refused(t, refusal)
		switch {
		case err == nil:
			if wasAlone && !j.alone() && j.joined.CompareAndSwap(false, true) {
				log.Info().Msg("joined the fleet")
			}
		case errors.Is(err, errItself):
			// This is normal where all hosts have one list of addresses, unless nobody else answers.
			if !j.alone() {
				break
			}
			if ok, _ := itself.Allow(now); ok {
				log.Info().Msg("an address to join is this agent itself; waiting for others")
			}
		case !j.alone():
			log.Debug().Str("reason", Explain(err)).Msg("an address to join does not answer; others do")
		default:
			if ok, more := warn.Allow(now); ok {
				log.Warn().Str("reason", Explain(err)).EmbedObject(more).Msg("cannot join the fleet yet; trying again")
			}
		}
		if !timing.Sleep(ctx, timing.Jitter(pause)) {
			return
		}
	}
}

// try resolves t and syncs with each of its addresses, except the addresses of this agent and of known members. It
// returns nil if one of them answered or is known. If t is a source of addresses, last is its last answer.
func (j *Joiner) try(ctx context.Context, t Target, last *answer) error {
	find := func() ([]netip.AddrPort, error) { return t.resolve(ctx, j.cfg.Resolve) }
	if t.asks {
		find = func() ([]netip.AddrPort, error) { return last.addresses(ctx, j, t.text) }
	}
	addrs, err := find()
	if err != nil {
		return err
	}
	failed, answered := errItself, false
	for _, addr := range addrs {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case j.Itself(addr):
			continue
		case j.Known(addr):
			answered = true
			continue
		}
		if err := j.Contact(addr); err != nil {
			failed = err
			continue
		}
		if j.alone() { // the answer listed only this member
			j.mirrors.Add(addr, MirrorFor)
			continue
		}
		answered = true
	}
	if answered {
		return nil
	}
	return failed
}

// Contact syncs with the member at addr, both ways.
func (j *Joiner) Contact(addr netip.AddrPort) error {
	_, err := j.list.Join([]string{addr.String()})
	var several interface{ WrappedErrors() []error }
	if errors.As(err, &several) && len(several.WrappedErrors()) > 0 {
		return several.WrappedErrors()[0]
	}
	return err
}

// Known reports whether a live member has this address.
func (j *Joiner) Known(addr netip.AddrPort) bool {
	return slices.ContainsFunc(j.peers.Current().Members, func(m Member) bool { return m.Addr == addr })
}

// Itself reports whether addr is an address of this agent.
func (j *Joiner) Itself(addr netip.AddrPort) bool {
	if addr == j.peers.Me.Addr || addr == j.cfg.Addr || j.mirrors.Has(addr) {
		return true
	}
	if addr.Port() != j.cfg.Addr.Port() || !j.cfg.Addr.Addr().IsUnspecified() {
		return false
	}
	own, err := OwnAddrs()
	return err == nil && (slices.Contains(own, addr.Addr()) || addr.Addr().IsLoopback())
}

// heal tries to reach failed members, because perhaps only the network has failed. After a start it also tries the
// remembered members. memberlist itself would never try them again.
func (j *Joiner) heal(ctx context.Context) {
	slots := make(chan struct{}, healAtOnce)
	for {
		now := time.Now()
		addrs, next := j.peers.due(now)
		j.peers.logLimiter.note(nil, len(j.peers.Current().Members), now)
		for _, addr := range addrs {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			j.spawn(func() {
				defer func() { <-slots }()
				defer func() { j.peers.tried(addr, time.Now()) }()
				if ctx.Err() != nil || j.Itself(addr) {
					return
				}
				if err := j.Contact(addr); err != nil {
					j.cfg.Log.Debug().Stringer("addr", addr).Str("reason", Explain(err)).
						Msg("a lost member does not answer")
					return
				}
				j.cfg.Log.Info().Stringer("addr", addr).Msg("reached a lost member again")
			})
		}
		if !timing.Sleep(ctx, healPause) {
			return
		}
		select {
		case <-time.After(min(time.Until(next), healLook)):
		case <-j.peers.lost:
		case <-ctx.Done():
			return
		}
	}
}

// settle asks random members for the whole membership a few times after this member has joined others. Gossip loses
// messages when many members join at once, and memberlist's own syncs are far apart.
func (j *Joiner) settle(ctx context.Context) {
	for {
		select {
		case <-j.unsettled:
		case <-ctx.Done():
			return
		}
		for round := range settleRounds {
			if !timing.Sleep(ctx, timing.Jitter(settleFirst<<round)) {
				return
			}
			for _, m := range Some(j.peers.Others(), 1) {
				if err := j.Contact(m.Addr); err != nil {
					j.cfg.Log.Debug().Stringer("addr", m.Addr).Str("reason", Explain(err)).
						Msg("a member does not answer")
				}
			}
		}
	}
}

// Explain turns an error of joining into a cause and a remedy for the operator.
func Explain(err error) string {
	text := err.Error()
	if _, rest, ok := strings.Cut(text, "failed to join "); ok {
		if _, why, ok := strings.Cut(rest, ": "); ok {
			text = why
		}
	}
	hint := ""
	switch has := func(s string) bool { return strings.Contains(text, s) }; {
	case strings.HasPrefix(text, "asking "):
		hint = "it is asked again"
	case has(packets.ErrForeignSeal.Error()), has(packets.ErrMalformed.Error()), has(io.EOF.Error()),
		has("connection reset by peer"), has("broken pipe"):
		hint = "it has another secret or version, does not trust this host's key, or is not a wanderd: compare " +
			"--secret-file, " +
			"--known-hosts and the versions on both hosts"
	case has("connection refused"):
		hint = "no wanderd listens there: is it running, and is the port right?"
	case has("network is unreachable"), has("cannot assign requested address"):
		hint = "this host has no route to that address: is its network up, and does it have that IP version?"
	case has("no route to host"):
		hint = "that host is down, its address is wrong, or a firewall rejects the connection"
	case has("timeout"):
		hint = "is the host up, and does every firewall let TCP and UDP through to that port?"
	case has("looking up"):
		hint = "check the name in --join"
	}
	if hint == "" {
		return text
	}
	return text + ": " + hint
}
