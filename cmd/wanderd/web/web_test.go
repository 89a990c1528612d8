package web

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

// patience bounds every wait.
const patience = 20 * time.Second

// agent is a source that counts how often it is asked.
type agent struct {
	asked atomic.Int64
	// directed is the last directive.
	directed atomic.Pointer[control.Directive]
}

func (a *agent) GiveDirective(_ context.Context, directive control.Directive) error {
	a.directed.Store(&directive)
	return nil
}

func (a *agent) Now(context.Context) (control.Now, error) {
	a.asked.Add(1)
	return control.Now{Tokens: []control.Holder{{Gate: "sync", Name: "m1", Member: "11", Seq: 7}}}, nil
}

func (a *agent) Fleet(ctx context.Context) (control.Fleet, error) {
	now, err := a.Now(ctx)
	return control.Fleet{Now: now, Members: []control.FleetMember{{
		Member: control.Member{Name: "m1", Member: "11"},
		Status: &control.Status{Gates: []control.Gate{{Name: "sync", Runs: 3}}},
	}}}, err
}

func (a *agent) FleetHistory(_ context.Context, which control.Which) (control.FleetHistory, error) {
	return control.FleetHistory{Asked: which.Since}, nil
}

// serve serves a page until the test ends.
func serve(t *testing.T, src Source) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", src)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestOnlyThisPageInABrowserThatHasTheTokenSeesTheFleet(t *testing.T) {
	s := serve(t, new(agent))
	addr := s.listener.Addr().String()
	cookie := s.access.cookie + "=" + s.access.token
	for name, c := range map[string]struct {
		path, host string
		headers    map[string]string
		method     string
		want       int
	}{
		"the printed address": {path: "/?token=" + s.access.token, want: 200},
		"the cookie":          {path: "/page.js", headers: map[string]string{"Cookie": cookie}, want: 200},
		"the cookie, under another name": {
			path: "/", host: strings.Replace(addr, "127.0.0.1", "localhost", 1),
			headers: map[string]string{"Cookie": cookie}, want: 200,
		},
		"its own script": {
			path: "/page.js", headers: map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}, want: 200,
		},
		"no token":                     {path: "/", want: 403},
		"no token, a part of the page": {path: "/page.css", want: 403},
		"no token, the events":         {path: "/events", want: 403},
		"another token":                {path: "/?token=x", want: 403},
		"another cookie": {
			path: "/", headers: map[string]string{"Cookie": s.access.cookie + "=x"}, want: 403,
		},
		"another name for this host": {path: "/?token=" + s.access.token, host: "evil.example:80", want: 421},
		"the right name, another port": {
			path: "/", host: "localhost:1", headers: map[string]string{"Cookie": cookie}, want: 421,
		},
		"another page": {
			path: "/events", headers: map[string]string{"Cookie": cookie, "Origin": "http://evil.example"}, want: 403,
		},
		"another page, an opaque origin": {
			path: "/events", headers: map[string]string{"Cookie": cookie, "Origin": "null"}, want: 403,
		},
		"another page, by its fetch": {
			path: "/page.js", headers: map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}, want: 403,
		},
		"another port of this host": {
			path: "/page.js", headers: map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "same-site"}, want: 403,
		},
		"something that is not a question": {
			path: "/", method: http.MethodPost, headers: map[string]string{"Cookie": cookie}, want: 405,
		},
		"a path that is not there": {
			path: "/page.html/../../go.mod", headers: map[string]string{"Cookie": cookie}, want: 404,
		},
	} {
		method := http.MethodGet
		if c.method != "" {
			method = c.method
		}
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if c.host != "" {
			req.Host = c.host
		}
		for key, value := range c.headers {
			req.Header.Set(key, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s: %s", name, resp.Status)
		}
		if c.want != 200 && strings.Contains(string(body), s.access.token) {
			t.Errorf("%s: the answer has the token", name)
		}
		for key, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "Cache-Control": "no-store",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		} {
			if got := resp.Header.Get(key); !strings.Contains(got, want) || strings.Contains(got, "unsafe") {
				t.Errorf("%s: %s is %q", name, key, got)
			}
		}
		if set := resp.Header.Get("Set-Cookie"); set != "" &&
			!(strings.Contains(set, "HttpOnly") && strings.Contains(set, "SameSite=Strict")) {
			t.Errorf("%s: %s", name, set)
		}
	}
}

// A directive is taken from the page that this process has served, and from nobody else.
func TestOnlyThePageGivesDirectives(t *testing.T) {
	src := new(agent)
	s := serve(t, src)
	addr := s.listener.Addr().String()
	const pause = `{"gate":"sync","pause":true,"for":"1h0m0s","reason":"a release"}`
	good := map[string]string{
		"Cookie": s.access.cookie + "=" + s.access.token, "Origin": "http://" + addr,
		directiveHeader: s.access.directiveToken,
	}
	but := func(key, value string) map[string]string {
		headers := maps.Clone(good)
		if headers[key] = value; value == "" {
			delete(headers, key)
		}
		return headers
	}
	for name, c := range map[string]struct {
		headers      map[string]string
		method, path string
		body         string
		want         int
	}{
		"the page":           {headers: good, body: pause, want: 200},
		"the page, resuming": {headers: good, body: `{"gate":"sync","pause":false}`, want: 200},
		"no cookie":          {headers: but("Cookie", ""), body: pause, want: 403},
		"no cookie, but a token": {
			headers: but("Cookie", ""), path: "/order?token=" + s.access.token, body: pause, want: 403,
		},
		"no token of the page": {headers: but(directiveHeader, ""), body: pause, want: 403},
		"the cookie's token":   {headers: but(directiveHeader, s.access.token), body: pause, want: 403},
		"no origin":            {headers: but("Origin", ""), body: pause, want: 403},
		"another origin":       {headers: but("Origin", "http://evil.example"), body: pause, want: 403},
		"another scheme":       {headers: but("Origin", "https://"+addr), body: pause, want: 403},
		"a GET":                {headers: good, method: http.MethodGet, want: 403},
		"without a reason":     {headers: good, body: `{"gate":"sync","pause":true}`, want: 400},
		"without a gate":       {headers: good, body: `{"pause":true,"reason":"x"}`, want: 400},
		"here only": {
			headers: good, body: `{"gate":"sync","pause":true,"reason":"x","here":true}`, want: 400,
		},
		"junk":     {headers: good, body: "junk", want: 400},
		"too long": {headers: good, body: `{"gate":"` + strings.Repeat("x", maxDirective) + `"}`, want: 400},
	} {
		src.directed.Store(nil)
		req, err := http.NewRequestWithContext(t.Context(), cmp.Or(c.method, http.MethodPost),
			"http://"+addr+cmp.Or(c.path, pathDirective), strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range c.headers {
			req.Header.Set(key, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := src.directed.Load(); resp.StatusCode != c.want || (got != nil) != (c.want == 200) {
			t.Errorf("%s: %s, directed %+v", name, resp.Status, got)
		}
	}
}

// The events that viewers get at once after a directive have the same form as all others.
func TestAFleetAfterADirectiveIsShownAsRows(t *testing.T) {
	h := &hub{src: new(agent), viewers: make(map[chan struct{}]struct{})}
	s := &Server{hub: h}
	r := httptest.NewRequest(http.MethodPost, pathDirective, strings.NewReader(`{"gate":"sync","pause":false}`))
	s.giveDirective(httptest.NewRecorder(), r)
	var shown follow.Page
	if err := json.Unmarshal(h.events[aboutFleet].data, &shown); err != nil || len(shown.Gates) != 1 ||
		shown.Gates[0].Rows[0].Name != "m1" {
		t.Errorf("shown: %s, %v", h.events[aboutFleet].data, err)
	}
}

// The page works without the network, and under its own policy: nothing in it is inline or from elsewhere.
func TestThePageNeedsNothingFromElsewhere(t *testing.T) {
	foreign := regexp.MustCompile(
		`(?i)(https?:)?//[a-z]|<script>|<style|style=|onclick=|onload=|innerHTML|eval\(|@import`)
	err := fs.WalkDir(static, "static", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := static.ReadFile(path)
		for _, found := range foreign.FindAllString(strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", ""),
			-1) {
			t.Errorf("%s: %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// watch opens the events, and returns them as they come.
func watch(t *testing.T, s *Server) (next func() (name, data string), leave func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.listener.Addr().
		String()+"/events?token="+s.access.token, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(resp.Body)
	next = func() (name, data string) {
		for lines.Scan() {
			switch line := lines.Text(); {
			case strings.HasPrefix(line, "event: "):
				name = strings.TrimPrefix(line, "event: ")
			case strings.HasPrefix(line, "data: "):
				return name, strings.TrimPrefix(line, "data: ")
			}
		}
		t.Fatalf("no more events: %v", lines.Err())
		return "", ""
	}
	return next, func() {
		cancel()
		_ = resp.Body.Close()
	}
}

func TestTheEventsTellOfTheFleet(t *testing.T) {
	s := serve(t, new(agent))
	next, leave := watch(t, s)
	defer leave()
	seen := map[string]string{}
	for len(seen) < topics {
		name, data := next()
		seen[name] = data
	}
	var fleet follow.Page
	if err := json.Unmarshal([]byte(seen["fleet"]), &fleet); err != nil || fleet.Members != 1 ||
		fleet.Gates[0].Rows[0].Name != "m1" {
		t.Errorf("fleet: %s, %v", seen["fleet"], err)
	}
	if !strings.Contains(seen["tokens"], `"trail":["m1"]`) {
		t.Errorf("tokens: %s", seen["tokens"])
	}
	var runs control.FleetHistory
	if err := json.Unmarshal([]byte(seen["history"]), &runs); err != nil || time.Since(runs.Asked) < historyFor ||
		time.Since(runs.Asked) > historyFor+time.Hour {
		t.Errorf("history: %s, %v", seen["history"], err)
	}
}

// The fleet is asked while there is a viewer, and no longer.
func TestNobodyIsAskedWhileNobodyLooks(t *testing.T) {
	src := new(agent)
	s := serve(t, src)
	if n := src.asked.Load(); n != 0 {
		t.Errorf("asked %d times before anybody looked", n)
	}
	for range 2 {
		next, leave := watch(t, s)
		next()
		other, leaveToo := watch(t, s)
		other()
		leave()
		for range 3 {
			other()
		}
		leaveToo()
		s.hub.working.Wait() // it returns when the questions have ended
	}
}

func TestTooManyPagesAreRefused(t *testing.T) {
	s := serve(t, new(agent))
	for range maxViewers {
		next, leave := watch(t, s)
		next()
		defer leave()
	}
	recorder := httptest.NewRecorder()
	s.hub.serve(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", http.NoBody))
	if recorder.Code != http.StatusServiceUnavailable {
		t.Errorf("%d", recorder.Code)
	}
}

func TestThePageIsServedOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{
		"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:80", "example.org:80", "8946", "127.0.0.1",
	} {
		if s, err := Listen(address, new(agent)); err == nil {
			_ = s.listener.Close()
			t.Errorf("%s is accepted", address)
		}
	}
	s, err := Listen("localhost:0", new(agent))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.listener.Close() }()
	if _, err := Listen(s.listener.Addr().String(), new(agent)); err == nil ||
		!strings.Contains(err.Error(), "--listen") {
		t.Errorf("a port that is taken: %v", err)
	}
}
