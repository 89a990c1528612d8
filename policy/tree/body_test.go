package tree

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/wire"
)

// Every byte of a COMMIT, written out.
func TestTheLayoutOfALoad(t *testing.T) {
	b := body{
		from: 0x0102, origin: 0x0304, number: 0x0506070809101112, pos: 0x0a, clock: 0x0c, round: 0x0d, next: nobody,
		flags: flagInQueue | flagHolds,
		preds: 2, known: 0x0e, pred: [MaxBackups]rank{0x1112, 0x1314},
	}
	var load wire.Load
	b.write(&load)
	want := "0102" + "0304" + "ffff" + "03" + "02" + "0506070809101112" + "000000000000000b" + "000000000000000c" +
		"000000000000000e" + "0000000d" + "1112" + "1314"
	want += strings.Repeat("0", 2*wire.LoadSize-len(want))
	if got := hex.EncodeToString(load[:]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var read body
	if !readBody(&load, &read) || read != b {
		t.Errorf("read %+v, want %+v", read, b)
	}
}

func TestALoadOutOfRangeIsNotReadable(t *testing.T) {
	for name, spoil := range map[string]func(*wire.Load){
		"a position beyond the largest": func(l *wire.Load) { l[16] = 0x80 },
		"a number beyond the largest":   func(l *wire.Load) { l[8] = 0x80 },
		"more predecessors than fit":    func(l *wire.Load) { l[7] = MaxBackups + 1 },
	} {
		var load wire.Load
		spoil(&load)
		if readBody(&load, new(body)) {
			t.Error(name)
		}
	}
	var most wire.Load
	if most[7] = MaxBackups; !readBody(&most, new(body)) {
		t.Error("as many predecessors as fit cannot be read")
	}
}

// A message is from the site whose rank it names, and names only sites of the roster.
func TestAMessageThatNamesASiteOutsideTheRosterIsNotRead(t *testing.T) {
	roster := ids(3)
	m := New(Config{Gate: 1, Self: roster[0], Roster: roster, Backups: 1, Timers: timers(), Entropy: new(counter)})
	for name, b := range map[string]body{
		"another one's rank":  {from: 2, origin: nobody, next: nobody},
		"a rank there is not": {from: 3, origin: nobody, next: nobody},
		"an origin of none":   {from: 1, origin: 3, next: nobody},
		"a next of none":      {from: 1, origin: nobody, next: 3},
		"nobody's rank":       {from: nobody, origin: nobody, next: nobody},
		"a predecessor of none": {
			from: 1, origin: nobody, next: nobody, preds: 2, pred: [MaxBackups]rank{1, 3},
		},
	} {
		msg := wire.Message{Gate: 1, Kind: KindRequest, From: roster[1], To: roster[0]}
		b.write(&msg.Load)
		if m.Expects(&msg) {
			t.Error(name)
		}
	}
}

func TestOnlyTokenAndElectedNameAToken(t *testing.T) {
	token := wire.Ref{ID: wire.TokenID{Generator: ids(1)[0]}, Seq: 1}
	for k := KindRequest; k < kindsEnd; k++ {
		with, without := wire.Message{Kind: k, Token: token}, wire.Message{Kind: k}
		if names := k == KindToken || k == KindElected; wellFormed(&with) != names || wellFormed(&without) == names {
			t.Errorf("%s: with a token it is well formed: %v, without: %v", kinds().
				Of(k).Name, wellFormed(&with), wellFormed(&without))
		}
	}
	if wellFormed(&wire.Message{Kind: kindsEnd}) || wellFormed(&wire.Message{Kind: 4}) {
		t.Error("a kind of another protocol is well formed")
	}
}

func TestEveryKindHasAName(t *testing.T) {
	seen := map[string]bool{}
	for k := KindRequest; k < kindsEnd; k++ {
		if name := kinds().Of(k).Name; name == k.String() || seen[name] {
			t.Errorf("kind %d is called %q", k, name)
		} else {
			seen[name] = true
		}
	}
}

func TestEveryNoteHasANumberAndANameOfItsOwn(t *testing.T) {
	names, numbers := map[string]bool{}, map[uint8]bool{}
	for _, n := range Descriptor().Notes {
		if names[n.Name] || numbers[uint8(n.Note)] || n.Name == "" || n.Text == "" ||
			strings.Trim(n.Name, "abcdefghijklmnopqrstuvwxyz_") != "" {
			t.Errorf("it is not the only one, or not whole: %+v", n)
		}
		names[n.Name], numbers[uint8(n.Note)] = true, true
	}
}

// A message of a tree has no nonce, and a kind of a tree.
func TestAMessageOfATreeHasItsKindAndNoNonce(t *testing.T) {
	var good wire.Message
	good.Kind = KindRequest
	b := body{pred: [MaxBackups]rank{}}
	b.write(&good.Load)
	if !wellFormed(&good) {
		t.Fatal("a request is not well-formed")
	}
	for name, spoil := range map[string]func(*wire.Message){
		"a nonce":          func(m *wire.Message) { m.Nonce = 1 },
		"a lower kind":     func(m *wire.Message) { m.Kind = KindRequest - 1 },
		"a higher kind":    func(m *wire.Message) { m.Kind = kindsEnd },
		"a token":          func(m *wire.Message) { m.Token.Seq = 1 },
		"a load in pieces": func(m *wire.Message) { m.Load[7] = MaxBackups + 1 },
	} {
		m := good
		if spoil(&m); wellFormed(&m) {
			t.Errorf("with %s it is well-formed", name)
		}
	}
}

// A holder at rest is in the queue, and says so: it is what a site that searches comes to.
func TestEachMessageTellsWhetherItsSenderWaitsOrHolds(t *testing.T) {
	s := newSmall(t, 3, nil)
	s.want(1)
	flags := func(i int) uint8 { b := s.sites[i].say(2, 0); return b.flags }
	if flags(0) != flagInQueue|flagHolds || flags(1) != flagInQueue || flags(2) != 0 {
		t.Errorf("the holder says %b, one that waits %b, another one %b", flags(0), flags(1), flags(2))
	}
}
