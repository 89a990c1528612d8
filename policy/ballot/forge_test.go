package ballot_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// A member with a valid key can send anything. The others cannot keep it from lying about tokens and leases. But none
// of its messages may end another member's process, silence another member for good, or end a gate: when it stops
// lying, all members have their turns again.

// forger takes messages as they are sent, changes one field, and sends them as one member to another.
type forger struct {
	w    *world
	lies []lie
	// counts is how many messages were sent; told is how many lies were heard.
	counts, told int
}

// lie is a change of one message.
type lie struct {
	// at is which message is changed, counted from the lie before.
	at uint8
	// from is the member that lies, to the member that it lies to; if to is below 128, that is the addressee of the
	// message.
	from, to uint8
	// then is what the Byzantine member does afterwards: below 192 nothing; otherwise no member hears it for a while.
	then uint8
	// fields are the fields that are changed, values their new values; see change.
	fields, values [3]uint8
}

const lieSize = 10

// liesOf reads lies as a fuzzer makes them.
func liesOf(b []byte) (lies []lie) {
	for ; len(b) >= lieSize && len(lies) < 40; b = b[lieSize:] {
		lies = append(lies, lie{b[0], b[1], b[2], b[3], [3]uint8(b[4:7]), [3]uint8(b[7:10])})
	}
	return lies
}

// extremes are the values of fields.
func (w *world) extremes() []uint64 {
	latest := uint64(ballot.Latest(wallEpoch + w.now))
	return []uint64{
		0, 1, 2, 3, 77, 1<<7 - 1, 1<<8 - 1, 1 << 15, 1<<16 - 1, 1<<16 - 2, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 61,
		1 << 62, 1<<62 + 1, 1<<63 - 1, 1 << 63, 1<<64 - 1,
		latest, latest + 1, latest &^ (1<<31 - 1), uint64(wallEpoch + w.now),
		uint64(wallEpoch+w.now) + uint64(23*time.Hour), uint64(time.Hour),
	}
}

// saw lies about a message that was sent.
func (f *forger) saw(m *wire.Message) {
	if len(f.lies) == 0 {
		return
	}
	if f.counts++; f.counts <= int(f.lies[0].at) {
		return
	}
	l := f.lies[0]
	f.lies, f.counts = f.lies[1:], 0
	n := f.w.p.members
	from, to := int(l.from)%n, int(l.to)%n
	if l.to < 128 {
		to = int(m.To[15]) - 1
	}
	if from == to {
		from = (from + 1) % n
	}
	forged := *m
	forged.From, forged.To = f.w.roster.ID(from), f.w.roster.ID(to)
	for i, field := range l.fields {
		f.change(&forged, field, l.values[i], to)
	}
	if k := forged.Kind; f.w.p.kind == tree && k >= 64 || k == handoff.KindToken { // it names its own rank
		binary.BigEndian.PutUint16(forged.Load[:], uint16(from))
		if k == 66 { // COMMIT
			binary.BigEndian.PutUint16(forged.Load[44:], uint16(from))
		}
	}
	f.w.after(0, evForged, to, int32(len(f.w.forged)))
	f.w.forged = append(f.w.forged, forged)
	if l.then >= 192 {
		f.w.apart[from] = everyHost
		f.w.look()
		f.w.after(int64(2*f.w.p.lease), evHeal, 0, 0)
	}
}

// change changes one field: a number of the load of one, two, four or eight bytes, at any place, or one of the message.
func (f *forger) change(m *wire.Message, field, value uint8, to int) {
	all := f.w.extremes()
	v := all[int(value)%len(all)]
	switch field := int(field); {
	case field < wire.LoadSize:
		var whole [8]byte
		binary.BigEndian.PutUint64(whole[:], v)
		width := []int{1, 2, 4, 8}[int(value)/len(all)%4]
		if field%8 == 0 {
			width = 8
		}
		copy(m.Load[field:], whole[8-width:])
	case field < 130:
		m.Token.Seq = wire.Seq(v)
	case field < 140:
		m.Exchange = wire.Exchange(v)
	case field < 145:
		m.Nonce = wire.Nonce(v)
	case field < 150:
		m.Token.ID.Birth = int64(v)
	case field < 155:
		m.Token.ID.Random = v
	case field < 160:
		m.Token.ID.Generator = wire.MemberID{15: byte(v)}
	case field < 180:
		kinds := f.w.descriptor.Kinds
		m.Kind = kinds[int(value)%len(kinds)].Kind
		if field < 175 && f.w.p.kind == tree { // the lie is about its addressee
			binary.BigEndian.PutUint16(m.Load[2:], uint16(to))
		}
	}
}

// onForged lets a host hear a forged message if its shell would.
func (w *world) onForged(i int, m *wire.Message) {
	h := &w.hosts[i]
	if !h.up || h.away || m.Token.ID.Birth < 0 || m.Token.Seq > wire.MaxSeq || !w.descriptor.WellFormed(m) ||
		!h.g.Expects(m) {
		return
	}
	w.tell("%d hears a lie of %v: kind %d, %s, load %x", i, m.From[15], m.Kind, seqName(m.Token.Seq), m.Load)
	w.forger.told++
	w.ev.Kind, w.ev.Msg = policy.Received, *m
	w.step(i)
}

// underLies lets a world live in which the only fault is that one member lies.
func underLies(kind gateKind, seed uint64, lies []lie, log func(string, ...any)) (told int, err error) {
	p := draw(seed % 1000)
	p.kind = kind
	p = plan{
		kind: kind, seed: p.seed, members: max(p.members, 3), lease: p.lease, killAfter: p.killAfter, margin: p.margin,
		patience: p.patience, drift: p.drift,
		runFor: p.runFor / 4, wantEvery: p.lease, latency: p.latency, jitter: p.jitter, saveFor: p.saveFor,
		faultsFor: 20 * p.lease, startsAfter: p.startsAfter,
	}
	w := newWorld(p, shell{})
	w.log, w.blind = log, true
	w.forger = &forger{w: w, lies: lies}
	defer func() {
		if fault := recover(); fault != nil {
			told, err = w.forger.told, fmt.Errorf("panic: %v", fault)
		}
	}()
	if err := w.until(int64(p.faultsFor)); err != nil {
		return w.forger.told, err
	}
	w.forger.lies = nil
	for i := range w.hosts { // All members believe what is on the disks.
		promised := ballot.Epoch(binary.BigEndian.Uint64(w.hosts[i].disk.Memo[:]))
		if latest := ballot.Latest(wallEpoch + w.now); wire.Seq(promised) > latest {
			return w.forger.told, fmt.Errorf("%d has saved the promise of %v, which cannot be", i, promised)
		}
	}
	healed := w.now
	w.wantAll()
	for !w.check.allServed(healed, everyHost) {
		if w.now > healed+int64(6*p.lease+4*time.Second+2*p.bound()) {
			return w.forger.told, fmt.Errorf("liveness: %v after the last lie, some still wait: %v of lease %v",
				time.Duration(w.now-healed), w.check.waits, p.lease)
		}
		if err := w.until(w.now + int64(p.patience)); err != nil {
			return w.forger.told, err
		}
	}
	return w.forger.told, nil
}

func forgedKinds() []gateKind { return []gateKind{lock, tree, always, martin, q, d} }

// TestNoLieOfAMemberEndsAGate draws lies; FuzzForged looks for them.
func TestNoLieOfAMemberEndsAGate(t *testing.T) {
	for _, kind := range forgedKinds() {
		t.Run(gateKinds()[kind], func(t *testing.T) {
			heard, seeds := 0, mutant.Seeds(150)
			for _, seed := range seeds {
				told, err := underLies(kind, seed, liesOf(drawLies(seed)), nil)
				if heard += told; err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			t.Logf("%d lies were heard in %d worlds", heard, len(seeds))
			if len(seeds) > 1 && heard < len(seeds) {
				t.Errorf("only %d lies were heard", heard)
			}
		})
	}
}

func drawLies(seed uint64) []byte {
	dice := rand.New(rand.NewPCG(seed, 7))
	program := make([]byte, lieSize*(1+dice.IntN(30)))
	for i := range program {
		program[i] = byte(dice.Uint32())
		if i%lieSize == 0 {
			program[i] %= 60
		}
	}
	return program
}

// FuzzForged checks that no lies of a member end another one's process, silence it, or end a gate.
func FuzzForged(f *testing.F) {
	for _, kind := range forgedKinds() {
		for seed := range uint64(3) {
			f.Add(uint8(kind), uint16(seed), drawLies(seed))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, seed uint16, lies []byte) {
		kinds := forgedKinds()
		if _, err := underLies(kinds[int(kind)%len(kinds)], uint64(seed), liesOf(lies), nil); err != nil {
			t.Error(err)
		}
	})
}
