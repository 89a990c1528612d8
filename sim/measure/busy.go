package measure

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// busy is the operation time in each unit of time: "the number of protected operations running for each time
// unit" (Ciuffoletti, section 5, figure 1). It counts nothing unless it has a unit.
type busy struct {
	unit         time.Duration
	began, until policy.Time
	units        []time.Duration
}

// spend records the time since the last call. During that time, running operations ran.
func (b *busy) spend(now policy.Time, running int) {
	if b.unit <= 0 {
		return
	}
	for b.until < now {
		i := int(b.until.Sub(b.began) / b.unit)
		for len(b.units) <= i {
			b.units = append(b.units, 0)
		}
		end := min(now, b.began.Add(time.Duration(i+1)*b.unit))
		b.units[i] += time.Duration(running) * end.Sub(b.until)
		b.until = end
	}
}

func (b *busy) begin(now policy.Time) {
	b.units = b.units[:0]
	b.began, b.until = now, now
}
