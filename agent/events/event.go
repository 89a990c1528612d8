package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is what has happened.
type Kind string

// The kinds of events.
const (
	// Started: a run has started under a grant. Ended: it has ended, and has not failed. Failed: it has failed, or was
	// cut short.
	Started Kind = "started"
	Ended   Kind = "ended"
	Failed  Kind = "failed"
	// Braked: this host was one too many that failed in a row, and has paused the gate. Paused and Resumed: a directive
	// has reached this host.
	Braked  Kind = "braked"
	Paused  Kind = "paused"
	Resumed Kind = "resumed"
	// Revived: this host has revived a lost token, or made a new one. NoMajority: too few of the roster answer.
	Revived    Kind = "revived"
	NoMajority Kind = "no-majority"
	// HostAway: this host goes down with its grant. HostLost: another one has not come back while its grant was kept.
	// SoakFailed: this host was not healthy after a run.
	HostAway   Kind = "host-away"
	HostLost   Kind = "host-lost"
	SoakFailed Kind = "soak-failed"
)

// Kinds returns all kinds, as the configuration names them.
func Kinds() []string {
	all := []Kind{Started, Ended, Failed, Braked, Paused, Resumed, Revived, NoMajority, HostAway, HostLost, SoakFailed}
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = string(k)
	}
	return names
}

// OfNote returns the kind of event that a note of a machine is, by the name of the note.
func OfNote(name string) (Kind, bool) {
	k, ok := map[string]Kind{
		"revived": Revived, "regenerated": Revived, "remade": Revived,
		"stayed_away": HostLost, "no_majority": NoMajority, "withdrew": NoMajority, "lease_refused": NoMajority,
	}[name]
	return k, ok
}

// Event is what people are told. Fields that mean nothing for a kind are empty.
type Event struct {
	// ID is the same for the same event, also if several hosts tell of it, and after a restart.
	ID   string    `json:"id"`
	Kind Kind      `json:"event"`
	At   time.Time `json:"at"`
	// Host is the name of the host that tells, Gate that of the gate. Text is the event as a sentence.
	Host string `json:"host"`
	Gate string `json:"gate"`
	Text string `json:"text"`
	// Seq and Token are the number and the identity of the grant, or of the token that was revived.
	Seq   uint64 `json:"seq,omitempty,string"`
	Token string `json:"token,omitempty"`
	// Command is the program of "wanderd exec"; empty for the hook.
	Command string `json:"command,omitempty"`
	// Exit is the exit status of a run that has ended, Took how long it took, in seconds, Error why it failed.
	Exit  *int    `json:"exit,omitempty"`
	Took  float64 `json:"took,omitempty"`
	Error string  `json:"error,omitempty"`
	// Peer is the host that held the token last that was revived.
	Peer string `json:"peer,omitempty"`
	// By is who gave the directive, Reason why; Until is when the pause ends by itself. Here is true if the pause is of
	// this host alone.
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	Here   bool      `json:"here,omitempty"`
}

// maxEvent bounds an event as JSON, in bytes.
const maxEvent = 2 << 10

// complete adds the sentence, and shortens what is long.
func (e *Event) complete() {
	e.At = e.At.UTC().Truncate(time.Millisecond)
	for most := maxEvent / 4; ; most /= 2 {
		for _, text := range []*string{&e.Command, &e.Error, &e.By, &e.Reason} {
			if len(*text) > most {
				*text = strings.ToValidUTF8((*text)[:most], "")
			}
		}
		e.Text = e.sentence()
		if saved, _ := json.Marshal(e); len(saved) <= maxEvent || most == 0 {
			return
		}
	}
}

func (e *Event) json() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // It has no value that JSON lacks.
	return bytes.TrimSpace(b.Bytes())
}

// sentence is the event in words.
func (e *Event) sentence() string {
	what := "the hook"
	if e.Command != "" {
		what = "the command " + e.Command
	}
	because := func(intro, why string) string {
		if why == "" {
			return ""
		}
		return intro + why
	}
	said := map[Kind]string{
		Started:    what + " starts",
		Ended:      fmt.Sprintf("%s has ended after %.1f s", what, e.Took),
		Failed:     what + " has failed" + because(": ", e.Error),
		Braked:     "the gate is paused until somebody resumes it" + because(": ", e.Reason),
		Paused:     "the gate is paused" + because(" by ", e.By) + because(": ", e.Reason),
		Resumed:    "the gate is resumed" + because(" by ", e.By) + because(": ", e.Reason),
		Revived:    e.Reason + because("; it was last at ", e.Peer),
		NoMajority: e.Reason,
		HostAway:   "the host goes down, and its grant is kept",
		HostLost:   e.Peer + " has not come back while its grant was kept",
		SoakFailed: "the host is not healthy after its run" + because(": ", e.Error),
	}[e.Kind]
	if e.Here {
		said = strings.Replace(said, "the gate is", "the gate, on this host alone, is", 1)
	}
	return fmt.Sprintf("%s, gate %s: %s", e.Host, e.Gate, said)
}

// fields returns the names and values of the JSON document, as texts, sorted by name.
func (e *Event) fields() [][2]string {
	values := make(map[string]any)
	dec := json.NewDecoder(bytes.NewReader(e.json()))
	dec.UseNumber()
	_ = dec.Decode(&values) // It has just been made.
	list := make([][2]string, 0, len(values))
	for name, v := range values {
		list = append(list, [2]string{name, fmt.Sprint(v)})
	}
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// environment returns the variables that a command gets: WANDERD_EVENT, and one for each other field.
func (e *Event) environment() []string {
	var env []string
	for _, f := range e.fields() {
		name := "WANDERD_EVENT_" + strings.ToUpper(f[0])
		if f[0] == "event" {
			name = "WANDERD_EVENT"
		}
		env = append(env, name+"="+strings.ReplaceAll(f[1], "\x00", ""))
	}
	return env
}

// The document that a webhook gets may have a form of its own: JSON, in whose strings {name} stands for a field of the
// event, escaped as JSON needs it.

// maxBody bounds such a form, in bytes.
const maxBody = 4 << 10

// fill returns a form with the values of an event, or the event itself if there is no form.
func (e *Event) fill(form string) []byte {
	if form == "" {
		return e.json()
	}
	var pairs []string
	for _, f := range e.fields() {
		text, _ := json.Marshal(f[1])
		pairs = append(pairs, "{"+f[0]+"}", string(text[1:len(text)-1]))
	}
	for _, name := range names() { // Those that this event lacks; of two rules for one name the first counts.
		pairs = append(pairs, "{"+name+"}", "")
	}
	return []byte(strings.NewReplacer(pairs...).Replace(form))
}

// names returns the names of all fields of an event.
func names() []string {
	exit := 1
	full := Event{
		Seq: 1, Token: "t", Command: "c", Exit: &exit, Took: 1, Error: "e", Peer: "p", By: "b", Reason: "r",
		Until: time.Unix(0, 1), Here: true,
	}
	var all []string
	for _, f := range full.fields() {
		all = append(all, f[0])
	}
	return all
}

// CheckBody returns what is wrong with a form.
func CheckBody(form string) error {
	if len(form) > maxBody {
		return fmt.Errorf("it has %d bytes, and %d are allowed", len(form), maxBody)
	}
	if !json.Valid((&Event{}).fill(form)) {
		return errors.New("it is not JSON: put each {name} into a string, as in {\"text\": \"{host}: {event}\"}")
	}
	for rest := form; ; {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			return nil
		}
		name, _, _ := strings.Cut(after, "}")
		if rest = after; name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
			continue
		}
		if !slices.Contains(names(), name) {
			return fmt.Errorf("an event has no {%s}: it has %s", name, strings.Join(names(), ", "))
		}
	}
}
