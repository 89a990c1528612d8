package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
)

// policy is one way in which tokens move, as --policy names it: each has a file of its own.
type policy struct {
	name string
	// table has its parameters, in the order in which help and JSON show them, policy itself among them.
	table func(*Parameters) settings.Table
	// complete fills in what follows from other parameters, check finds what does not fit together, and finish fills in what follows from
	// parameters that do.
	complete, check func(*Parameters, *settings.Reading)
	finish          func(*Parameters)
}

// policies are all there are; the first is the default.
func policies() []policy {
	nothing, done := func(*Parameters, *settings.Reading) {}, func(*Parameters) {}
	return []policy{
		{config.PolicyWander, (*Parameters).wanderTable, (*Parameters).completeWander, (*Parameters).checkWander, (*Parameters).finishWander},
		{PolicyRing, (*Parameters).ringTable, nothing, (*Parameters).checkRing, done},
		{PolicyTree, (*Parameters).treeTable, nothing, (*Parameters).checkTree, done},
		{PolicyTermination, (*Parameters).terminationTable, nothing, (*Parameters).checkDeciding, done},
		{PolicyElection, (*Parameters).electionTable, nothing, (*Parameters).checkDeciding, done},
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

// again is a parameter of another policy, with another default.
func again(t settings.Table, key string, v settings.Value, otherwise string) *settings.Setting {
	s := settings.Row(key, v, otherwise, t.Find(key).Help)
	s.Group = t.Find(key).Group
	return s
}

// choose returns the policy that flags or file name. One that there is not is complained about with the other values.
func choose(flags settings.Flags, file *settings.File) policy {
	name := ""
	if file != nil {
		name, _ = file.Content["policy"].(string)
	}
	if given := settings.Given(flags).Text("policy"); given != "" {
		name = given
	}
	return policyOf(name)
}

// lacks says that a parameter is another policy's.
func (one *policy) lacks(key string) string {
	var having []string
	for _, other := range policies() {
		if other.table(new(Parameters)).Find(key) != nil {
			having = append(having, other.name)
		}
	}
	return fmt.Sprintf("policy %s has no such parameter, only %s has: leave it out", one.name, strings.Join(having, " and "))
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
