package browser

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// shots is the directory for pictures of the page; empty if none are wanted.
var shots = flag.String("shots", "", "write pictures of the page into this `directory`")

// patience bounds every wait.
const patience = time.Minute

// hookScript works for a second; on m3 it fails.
const hookScript = `#!/bin/sh
sleep 1
[ "$WANDERD_NAME" != m3 ] || { echo "rsync: no space left on device" >&2; exit 23; }
`

// fleet is some agents, and a page about them.
type fleet struct {
	t       *testing.T
	dir     string
	program string
	url     string
	agents  []*exec.Cmd
}

// newFleet starts four agents with these settings, or with the script as their hook, and the page of the first.
func newFleet(t *testing.T, settings string) *fleet {
	t.Helper()
	dir, err := os.MkdirTemp("", "wd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	f := &fleet{t: t, dir: dir, program: filepath.Join(dir, "wanderd")}
	build := exec.Command("go", "build", "-o", f.program, "./cmd/wanderd")
	build.Dir = filepath.Join("..", "..", "..", "..")
	f.must(build)
	secret, hook := filepath.Join(dir, "secret"), filepath.Join(dir, "hook.sh")
	f.must(exec.Command(f.program, "keygen", "--secret", secret))
	if err := os.WriteFile(hook, []byte(hookScript), 0o700); err != nil {
		t.Fatal(err)
	}
	if settings == "" {
		settings = fmt.Sprintf("hook = [%q]\nmin_interval = \"10s\"\nalone = \"run\"\n", hook)
	}
	config := filepath.Join(dir, "wanderd.toml")
	if err := os.WriteFile(config, []byte("skip = \"500ms\"\n"+settings), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := freeAddr(t)
	for i := 1; i <= 4; i++ {
		name, addr := fmt.Sprintf("m%d", i), seed
		if i > 1 {
			addr = freeAddr(t)
		}
		agent := exec.Command(f.program, "--config", config, "--name", name, "--bind", addr, "--join", seed, "--state-dir",
			filepath.Join(dir, name), "--secret-file", secret)
		f.start(agent)
		f.agents = append(f.agents, agent)
	}
	web := exec.Command(f.program, "web", "--listen", "127.0.0.1:0", "--state-dir", filepath.Join(dir, "m1"))
	for deadline := time.Now().Add(patience); exec.Command(f.program, "status", "--state-dir",
		filepath.Join(dir, "m1")).Run() != nil; {
		if time.Now().After(deadline) {
			t.Fatal("the agent does not answer")
		}
		time.Sleep(100 * time.Millisecond)
	}
	out, err := web.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	f.start(web)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	f.url = strings.TrimSpace(strings.TrimPrefix(line, "open "))
	return f
}

// must runs a command that succeeds.
func (f *fleet) must(cmd *exec.Cmd) {
	f.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// until waits until the status of each agent has something.
func (f *fleet) until(what string, has func(status string) bool) {
	f.t.Helper()
	for i := 1; i <= 4; i++ {
		for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
			out, err := exec.Command(f.program, "status", "--json", "--state-dir",
				filepath.Join(f.dir, fmt.Sprintf("m%d", i))).CombinedOutput()
			if err == nil && has(string(out)) {
				break
			}
			if time.Now().After(deadline) {
				f.t.Fatalf("waited in vain: %s: m%d: %v\n%s", what, i, err, out)
			}
		}
	}
}

// start starts a process that ends with the test.
func (f *fleet) start(cmd *exec.Cmd) {
	f.t.Helper()
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
}

// freeAddr finds a port that is free now: below the ports that any connection may take before an agent listens, and
// above those of lab/ports, which this module does not know.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 16_000+rand.IntN(4_000)))
		if err == nil {
			defer func() { _ = l.Close() }()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// page is an open page.
type page struct {
	t   *testing.T
	ctx context.Context
}

// open opens the page in a browser. A message of the page on the console is a failure: an exception, or something that
// its own policy forbids.
func (f *fleet) open() *page {
	f.t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		f.t.Skip("no Chromium here: the page is not tested in a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WindowSize(1200, 1250))
	allocated, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	f.t.Cleanup(cancel)
	ctx, cancelPage := chromedp.NewContext(allocated)
	f.t.Cleanup(cancelPage)
	p := &page{t: f.t, ctx: ctx}
	err := chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			f.t.Errorf("exception: %s", e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			if !strings.Contains(e.Entry.URL, "favicon") {
				f.t.Errorf("console: %s %s", e.Entry.Text, e.Entry.URL)
			}
		}
	})
	if err != nil {
		f.t.Fatal(err)
	}
	call(p, log.Enable, cdp.Empty{})
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.do(chromedp.Navigate(f.url))
	return p
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// call gives the browser a command.
func call[P, R any](p *page, cmd cdp.Command[P, R], params P) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, cmd, params); err != nil {
		p.t.Fatal(err)
	}
}

// eval evaluates an expression in the page.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits until an expression is true.
func (p *page) until(what, expression string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !eval[bool](p, expression); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("waited in vain: %s\n%s", what, eval[string](p, "document.body.innerText"))
		}
	}
}

// shoot writes a picture of the page, if one is wanted.
func (p *page) shoot(name string) {
	p.t.Helper()
	if *shots == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name), picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// look makes the page as wide as a screen, in light or dark.
func (p *page) look(width int64, scheme string) {
	p.t.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 1250, DeviceScaleFactor: 1, Mobile: width < 500,
	})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	time.Sleep(500 * time.Millisecond) // the page is drawn again
}

// fits checks that all of the page can be read on a screen of that width, without scrolling to the side: the last day
// with its newest hour, whose text is no smaller than elsewhere, and each cell of the members' table.
func (p *page) fits(width int64) {
	p.t.Helper()
	for what, expression := range map[string]string{
		"boxes that scroll to the side": `[...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > ` +
			`e.clientWidth).map(e => e.id + e.innerText.slice(0, 20))`,
		"labels of the last day that are cut": `(() => {
			const box = document.querySelector("#timeline").getBoundingClientRect();
			return [...document.querySelectorAll("#timeline text")].filter(e => {
				const at = e.getBoundingClientRect();
				return at.left < box.left - 1 || at.right > box.right + 1;
			}).map(e => e.textContent);
		})()`,
		"labels of the last day that are small": `[...document.querySelectorAll("#timeline text")].filter(e =>
			parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a < 10.9).map(e => e.textContent)`,
		"hours of the last day that overlap": `[...document.querySelectorAll("#timeline .hour")].filter((e, i, all) =>
			i > 0 && e.getBoundingClientRect().left < all[i-1].getBoundingClientRect().right + 2)
			.map(e => e.textContent)`,
		"cells of the members that are cut": `[...document.querySelectorAll("#members td")].filter(e => {
			const at = e.getBoundingClientRect();
			return at.right > document.documentElement.clientWidth || e.scrollWidth > e.clientWidth;
		}).map(e => e.textContent)`,
	} {
		if list := eval[[]string](p, expression); len(list) > 0 {
			p.t.Errorf("on a screen of %d pixels: %s: %q", width, what, list)
		}
	}
	if hours := eval[int64](p, `document.querySelectorAll("#timeline text").length`); hours < 4+3 {
		p.t.Errorf("on a screen of %d pixels the last day has %d labels", width, hours)
	}
}

func TestThePageShowsTheFleet(t *testing.T) {
	f := newFleet(t, "")
	p := f.open()

	p.until("all members are there", `document.querySelectorAll("#ring .member").length === 4`)
	if got := eval[string](p, "location.href"); strings.Contains(got, "token") {
		t.Errorf("the token stays in the address bar: %s", got)
	}

	// The token moves: it is seen at three members, at another place each time.
	holders := map[string]string{}
	for deadline := time.Now().Add(patience); len(holders) < 3; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the token was seen at %v only", holders)
		}
		if at := eval[[]string](p, `(e => e ? [e.dataset.holder, e.style.transform] : `+
			`[])(document.querySelector("#token-0"))`); len(at) == 2 {
			holders[at[0]] = at[1]
		}
	}
	places := map[string]bool{}
	for _, place := range holders {
		places[place] = true
	}
	if len(places) != len(holders) {
		t.Errorf("the token is drawn at %v", holders)
	}
	p.until("somebody runs", `document.querySelector("#ring .member.running") !== null && `+
		`document.querySelector("#facts .running") !== null`)

	// A failed run is red, and tells its exit, number and output: to a pointer and to a keyboard.
	p.until("a run has failed", `document.querySelector("#timeline .run.failed") !== null`)
	red := eval[bool](p, `(() => {
		const c = getComputedStyle(document.querySelector("#timeline .run.failed")).fill.match(/\d+/g).map(Number);
		return c[0] > 150 && c[0] > 2 * c[1] && c[0] > 2 * c[2];
	})()`)
	if !red {
		t.Error("a failed run is not red")
	}
	eval[bool](p, `document.querySelector("#timeline .run").focus() === undefined`)
	for i := 0; ; i++ {
		text := eval[string](p, `document.querySelector("#detail").innerText`)
		if strings.Contains(text, "m3") && strings.Contains(text, "exit 23") && strings.Contains(text, "number ") &&
			strings.Contains(text, "no space left on device") {
			break
		}
		if i == 50 {
			t.Fatalf("the arrow keys lead to no failed run: %q", text)
		}
		p.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	p.until("the failure is listed with its output", `[...document.querySelectorAll("#failures details")].some(d => `+
		`d.textContent.includes("no space left on device"))`)
	p.until("the member is marked", `document.querySelector('#ring .member.failed[data-name="m3"]') !== null`)
	eval[bool](p, `document.querySelector("#failures details").open = true`)

	// A pause reaches all agents, with its reason, and so does its end.
	eval[bool](p, `(document.querySelector("#reason").value = "a release", document.querySelector("#pause `+
		`button").click(), true)`)
	f.until("all agents are paused", func(status string) bool {
		return strings.Contains(status, `"reason": "a release"`)
	})
	p.until("the page says so", `document.querySelector("#paused").textContent.includes("on 4 of 4 members") && `+
		`!document.querySelector("#resume").hidden`)
	p.shoot("web-paused.png")
	eval[bool](p, `(document.querySelector("#resume").click(), true)`)
	f.until("no agent is paused", func(status string) bool { return !strings.Contains(status, `"paused": {`) })

	// Light and dark, and as wide as a phone.
	paper := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 360} {
			p.look(width, scheme)
			if wide := eval[int64](p, "document.scrollingElement.scrollWidth"); wide > width {
				t.Errorf("on a screen of %d pixels the page is %d wide", width, wide)
			}
			p.fits(width)
			p.shoot(fmt.Sprintf("web-%s-%d.png", scheme, width))
		}
		paper[scheme] = eval[string](p, "getComputedStyle(document.body).backgroundColor")
	}
	if paper["light"] == paper["dark"] {
		t.Errorf("light and dark are both %s", paper["light"])
	}
}

// keepAndSoak is two gates: in one the grant of a host outlives it, and the other waits after each run. The host of the
// page runs nothing in the first.
const keepAndSoak = `[[gate]]
name = "reboot"
hook = ["/bin/sh", "-c", "sleep 600"]
ready = ["/bin/sh", "-c", "[ $WANDERD_NAME != m1 ] || exit 75"]
keep = "10m"
min_interval = "11m"
[[gate]]
name = "upgrade"
hook = ["/bin/true"]
soak = "10m"
min_interval = "11m"
`

// What is under a grant says for how long: a run whose grant is kept, a host that is away, and one that is looked after.
func TestThePageShowsWhoIsAwayAndWhoSoaks(t *testing.T) {
	f := newFleet(t, keepAndSoak)
	p := f.open()
	p.until("all members are there", `document.querySelectorAll("#ring .member").length === 4`)
	show := func(gate string) {
		p.until("the gates are there", `document.querySelectorAll("#gates button").length === 2`)
		eval[bool](p, fmt.Sprintf(`([...document.querySelectorAll("#gates button")].find(b => b.textContent === %q).click(), `+
			`true)`, gate))
	}
	doing := func(text string) string {
		return fmt.Sprintf(`([...document.querySelectorAll("#members tr")].find(r => /%s/.test(r.lastChild.textContent))`+
			`?.firstChild.textContent ?? "")`, text)
	}
	show("upgrade")
	p.until("somebody soaks", doing(`^soaking until \d+:\d+`)+` !== ""`)
	p.shoot("web-soaking.png")

	show("reboot")
	const kept = `^runs; grant kept until \d+:\d+`
	p.until("somebody runs under a grant that is kept", doing(kept)+` !== ""`)
	name := eval[string](p, doing(kept))
	p.shoot("web-kept.png")

	// The agent dies under its grant: so its host may be on its way down.
	agent := f.agents[name[1]-'1']
	if err := agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.until("the host is away", fmt.Sprintf(`[...document.querySelectorAll("#facts dd")].some(e => new RegExp(`+
		`"^%s is away for .* \\(since .*\\), and waited for until \\d+:\\d+").test(e.textContent))`, name))
	p.shoot("web-away.png")
	// The page's clock is set to the agent's with each answer: here it stays ahead.
	eval[bool](p, `(Object.defineProperty(state, "ahead", {get: () => 11 * 60 * 1000, set: () => {}, configurable: true}), `+
		`true)`)
	p.until("its time is over", `[...document.querySelectorAll("#facts dd")].some(e => /, and was waited for until `+
		`\d+:\d+.*: the others go on when one of them wants to run$/.test(e.textContent))`)
	eval[bool](p, `(Object.defineProperty(state, "ahead", {value: 0, writable: true}), true)`)
}
