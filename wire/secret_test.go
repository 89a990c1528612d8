package wire

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

const writtenSecret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

func TestASecretRoundTrips(t *testing.T) {
	if got := secret().Reveal(); got != writtenSecret {
		t.Errorf("written as %q, want %q", got, writtenSecret)
	}
	for _, text := range []string{writtenSecret, writtenSecret + "\n", " \t" + writtenSecret + "\r\n\n"} {
		got, err := ParseSecret([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if got != *secret() {
			t.Errorf("%q was read as another secret", text)
		}
	}
}

func TestAnInvalidSecretIsRefusedAndNotRepeated(t *testing.T) {
	for name, text := range map[string]string{
		"empty":             "",
		"blank":             " \n",
		"31 bytes":          "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
		"33 bytes":          "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g",
		"one line too many": writtenSecret + "\n" + writtenSecret,
		"cut":               writtenSecret[:40],
		"broken in two":     writtenSecret[:20] + "\n" + writtenSecret[21:],
		"hexadecimal":       hex.EncodeToString(counting(0, 32)),
		"not base64":        strings.Repeat("hunter2!", 5) + "1234",
		"bits left over":    writtenSecret[:42] + "9=",
		"a key file":        "-----BEGIN OPENSSH PRIVATE KEY-----",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSecret([]byte(text))
			if err == nil || got != (Secret{}) {
				t.Fatalf("it was taken: %v", err)
			}
			if !strings.Contains(err.Error(), "wanderd keygen --secret") {
				t.Errorf("%q does not say how to make a secret", err)
			}
			for word := range strings.FieldsSeq(text) {
				if strings.Contains(err.Error(), word[:min(8, len(word))]) {
					t.Errorf("%q repeats what was in the file", err)
				}
			}
		})
	}
}

func TestASecretIsNeverPrinted(t *testing.T) {
	s := secret()
	holder := struct {
		Secret  Secret
		Pointer *Secret
		hidden  *Secret
	}{*s, s, s}
	printed := map[string]string{
		"String": s.String(),
		"error":  fmt.Errorf("cannot use %w", fmt.Errorf("%v", s)).Error(),
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%U", "%b", "%64v", "%!"} {
		printed[verb] = fmt.Sprintf(verb, *s)
		printed[verb+" of a pointer"] = fmt.Sprintf(verb, s)
		printed[verb+" in a struct"] = fmt.Sprintf(verb, holder.Secret)
	}
	printed["struct"] = fmt.Sprintf("%+v", holder)
	document, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	printed["JSON"] = string(document)
	var log bytes.Buffer
	zero := zerolog.New(&log)
	zero.Info().Interface("value", holder).Stringer("stringer", s).Msg("")
	printed["zerolog"] = log.String()
	log.Reset()
	slog.New(slog.NewTextHandler(&log, nil)).Info("", "value", *s, "pointer", s, "holder", holder)
	printed["slog"] = log.String()

	decimal := strings.Trim(fmt.Sprint(counting(20, 4)), "[]")
	for how, text := range printed {
		for _, leak := range []string{
			writtenSecret[8:16], "0a0b0c", "0A0B0C", "0xa, 0xb", decimal, string(counting(20, 4)),
		} {
			if strings.Contains(text, leak) {
				t.Errorf("%s shows the secret: %q", how, text)
			}
		}
		if !strings.Contains(text, "secret") {
			t.Errorf("%s does not even say that it is a secret: %q", how, text)
		}
	}
}

// The keys were computed by a second implementation of RFC 5869.
func TestEachUseOfTheSecretHasItsOwnKey(t *testing.T) {
	for _, tc := range []struct {
		name string
		key  [32]byte
		want string
	}{
		{"gossip", secret().GossipKey(), "ec67209690ce158f996a4fa5a0fee6941c694fcb7603834e4437cd6b48887eab"},
		{
			"messages", secret().derive(messageKeyLabel),
			"a1481602b102d1a160b23f266562daa12b4e846a6184b84e3d1a4d5854e8e7f8",
		},
	} {
		if got := hex.EncodeToString(tc.key[:]); got != tc.want {
			t.Errorf("the key for %s is\n%s, want\n%s", tc.name, got, tc.want)
		}
	}
}

// changed returns another secret than the fixtures', with another mark.
func changed() Secret {
	s := *secret()
	for s.Mark() == secret().Mark() {
		s[0]++
	}
	return s
}

// Three steps: all members open with both secrets, all seal with the second, the first is forgotten. After each, every
// member reads every other one.
func TestAFleetChangesItsSecretInThreeSteps(t *testing.T) {
	one, two := *secret(), changed()
	steps := [][2][]Secret{
		{{one}, {one, two}},
		{{one, two}, {one, two}},
		{{one, two}, {two, one}},
		{{two, one}, {two, one}},
		{{two, one}, {two}},
		{{two}, {two}},
	}
	m := token()
	codec := func(secrets []Secret) *Codec {
		c, err := NewCodec(annsKey(), rand.Reader, secrets...)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for i, step := range steps {
		a, b := codec(step[0]), codec(step[1])
		for _, pair := range [][2]*Codec{{a, b}, {b, a}} {
			if _, drop := pair[1].Open(pair[0].Append(nil, &m)); drop != 0 {
				t.Errorf("step %d: dropped, %v", i, drop)
			}
		}
	}
	if _, drop := codec([]Secret{two}).Open(codec([]Secret{one}).Append(nil, &m)); drop != DropSeal {
		t.Errorf("a secret that was forgotten: %v", drop)
	}
}

func TestTwoSecretsStandInTwoLines(t *testing.T) {
	one, two := *secret(), changed()
	alike := two
	for alike == two || alike == one || alike.Mark() != one.Mark() {
		alike[1]++
		if alike[1] == 0 {
			alike[2]++
		}
	}
	for text, want := range map[string]int{
		one.Reveal(): 1, one.Reveal() + "\n": 1, "\n" + one.Reveal() + "\n" + two.Reveal() + "\n": 2,
		one.Reveal() + "\r\n" + two.Reveal(): 2,
		"":                                   0, one.Reveal() + "\n" + one.Reveal(): 0, one.Reveal() + "\nshort": 0,
		one.Reveal() + "\n" + alike.Reveal():                     0,
		one.Reveal() + "\n" + two.Reveal() + "\n" + two.Reveal(): 0,
	} {
		got, err := ParseSecrets([]byte(text))
		if len(got) != want || (err == nil) != (want > 0) {
			t.Errorf("%d lines: %d secrets, %v", strings.Count(text, "\n"), len(got), err)
		}
	}
}
