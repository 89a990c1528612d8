package membership

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// A member counts as silent after a row of probes without an answer, not after a few at once, and not after one more
// than before.
func TestAMemberIsSilentAfterARowOfProbes(t *testing.T) {
	begin := time.Unix(1e9, 0)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	p := newProbes()
	for range 2 * silentRow {
		p.failed("a", at(0))
	}
	p.failed("a", at(19))
	if !p.silentSince("a").IsZero() {
		t.Error("it is silent too soon")
	}
	p.failed("a", at(20))
	if since := p.silentSince("a"); !since.Equal(at(0)) {
		t.Errorf("it is silent since %s", since)
	}
	p.answered("a")
	for s := 21; s < 21+silentRow-1; s++ {
		p.failed("a", at(s))
	}
	if !p.silentSince("a").IsZero() {
		t.Error("an answer does not end a row")
	}
	if !p.silentSince("b").IsZero() {
		t.Error("a member is silent that was never probed")
	}
}

// A member that does not answer remains silent when it is taken for failed, and a crash is no silence.
func TestAMemberThatIsTakenForFailedStaysSilent(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		hosts := f.startAll(3)
		silent := func(i int) bool {
			return slices.ContainsFunc(hosts[0].All(), func(m Member) bool {
				return m.ID == wire.MemberIDOf(peertest.KeyOf(i)) && !m.SilentSince.IsZero()
			})
		}
		f.within(time.Minute, "all see each other", allSee(hosts, 1, 2, 3))
		cut := hosts[2].end.Addr
		f.net.SetFilter(func(src, dst netip.AddrPort, _ []byte) bool { return src != cut && dst != cut })
		f.within(5*time.Minute, "host 3 is silent", func() bool { return silent(3) })
		hosts[1].crash()
		hosts[2].crash()
		f.within(5*time.Minute, "both have failed", func() bool {
			return hosts[0].state(2) == "failed" && hosts[0].state(3) == "failed"
		})
		f.always(time.Minute, "only host 3 is silent", func() bool { return silent(3) && !silent(2) })
	})
}
