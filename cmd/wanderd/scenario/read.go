package scenario

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/cmd/wanderd/settings"
)

// FileFlag is the flag that names a file, without dashes.
const FileFlag = "scenario"

// longestRound keeps products of members and durations far from overflow.
const longestRound = 50 * 365 * 24 * time.Hour

// Read reads flags, and the file at path unless that is empty. The error is a [settings.Invalid] that says everything that is
// wrong.
func Read(flags settings.Flags, path string) (Parameters, error) {
	var p Parameters
	r := settings.NewReading(p.table(), "scenario")
	unread := false
	if path != "" {
		file, err := settings.ReadFile(path, "the scenario", FileFlag)
		if unread = err != nil; unread {
			r.Complain("%s", err)
		} else {
			r.Apply(r.Read(file, "", file.Content, func(key string) string {
				return fmt.Sprintf("unknown key %q: %s", key,
					settings.DidYouMean(key, r.Keys(), "the keys are the flags of \"wanderd sim --help\", with underscores"))
			}))
		}
	}
	r.Apply(settings.Given(flags))
	if p.OpConfigured == 0 {
		p.OpConfigured = p.Op
	}
	if p.Demand > 0 && !r.Of(&p.MinInterval).IsGiven() {
		p.MinInterval = 0
		r.ByRule(&p.MinInterval, "none on demand")
	}
	if !unread {
		p.check(&r)
	}
	if err := r.Err(); err != nil {
		return p, err
	}
	if p.MaxInterval == 0 {
		p.DefaultMaxInterval = true
		world := p.World()
		p.MaxInterval = world.MaxIntervalInForce()
	}
	return p, nil
}

// check finds what does not fit together.
func (p *Parameters) check(r *settings.Reading) {
	if p.Demand == 0 {
		r.AtLeast(&p.MinInterval, &p.Op, "a member would be due again before it has finished")
	}
	r.AtLeast(&p.MaxInterval, &p.MinInterval, "every member would take the token for lost between two operations")
	for _, op := range []*time.Duration{&p.Op, &p.OpConfigured} {
		if s := r.Of(op); s.IsSet() && float64(p.Members)*float64(*op) > float64(longestRound) {
			r.Object("%s and %s make a round of more than 50 years: lower one of them", r.Of(&p.Members), s)
		}
	}
	if p.OpJitter.Time > p.Op {
		r.Object("%s is more than %s, so an operation could end before it begins: lower op_jitter or raise op",
			r.Of(&p.OpJitter), r.Of(&p.Op))
	}
	r.CheckNeeds()
	if p.PartitionAt == nil {
		return
	}
	if *p.PartitionAt >= p.Duration {
		r.Object("%s is not before the end, %s: make it earlier, or the run longer", r.Of(&p.PartitionAt), r.Of(&p.Duration))
	}
	if side := p.PartitionShare * float64(p.Members); side < 1 || side > float64(p.Members-1) {
		r.Object("%s leaves one part of %s empty: choose a share that puts at least one member into each part",
			r.Of(&p.PartitionShare), r.Of(&p.Members))
	}
}

// MarshalJSON writes an object with every parameter, in the order of the table; what never happens is null. The same keys and
// values make a file.
func (p Parameters) MarshalJSON() ([]byte, error) { return p.table().MarshalJSON() }
