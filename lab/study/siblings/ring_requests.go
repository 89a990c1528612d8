package siblings

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	ringing "github.com/wanderd/wanderd/sim/fleet/ring"
	"github.com/wanderd/wanderd/sim/report"
)

// requestHop is how long a message takes. requestOp is how long a critical section takes. Neither is published, and no
// count of messages at rare requests depends on them.
const (
	requestHop = time.Millisecond
	requestOp  = time.Millisecond
	// requestsEach is the approximate least number of requests in a run.
	requestsEach = 600
)

func requestRings() []int { return []int{4, 8, 16, 32, 64, 128, 256} }

// requestLoads returns how many rounds of the token pass, on average, from a member's last critical section until it
// asks again: from very low demand to a demand at which all members wait all the time.
func requestLoads() []float64 { return []float64{20_000, 1000, 100, 10, 1, 0.1} }

// rarest returns the first of these with which a protocol is measured. With a token that always moves, requests need
// not be so rare that each is alone.
func rarest(request ring.Request) float64 {
	if request == ring.Always {
		return requestLoads()[1]
	}
	return requestLoads()[0]
}

// requestCase is one ring under one demand.
type requestCase struct {
	request ring.Request
	n       int
	rounds  float64
}

// requestRun is the result of such a run.
type requestRun struct {
	requestCase
	messages float64
	// service is the greatest service traffic.
	service int
}

// ringRequests measures what section 1 of Q and D calls messages per request and service traffic.
func ringRequests() study.Experiment {
	var cases []requestCase
	for _, request := range ring.Requests() {
		for _, n := range requestRings() {
			for _, rounds := range requestLoads() {
				if rounds <= rarest(request) {
					cases = append(cases, requestCase{request, n, rounds})
				}
			}
		}
	}
	return study.Surveyed("ring-requests", cases, study.Usually[requestCase](1), runRequests,
		func(runs [][]requestRun) study.Result {
			var all []requestRun
			for _, r := range runs {
				if len(r) > 0 {
					all = append(all, meanRequests(r))
				}
			}
			return answerRequests(all)
		})
}

// demand returns the mean time from a critical section until the member asks again.
func (c *requestCase) demand() time.Duration {
	return time.Duration(c.rounds * float64(c.n) * float64(requestHop))
}

func runRequests(ctx context.Context, c *requestCase, seed uint64) (requestRun, error) {
	each := max(c.demand()/time.Duration(c.n), requestHop+requestOp)
	s := ringing.Scenario{
		Seed: seed, Members: c.n, Request: c.request, Network: ringing.PaperLinks(requestHop),
		Membership: ringing.PerfectDetector(),
		Hook:       sim.Hook{Takes: requestOp}, Demand: sim.Demand{Every: c.demand()}, Duration: requestsEach * each,
	}
	meter := ringing.NewMeter(c.n)
	now, err := s.Measure(ctx, func(policy.Time) {}, meter)
	f := meter.Figures(now)
	return requestRun{requestCase: *c, messages: f.MessagesPerRequest(), service: f.ServiceTraffic}, err
}

// meanRequests returns the mean of the runs of one case, and the greatest traffic.
func meanRequests(runs []requestRun) requestRun {
	all := runs[0]
	for _, r := range runs[1:] {
		all.messages += r.messages
		all.service = max(all.service, r.service)
	}
	all.messages /= float64(len(runs))
	return all
}

// closedForm returns the messages per request: of one request at a time, from a member drawn uniformly; of a token that
// always moves, under any demand, of g requests in a round from each member.
func (c *requestCase) closedForm() float64 {
	n := float64(c.n)
	switch c.request {
	case ring.Martin, ring.Q:
		return n - 1
	case ring.D:
		return (2*n - 1) * (n - 1) / n
	case ring.Always:
	}
	return 1 / (1 - math.Exp(-1/c.rounds))
}

// bounds returns the published bounds. ok is false if there are none.
func (c *requestCase) bounds() (messages, service float64, ok bool) {
	n := float64(c.n)
	switch c.request {
	case ring.Q:
		return n, 3*n*n/2 - 5*n/2 + 1, true
	case ring.D:
		return 2 * n, 3*n - 3, true
	case ring.Always, ring.Martin:
	}
	return 0, 0, false
}

func (c *requestCase) name() string { return fmt.Sprintf("%v, n = %d", c.request, c.n) }

func answerRequests(runs []requestRun) study.Result {
	rare := report.Comparison{
		Title: "Messages per request when requests are rare, beside the closed forms (published: the closed form)",
		What:  "protocol", Figure: "messages per request",
	}
	messages := report.Comparison{
		Title: "The most messages per request under any demand, beside the bounds",
		What:  "protocol", Figure: "messages per request",
	}
	service := report.Comparison{
		Title: "The greatest service traffic under any demand, beside the bounds", What: "protocol", Figure: "messages",
	}
	points := report.Comparison{
		Title: "Messages per request", What: "protocol, rounds between requests", Figure: "messages per request",
	}
	traffic := report.Comparison{
		Title: "Service traffic", What: "protocol, rounds between requests", Figure: "messages",
	}
	furthest, kept := 0.0, true
	for _, ring := range study.Grouped(runs, (*requestRun).name) {
		name, most, mostService := ring[0].name(), 0.0, 0.0
		for i := range ring {
			r := &ring[i]
			label := fmt.Sprintf("%s, %v rounds", name, r.rounds)
			points.Rows = append(points.Rows, report.Measured(label, r.messages))
			traffic.Rows = append(traffic.Rows, report.Measured(label, float64(r.service)))
			if r.rounds == rarest(r.request) {
				rare.Rows = append(rare.Rows, report.Exact(name, r.closedForm(), r.messages))
				furthest = max(furthest, math.Abs(r.messages/r.closedForm()-1))
			}
			most, mostService = max(most, r.messages), max(mostService, float64(r.service))
		}
		last := &ring[len(ring)-1]
		if boundMessages, boundService, ok := last.bounds(); ok &&
			last.rounds == requestLoads()[len(requestLoads())-1] {
			messages.Rows = append(messages.Rows, report.Exact(name, boundMessages, most))
			service.Rows = append(service.Rows, report.Exact(name, boundService, mostService))
			kept = kept && (last.n < 16 || most <= boundMessages && mostService <= boundService)
		}
	}
	r := study.Result{
		Comparisons: []report.Comparison{rare, messages, service}, Points: []report.Comparison{points, traffic},
		Figures: study.Figures{"furthest": 100 * furthest, "kept": kept, "hop": requestHop, "op": requestOp},
	}
	for _, request := range ring.Requests() {
		r.Tables = append(r.Tables, requestTable(request, runs))
	}
	r.Plots = requestPlots(runs)
	return r
}

// requestTable has the messages per request of one protocol.
func requestTable(request ring.Request, runs []requestRun) report.Table {
	t := report.Table{
		Title: fmt.Sprintf("Messages per request, %v", request), Header: []string{"rounds between requests"},
	}
	for _, n := range requestRings() {
		t.Header = append(t.Header, "n = "+strconv.Itoa(n))
	}
	for _, rounds := range requestLoads() {
		row := []string{report.Number(rounds)}
		for i := range runs {
			if runs[i].request == request && runs[i].rounds == rounds {
				row = append(row, report.Number(runs[i].messages))
			}
		}
		if rounds <= rarest(request) {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// requestPlots shows the messages per request by size of the ring, when requests are rare and when all members wait,
// and by demand.
func requestPlots(runs []requestRun) []study.Plot {
	bySize := func(title string, rounds float64) report.Chart {
		l := report.Chart{Title: title, X: "n", Y: "messages per request", Logarithmic: true}
		for _, request := range ring.Requests() {
			line := report.Curve{Name: request.String()}
			for i := range runs {
				if r := &runs[i]; r.request == request && r.rounds == min(rounds, rarest(request)) {
					line.X, line.Y = append(line.X, float64(r.n)), append(line.Y, r.messages)
				}
			}
			l.Curves = append(l.Curves, line)
		}
		return l
	}
	loads := requestLoads()
	service := report.Chart{
		Title: "The greatest service traffic, and the bounds", X: "n", Y: "messages", Logarithmic: true,
	}
	for _, request := range []ring.Request{ring.Martin, ring.Q, ring.D} {
		line, bound := report.Curve{Name: request.String()},
			report.Curve{Name: request.String() + ", bound", Published: true}
		for _, n := range requestRings() {
			top := 0
			for i := range runs {
				if runs[i].request == request && runs[i].n == n {
					top = max(top, runs[i].service)
				}
			}
			line.X, line.Y = append(line.X, float64(n)), append(line.Y, float64(top))
			if _, limit, ok := (&requestCase{request: request, n: n}).bounds(); ok {
				bound.X, bound.Y = append(bound.X, float64(n)), append(bound.Y, limit)
			}
		}
		service.Curves = append(service.Curves, line)
		if len(bound.X) > 0 {
			service.Curves = append(service.Curves, bound)
		}
	}
	return []study.Plot{
		{Name: "ring-requests-rare", Chart: bySize("Messages per request, requests are rare", loads[0])},
		{Name: "ring-requests-busy", Chart: bySize("Messages per request, all members wait", loads[len(loads)-1])},
		{Name: "ring-requests-service", Chart: service},
	}
}
