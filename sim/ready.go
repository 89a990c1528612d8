package sim

import (
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ready"
)

// Ready describes what hosts answer when they are asked whether they need a run. With its zero value no host is asked.
type Ready struct {
	// No is the share of answers that are no.
	No float64
	// Takes is how long an answer takes at most. Timeout is how long before a run a host is asked. Again is the time
	// from an answer to the next question.
	Takes, Timeout, Again time.Duration
}

// Answer is a host's last answer.
type Answer struct {
	Yes bool
	At  policy.Time
}

type questions struct {
	dice *rand.Rand
	// each are the members' questions. It is nil if no host is asked.
	each []question
	// putOff are the members whose runs are put off.
	putOff map[int32]bool
}

type question struct {
	ready.Question
	// number counts the appointments; only the last one is in force. at is when the host will be asked; Never, if that
	// is not arranged.
	number int32
	at     policy.Time
	says   bool
	last   Answer
}

// Answered returns the last answer of the host of member i, which must be up. It is the zero Answer if the host has not
// been asked since the member started.
func (c *Cluster) Answered(i int) Answer { return c.questions.each[i].last }

// beginAsking forgets the answers from earlier lives of a member that starts.
func (c *Cluster) beginAsking(who int32) {
	if c.questions.each == nil {
		return
	}
	r := &c.cfg.Ready
	q := &c.questions.each[who]
	*q = question{Question: ready.Question{Timeout: r.Timeout, Again: r.Again}, number: q.number + 1, at: policy.Never}
}

// tellReady tells a member's machine whether its host is ready, and nothing holds a run up. It is called before each
// step.
func (c *Cluster) tellReady(who int32) {
	if c.questions.each == nil && c.shells.each == nil && c.questions.putOff == nil {
		return
	}
	if m, asks := c.members[who].machine.(policy.Askable); asks {
		callers := !c.isHeldUp(who, false)
		own := callers && c.Ready(int(who)) && !c.isHeldUp(who, true)
		if c.shells.each != nil {
			c.shells.each[who].barred, c.shells.each[who].held = !callers, c.isHeldUp(who, true)
		}
		putOff := c.questions.putOff[who]
		m.SetReady(own && !putOff, callers && !putOff)
	}
}

// PutOff puts the runs of member i off, or ends that: meanwhile its host is not ready.
func (c *Cluster) PutOff(i int, is bool) {
	if c.questions.putOff == nil {
		c.questions.putOff = map[int32]bool{}
	}
	c.questions.putOff[int32(i)] = is
	if !c.members[i].up {
		return
	}
	c.event.Kind = policy.Woke
	c.step(int32(i), &c.event, about{due: true})
}

// arrangeQuestion arranges when the host of a member is asked next. If an earlier time is arranged already, that stays,
// and the question is considered again then.
func (c *Cluster) arrangeQuestion(who int32) {
	if c.questions.each == nil {
		return
	}
	q := &c.questions.each[who]
	at := q.AskAt(c.ownDue(who))
	if at == policy.Never {
		return
	}
	if at = max(c.clockOf(who).shows(at), c.now); at < q.at {
		q.number++
		q.at = at
		c.push(entryAsk, at, who, q.number)
	}
}

// ownDue returns when a member's operation is due, if its host is ready and nothing runs.
func (c *Cluster) ownDue(who int32) policy.Time {
	if c.members[who].run.active {
		return policy.Never
	}
	return c.OperationDue(int(who))
}

// OperationDue returns when the own operation of member i, which must be up, is due, if its host is ready then: see
// [policy.Askable]. Callers do not count.
func (c *Cluster) OperationDue(i int) policy.Time {
	asks, ok := c.members[i].machine.(policy.Askable)
	if !ok {
		return policy.Never
	}
	return asks.DueAt(c.Instant(i).Time)
}

// Ready reports whether a yes of the host of member i, which must be up, is in force. If no host is asked, no yes is
// needed.
func (c *Cluster) Ready(i int) bool {
	return c.questions.each == nil || c.questions.each[i].Ready(c.Instant(i).Time)
}

// isAsked reports whether an appointment with a member's host is still in force.
func (c *Cluster) isAsked(who, number int32) bool {
	return c.questions.each != nil && c.members[who].up && c.questions.each[who].number == number
}

func (c *Cluster) ask(who, number int32) {
	if !c.isAsked(who, number) {
		return
	}
	q, r := &c.questions.each[who], &c.cfg.Ready
	q.at = policy.Never
	if q.AskAt(c.ownDue(who)) > c.Instant(int(who)).Time {
		c.arrangeQuestion(who)
		return
	}
	q.Ask()
	takes := time.Duration(c.questions.dice.Float64() * float64(r.Takes))
	q.says = !happens(c.questions.dice, r.No)
	q.number++
	c.push(entryAnswer, c.now.Add(takes), who, q.number)
}

func (c *Cluster) answer(who, number int32) {
	if !c.isAsked(who, number) {
		return
	}
	q := &c.questions.each[who]
	if q.Answer(c.Instant(int(who)).Time, q.says) {
		q.last = Answer{Yes: q.says, At: c.now}
	}
	c.event.Kind = policy.Woke
	c.step(who, &c.event, about{due: true})
}

// askNobody ends all questions, like a reload that removes them from the configuration.
func (c *Cluster) askNobody() {
	if c.questions.each == nil {
		return
	}
	c.questions.each = nil
	for i := range c.members {
		if m, asks := c.members[i].machine.(policy.Askable); asks && c.members[i].up {
			c.statusOf = absent
			m.SetReady(true, true)
			c.setAlarm(int32(i))
			c.stand(int32(i))
		}
	}
}

// Asks reports whether hosts are asked whether they need a run.
func (c *Cluster) Asks() bool { return c.questions.each != nil }
