package wander

import (
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A save takes time, and a disk may hang. Two things wait until they are saved: a run, because after a restart within
// min_interval the member would run again; and a token with a number of a new epoch, because after a restart the member
// would give the same number to another token. Meanwhile the member holds the token and sends heartbeats, so its
// guardians do not revive it. It waits for less than their patience; then the run is denied and the token is passed on.

// becomeGranting grants the protected operation. The run is saved before it starts, so that a restart within
// min_interval does not run it again.
func (m *Machine) becomeGranting(now policy.Instant, out []policy.Effect) []policy.Effect {
	m.custody.setSeq(m.numbers.grant(m.custody.last().Seq))
	m.schedule.grant(&m.cfg, now.Time)
	m.custody.save(&m.cfg, now.Time, true)
	return m.save(out)
}

// onSaved decides again, because things may have changed meanwhile, or it may be too late. A save that takes too long
// counts as failed.
func (m *Machine) onSaved(now policy.Instant, failed bool, out []policy.Effect) []policy.Effect {
	m.numbers.saved()
	switch {
	case !m.custody.in(saves):
		return out
	case !m.custody.granting():
		return m.pass(now, out)
	case failed || now.Time >= m.custody.until():
		return m.deny(now, out)
	}
	return m.becomeRunning(now, out)
}

// deny ends a grant that leads to no run. The grant does not count as a run, neither here nor on the disk. The token
// rests for skip and is passed on.
func (m *Machine) deny(now policy.Instant, out []policy.Effect) []policy.Effect {
	out = policy.AppendTell(out, NoteDenied, wire.MemberID{}, &m.custody.last().Ref)
	out = m.retract(out)
	switch {
	case !m.custody.holds():
		m.becomeAbsent(now)
		return out
	case m.guardian.Doubting():
		m.custody.doubt()
		return out
	case m.custody.leaves():
		return m.pass(now, out)
	}
	return m.restOnce(now.Time, out)
}

// retract withdraws a grant whose run has not started, if there is one, and saves the state before it.
func (m *Machine) retract(out []policy.Effect) []policy.Effect {
	if m.custody.retract() {
		return m.save(out)
	}
	return out
}

// save saves the state of this member.
func (m *Machine) save(out []policy.Effect) []policy.Effect {
	return policy.AppendSave(out, m.record())
}

// record is the state to save: a granted run counts before it starts.
func (m *Machine) record() policy.State {
	s, ran := m.schedule.record(&m.cfg)
	s.Seq = m.numbers.highest()
	if m.custody.granting() && !m.schedule.isCallers() {
		s.HasRun, s.LastRun = true, m.custody.until().Add(-m.cfg.SaveWithin())
		ran.Token, ran.Wait, ran.Members = m.custody.last().ID, 0, uint32(m.walk.count())
	}
	s.Memo = ran.Bytes()
	return s
}

// Memo is what a soft gate saves besides the time of the last run: the token of that run, its slot, and when a failed
// run is repeated. On disk:
//
//	0       8                24       32     33     41         42        46
//	| birth | generator       | random | slot | wait | failures | members | zeros
type Memo struct {
	Token wire.TokenID
	Slot  uint8
	// Wait is the time from the start of that run to the next one, if that is not Δmin; else zero.
	Wait time.Duration
	// Failures is how many runs have failed in a row.
	Failures uint8
	// Members is how many members were here when that run started; zero if that is not known.
	Members uint32
}

// Bytes returns the memo as it is saved.
func (k Memo) Bytes() (b policy.Memo) {
	binary.BigEndian.PutUint64(b[:8], uint64(k.Token.Birth))
	copy(b[8:24], k.Token.Generator[:])
	binary.BigEndian.PutUint64(b[24:32], k.Token.Random)
	b[32] = k.Slot
	binary.BigEndian.PutUint64(b[33:41], uint64(k.Wait))
	b[41] = k.Failures
	binary.BigEndian.PutUint32(b[42:46], k.Members)
	return b
}

// MemoOf returns the memo that was saved.
func MemoOf(b *policy.Memo) (k Memo) {
	k.Token.Birth = int64(binary.BigEndian.Uint64(b[:8]))
	copy(k.Token.Generator[:], b[8:24])
	k.Token.Random = binary.BigEndian.Uint64(b[24:32])
	k.Slot = b[32]
	k.Wait = time.Duration(binary.BigEndian.Uint64(b[33:41]))
	k.Failures = b[41]
	k.Members = binary.BigEndian.Uint32(b[42:46])
	return k
}

// doubt removes the token from a saved state if it was made in the future, according to a clock that reads wall.
func doubt(wall int64, _ bool, s *policy.State) (why string) {
	k := MemoOf(&s.Memo)
	if k.Token.Birth <= wire.LatestBirth(wall) {
		return ""
	}
	k.Token = wire.TokenID{}
	s.Memo = k.Bytes()
	return "the last run was under a token that was made in the future by this host's clock; forgot the token"
}
