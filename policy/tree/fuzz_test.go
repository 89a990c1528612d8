package tree

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// lied lets site 0 of three live with whatever site 1 sends: each step is a message with any fields, a wake, a demand
// or the end of a section. Nothing ends the process, the others can read what the site sends, and its numbers are
// possible.
func lied(t *testing.T, program []byte) {
	m, now := rejoining(today)
	other, _ := rejoining(today)
	other.self, other.cfg.Self = 2, other.cfg.Roster[2]
	next := func() (b byte) {
		if len(program) > 0 {
			b, program = program[0], program[1:]
		}
		return b
	}
	ranks := []rank{0, 0, 0, 0, 1, 2, nobody, 77}
	anyRank := func() rank { return ranks[int(next())%len(ranks)] }
	numbers := func() uint64 {
		return []uint64{
			0, 1, m.number, m.number + 1, uint64(today), uint64(today) + uint64(23*time.Hour),
			wire.MaxBirth, 1<<63 - 1, 1<<64 - 1,
		}[next()%9]
	}
	for len(program) > 0 {
		ev := policy.Event{Kind: policy.Woke}
		switch next() % 8 {
		case 0:
			ev.Kind = policy.Wanted
		case 1:
			ev.Kind = policy.Finished
		case 2, 3, 4:
			if at, ok := m.NextWake(); ok {
				now.Time = max(now.Time, at)
			}
		default:
			b := body{
				from: 1, origin: anyRank(), next: anyRank(), number: numbers(), clock: numbers(),
				known: wire.Seq(numbers()), round: m.liveness.round + uint32(next()%2),
				pos:   []position{none, 0, 1, m.pos, m.pos + 1, maxPosition, maxPosition + 1, 1 << 61}[next()%8],
				flags: next(), preds: next() % (MaxBackups + 1),
			}
			for i := range b.pred[:b.preds] {
				if b.pred[i] = 1; i > 0 || next()%2 > 0 {
					b.pred[i] = anyRank()
				}
			}
			ev.Kind = policy.Received
			ev.Msg = wire.Message{
				Gate: 1, Kind: KindRequest + wire.Kind(next())%(kindsEnd-KindRequest),
				From: m.cfg.Roster[1], To: m.cfg.Self,
			}
			b.write(&ev.Msg.Load)
			if !wellFormed(&ev.Msg) || !m.Expects(&ev.Msg) {
				continue
			}
		}
		for _, e := range m.Step(now, &ev, nil) {
			if e.Kind == policy.Send && e.Msg.Kind >= KindRequest && !other.read(&e.Msg.Load, m.cfg.Self, new(body)) {
				t.Fatalf("another site does not read what it says after %+v: kind %d, %x", ev, e.Msg.Kind, e.Msg.Load)
			}
		}
		m.Status(now.Time)
		m.Facts(now.Time, nil)
		if m.number > uint64(wire.LatestBirth(now.Wall)) || m.known > m.cfg.latest(now.Wall) {
			t.Fatalf("it goes by the numbers %d and %d", m.number, m.known)
		}
	}
}

func drawProgram(seed uint64) []byte {
	dice := rand.New(rand.NewPCG(seed, 1))
	program := make([]byte, 50+dice.IntN(1000))
	for i := range program {
		program[i] = byte(dice.Uint32())
	}
	return program
}

func TestNoWordOfASiteEndsAnother(t *testing.T) {
	for seed := range uint64(5000) {
		lied(t, drawProgram(seed))
	}
}

// FuzzLies: the same with programs that a fuzzer makes.
func FuzzLies(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(drawProgram(seed))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) < 1<<14 {
			lied(t, program)
		}
	})
}
