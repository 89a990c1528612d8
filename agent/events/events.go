// Package events tells people and programs what happens in a fleet: runs and their ends, pauses, lost tokens. A command
// gets each event on its standard input, and a web server gets it by POST.
//
// Each receiver has an outbox (outbox.go). Emit never waits: what is slow goes on beside the loop.
//
// Its decisions, in docs/decisions: 099.
package events

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
)

// Config configures the receivers.
type Config struct {
	// Command is a program and its arguments, Timeout how long it may take; nil if there is none.
	Command []string
	Timeout time.Duration
	// Webhook is the URL of a web server, WebhookFile a file with one. Body is the form of the document that it gets;
	// empty is the event itself.
	Webhook, WebhookFile, Body string
	// Only are the kinds that are told; empty is all.
	Only []string
}

// Events are the events of one agent. Its methods are safe for concurrent use.
type Events struct {
	start func(hook.Spec) (Run, error)
	log   zerolog.Logger

	mu      sync.Mutex
	only    []string
	command *outbox
	webhook *outbox
}

// The names of the receivers.
const (
	CommandReceiver = "on_event"
	WebhookReceiver = "webhook"
)

// New prepares the receivers, and reads what waits for them on the disk. start starts a program.
func New(cfg *Config, d disk, start func(hook.Spec) (Run, error), log zerolog.Logger) *Events {
	s := &Events{
		start: start, log: log,
		command: newOutbox(CommandReceiver, d, log), webhook: newOutbox(WebhookReceiver, d, log),
	}
	if cfg.Command != nil {
		s.command.recall()
	}
	if cfg.hasWebhook() {
		s.webhook.recall()
	}
	s.Apply(cfg)
	return s
}

func (c *Config) hasWebhook() bool { return c.Webhook != "" || c.WebhookFile != "" }

// Apply puts another configuration into force. What waits for a receiver that stays, waits on.
func (s *Events) Apply(cfg *Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.only = cfg.Only
	var command, webhook deliver
	if cfg.Command != nil {
		command = s.run(cfg.Command, cfg.Timeout)
	}
	if cfg.hasWebhook() {
		webhook = post(*cfg)
	}
	s.command.use(command)
	s.webhook.use(webhook)
}

// Emit tells the receivers of an event.
func (s *Events) Emit(e Event) {
	s.mu.Lock()
	only := s.only
	s.mu.Unlock()
	if len(only) > 0 && !slices.Contains(only, string(e.Kind)) {
		return
	}
	e.complete()
	s.command.put(&e)
	s.webhook.put(&e)
}

// Run delivers until ctx is done, and for a moment longer.
func (s *Events) Run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { s.command.run(ctx) })
	both.Go(func() { s.webhook.run(ctx) })
	both.Wait()
}

// Report returns the counts by receiver, and what is wrong.
func (s *Events) Report() (map[string]control.Events, []control.Warning) {
	counts := make(map[string]control.Events)
	return counts, s.webhook.report(counts, s.command.report(counts, nil))
}
