package membership

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/membership/timing"
)

const (
	// logQueue is how many lines of memberlist can wait; further lines are lost and counted.
	logQueue = 128
	// logClasses bounds the kinds of lines with a rate limit each; the rest share one.
	logClasses = 64
	// logEvery is the least time between two lines of one kind.
	logEvery = 5 * time.Minute
)

// logAdapter is the io.Writer of memberlist's logger, which writes one line at a time: "[WARN] memberlist: ...".
// memberlist writes some lines under its node lock, and a log may block. So Write only queues a line, and
// [logAdapter.run] writes it.
type logAdapter struct {
	log   zerolog.Logger
	lines chan memberlistLine
	// suspected and refuted get events that memberlist reports only in its log: suspected, a node that did not answer a
	// probe; refuted, this node's objection that it is alive.
	suspected func(node string)
	refuted   func()
	// unanswered gets the nodes that did not answer a datagram. onlyTCP gets those that answered neither it nor the
	// datagrams of other members, but answered by TCP. Both are nil if this is of no interest.
	unanswered, onlyTCP func(node string)

	classes map[string]*timing.Throttle
	lost    atomic.Uint64
}

type memberlistLine struct {
	level zerolog.Level
	text  string
}

func newLogAdapter(log zerolog.Logger, suspected func(string), refuted func()) *logAdapter {
	return &logAdapter{
		log: log.With().Str("from", "memberlist").Logger(), lines: make(chan memberlistLine, logQueue),
		suspected: suspected, refuted: refuted, classes: make(map[string]*timing.Throttle),
	}
}

// Write implements io.Writer. It never blocks and never fails.
func (a *logAdapter) Write(p []byte) (int, error) {
	line := parseLine(string(p))
	if rest, begins := strings.CutPrefix(line.text, "Suspect "); begins {
		if node, ends := strings.CutSuffix(rest, " has failed, no acks received"); ends {
			a.suspected(node)
		}
	}
	if rest, begins := strings.CutPrefix(line.text, "Failed UDP ping: "); begins && a.unanswered != nil {
		if node, ends := strings.CutSuffix(rest, " (timeout reached)"); ends {
			a.unanswered(node)
		}
	}
	if rest, begins := strings.CutPrefix(line.text, "Was able to connect to "); begins && a.onlyTCP != nil {
		if node, _, found := strings.Cut(rest, " over TCP but UDP probes failed"); found {
			a.onlyTCP(node)
		}
	}
	if strings.HasPrefix(line.text, "Refuting a") {
		a.refuted()
	}
	if line.level < zerolog.WarnLevel && line.level < a.log.GetLevel() {
		return len(p), nil
	}
	select {
	case a.lines <- line:
	default:
		a.lost.Add(1)
	}
	return len(p), nil
}

// run writes lines until stop is closed.
func (a *logAdapter) run(stop <-chan struct{}) {
	for {
		select {
		case line := <-a.lines:
			a.write(line, time.Now())
		case <-stop:
			return
		}
	}
}

func (a *logAdapter) write(line memberlistLine, now time.Time) {
	if line.level < zerolog.WarnLevel {
		a.log.WithLevel(line.level).Msg(line.text)
		return
	}
	class := classOf(line.text)
	if a.classes[class] == nil && len(a.classes) >= logClasses {
		class = "" // the map is full: all further kinds share one limit
	}
	if a.classes[class] == nil {
		a.classes[class] = &timing.Throttle{Every: logEvery}
	}
	if ok, more := a.classes[class].Allow(now); ok {
		a.log.WithLevel(line.level).EmbedObject(more).Msg(line.text)
	}
}

// parseLine separates the level from a line. It lowers the level if the line does not concern an operator, or if this
// package reports the same itself.
func parseLine(s string) memberlistLine {
	s = strings.TrimSpace(s)
	level := zerolog.WarnLevel
	if name, rest, ok := strings.Cut(s, "] "); ok && strings.HasPrefix(s, "[") {
		s = rest
		if name == "[DEBUG" || name == "[INFO" {
			level = zerolog.DebugLevel
		}
	}
	s = strings.TrimPrefix(s, "memberlist: ")
	if slices.ContainsFunc(toldElsewhere(), func(begin string) bool { return strings.HasPrefix(s, begin) }) {
		level = zerolog.DebugLevel
	}
	return memberlistLine{level, s}
}

// toldElsewhere lists the beginnings of lines that are no warnings to an operator: normal events when members join and
// leave, and events that this package reports itself.
func toldElsewhere() []string {
	return []string{
		"Refuting a",              // this member restarted, or was away, and declares itself alive
		"ignoring alive message",  // refused by NotifyAlive
		"Conflicting address for", // see duplicate.go
		"Got ping for unexpected node",
		"Push/Pull with",
		"Failed fallback TCP ping",
		"Failed to send gossip to",
		"Failed to send UDP ping",
		"Failed to send UDP compound ping",
		"Failed to send indirect UDP ping",
		"failed to receive: EOF",
		"Binding to public address without encryption", // the agent refuses this, unless --insecure is set
	}
}

// classOf returns a line without its names, numbers and addresses.
func classOf(text string) string {
	text, _, _ = strings.Cut(text, "from=")
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool {
		return strings.ContainsAny(w, "~0123456789")
	})
	return strings.Join(words, " ")
}
