package peers

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// logMost is how many changes of the membership have a line of their own in each logPeriod; the rest share one
	// line, as do summaryFrom or more changes at the same time. So a member that comes and goes all the time, or
	// thousands that come at once, do not fill the log.
	logMost     = 16
	logPeriod   = time.Minute
	summaryFrom = 8
)

// change is one line of the log.
type change struct {
	member Member
	what   string
}

// logLimiter logs changes of the membership. It is safe for concurrent use.
type logLimiter struct {
	log zerolog.Logger

	mu sync.Mutex
	// since is when the current period began, lines how many changes had their own line in it.
	since time.Time
	lines int
	// held counts the changes that were held back, by their kind; summarised is when they were last logged.
	held       map[string]int
	summarised time.Time
}

func newLogLimiter(log zerolog.Logger) *logLimiter {
	return &logLimiter{log: log, held: make(map[string]int)}
}

// note logs changes; members is the number of members after them. It may be called without changes, to log the ones
// that were held back.
func (l *logLimiter) note(changes []change, members int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) >= logPeriod {
		l.since, l.lines = now, 0
	}
	lines := len(changes)
	if lines >= summaryFrom {
		lines = 1
	}
	calm := len(l.held) == 0 && now.Sub(l.summarised) >= logPeriod && l.lines+lines <= logMost
	if calm && len(changes) < summaryFrom {
		l.lines += lines
		for _, c := range changes {
			l.log.Info().Str("name", c.member.Name).Str("peer", c.member.ID.Short()).Stringer("addr", c.member.Addr).
				Int("members", members).Msg(c.what)
		}
		return
	}
	for _, c := range changes {
		l.held[c.what]++
	}
	switch {
	case calm:
		l.lines += lines
	case len(l.held) == 0 || now.Sub(l.summarised) < logPeriod:
		return
	default:
		l.summarised = now
	}
	l.log.Info().Int("joined", l.held["a member joined"]).Int("came_back", l.held["a member came back"]).
		Int("left", l.held["a member left"]).Int("failed", l.held["a member failed"]).
		Int("moved", l.held["a member moved"]).
		Int("untrusted", l.held["a member is no longer trusted"]).
		Int("members", members).
		Msg("the membership changed")
	clear(l.held)
}
