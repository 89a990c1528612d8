package trust

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"strings"
)

// patterns are the names of one line. A name matches if it matches one of them, and no negated one.
type patterns []pattern

// pattern is a name with wildcards, or the hash of a name.
type pattern struct {
	negated    bool
	text       string
	salt, hash []byte // of a hashed name
}

func parsePatterns(texts []string) (list patterns, err error) {
	for _, text := range texts {
		p := pattern{}
		if p.text, p.negated = strings.CutPrefix(text, "!"); p.text == "" {
			return nil, errors.New("an empty name")
		}
		if hashed, ok := strings.CutPrefix(text, "|"); ok {
			if p.salt, p.hash, err = parseHashed(hashed); err != nil {
				return nil, err
			}
		}
		list = append(list, p)
	}
	return list, nil
}

// parseHashed reads "1|salt|hash", as ssh-keygen -H writes it.
func parseHashed(text string) (salt, hash []byte, err error) {
	parts := strings.Split(text, "|")
	if len(parts) != 3 || parts[0] != "1" {
		return nil, nil, errors.New("a hashed name of an unknown kind")
	}
	if salt, err = base64.StdEncoding.DecodeString(parts[1]); err != nil {
		return nil, nil, errors.New("a hashed name whose salt is not base64")
	}
	if hash, err = base64.StdEncoding.DecodeString(parts[2]); err != nil {
		return nil, nil, errors.New("a hashed name whose hash is not base64")
	}
	return salt, hash, nil
}

func (list patterns) match(name string) bool {
	found := false
	for i := range list {
		if list[i].match(name) {
			if list[i].negated {
				return false
			}
			found = true
		}
	}
	return found
}

func (p *pattern) match(name string) bool {
	if p.hash != nil {
		mac := hmac.New(sha1.New, p.salt)
		mac.Write([]byte(name))
		return hmac.Equal(mac.Sum(nil), p.hash)
	}
	return matches(p.text, name)
}

// matches compares a name with a pattern of ssh: * is any text, ? one character. It takes at most len(pattern) ×
// len(name) steps.
func matches(pattern, name string) bool {
	star, from := -1, 0
	at, in := 0, 0
	for in < len(name) {
		switch {
		case at < len(pattern) && pattern[at] == '*':
			star, from = at, in
			at++
		case at < len(pattern) && (pattern[at] == '?' || pattern[at] == name[in]):
			at++
			in++
		case star >= 0:
			from++
			at, in = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[at:], "*") == ""
}
