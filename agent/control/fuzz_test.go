package control

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// FuzzRequest: every request on the control socket gets an answer, and only known paths are found.
func FuzzRequest(f *testing.F) {
	for _, path := range []string{
		pathStatus, pathMembers, pathExec, pathFleetHistory + "?gate=a&failed=true&since=2026-01-02T15:04:05Z", "/x",
	} {
		f.Add("GET", path, "")
		f.Add("POST", path, `{"gate":"a","command":"x","wait":5}`)
	}
	s := &Server{source: told{}, log: zerolog.Nop()}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		r, err := http.NewRequest(method, "http://agent"+path, strings.NewReader(body))
		if err != nil || !strings.HasPrefix(r.URL.Path, "/") {
			return
		}
		r.Header.Set("Upgrade", upgrade)
		w := httptest.NewRecorder()
		s.handle(w, r)
		if w.Code < 200 || w.Code == http.StatusOK && !strings.HasPrefix(r.URL.Path, "/v1/") &&
			r.URL.Path != pathMetrics {
			t.Errorf("%s %s: %d", method, path, w.Code)
		}
	})
}
