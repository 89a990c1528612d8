package membership

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// tellMost is how many changes of the membership have a line of their own in each tellEvery; the rest share one line, as do summaryFrom or more
	// changes at the same time. So a member that comes and goes all the time, or thousands that come at once, fill no log.
	tellMost    = 16
	tellEvery   = time.Minute
	summaryFrom = 8
)

// change is one line of the log.
type change struct {
	member Member
	what   string
}

// teller logs changes of the membership. It is safe for concurrent use.
type teller struct {
	log zerolog.Logger

	mu sync.Mutex
	// since is when the current period began, told how many changes had their own line in it.
	since time.Time
	told  int
	// held counts what was held back, by what happened; summarised is when it was last told.
	held       map[string]int
	summarised time.Time
}

func newTeller(log zerolog.Logger) *teller { return &teller{log: log, held: make(map[string]int)} }

// tell logs changes; members is the number of members after them. It may be called without changes, to tell what was held back.
func (t *teller) tell(changes []change, members int, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.since) >= tellEvery {
		t.since, t.told = now, 0
	}
	lines := len(changes)
	if lines >= summaryFrom {
		lines = 1
	}
	calm := len(t.held) == 0 && now.Sub(t.summarised) >= tellEvery && t.told+lines <= tellMost
	if calm && len(changes) < summaryFrom {
		t.told += lines
		for _, c := range changes {
			t.log.Info().Str("name", c.member.Name).Str("peer", c.member.ID.Short()).Stringer("addr", c.member.Addr).
				Int("members", members).Msg(c.what)
		}
		return
	}
	for _, c := range changes {
		t.held[c.what]++
	}
	switch {
	case calm:
		t.told += lines
	case len(t.held) == 0 || now.Sub(t.summarised) < tellEvery:
		return
	default:
		t.summarised = now
	}
	t.log.Info().Int("joined", t.held["a member joined"]).Int("came_back", t.held["a member came back"]).
		Int("left", t.held["a member left"]).Int("failed", t.held["a member failed"]).Int("moved", t.held["a member moved"]).
		Int("untrusted", t.held["a member is no longer trusted"]).
		Int("members", members).
		Msg("the membership changed")
	clear(t.held)
}
