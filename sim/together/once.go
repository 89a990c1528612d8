package together

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// once is the last upgrade that counts for all hosts.
type once struct {
	of *job
	// began is when its first gate was granted: from then on the interval is counted.
	began policy.Time
	// resumed is when the gate was resumed last; zero if it never was.
	resumed policy.Time
}

// begins checks an upgrade that starts: "one success in an interval is enough for all." In a strict gate that is so
// whatever goes wrong, and a run whose end nobody has seen counts, too: its holder has asked for the interval up to two
// leases before it ran, and clocks differ. In a soft gate it is so where nothing goes wrong. An operator who resumes
// the gate ends the interval: who runs while not all have heard of that runs for nobody.
func (o *once) begins(r *rules, j *job) {
	s := r.w.s
	if !s.Once || !j.own() || !s.Strict.Upgrade && !s.calm() {
		return
	}
	least := time.Duration(float64(s.MinInterval)*(1-2*s.Strict.Drift)) - 2*s.Strict.Lease
	void := o.resumed != 0 && o.began < o.resumed.Add(s.Membership.Noticed()+2*s.Strict.Lease)
	if since := j.since.Sub(o.began); o.of != nil && !void && since < least {
		r.fail(j, "it runs %v after a run that has not failed, and once in %v is enough", since, s.MinInterval)
	}
	o.of, o.began = j, j.since
}

// fails notes that an upgrade has ended without success: it counts for nobody.
func (o *once) fails(j *job) {
	if o.of == j {
		o.of = nil
	}
}
