package beyond

import (
	"fmt"
	"math"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// steady has the figures of a fleet in the long run, over all seeds. Shares and rates are those of all measured time,
// quantiles are means over the runs, and longest is the longest interval of any run, including unfinished intervals.
type steady struct {
	busy, overlap      float64
	p50, p99, longest  float64
	perRun, perHandoff float64
	// allowed is the greatest number of messages for each handoff.
	allowed float64
	// made is the number of tokens regenerated in a million seconds. revived is the number of tokens revived in that
	// time.
	made, revived float64
}

// million is the length of the paper's runs, in seconds.
const million = 1e6

func (l *line) steady() steady {
	var s steady
	var time, handoffs, operations, messages, held float64
	var p50, p99 []measure.Number
	for i := range l.outcomes {
		f := &l.outcomes[i].figures
		t := float64(f.Duration)
		time += t
		s.busy += float64(f.Utilisation) * t
		s.overlap += float64(f.Overlap) * t
		handoffs, operations, messages = handoffs+float64(f.Hops), operations+float64(f.Operations),
			messages+float64(f.Messages)
		s.made, s.revived = s.made+float64(f.Tokens.Generated), s.revived+float64(f.Tokens.Revived)
		p50, p99 = append(p50, f.Interval.P50), append(p99, f.Interval.P99)
		s.longest = max(s.longest, float64(f.Interval.Max), float64(f.Interval.Open))
		for _, e := range f.Tokens.Live {
			held += e.Key * float64(e.Value)
		}
	}
	s.busy, s.overlap = s.busy/time, s.overlap/time
	s.made, s.revived = s.made/time*million, s.revived/time*million
	s.perRun, s.perHandoff = messages/operations, messages/handoffs
	s.allowed = l.allowance(held / handoffs)
	s.p50, s.p99 = float64(measure.EstimateOf(p50...).Mean), float64(measure.EstimateOf(p99...).Mean)
	if len(l.outcomes) == 0 {
		s.longest = math.NaN()
	}
	return s
}

// allowance returns the greatest number of messages for a handoff after which the token is held for that many seconds:
// the handoff's three; one to each guardian, and one to the guardian that drops out, to name the holder; and four
// heartbeats to each guardian in a skip.
func (l *line) allowance(held float64) float64 {
	const handoff, heartbeats = 3, 4
	if l.rules.backups == 0 {
		return handoff
	}
	b := float64(l.rules.backups)
	return handoff + b + 1 + heartbeats*b*held/study.Skip.Seconds()
}

func steadyTable(lines []line) report.Table {
	t := report.Table{
		Title: lines[0].world.title("In the long run"),
		Header: []string{
			"members, rules", "busy", "of the best", "two at once", "interval p50, s", "p99, s", "longest, s",
			"of the best",
			"messages per operation", "per handoff", "regenerated", "revived",
		},
	}
	for i := range lines {
		l := &lines[i]
		s, b := l.steady(), l.best()
		t.Rows = append(t.Rows, []string{
			l.label(), report.Percent(s.busy), report.Percent(s.busy / b.busy), report.Percent(s.overlap),
			whole(s.p50), whole(s.p99), whole(s.longest), ratio(s.longest / b.interval.Seconds()),
			report.Number(s.perRun), report.Number(s.perHandoff), whole(s.made), whole(s.revived),
		})
	}
	return t
}

// number formats a figure. A whole one has no fraction.
func number(n measure.Number) string { return report.Number(float64(n)) }

func whole(v float64) string { return report.Number(math.Round(v)) }

func ratio(v float64) string {
	if math.IsNaN(v) {
		return report.Missing
	}
	return fmt.Sprintf("%.2f ×", v)
}
