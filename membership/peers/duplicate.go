package peers

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

const (
	// DuplicateWarnEvery is the least time between two warnings of a duplicate.
	DuplicateWarnEvery = 10 * time.Minute
	// A full sync between duplicates is itself a sign of one, and must not lead to the next full sync at once.
	duplicateMeetEvery = 10 * time.Second
)

// DuplicateWatch detects another agent with this one's key: its state directory was copied, or came with the image of a
// machine.
//
// There are two signs. If both agents have the same name, they have one node name, and memberlist reports a conflict of
// addresses. It also reports one for a while after this agent has moved to another address, so the other address is
// pinged: only a live duplicate answers a ping to that node name. If the names differ, the duplicate is a separate node
// with this one's identity; if it does not answer, it is only a former name of this agent.
//
// Two duplicates exchange claims by full syncs of gossip, and the copy stops. The copy is the agent that knows that its
// state directory was made elsewhere, or else the one that was started later.
type DuplicateWatch struct {
	cfg  *Config
	Addr netip.AddrPort
	self wire.MemberID
	// life is a random number of this run of the agent; started is when it began.
	life    uint64
	started time.Time

	// Copied carries the news that this agent is the copy, once: its capacity is one.
	Copied chan netip.AddrPort

	asking      atomic.Bool
	warn, again timing.Throttle
	Found       atomic.Uint64

	mu sync.Mutex
	// speaks is true if a duplicate may listen. other is the life of the duplicate, 0 while unknown, and otherAt its
	// address.
	speaks  bool
	other   uint64
	otherAt netip.AddrPort
}

// NewDuplicateWatch returns a watch for another agent with the key of this one, me.
func NewDuplicateWatch(cfg *Config, me *Member) *DuplicateWatch {
	var life [8]byte
	_, _ = rand.Read(life[:]) // It never fails.
	return &DuplicateWatch{
		cfg: cfg, Addr: me.Addr, self: me.ID, life: binary.BigEndian.Uint64(life[:]) | 1, started: time.Now(),
		Copied: make(chan netip.AddrPort, 1), warn: timing.Throttle{Every: DuplicateWarnEvery},
		again: timing.Throttle{Every: duplicateMeetEvery},
	}
}

// syncs is how many full syncs two duplicates need at most: one learns that the other exists, sends its claim, and gets
// one.
const syncs = 3

// Meet exchanges claims with the duplicate at addr.
func (w *DuplicateWatch) Meet(addr netip.AddrPort, sync func(netip.AddrPort) error) {
	if addr == w.Addr || !w.asking.CompareAndSwap(false, true) {
		return
	}
	defer w.asking.Store(false)
	if again, _ := w.again.Allow(time.Now()); !again {
		return
	}
	w.mu.Lock()
	w.speaks, w.otherAt = true, addr
	w.mu.Unlock()
	for range syncs {
		if err := sync(addr); err != nil {
			w.cfg.Log.Debug().Err(err).Stringer("addr", addr).Msg("cannot reach the other agent with this one's key")
			return
		}
	}
}

// Met reports a duplicate that answered.
func (w *DuplicateWatch) Met(addr netip.AddrPort) {
	w.Found.Add(1)
	if ok, _ := w.warn.Allow(time.Now()); ok {
		w.cfg.Log.Error().Stringer("addr", w.Addr).Stringer("other", addr).
			Msg("another agent runs with this one's key: a state directory was copied. The copy stops by itself if " +
				"it has this version; " +
				"otherwise stop one of them, remove its state directory and start it again")
	}
}

// A claim is the message of an agent to its duplicate:
//
//	 0 +-----------------------+
//	   | version            1  |
//	 1 +-----------------------+
//	   | identity          16  |
//	17 +-----------------------+
//	   | life               8  |  of the speaker
//	25 +-----------------------+
//	   | other life         8  |  of the addressee, 0 if unknown
//	33 +-----------------------+
//	   | at home            1  |
//	34 +-----------------------+
//	   | age                8  |  of the speaker's life, in nanoseconds
//	42 +-----------------------+
//	   | signature         64  |
//	   +-----------------------+
//
// Only duplicates have the key, so the signature proves that the speaker is one. The two lives prove that the claim is
// no replay.
const (
	claimVersion   = 1
	claimSize      = 42
	claimSignature = "wanderd twin v1"
	// sameAge is the difference in age up to which two lives count as equally old.
	sameAge = 5 * time.Second
)

// Claim returns this agent's claim for a full sync, or nil if no duplicate may listen.
func (w *DuplicateWatch) Claim() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.speaks {
		return nil
	}
	be := binary.BigEndian
	b := append([]byte{claimVersion}, w.self[:]...)
	b = be.AppendUint64(b, w.life)
	b = be.AppendUint64(b, w.other)
	home := byte(0)
	if w.cfg.AtHome {
		home = 1
	}
	b = be.AppendUint64(append(b, home), uint64(time.Since(w.started)))
	return append(b, identity.Sign(w.cfg.Key, b, claimSignature)...)
}

// Heard handles the state of a full sync, which may be a duplicate's claim.
func (w *DuplicateWatch) Heard(b []byte) {
	if len(b) != claimSize+ed25519.SignatureSize || b[0] != claimVersion || wire.MemberID(b[1:17]) != w.self {
		return
	}
	be := binary.BigEndian
	life := be.Uint64(b[17:])
	public := w.cfg.Key.Public().(ed25519.PublicKey)
	if life == w.life || !identity.IsSigned(public, b[:claimSize], b[claimSize:], claimSignature) {
		return
	}
	w.mu.Lock()
	w.speaks, w.other = true, life
	at := w.otherAt
	w.mu.Unlock()
	if be.Uint64(b[25:]) != w.life || !w.yields(b[33] == 1, time.Duration(be.Uint64(b[34:])), life) {
		return
	}
	select {
	case w.Copied <- at:
	default:
	}
}

// yields reports whether the other agent is the original.
func (w *DuplicateWatch) yields(atHome bool, age time.Duration, life uint64) bool {
	if atHome != w.cfg.AtHome {
		return atHome
	}
	if older := age - time.Since(w.started); older.Abs() > sameAge {
		return older > 0
	}
	return life > w.life
}
