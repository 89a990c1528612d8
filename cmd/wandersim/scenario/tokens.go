package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// Tokens is how many tokens a gate has: a number or, if that is zero, a share of its members.
type Tokens struct{ Number, Percent int }

// Of returns the number among so many members.
func (t *Tokens) Of(members int) int {
	if t.Percent > 0 {
		return soft.ShareOf(members, t.Percent)
	}
	return max(t.Number, 1)
}

// Value is the value of a setting.
func (t *Tokens) Value() settings.Value {
	return settings.Of(t, settings.AsShare, "NUMBER|SHARE", parseTokens, Tokens.plain)
}

func (t Tokens) plain() any {
	if t.Percent > 0 {
		return strconv.Itoa(t.Percent) + "%"
	}
	return t.Number
}

func parseTokens(text string) (Tokens, error) {
	digits, share := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil || n < 1 || share && n > 100 || !share && n > wire.MaxSlots:
		return Tokens{}, fmt.Errorf("%q is neither a number from 1 to %d nor a share from 1%% to 100%%", text,
			wire.MaxSlots)
	case share:
		return Tokens{Percent: n}, nil
	}
	return Tokens{Number: n}, nil
}
