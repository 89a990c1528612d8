package beyond

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// recovered summarises the recoveries from all faults of one kind.
type recovered struct {
	count int
	// held are the times until a member held a token again. single are the times until there was exactly one for good,
	// within patience. never counts the other recoveries.
	held, single measure.Spread[measure.Number]
	never        int
}

func (l *line) recovered(what fault) recovered {
	var r recovered
	var held, single []time.Duration
	for _, one := range l.recoveries() {
		if one.fault != what {
			continue
		}
		r.count++
		if one.held >= 0 {
			held = append(held, one.held)
		}
		if one.single >= 0 {
			single = append(single, one.single)
		} else {
			r.never++
		}
	}
	r.held, r.single = measure.SpreadOf(held), measure.SpreadOf(single)
	return r
}

func (l *line) recoveries() []recovery {
	var all []recovery
	for i := range l.outcomes {
		all = append(all, l.outcomes[i].recoveries...)
	}
	return all
}

// crowded returns the time with two or more operations at once during a recovery, in seconds: the mean, and the
// maximum.
func (l *line) crowded() (mean, most float64) {
	all := l.recoveries()
	for _, one := range all {
		mean, most = mean+one.overlap.Seconds(), max(most, one.overlap.Seconds())
	}
	return mean / float64(len(all)), most
}

// slashed formats numbers for one cell. The cell is empty if the first number is missing.
func slashed(numbers ...float64) string {
	text := report.Number(numbers[0])
	for _, n := range numbers[1:] {
		if text != report.Missing {
			text += " / " + report.Number(n)
		}
	}
	return text
}

func recoveryTable(lines []line) report.Table {
	t := report.Table{
		Title: lines[0].world.title("After a fault"), Header: []string{"members, rules", "faults of a kind"},
	}
	for what := range faultsEnd {
		t.Header = append(t.Header, what.String()+": held again", "one for good")
	}
	t.Header = append(t.Header, "two at once")
	for i := range lines {
		l := &lines[i]
		if l.faults == 0 {
			continue
		}
		row := []string{l.label(), report.Number(float64(l.recovered(lostCommit).count))}
		for what := range faultsEnd {
			r := l.recovered(what)
			for _, s := range []measure.Spread[measure.Number]{r.held, r.single} {
				row = append(row, slashed(float64(s.P50), float64(s.P90), float64(s.Max)))
			}
			if r.never > 0 {
				row[len(row)-1] += fmt.Sprintf(" (%d not within %v s)", r.never, patience.Seconds())
			}
		}
		t.Rows = append(t.Rows, append(row, slashed(l.crowded())))
	}
	return t
}
