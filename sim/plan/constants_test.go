package plan

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

func drawRequest(t *rapid.T) Request {
	duration := func(name string, from, to time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(int64(from), int64(to)).Draw(t, name))
	}
	w := Request{
		Walk: rapid.SampledFrom(wander.Walks()).Draw(t, "walk"), Members: rapid.IntRange(minMembers, maxMembers).
			Draw(t, "members"),
		Every:   duration("every", shortestEvery, longest),
		Latency: duration("latency", time.Microsecond, longestLatency), Backups: rapid.IntRange(0, guardian.MaxBackups).
				Draw(t, "backups"),
	}
	w.Slots = rapid.IntRange(0, min(wire.MaxSlots, w.Members)).Draw(t, "slots")
	// Around a load of one, where all boundaries are.
	fair := float64(w.Every) / float64(w.Members) * float64(w.slots()) * rapid.Float64Range(0.01, 3).Draw(t, "load")
	w.Op = min(max(time.Duration(fair), shortestOp), w.Every-1)
	if rapid.Bool().Draw(t, "given skip") {
		w.Skip = duration("skip", 1, min(w.Every-1, time.Hour))
	}
	if w.check() != nil {
		t.Skip("a round of more than twenty years")
	}
	return w
}

// The rules of the configuration: "config check" has them too.
func TestRecommendedConstantsAreAConfiguration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawRequest(t)
		k, _ := recommend(&w)
		switch {
		case k.Skip <= 0 || w.Skip > 0 && k.Skip != w.Skip:
			t.Fatalf("skip %v", k.Skip)
		case k.Op != w.Op || k.MinInterval < k.Op || k.MinInterval > w.Every:
			t.Fatalf("op %v, min_interval %v", k.Op, k.MinInterval)
		case k.MaxInterval < k.MinInterval || k.MaxInterval < defaultMaxInterval(w.Members, &k):
			t.Fatalf("max_interval %v after min_interval %v", k.MaxInterval, k.MinInterval)
		case k.HookTimeout < k.Op || k.HookTimeout > k.MinInterval:
			t.Fatalf("hook_timeout %v, op %v, min_interval %v", k.HookTimeout, k.Op, k.MinInterval)
		}
	})
}

func TestARequestThatFitsRunsAsOftenAsWanted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawRequest(t)
		k, fits := recommend(&w)
		f := newFleet(&w, w.Members, &k)
		interval, every := f.theory.interval(f.busy()), w.Every.Seconds()
		switch {
		case fits && interval > every*(1+1e-9):
			t.Fatalf("it fits, and members run every %v s, not every %v s", interval, every)
		case fits && interval < 0.98*every && k.MinInterval > k.Op:
			t.Fatalf("members run every %v s, much more often than every %v s", interval, every)
		case !fits && k.MinInterval != w.Every:
			t.Fatalf("it does not fit, and min_interval is %v", k.MinInterval)
		}
	})
}

func TestRecommendedSkipKeepsWaitsShortWhereThatIsPossible(t *testing.T) {
	day := 24 * time.Hour
	for _, tc := range []struct {
		request Request
		want    time.Duration
	}{
		{Request{Members: 5, Op: time.Minute, Every: day}, 10 * time.Second},
		{Request{Members: 400, Op: 3 * time.Minute, Every: day}, time.Second},
		{Request{Members: 400, Op: 3 * time.Minute, Every: day, Walk: wander.Sweep}, 2 * time.Second},
		{Request{Members: 400, Op: 3 * time.Second, Every: day, Walk: wander.Sweep}, 10 * time.Second},
		{Request{Members: 1800, Op: 3 * time.Second, Every: day, Walk: wander.Sweep}, 2 * time.Second},
		{Request{Members: 10_000, Op: 3 * time.Second, Every: day}, 250 * time.Millisecond},
		{Request{Members: 400, Op: 3 * time.Minute, Every: day / 2}, 50 * time.Millisecond},
		{Request{
			Members: 400, Op: 3 * time.Minute, Every: day / 2, Latency: 100 * time.Millisecond,
		}, 500 * time.Millisecond},
	} {
		if got := recommendSkip(&tc.request); got != tc.want {
			t.Errorf("%+v: skip %v, want %v", tc.request, got, tc.want)
		}
	}
}

// "3 × min_interval, and never below 3 × members × op", unless a random walk needs more. Where there are guardians, no
// member makes a new token only because it has met none.
func TestMaxIntervalIsTheDefaultUnlessTheWalkNeedsMore(t *testing.T) {
	for _, tc := range []struct {
		request Request
		want    time.Duration
		rule    bool
	}{
		{Request{Members: 400, Op: 3 * time.Minute, Every: 24 * time.Hour, Walk: wander.Sweep}, 72 * time.Hour, true},
		{Request{Members: 400, Op: 3 * time.Minute, Every: 12 * time.Hour, Walk: wander.Sweep}, 60 * time.Hour, true},
		{Request{
			Members: 150, Op: 4 * time.Second, Every: 15 * time.Minute, Skip: 2 * time.Second,
		}, 43 * time.Minute, false},
		{Request{
			Members: 150, Op: 4 * time.Second, Every: 15 * time.Minute, Skip: 2 * time.Second, Backups: 1,
		}, 30 * time.Minute, true},
	} {
		k, _ := recommend(&tc.request)
		if k.MaxInterval != tc.want || k.DefaultMaxInterval != tc.rule {
			t.Errorf("%+v: max_interval %v, by rule: %v; want %v, %v", tc.request, k.MaxInterval, k.DefaultMaxInterval,
				tc.want, tc.rule)
		}
	}
}
