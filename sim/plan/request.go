package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/wire"
)

// Request is what an operator wants of a gate, and what the fleet is like.
type Request struct {
	// Members is the number of members: 2 to 20,000.
	Members int
	// Op is the duration of the protected operation: 1 ms to 365 days.
	Op time.Duration
	// RebootTakes is how long a host is away after each run, which reboots it: at most eight hours. RebootFails is the
	// share of hosts that do not come back: 0 to 0.5. The others wait in both cases.
	RebootTakes time.Duration
	RebootFails float64
	// Soak is how long a host is looked after once it has run, before the next one starts. First are the sizes of the
	// stages but the last. MaxDown is how many members may be down when one starts, that one included; 0 is no limit.
	// FailsEvery is the mean time from one failure of a host to the next, and DownFor how long it is down on average.
	Soak                time.Duration
	First               []int
	MaxDown             int
	FailsEvery, DownFor time.Duration
	// Every is the mean time between two runs of a member: longer than Op, 1 s to 365 days.
	Every time.Duration
	// Walk chooses the next member; the zero value is the paper's random walk.
	Walk wander.Walk
	// Backups is the number of guardians: 0 to guardian.MaxBackups.
	Backups int
	// Slots is how many members may run at once: 1 to wire.MaxSlots, and at most Members. 0 means 1. Instead,
	// SlotsShare is for how many of a hundred members one may run: 1 to 100, or 0.
	Slots, SlotsShare int
	// Zones is the number of zones, over which the members are spread evenly, and PerZone how many of one zone may run
	// at once: less than Slots. 0 is no zones.
	Zones, PerZone int
	// Skip is how long the token rests at a member that does not need it. 0 asks for a recommendation.
	Skip time.Duration
	// Latency is the delay of a datagram: at most 1 s. 0 means 1 ms.
	Latency time.Duration
	// Loss is the share of datagrams that get lost: 0 to 0.5.
	Loss float64
	// Windows are when members may run; none means always.
	Windows window.Set
	// Seed fixes all random choices: the same request with the same seed gets the same result.
	Seed uint64
}

// Limits of a request.
const (
	minMembers     = 2
	maxMembers     = 20_000
	shortestOp     = time.Millisecond
	shortestEvery  = time.Second
	longest        = 365 * 24 * time.Hour
	longestRound   = 20 * longest
	longestLatency = time.Second
	highestLoss    = 0.5

	usualLatency = time.Millisecond
)

// Impossible lists everything that is wrong with a request.
type Impossible struct {
	// Problems are sentences; each names a parameter and its valid values.
	Problems []string
}

func (e *Impossible) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0]
	}
	return fmt.Sprintf("%d invalid parameters\n  %s", len(e.Problems), strings.Join(e.Problems, "\n  "))
}

func (w *Request) check() error {
	var problems []string
	demand := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	demand(w.Members >= minMembers && w.Members <= maxMembers,
		"members is %d: a fleet that can be planned has %d to %d; split a larger one into gates", w.Members, minMembers,
		maxMembers)
	opOK := w.Op >= shortestOp && w.Op <= longest
	everyOK := w.Every >= shortestEvery && w.Every <= longest
	demand(opOK, "op is %s: say how long one run takes, from %s to 365d", written(w.Op), written(shortestOp))
	demand(everyOK, "every is %s: say how often each member is to run, from once in %s to once in 365d",
		written(w.Every),
		written(shortestEvery))
	if opOK && everyOK {
		op := w.held().Op
		demand(op < w.Every,
			"op is %s and every is %s: a member would be due again before it has finished; every must be longer",
			written(op), written(w.Every))
		demand(w.Members > maxMembers || w.Members < minMembers || time.Duration(w.Members) <= longestRound/max(op, 1),
			"op is %s: %d runs of it, one after the other, take longer than twenty years", written(op), w.Members)
	}
	w.checkReboots(demand)
	w.checkPace(demand)
	w.checkZones(demand)
	demand(slices.Contains(wander.Walks(), w.Walk), "there is no %v: walk is one of %v", w.Walk, wander.Walks())
	demand(w.Backups >= 0 && w.Backups <= guardian.MaxBackups,
		"backups is %d: 0 to %d members can guard the token", w.Backups, guardian.MaxBackups)
	demand(w.SlotsShare == 0 || w.SlotsShare > 0 && w.SlotsShare <= 100 && w.Slots == 0,
		"slots is %d %%: a share of the members is from 1 %% to 100 %%, in place of a number", w.SlotsShare)
	demand(w.Slots >= 0 && w.Slots <= wire.MaxSlots,
		"slots is %d: 1 to %d members can run at once", w.Slots, wire.MaxSlots)
	demand(w.Slots <= w.Members || w.Members < minMembers || w.Slots > wire.MaxSlots,
		"slots is %d and members is %d: there would be more tokens than members", w.Slots, w.Members)
	demand(w.Skip >= 0, "skip is %s: a duration cannot be negative", written(w.Skip))
	demand(w.Skip <= 0 || !everyOK || w.Skip < w.Every,
		"skip is %s and every is %s: the token would rest at one member for all of the time; skip must be shorter",
		written(w.Skip), written(w.Every))
	demand(w.Latency >= 0 && w.Latency <= longestLatency,
		"latency is %s: a datagram is under way for at most %s", written(w.Latency), written(longestLatency))
	demand(w.Loss >= 0 && w.Loss <= highestLoss,
		"loss is %v %%: it must be between 0 and %v %%; on a worse network mend that first", 100*w.Loss,
		100*highestLoss)
	if len(problems) > 0 {
		return &Impossible{Problems: problems}
	}
	return nil
}

// longestReboot and mostFail bound what a request says of reboots: keep is a day at most.
const (
	longestReboot = 24 * time.Hour / 3
	mostFail      = 0.5
)

func (w *Request) checkReboots(demand func(ok bool, format string, args ...any)) {
	demand(w.RebootTakes >= 0 && w.RebootTakes <= longestReboot, "reboot_takes is %s: a reboot takes up to %s",
		written(w.RebootTakes), written(longestReboot))
	demand(w.RebootFails >= 0 && w.RebootFails <= mostFail, "reboot_fails is %v %%: it must be between 0 and %v %%",
		100*w.RebootFails, 100*mostFail)
	demand(w.RebootFails == 0 || w.RebootTakes > 0, "reboot_fails needs reboot_takes")
	demand(w.RebootTakes == 0 || w.slots() == 1 && w.Backups > 0,
		"reboot_takes needs one token, and guardians that keep a grant through a reboot: slots 1, backups 1 or more")
}

// mostStages bounds the stages of a request, the last one not counted.
const mostStages = 8

func (w *Request) checkPace(demand func(ok bool, format string, args ...any)) {
	demand(w.Soak >= 0 && w.Soak <= longest, "soak is %s: a duration up to 365d", written(w.Soak))
	demand(len(w.First) <= mostStages, "first has %d stages: at most %d", len(w.First), mostStages)
	early := 0
	for _, n := range w.First[:min(len(w.First), mostStages)] {
		demand(n >= 1 && n <= maxMembers, "first has a stage of %d: a stage has one member or more", n)
		early += min(max(n, 0), maxMembers)
	}
	demand(early == 0 || early < w.Members, "first has %d members and members is %d: none are left for the last stage",
		early, w.Members)
	demand(w.MaxDown == 0 || w.MaxDown >= w.slots() && w.MaxDown <= maxMembers,
		"max_down is %d: at least as many as may run at once (slots, %d), up to %d", w.MaxDown, w.slots(), maxMembers)
	demand((w.FailsEvery == 0) == (w.DownFor == 0), "fails_every and down_for need each other")
	demand(w.FailsEvery == 0 || w.MaxDown > 0, "fails_every tells what max_down costs: it needs that")
	demand(w.FailsEvery >= 0 && w.FailsEvery <= longest && w.DownFor >= 0 && w.DownFor <= longest,
		"fails_every is %s and down_for is %s: durations up to 365d", written(w.FailsEvery), written(w.DownFor))
}

// keep is how long the others should wait for a host that reboots: three times as long as it takes, at least ten
// minutes.
func (w *Request) keep() time.Duration {
	if w.RebootTakes == 0 {
		return 0
	}
	return max(roundUp(3*w.RebootTakes), 10*time.Minute)
}

// held returns the request with a run that takes as long as the others wait for it, on average: its soak and its reboot
// included.
func (w Request) held() Request {
	w.Op += w.Soak + w.RebootTakes + seconds(w.RebootFails*w.keep().Seconds())
	return w
}

func (w *Request) slots() int { return slotsOf(w.Members, w.Slots, w.SlotsShare) }

func (w *Request) latency() time.Duration { return cmp.Or(w.Latency, usualLatency) }

// MarshalJSON writes times in seconds; a skip of 0 is null.
func (w Request) MarshalJSON() ([]byte, error) {
	out := struct {
		Members int      `json:"members"`
		Walk    string   `json:"walk"`
		Backups int      `json:"backups"`
		Slots   int      `json:"slots"`
		Op      float64  `json:"op_s"`
		Every   float64  `json:"every_s"`
		Skip    *float64 `json:"skip_s"`
		Latency float64  `json:"latency_s"`
		Loss    float64  `json:"loss"`
		Seed    uint64   `json:"seed"`
		Reboot  float64  `json:"reboot_takes_s,omitempty"`
		Fails   float64  `json:"reboot_fails,omitempty"`
		Soak    float64  `json:"soak_s,omitempty"`
		First   []int    `json:"first,omitempty"`
		MaxDown int      `json:"max_down,omitempty"`
		Failing float64  `json:"fails_every_s,omitempty"`
		DownFor float64  `json:"down_for_s,omitempty"`
		Zones   int      `json:"zones,omitempty"`
		PerZone int      `json:"per_zone,omitempty"`
	}{
		w.Members, w.Walk.String(), w.Backups, w.slots(), w.Op.Seconds(), w.Every.Seconds(), nil, w.latency().
			Seconds(), w.Loss, w.Seed, w.RebootTakes.Seconds(), w.RebootFails, w.Soak.Seconds(), w.First, w.MaxDown,
		w.FailsEvery.Seconds(), w.DownFor.Seconds(), w.Zones, w.PerZone,
	}
	if w.Skip > 0 {
		out.Skip = new(w.Skip.Seconds())
	}
	return json.Marshal(out)
}
