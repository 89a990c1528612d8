package ballot

import (
	"fmt"
	"strings"

	"github.com/wanderd/wanderd/policy"
)

// HasMajority is false if this member lacks a majority: a holder needs its lease and does not have it, too few members
// have answered the last proposal, or too many have refused because its lease is too long.
func (b *Machine) HasMajority(now policy.Time) bool {
	return (!b.holder.needs || now < b.holder.until) && !b.proposer.unheard && now >= b.overlong.until
}

// Missing returns a sentence for people about the open question, or about the last proposal that too few have answered:
// "sees a, misses b, c"; or about the lease, if it is longer than a majority allows. It is empty if there is neither.
func (b *Machine) Missing() string {
	heard := b.proposer.heard
	switch {
	case b.overlong.isBlocked(b.cfg.Roster):
		return b.overlong.text(b.cfg.Roster)
	case b.proposer.unheard:
	case b.round.kind == 0:
		return ""
	default:
		heard = b.round.heard(b.cfg.Self)
	}
	var sees, misses []string
	for rank := range b.cfg.Roster.Len() {
		if name := b.cfg.Roster.Name(rank); heard.has(rank) {
			sees = append(sees, name)
		} else {
			misses = append(misses, name)
		}
	}
	text := "sees " + strings.Join(sees, ", ")
	if len(misses) > 0 {
		text += ", misses " + strings.Join(misses, ", ")
	}
	return text
}

// rateText names the two clocks that run at different rates.
func (b *Machine) rateText() string {
	rank, _ := b.cfg.Roster.Rank(b.rates.differs)
	percent, how := 100*(b.rates.rate-1), "faster"
	if percent < 0 {
		percent, how = -percent, "slower"
	}
	return fmt.Sprintf("the clock of %s runs %.2f %% %s than that of %s, and each may be wrong by %v %%: a strict "+
		"gate is not safe between them; set both by one source",
		b.cfg.Roster.Name(rank), percent, how, b.cfg.Roster.Name(b.cfg.Self), 100*b.cfg.Rho)
}

// Facts appends the facts of the ballots.
func (b *Machine) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	if e := b.supporter.promised; e != 0 {
		out = append(out, policy.Fact{Key: policy.KeyPromised, Text: e.String(), At: b.supporter.busyUntil()})
	}
	if k := &b.supporter.kept; k.Is() {
		out = append(out, policy.Fact{Key: policy.KeyKept, Member: k.Holder, For: k.For, At: b.supporter.end})
	}
	if s := b.supporter.soakUntil; !b.holder.holds && now < s {
		out = append(out, policy.Fact{Key: policy.KeySoakUntil, At: s})
	}
	if c := &b.supporter.claim; c.Is() && now < c.Until {
		out = append(out, policy.Fact{Key: policy.KeyClaimed, Member: c.By, At: c.Until})
	}
	if b.holder.holds {
		out = append(out, policy.Fact{Key: policy.KeyLeaseUntil, At: b.holder.until})
	}
	if !b.HasMajority(now) {
		out = append(out, policy.Fact{Key: policy.KeyMissing, Text: "no majority: " + b.Missing()})
	}
	if id := b.outsider; !id.IsZero() {
		out = append(out, policy.Fact{Key: policy.KeyOutsider, Member: id})
	}
	if id := b.otherRoster; !id.IsZero() {
		out = append(out, policy.Fact{Key: policy.KeyOtherRoster, Member: id})
	}
	if k := &b.rates; !k.differs.IsZero() {
		out = append(out, policy.Fact{Key: policy.KeyClockRate, Member: k.differs, Text: b.rateText()})
	}
	return out
}
