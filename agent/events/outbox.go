package events

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/control"
)

// An outbox holds the events that one receiver has still to get, in the order in which they have happened. It is on the
// disk, too, so that the next life of an agent delivers what this one has not. An event goes when the receiver has
// taken it, has refused it, or when it is too old; if there are too many, the oldest goes. So a receiver gets each
// event at least once: an agent that is killed between a delivery and the disk's note of it delivers it once more.

const (
	// Queue is how many events wait for a receiver.
	Queue = 100
	// maxAge is how old an event may get until it is given up.
	maxAge = 24 * time.Hour
	// retryFirst and retryMax bound the pause after a delivery that has failed; it doubles.
	retryFirst = time.Second
	retryMax   = time.Minute
	// saveAgain is the pause after a save that has failed.
	saveAgain = 10 * time.Second
	// flushFor is how long deliveries may take when the agent stops.
	flushFor = 700 * time.Millisecond
	// warnEvery is the least time between two warnings of refused events.
	warnEvery = time.Minute
)

// errRefused is why an event is not delivered again.
type errRefused struct{ error }

// deliver delivers one event. It is delivered again later unless the error is nil or an errRefused.
type deliver func(context.Context, *Event) error

// disk keeps the waiting events of a receiver.
type disk interface {
	LoadEvents(receiver string) ([]byte, error)
	SaveEvents(receiver string, events any) error
}

// outbox is safe for concurrent use.
type outbox struct {
	receiver string
	disk     disk
	log      zerolog.Logger
	// changed signals that there is something to deliver, dirty that there is something to save. Their capacity is one.
	changed, dirty chan struct{}

	mu sync.Mutex
	// deliver is nil if there is no receiver.
	deliver deliver
	queue   []Event
	counts  control.Events
	// problem is why events wait, as of at; empty if the last delivery was good. refused is when the last refusal was
	// logged.
	problem     string
	at, refused time.Time
}

func newOutbox(receiver string, d disk, log zerolog.Logger) *outbox {
	return &outbox{
		receiver: receiver, disk: d, log: log.With().Str("receiver", receiver).Logger(),
		changed: make(chan struct{}, 1), dirty: make(chan struct{}, 1),
	}
}

// recall reads what an earlier life has not delivered.
func (o *outbox) recall() {
	text, err := o.disk.LoadEvents(o.receiver)
	var queue []Event
	if err == nil && text != nil {
		err = json.Unmarshal(text, &queue)
	}
	if err != nil {
		o.log.Warn().Err(err).Msg("events of the last life of this agent are lost")
		return
	}
	o.queue = queue[:min(len(queue), Queue)]
	beside.Signal(o.changed)
}

// use sets the receiver.
func (o *outbox) use(d deliver) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.deliver = d; d == nil {
		o.queue, o.problem = nil, ""
	}
	beside.Signal(o.changed)
}

// put adds an event, unless it waits already.
func (o *outbox) put(e *Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.deliver == nil || slices.ContainsFunc(o.queue, func(w Event) bool { return w.ID == e.ID }) {
		return
	}
	if o.queue = append(o.queue, *e); len(o.queue) > Queue {
		o.queue = slices.Delete(o.queue, 0, 1)
		if o.counts.Dropped++; o.counts.Dropped == 1 {
			o.log.Warn().Msg("too many events wait for their receiver; the oldest are dropped")
		}
	}
	beside.Signal(o.changed)
	beside.Signal(o.dirty)
}

// first returns the event to deliver next; nil if there is none.
func (o *outbox) first() (*Event, deliver) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 || o.deliver == nil {
		return nil, nil
	}
	e := o.queue[0]
	return &e, o.deliver
}

// took records the outcome of a delivery, and reports whether the event is done with.
func (o *outbox) took(e *Event, err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, refused := errors.AsType[errRefused](err)
	old := err != nil && time.Since(e.At) > maxAge
	switch {
	case err == nil:
		o.counts.Delivered++
	case refused || old:
		o.counts.Failed++
		if now := time.Now(); now.Sub(o.refused) > warnEvery {
			o.refused = now
			o.log.Warn().Err(err).Str("event", string(e.Kind)).Str("id", e.ID).Msg("an event is not delivered")
		}
	case o.problem == "":
		o.log.Warn().Err(err).Msg("an event cannot be delivered yet; trying again")
	}
	if err == nil || refused || old {
		o.problem = ""
		if len(o.queue) > 0 && o.queue[0].ID == e.ID {
			o.queue = slices.Delete(o.queue, 0, 1)
			beside.Signal(o.dirty)
		}
		return true
	}
	o.problem, o.at = err.Error(), time.Now()
	return false
}

// report adds the counts, and what is wrong.
func (o *outbox) report(counts map[string]control.Events, warnings []control.Warning) []control.Warning {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.deliver == nil {
		return warnings
	}
	c := o.counts
	c.Waiting = len(o.queue)
	counts[o.receiver] = c
	if o.problem != "" {
		warnings = append(warnings, control.Warning{
			Text: "events wait for " + o.receiver + ": " + o.problem, Count: uint64(c.Waiting), Last: o.at,
		})
	}
	return warnings
}

// run delivers and saves until ctx is done, and for a moment longer.
func (o *outbox) run(ctx context.Context) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { time.AfterFunc(flushFor, cancel) })()
	saving, done := context.WithCancel(context.WithoutCancel(ctx))
	var saver sync.WaitGroup
	saver.Go(func() { o.keep(saving) })
	o.work(ctx, longer)
	done()
	saver.Wait()
	cancel()
}

// work delivers one event after the other.
func (o *outbox) work(ctx, longer context.Context) {
	pause := retryFirst
	for {
		e, send := o.first()
		if e == nil {
			select {
			case <-o.changed:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := send(longer, e)
		if longer.Err() != nil && err != nil {
			return
		}
		if o.took(e, err) {
			pause = retryFirst
			continue
		}
		if !beside.Sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, retryMax)
	}
}

// keep saves the waiting events after each change until ctx is done, and then once more.
func (o *outbox) keep(ctx context.Context) {
	for fails := false; ; {
		ends := false
		select {
		case <-o.dirty:
		case <-ctx.Done():
			if ends = true; len(o.dirty) == 0 && !fails {
				return
			}
		}
		o.mu.Lock()
		queue := slices.Clone(o.queue)
		o.mu.Unlock()
		err := o.disk.SaveEvents(o.receiver, queue)
		if err != nil && !fails {
			o.log.Warn().Err(err).Msg("the next life of this agent forgets the events that wait")
		}
		if fails = err != nil; ends {
			return
		}
		if fails {
			beside.Signal(o.dirty)
			beside.Sleep(ctx, saveAgain)
		}
	}
}
