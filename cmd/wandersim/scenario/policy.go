package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
)

// policy is one way in which tokens move, as --policy names it: each has a file of its own.
type policy struct {
	name string
	// table has its parameters, policy itself among them, in the order in which help and JSON show them.
	table func(*Parameters) settings.Table
	// check sets what follows from other parameters, and finds what does not fit together.
	check func(*Parameters, *settings.Reading)
}

// policies returns all policies; the first is the default.
func policies() []policy {
	return []policy{
		{usual.PolicyWander, (*Parameters).wanderTable, (*Parameters).checkWander},
		{usual.PolicyCall, (*Parameters).callTable, (*Parameters).checkCall},
		{usual.PolicyRing, (*Parameters).ringTable, (*Parameters).checkRing},
		{usual.PolicyTree, (*Parameters).treeTable, (*Parameters).checkTree},
		{PolicyTermination, (*Parameters).terminationTable, (*Parameters).checkDeciding},
		{PolicyElection, (*Parameters).electionTable, (*Parameters).checkDeciding},
	}
}

func policyNames() (names []string) {
	for _, one := range policies() {
		names = append(names, one.name)
	}
	return names
}

// policyOf returns the policy of a name, or the default.
func policyOf(name string) policy {
	return policies()[max(slices.Index(policyNames(), name), 0)]
}

// change gives a parameter of another policy another range and default.
func change(t settings.Table, key string, v settings.Value, otherwise string) {
	s := t.Find(key)
	s.Value, s.Default, s.Rule = v, otherwise, ""
}

// lacks returns the message that a parameter belongs to another policy.
func (one *policy) lacks(key string) string {
	var having []string
	for _, other := range policies() {
		if other.table(new(Parameters)).Find(key) != nil {
			having = append(having, other.name)
		}
	}
	verb := "has"
	if len(having) > 1 {
		verb = "have"
	}
	return fmt.Sprintf("policy %s has no such parameter, only %s %s: leave it out", one.name,
		strings.Join(having, " and "), verb)
}

// Table returns the parameters of all policies, each once.
func Table() settings.Table {
	var all settings.Table
	for _, one := range policies() {
		for _, s := range one.table(new(Parameters)) {
			if all.Find(s.Key) == nil {
				all = append(all, s)
			}
		}
	}
	return all
}
