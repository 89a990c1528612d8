// Package proof has the properties of the appendix of Arantes and Sopena, "Easily rendering token-ring algorithm fault
// tolerant" (k-copies), as checks of a ring: "these three properties must always hold in order to ensure the safety
// property after a crash".
//
//	P_SafetyCond        at most one living site holds the REAL token or is the receiver of Pend_REAL
//	P_HolderMonitored   the holder is in every D that is not empty, and in {S_T … S_i} of every pending message
//	P_Count             counts differ as positions do
//	P_MaxCount          so the holder's count is the greatest
//
// They hold at every t of the paper's discrete time. SafeSendToken, SafeReceiveToken and UseBackup advance that time,
// so a check belongs after every step. The package sees all sites at once: it is for tests and simulators.
package proof

import (
	"fmt"

	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// Pending is a <TOKEN, S_T, count> on its way to To.
type Pending struct {
	To, ST kcopies.Site
	Count  wire.Seq
}

// PendingOf reads a TOKEN message to a site.
func PendingOf(m *wire.Message, to kcopies.Site) Pending {
	st, _ := kcopies.Fields(&m.Load)
	return Pending{To: to, ST: st, Count: m.Token.Seq}
}

// Proof follows one token.
type Proof struct {
	ring *kcopies.Config
	// holder is Holder(t), "the non faulty site that satisfies P_SafetyCond(t) or the last faulty node which has
	// verified P_SafetyCond"; hcount is HCount(t).
	holder kcopies.Site
	hcount wire.Seq
}

// New follows the token of a ring from Initialisation on; ring is the configuration of one of its members.
func New(ring *kcopies.Config, first kcopies.Site) Proof { return Proof{ring: ring, holder: first} }

// Check checks one moment and returns the first property that does not hold. sites are in ring order, nil for those
// that have crashed. pending are the messages that have been sent and not received, including those to crashed sites.
func (p *Proof) Check(sites []*kcopies.Machine, pending []Pending) error {
	p.follow(sites, pending)
	if err := p.safetyCond(sites, pending); err != nil {
		return err
	}
	for i, site := range sites {
		if site == nil {
			continue
		}
		if st, ok := site.Monitored(); ok {
			if err := p.monitored(kcopies.Site(i), st, site.Count()); err != nil {
				return err
			}
		}
		if site.Count() > p.hcount {
			return fmt.Errorf("P_MaxCount: S%d has count %d, the holder S%d %d", i, site.Count(), p.holder, p.hcount)
		}
	}
	for _, m := range pending {
		if site := sites[m.To]; site == nil || m.Count <= site.Count() {
			continue // Not in M(t).
		}
		if err := p.monitored(m.To, m.ST, m.Count); err != nil {
			return fmt.Errorf("pending: %w", err)
		}
	}
	return nil
}

// follow moves Holder(t) to the site that has the REAL token, or is to receive it, with the greatest count.
func (p *Proof) follow(sites []*kcopies.Machine, pending []Pending) {
	for i, site := range sites {
		if site != nil && site.Token() == kcopies.Real && site.Count() > p.hcount {
			p.holder, p.hcount = kcopies.Site(i), site.Count()
		}
	}
	for _, m := range pending {
		if m.Count > p.hcount {
			p.holder, p.hcount = m.ST, m.Count
		}
	}
}

// safetyCond is "There exists at most one non faulty site S_i that either holds the REAL token or is the receiver of
// <Pend_REAL>".
func (p *Proof) safetyCond(sites []*kcopies.Machine, pending []Pending) error {
	found, one := false, kcopies.Site(0)
	satisfies := func(i kcopies.Site) error {
		if found && one != i {
			return fmt.Errorf("P_SafetyCond: S%d and S%d hold the REAL token or are to receive it", one, i)
		}
		found, one = true, i
		return nil
	}
	for i, site := range sites {
		if site != nil && site.Token() == kcopies.Real {
			if err := satisfies(kcopies.Site(i)); err != nil {
				return err
			}
		}
	}
	for _, m := range pending {
		if site := sites[m.To]; m.To == m.ST && site != nil && m.Count > site.Count() {
			if site.Token() == kcopies.Real {
				return fmt.Errorf("P_SafetyCond: S%d holds the REAL token and is to receive it", m.To)
			}
			if err := satisfies(m.To); err != nil {
				return err
			}
		}
	}
	return nil
}

// monitored is P_HolderMonitored and P_Count of S_i, where D = {S_T … S_i} with a count, or will be: HCount(t) −
// Count(S_i, t) = #(D(S_i, t)) − #({Holder(t) … S_i}).
func (p *Proof) monitored(i, st kcopies.Site, count wire.Seq) error {
	d, fromHolder := p.ring.Distance(st, i)+1, p.ring.Distance(p.holder, i)+1
	if fromHolder > d {
		return fmt.Errorf("P_HolderMonitored: D of S%d begins at S%d, and the holder is S%d", i, st, p.holder)
	}
	if int64(p.hcount)-int64(count) != int64(d-fromHolder) {
		return fmt.Errorf("P_Count: S%d has count %d and D from S%d, the holder S%d has %d", i, count, st, p.holder,
			p.hcount)
	}
	return nil
}
