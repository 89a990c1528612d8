package events

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/statedir"
)

// A URL may be a secret: many chats know their friends by it. So no error here has more of it than its host.

const (
	// postWithin is how long a web server may take for its answer, of which maxAnswer bytes are read, and maxHeader of
	// its header.
	postWithin = 10 * time.Second
	maxAnswer  = 4 << 10
	maxHeader  = 16 << 10
	// maxURL bounds a URL, in bytes.
	maxURL = 2 << 10
)

// CheckURL returns what is wrong with the URL of a webhook: without TLS it may only lead to this host.
func CheckURL(text string) error {
	_, err := parseURL(text)
	return err
}

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxURL || u.Hostname() == "" || u.Opaque != "" || u.Fragment != "":
		return nil, errors.New("it is not the URL of a web server: write it as in https://example.org/hook")
	case u.Scheme == "https":
		return u, nil
	case u.Scheme != "http":
		return nil, errors.New("it begins with neither https:// nor http://")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); (err != nil || !addr.IsLoopback()) && u.Hostname() != "localhost" {
		return nil, errors.New("http:// is not encrypted, so it is allowed to this host only (127.0.0.1, [::1], " +
			"localhost): write https://")
	}
	return u, nil
}

// CheckURLFile returns what is wrong with a file that has the URL of a webhook.
func CheckURLFile(path string) error {
	_, err := readURL(path)
	return err
}

func readURL(path string) (*url.URL, error) {
	text, err := statedir.ReadPrivateText(path)
	if err != nil {
		return nil, err
	}
	u, err := parseURL(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return u, nil
}

// post returns the delivery to a web server. A file with its URL is read again for each delivery.
func post(cfg Config) deliver {
	client := &http.Client{
		Timeout: postWithin,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxResponseHeaderBytes: maxHeader, DisableKeepAlives: true,
			ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, e *Event) error {
		u, err := parseURL(cfg.Webhook)
		if cfg.WebhookFile != "" {
			u, err = readURL(cfg.WebhookFile)
		}
		if err != nil {
			return err
		}
		ask, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(e.fill(cfg.Body)))
		if err != nil {
			return errRefused{errors.New("the webhook is not the URL of a web server")}
		}
		ask.Header.Set("Content-Type", "application/json")
		ask.Header.Set("User-Agent", "wanderd")
		answer, err := client.Do(ask)
		if err != nil {
			return fmt.Errorf("the webhook at %s does not answer: %s", u.Host, cause(err))
		}
		_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // The connection may be used no more.
		_ = answer.Body.Close()
		return judge(u.Host, answer.StatusCode)
	}
}

// judge returns whether a status means that the event was taken, is wanted later, or is refused.
func judge(host string, status int) error {
	said := fmt.Errorf("the webhook at %s says %d", host, status)
	switch {
	case status/100 == 2:
		return nil
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests,
		status/100 == 5:
		return said
	case status/100 == 3:
		return errRefused{fmt.Errorf("%w: redirects are not followed, write the final URL", said)}
	}
	return errRefused{fmt.Errorf("%w: it does not take this event", said)}
}

// cause returns why there is no answer, without the URL.
func cause(err error) string {
	if asked, ok := errors.AsType[*url.Error](err); ok {
		err = asked.Err
	}
	if failed, ok := errors.AsType[net.Error](err); ok {
		if failed.Timeout() {
			return "it takes too long"
		}
		return failed.Error()
	}
	if strings.Contains(err.Error(), "tls:") || strings.Contains(err.Error(), "x509:") {
		return "its certificate or its TLS is not accepted"
	}
	return "it breaks the connection off, or speaks no HTTP"
}
