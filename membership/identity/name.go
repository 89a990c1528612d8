// Package identity names members and checks their signatures.
package identity

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wanderd/wanderd/wire"
)

// MaxName is the longest name of a member, in bytes.
const MaxName = 64

// NodeName returns a member's name in gossip.
func NodeName(name string, id wire.MemberID) string { return name + "~" + id.String() }

// ParseNodeName splits a name in gossip. It accepts only what [NodeName] can return.
func ParseNodeName(s string) (name string, id wire.MemberID, err error) {
	at := strings.LastIndexByte(s, '~')
	if at < 0 {
		return "", id, errors.New("no identity in its name: it is not a wanderd")
	}
	if id, err = wire.ParseMemberID(s[at+1:]); err != nil {
		return "", id, err
	}
	if s != NodeName(s[:at], id) {
		return "", id, errors.New("identity in capital letters")
	}
	return s[:at], id, CheckName(s[:at])
}

// CheckName refuses names that a terminal or a log line could not show.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > MaxName:
		return fmt.Errorf("the name has %d bytes, at most %d are allowed", len(name), MaxName)
	case !Printable([]byte(name)):
		return fmt.Errorf("the name has characters that cannot be printed: %q", name)
	}
	return nil
}

// Printable reports whether a terminal and a log line can show b.
func Printable(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 || !unicode.IsPrint(r) {
			return false
		}
		b = b[size:]
	}
	return true
}
