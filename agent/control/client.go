package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNoAgent is returned if no agent listens on the socket.
var ErrNoAgent = errors.New("no agent answers")

const (
	clientTimeout = sourceTimeout + 2*ioTimeout
	// maxDocument bounds an answer, in bytes: a fleet of 5,000 members takes about a megabyte.
	maxDocument = 64 << 20
)

// Client sends requests to one agent.
type Client struct {
	path string
	http *http.Client
}

// Dial returns a client for the agent that listens at path. The client connects for each request. Errors of its methods
// match [ErrNoAgent] if no agent listens there, and [fs.ErrPermission] if this user may not connect.
func Dial(path string) *Client {
	return &Client{path: path, http: transportTo(path, clientTimeout)}
}

// transportTo returns an HTTP client for the socket at path. patience is how long an answer may take; zero sets no
// limit.
func transportTo(path string, patience time.Duration) *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	return &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// Status requests the agent's status.
func (c *Client) Status(ctx context.Context) (Status, error) { return get[Status](ctx, c, pathStatus) }

// Members requests the members of the fleet as the agent sees them.
func (c *Client) Members(ctx context.Context) (Members, error) {
	return get[Members](ctx, c, pathMembers)
}

// History requests the last runs of all gates on this host.
func (c *Client) History(ctx context.Context) (History, error) {
	return get[History](ctx, c, pathHistory)
}

// Now requests the present holders of the tokens.
func (c *Client) Now(ctx context.Context) (Now, error) { return get[Now](ctx, c, pathNow) }

// Fleet requests the status of all members.
func (c *Client) Fleet(ctx context.Context) (Fleet, error) { return get[Fleet](ctx, c, pathFleet) }

// FleetHistory requests the last runs on all members.
func (c *Client) FleetHistory(ctx context.Context, which Which) (FleetHistory, error) {
	return get[FleetHistory](ctx, c, pathFleetHistory+"?"+which.query())
}

// Drain makes the agent stop when what runs has ended. It does not wait for that.
func (c *Client) Drain(ctx context.Context) error {
	_, err := request[struct{}](ctx, c, http.MethodPost, pathDrain, nil)
	return err
}

// GiveDirective gives a directive to a gate. It does not wait until others know it.
func (c *Client) GiveDirective(ctx context.Context, directive Directive) error {
	_, err := request[struct{}](ctx, c, http.MethodPost, pathDirective, directive)
	return err
}

// Forget makes all members forget one that is gone for good.
func (c *Client) Forget(ctx context.Context, forget Forget) (Forgot, error) {
	return request[Forgot](ctx, c, http.MethodPost, pathForget, forget)
}

// Keep keeps the grant of a running operation beyond its end. It returns when that is recorded, here and at others.
func (c *Client) Keep(ctx context.Context, keep Keep) error {
	patient := &Client{path: c.path, http: transportTo(c.path, 0)}
	_, err := request[struct{}](ctx, patient, http.MethodPost, pathKeep, keep)
	return err
}

// Renew makes the agent create a new token for a gate that has none.
func (c *Client) Renew(ctx context.Context, renew Renew) (Renewed, error) {
	return request[Renewed](ctx, c, http.MethodPost, pathRenew, renew)
}

// RunNow demands a run of a gate's hook. It returns when this host has answered that it needs the run; if run.Wait is
// set, when the run has ended. If ctx is done earlier, the run goes on.
func (c *Client) RunNow(ctx context.Context, run RunNow) (RunEnd, error) {
	patient := &Client{path: c.path, http: transportTo(c.path, 0)}
	return request[RunEnd](ctx, patient, http.MethodPost, pathRun, run)
}

// Reload makes the agent read its configuration again.
func (c *Client) Reload(ctx context.Context) (Reloaded, error) {
	return request[Reloaded](ctx, c, http.MethodPost, pathReload, nil)
}

func get[T any](ctx context.Context, c *Client, path string) (T, error) {
	return request[T](ctx, c, http.MethodGet, path, nil)
}

// request sends a document, if there is one, and reads the document of the answer.
func request[T any](ctx context.Context, c *Client, method, path string, sent any) (document T, err error) {
	if err := CheckPath(c.path); err != nil {
		return document, err
	}
	var body io.Reader = http.NoBody
	if sent != nil {
		text, err := json.Marshal(sent)
		if err != nil {
			return document, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://wanderd"+path, body)
	if err != nil {
		return document, fmt.Errorf("control socket %s: %w", c.path, err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return document, c.explain(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	if err != nil {
		return document, c.explain(err)
	}
	if resp.StatusCode != http.StatusOK {
		return document, c.failed(resp, text)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return document, fmt.Errorf("the agent on %s has another version than this command: %w", c.path, err)
	}
	return document, nil
}

// failed returns the error of a request to which the agent has not given the requested answer.
func (c *Client) failed(resp *http.Response, body []byte) error {
	var f failure
	if json.Unmarshal(body, &f) != nil || f.Error == "" {
		f.Error = resp.Status
	}
	if resp.StatusCode == http.StatusForbidden {
		return fmt.Errorf("the control socket %s: %w: %s", c.path, fs.ErrPermission, f.Error)
	}
	return fmt.Errorf("the agent on %s says: %s", c.path, f.Error)
}

// explain adds the remedy to an error of the connection.
func (c *Client) explain(err error) error {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w on %s", ErrNoAgent, c.path)
	case hungUp(err):
		return fmt.Errorf("%w any longer on %s: it has died, or was stopped", ErrNoAgent, c.path)
	case errors.Is(err, fs.ErrPermission):
		return notPermitted(c.path)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("the agent on %s did not answer within %v: is it stopped?", c.path, clientTimeout)
	}
	return fmt.Errorf("control socket %s: %w", c.path, err)
}

// hungUp reports whether the agent has closed the connection instead of answering. If the connection was closed before
// it was used, the error of net/http has no name.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed) || strings.HasSuffix(err.Error(), "http: server closed idle connection")
}

// notPermitted returns an error that names the users who may connect, if they are known.
func notPermitted(path string) error {
	may := []string{"the user that runs the agent"}
	var file syscall.Stat_t
	if syscall.Lstat(path, &file) == nil {
		may = nil
		if file.Uid != 0 {
			may = append(may, "user "+userName(file.Uid))
		}
		if file.Mode&0o060 == 0o060 {
			group := strconv.FormatUint(uint64(file.Gid), 10)
			if g, err := user.LookupGroupId(group); err == nil {
				group = g.Name
			}
			may = append(may, "a member of group "+group)
		}
	}
	may = append(may, "root, with sudo")
	return fmt.Errorf("the control socket %s: %w: run this as %s", path, fs.ErrPermission,
		strings.Join(may, ", or as "))
}
