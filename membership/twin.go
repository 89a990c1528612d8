package membership

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/wire"
)

const (
	twinWarnEvery = 10 * time.Minute
	// A full sync of twins is a sign of a twin itself, and must not lead to the next one at once.
	twinMeetEvery = 10 * time.Second
)

// twinWatch looks for another agent that runs with this one's key: a state directory that was copied, or came with the
// image of a machine.
//
// It shows in two ways. Under the same human name, both have one node name, and memberlist reports a conflict of
// addresses; but so it does for a while after this agent has moved to another address, so whoever is at the other address
// is asked: only a live twin answers a ping to that name. Under another human name, the twin is a node of its own whose
// identity is this one's; it is a former name of this agent unless it answers.
//
// Two twins tell each other, by full syncs of gossip, which of them is the original, and the other one stops: the one that knows
// that its state directory was made elsewhere, else the one that has been started later.
type twinWatch struct {
	addr   netip.AddrPort
	self   wire.MemberID
	log    zerolog.Logger
	key    ed25519.PrivateKey
	atHome bool
	// life tells this run of the agent from all others, started when it began.
	life    uint64
	started time.Time

	// seen has room for the address of a twin that is to be met, copied for the news that this agent is not the original.
	seen   chan netip.AddrPort
	copied chan netip.AddrPort

	asking      atomic.Bool
	warn, again throttle
	found       atomic.Uint64

	mu sync.Mutex
	// speaks says that a twin may listen; other is its life, as far as it has said so, and otherAt where it was asked.
	speaks  bool
	other   uint64
	otherAt netip.AddrPort
}

func newTwinWatch(cfg *Config, me *Member) *twinWatch {
	var life [8]byte
	_, _ = rand.Read(life[:]) // It never fails.
	return &twinWatch{
		addr: me.Addr, self: me.ID, log: cfg.Log, key: cfg.Private, atHome: cfg.AtHome,
		life: binary.BigEndian.Uint64(life[:]) | 1, started: time.Now(),
		seen: make(chan netip.AddrPort, 1), copied: make(chan netip.AddrPort, 1), warn: throttle{every: twinWarnEvery}, again: throttle{every: twinMeetEvery},
	}
}

// ask finds out whether a twin lives at addr, by a ping that only this agent's node name answers. If not, moved is
// called: the fleet still knows this agent by an address it had before.
func (w *twinWatch) ask(addr netip.AddrPort, ping, sync func(netip.AddrPort) error, moved func()) {
	if err := ping(addr); err != nil {
		w.log.Debug().Stringer("addr", addr).Msg("this member is still known by an address it had before")
		moved()
		return
	}
	w.met(addr)
	w.meet(addr, sync)
}

// syncs is how many full syncs two twins need at most: one learns that the other is there, tells it who it is, and is told.
const syncs = 3

// meet lets this agent and whoever is at addr tell each other who they are.
func (w *twinWatch) meet(addr netip.AddrPort, sync func(netip.AddrPort) error) {
	if w.key == nil || addr == w.addr || !w.asking.CompareAndSwap(false, true) {
		return
	}
	defer w.asking.Store(false)
	if again, _ := w.again.allow(time.Now()); !again {
		return
	}
	w.mu.Lock()
	w.speaks, w.otherAt = true, addr
	w.mu.Unlock()
	for range syncs {
		if err := sync(addr); err != nil {
			w.log.Debug().Err(err).Stringer("addr", addr).Msg("cannot meet whoever has this agent's key")
			return
		}
	}
}

// met reports a twin that answered.
func (w *twinWatch) met(addr netip.AddrPort) {
	w.found.Add(1)
	if ok, _ := w.warn.allow(time.Now()); ok {
		w.log.Error().Stringer("addr", w.addr).Stringer("other", addr).
			Msg("another agent runs with this one's key: a state directory was copied. The copy stops by itself, if it is of this version; " +
				"otherwise stop one of them, remove its state directory and start it again")
	}
}

// probed takes up that a twin has answered a probe.
func (w *twinWatch) probed(addr netip.AddrPort) {
	w.met(addr)
	select {
	case w.seen <- addr:
	default:
	}
}

// A claim is what an agent says to its twin:
//
//	 0 +-----------------------+
//	   | version            1  |
//	 1 +-----------------------+
//	   | identity          16  |
//	17 +-----------------------+
//	   | life               8  |  of the speaker
//	25 +-----------------------+
//	   | other life         8  |  of whom it speaks to, 0 if it does not know that yet
//	33 +-----------------------+
//	   | at home            1  |
//	34 +-----------------------+
//	   | age                8  |  how long this life has lasted, in nanoseconds
//	42 +-----------------------+
//	   | signature         64  |
//	   +-----------------------+
//
// Both have the key, so the signature shows that the speaker is a twin and nobody else, and the two lives that it is no old one.
const (
	claimVersion   = 1
	claimSize      = 42
	claimSignature = "wanderd twin v1"
	// sameAge is too small a difference in age to go by.
	sameAge = 5 * time.Second
)

// claim is what this agent says in a full sync; nothing, if no twin may listen.
func (w *twinWatch) claim() []byte {
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
	if w.atHome {
		home = 1
	}
	b = be.AppendUint64(append(b, home), uint64(time.Since(w.started)))
	signature, err := w.key.Sign(nil, b, &ed25519.Options{Context: claimSignature})
	if err != nil {
		return nil
	}
	return append(b, signature...)
}

// heard takes what came with a full sync.
func (w *twinWatch) heard(b []byte) {
	if w.key == nil || len(b) != claimSize+ed25519.SignatureSize || b[0] != claimVersion || wire.MemberID(b[1:17]) != w.self {
		return
	}
	be := binary.BigEndian
	life := be.Uint64(b[17:])
	public := w.key.Public().(ed25519.PublicKey)
	if life == w.life || ed25519.VerifyWithOptions(public, b[:claimSize], b[claimSize:], &ed25519.Options{Context: claimSignature}) != nil {
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
	case w.copied <- at:
	default:
	}
}

// yields reports whether the other one is the original.
func (w *twinWatch) yields(atHome bool, age time.Duration, life uint64) bool {
	if atHome != w.atHome {
		return atHome
	}
	if older := age - time.Since(w.started); older.Abs() > sameAge {
		return older > 0
	}
	return life > w.life
}
