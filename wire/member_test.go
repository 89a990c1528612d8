package wire

import (
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAMemberIsTheHashOfItsKey(t *testing.T) {
	pub := public(annsKey())
	const key, want = "af06a3e3291714e4f356c19c9b15cd1951ec6e6662aa77be07547f289383341d",
		"8e04b06449b9658a40b166ae4ec5e899"
	if got := hex.EncodeToString(pub); got != key {
		t.Fatalf("ann's key is %s, want %s", got, key)
	}
	id := MemberIDOf(pub)
	if id.String() != want || id.Short() != want[:8] {
		t.Errorf("ann is %s, in short %s, want %s", id, id.Short(), want)
	}
}

func TestAMemberIDRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyMember().Draw(t, "member")
		if got, err := ParseMemberID(want.String()); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	})
	whole := idOf(annsKey()).String()
	for _, text := range []string{"", whole[:31], whole[:30], whole + "00", " " + whole, strings.Repeat("g", 32)} {
		if id, err := ParseMemberID(text); err == nil || !id.IsZero() {
			t.Errorf("%q was taken: %v, %v", text, id, err)
		}
	}
}
