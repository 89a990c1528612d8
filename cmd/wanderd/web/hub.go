package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

const (
	// maxViewers bounds the open pages; each has a connection.
	maxViewers = 16
	// historyFor is how far back the timeline goes. The history is requested when a run has begun or ended, but not
	// more often than historyLeast, and every historyEvery in any case.
	historyFor   = 24 * time.Hour
	historyLeast = 5 * time.Second
	historyEvery = time.Minute
	// writeTimeout is how long a browser may take for an event.
	writeTimeout = 10 * time.Second
)

// The topics of events, in the order in which they are sent.
const (
	aboutFleet = iota
	aboutHistory
	aboutTokens
	topics
)

// event is the last event of a topic. Its number tells whether a viewer has it.
type event struct {
	number int
	data   []byte
}

// hub asks the fleet while there are viewers, and sends all viewers the same events.
type hub struct {
	src Source

	mu      sync.Mutex
	viewers map[chan struct{}]struct{}
	events  [topics]event
	// stop ends the questions; nil while there is no viewer.
	stop context.CancelFunc
	// working is done when no question is under way any more; all viewers must have left.
	working sync.WaitGroup
}

// enter adds a viewer, whose channel gets a value when there is something new; nil if there are too many viewers.
func (h *hub) enter() chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.viewers) == maxViewers {
		return nil
	}
	news := make(chan struct{}, 1)
	h.viewers[news] = struct{}{}
	if h.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		h.stop = cancel
		h.events = [topics]event{} // events from the time of an earlier viewer are not shown
		h.working.Go(func() { h.follow(ctx) })
	}
	return news
}

// leave removes a viewer; with the last one the questions end.
func (h *hub) leave(news chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.viewers, news)
	if len(h.viewers) == 0 {
		h.stop()
		h.stop = nil
	}
}

func (h *hub) follow(ctx context.Context) {
	var fleet *control.Fleet
	var asked time.Time
	var shown int
	follow.Follow(ctx, h.src, func(s follow.Snapshot) {
		h.publish(ctx, aboutTokens, s)
		if s.Fleet != fleet && s.Error == "" {
			fleet = s.Fleet
			h.publishFleet(ctx, fleet)
		}
		age, n := time.Since(asked), progress(s.Fleet)
		if age < historyLeast || n == shown && age < historyEvery {
			return
		}
		if runs, err := h.src.FleetHistory(ctx, control.Which{Since: time.Now().Add(-historyFor)}); err == nil {
			asked, shown = time.Now(), n
			h.publish(ctx, aboutHistory, runs)
		}
	})
}

// progress returns a number that rises when a run begins, and when one ends.
func progress(f *control.Fleet) (n int) {
	for _, gate := range follow.PageOf(f).Gates {
		for i := range gate.Rows {
			n += 2 * int(gate.Rows[i].Runs)
			if gate.Rows[i].Running {
				n--
			}
		}
	}
	return n
}

// publishFleet sends all viewers what all members have reported, as rows.
func (h *hub) publishFleet(ctx context.Context, f *control.Fleet) {
	h.publish(ctx, aboutFleet, follow.PageOf(f))
}

// publish sends all viewers the new event of a topic, unless ctx is done: then another one follows, or there is no
// viewer.
func (h *hub) publish(ctx context.Context, topic int, document any) {
	data, err := json.Marshal(document)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil || ctx.Err() != nil {
		return
	}
	h.events[topic] = event{number: h.events[topic].number + 1, data: data}
	for news := range h.viewers {
		select {
		case news <- struct{}{}:
		default:
		}
	}
}

// serve sends events until the browser goes.
func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	news := h.enter()
	if news == nil {
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer h.leave(news)
	w.Header().Set("Content-Type", "text/event-stream")
	answer := http.NewResponseController(w)
	names := [topics]string{"fleet", "history", "tokens"}
	var sent [topics]int
	for {
		for topic, e := range h.since(&sent) {
			if e.data == nil {
				continue
			}
			_ = answer.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", names[topic], e.data); err != nil {
				return
			}
		}
		if err := answer.Flush(); err != nil {
			return
		}
		select {
		case <-news:
		case <-r.Context().Done():
			return
		}
	}
}

// since returns the events that are newer than those with the numbers in sent, and notes that they are sent.
func (h *hub) since(sent *[topics]int) (fresh [topics]event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for topic, e := range h.events {
		if e.number != sent[topic] {
			sent[topic], fresh[topic] = e.number, e
		}
	}
	return fresh
}
