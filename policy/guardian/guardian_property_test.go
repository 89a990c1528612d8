package guardian_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// world is a circle and an adversary that controls the network and the processes. It keeps all messages, and may
// deliver any of them at any time, any number of times, or never; it also forges messages.
type world struct {
	*circle
	ever []wire.Message
	// lossy is set if half of the messages are lost.
	lossy bool
}

func newWorld(t *rapid.T) *world {
	w := &world{circle: newUnaware(t)}
	coin := rapid.Bool()
	w.lose = func(m *wire.Message) bool {
		w.ever = append(w.ever, *m)
		return w.lossy && coin.Draw(t, "lost")
	}
	w.hold(w.ann, theToken)
	return w
}

func (w *world) someone(t *rapid.T) *member { return w.all[rapid.IntRange(0, 3).Draw(t, "who")] }

func (w *world) another(t *rapid.T, m *member) *member {
	i := slices.Index(w.all, m) + rapid.IntRange(1, 3).Draw(t, "another")
	return w.all[i%4]
}

func (w *world) letTimePass(t *rapid.T) {
	span := rapid.SampledFrom([]time.Duration{latency, patience / 4, patience, 3 * patience}).Draw(t, "span")
	w.advance(time.Duration(rapid.Int64Range(0, int64(span)).Draw(t, "by")))
}

func (w *world) change(t *rapid.T) { w.lossy = rapid.Bool().Draw(t, "lossy") }

// delay delays a message by up to two patiences.
func (w *world) delay(t *rapid.T) {
	if len(w.air) > 0 {
		f := &w.air[rapid.IntRange(0, len(w.air)-1).Draw(t, "which")]
		f.at = f.at.Add(time.Duration(rapid.Int64Range(0, int64(2*patience)).Draw(t, "for")))
	}
}

func (w *world) playBack(t *rapid.T) {
	if len(w.ever) > 0 {
		msg := w.ever[len(w.ever)-1-rapid.IntRange(0, len(w.ever)-1).Draw(t, "age")]
		w.air = append(w.air, flight{w.now, msg})
	}
}

// forge makes a message, often with a used question or count.
func (w *world) forge(t *rapid.T) {
	to := w.someone(t)
	kinds := []wire.Kind{
		guardian.KindHeartbeat, guardian.KindAsk, guardian.KindHeard, guardian.KindKnown,
		guardian.KindTombstone, guardian.KindYield,
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	msg := message(kind, w.another(t, to), to, born(rapid.Int64Range(9, 11).
		Draw(t, "birth"), wire.Seq(rapid.Uint64Range(1, 20).Draw(t, "seq"))))
	trail := w.trail(t)
	guardian.SetTrail(&msg.Load, &trail)
	if n := len(w.ever); n > 0 && kind != guardian.KindAsk && rapid.Bool().Draw(t, "as an answer") {
		msg.Exchange = max(w.ever[n-1-rapid.IntRange(0, min(n-1, 8)).Draw(t, "to")].Exchange, 1)
	}
	if msg.Nonce > 0 {
		msg.Nonce = wire.Nonce(rapid.SampledFrom([]time.Duration{1, 3, 10, patience, 1<<63 - 1}).Draw(t, "nonce"))
	}
	w.receive(msg)
}

func (w *world) trail(t *rapid.T) (trail guardian.Trail) {
	for range rapid.IntRange(0, 3).Draw(t, "guardians") {
		trail.Add(w.someone(t).id)
	}
	return trail
}

// chooseGuardians lets a holder choose other guardians.
func (w *world) chooseGuardians(t *rapid.T) {
	if m := w.someone(t); m.holds && !m.away && !m.g.Doubting() {
		token := m.token
		trail := w.trail(t)
		if rank, ok := trail.Rank(m.id); ok {
			trail.Drop(rank)
		}
		token.SetTrail(&trail)
		w.hold(m, token)
	}
}

// handOn passes a token on like an owner: a holder that was away asks first, and one that knows of a higher copy
// discards the token.
func (w *world) handOn(t *rapid.T) {
	from := w.someone(t)
	to := w.another(t, from)
	if !from.holds || from.away || from.g.Doubting() || from.g.Overdue(w.now, from.held()) || to.holds || to.away {
		return
	}
	passed := w.giveUp(from, to.id)
	latest, known := to.g.Latest(passed.ID)
	if rapid.IntRange(0, 3).Draw(t, "commit") == 0 {
		return // Lost for good.
	}
	if known && passed.Seq < latest.Seq {
		w.took(to, wire.MemberID{}, guardian.Outcome{}, to.g.Correct(&passed, latest, nil))
		return
	}
	w.hold(to, since(passed, passed.Seq.After()))
}

func (w *world) stopOrGoOn(t *rapid.T) {
	m := w.someone(t)
	m.away = !m.away
}

// nap keeps a holder away for about a patience.
func (w *world) nap(t *rapid.T) {
	i := slices.IndexFunc(w.all, func(m *member) bool { return m.holds && !m.away })
	if i < 0 {
		return
	}
	w.all[i].away = true
	w.advance(time.Duration(rapid.Int64Range(int64(patience), int64(patience*3/2)).Draw(t, "for")))
	w.all[i].away = false
}

// restart resets a member, including its token.
func (w *world) restart(t *rapid.T) {
	m := w.someone(t)
	fresh := newMember(m.name, m.id, uint64(len(w.ever))+10)
	fresh.endings = m.endings
	*m = *fresh
}

func (w *world) remove(t *rapid.T) {
	if m := w.someone(t); m.holds && !m.away {
		w.tombstone(m, m.token)
	}
}

func (w *world) leave(t *rapid.T) { w.someone(t).g.Close() }

// wakeEarly wakes a member before its time, which must do nothing.
func (w *world) wakeEarly(t *rapid.T) {
	m := w.someone(t)
	if at, ok := m.g.NextWake(m.held()); ok && at <= w.now {
		return
	}
	before := m.g
	var o guardian.Outcome
	if out := m.g.Wake(w.now, m.held(), &o, nil); m.g != before || len(out) > 0 || o != (guardian.Outcome{}) {
		t.Fatalf("%s is woken for nothing, and does %+v", m.name, out)
	}
}

func (w *world) play(t *rapid.T, actions map[string]func(*rapid.T), often []string) {
	for range 100 {
		actions[rapid.SampledFrom(often).Draw(t, "action")](t)
		for _, m := range w.all {
			if m.g.Doubting() && !m.holds {
				t.Fatalf("%s is in doubt about a token that it does not hold", m.name)
			}
		}
	}
}

// For any messages of any sender at any time: an unexpected message changes nothing, an expected one causes at most one
// message, and an early wake-up does nothing. The circle checks it.
func TestTheInvariantsHoldForAnyMessages(t *testing.T) {
	endings := map[guardian.Ending]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.play(t, map[string]func(*rapid.T){
			"forge": w.forge, "time": w.letTimePass, "choose guardians": w.chooseGuardians, "hand on": w.handOn,
			"stop": w.stopOrGoOn, "nap": w.nap,
			"restart": w.restart, "remove": w.remove, "early": w.wakeEarly, "leave": w.leave, "play back": w.playBack,
		}, []string{
			"forge", "forge", "forge", "forge", "forge", "forge", "time", "time", "time", "time", "choose guardians",
			"hand on", "hand on",
			"stop", "nap", "nap", "nap", "restart", "remove", "early", "early", "leave", "play back",
		})
		for _, m := range w.all {
			for _, e := range m.endings {
				endings[e]++
			}
		}
	})
	for _, e := range []guardian.Ending{guardian.Revived, guardian.Overtaken} {
		if endings[e] == 0 {
			t.Errorf("no call ended with %d: too little was tried", e)
		}
	}
}

// Under loss, delay, duplication, replay and processes that are paused or restarted: one guardian never revives a token
// twice without news of it in between, nor within a patience of having heard its holder; the circle checks it. If the
// holder is lost and a live member keeps the copy with the highest number, the token is revived in the end.
func TestALostTokenIsRevivedIfAGuardianLives(t *testing.T) {
	worlds, lost, revivals := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		worlds++
		w := newWorld(t)
		w.play(t, map[string]func(*rapid.T){
			"time": w.letTimePass, "change": w.change, "delay": w.delay, "play back": w.playBack,
			"choose guardians": w.chooseGuardians,
			"hand on":          w.handOn, "stop": w.stopOrGoOn, "nap": w.nap, "restart": w.restart,
		}, []string{
			"time", "time", "time", "time", "time", "time", "change", "delay", "play back", "play back",
			"choose guardians", "hand on",
			"hand on", "hand on", "stop", "nap", "restart",
		})
		for _, m := range w.all {
			for _, e := range m.endings {
				if e == guardian.Revived {
					revivals++
				}
			}
		}
		w.loseHolders()
		w.advance(2*patience + latency)
		if !w.someoneHolds() && !w.kept() {
			return
		}
		lost++
		w.advance(10 * patience)
		if !w.someoneHolds() {
			t.Fatalf("nobody has revived the token:\n%s", strings.Join(w.sent, "\n"))
		}
	})
	if lost < worlds/4 || revivals < worlds/4 {
		t.Errorf("in %d worlds there were %d revivals, and in %d a guardian was left: too little was tried", worlds,
			revivals, lost)
	}
}

// loseHolders ends all faults, and kills all holders. Messages in flight still arrive.
func (w *world) loseHolders() {
	w.lossy = false
	for _, m := range w.all {
		m.away = false
		m.dead = m.holds
	}
}

func (w *world) someoneHolds() bool {
	return slices.ContainsFunc(w.all, func(m *member) bool { return m.holds && !m.dead })
}

// kept reports whether a live member keeps the copy with the highest number that any member knows.
func (w *world) kept() bool {
	var furthest, watched wire.Seq
	for _, m := range w.all {
		latest, known := m.g.Latest(theToken.ID)
		if m.dead || !known {
			continue
		}
		furthest = max(furthest, latest.Seq)
		if _, watches := m.g.NextWake(nil); watches {
			watched = max(watched, latest.Seq)
		}
	}
	return watched > 0 && watched == furthest
}
