package policy

// Outcome is what a run of the protected operation has achieved.
type Outcome uint8

const (
	// Succeeded: it has done its work, or nothing indicates otherwise.
	Succeeded Outcome = iota
	// Failed: it has not done its work.
	Failed
	// NotNow: the operation reports that it cannot do its work now. That is not a failure.
	NotNow
)

// String returns the outcome as a word or two.
func (o Outcome) String() string {
	return Name([]string{Succeeded: "succeeded", Failed: "failed", NotNow: "not now"}, o)
}
