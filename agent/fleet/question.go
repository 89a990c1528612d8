package fleet

import (
	"encoding/json"
	"fmt"

	"github.com/wanderd/wanderd/agent/control"
)

const (
	// maxAnswer is the longest answer that a member may be asked for, leastAnswer the shortest, in bytes.
	maxAnswer   = 512 << 10
	leastAnswer = 16 << 10
	// maxAnswers bounds all answers to one round of questions together, in bytes, in a fleet of at most 2,000 members.
	maxAnswers = 32 << 20
)

type question struct {
	Subject subject `json:"subject"`
	// Which chooses the runs of a history.
	Which control.Which `json:"which,omitzero"`
	// Most is the greatest length of the answer, in bytes.
	Most int `json:"most"`
}

type subject string

const (
	aboutStatus  subject = "status"
	aboutHistory subject = "history"
)

func (q *question) bytes() []byte {
	b, err := json.Marshal(q)
	if err != nil {
		// it has strings, numbers, and times that a command line can name
		panic("fleet: cannot write a question: " + err.Error())
	}
	return b
}

// parseQuestion reads a question, and refuses one that this version does not know.
func parseQuestion(b []byte) (question, error) {
	var q question
	if err := json.Unmarshal(b, &q); err != nil {
		return question{}, fmt.Errorf("not a question: %w", err)
	}
	switch {
	case q.Subject != aboutStatus && q.Subject != aboutHistory:
		return question{}, fmt.Errorf("a question about %q", q.Subject)
	case q.Most < leastAnswer || q.Most > maxAnswer:
		return question{}, fmt.Errorf("a question for an answer of %d bytes", q.Most)
	}
	return q, nil
}

// share returns how long the answer of each of so many members may be, in bytes.
func share(members int) int { return min(max(maxAnswers/max(members, 1), leastAnswer), maxAnswer) }
