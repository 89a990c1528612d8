package web

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
)

// access admits requests that carry the token. A browser gets the token with the address that the command has printed,
// and keeps it in a cookie, which no other site's page can use (SameSite) and no script can read. access also refuses a
// request for another host's name: otherwise an attacker's name that points at this host would give the attacker's page
// the same origin as this page (DNS rebinding).
type access struct {
	token  string
	cookie string
	// hosts are the names under which a request may address the port of the loopback interface.
	hosts []string
	// directiveToken is in the page, and comes back with each directive: see giveDirective.
	directiveToken string
}

func newAccess(port int) access {
	// Cookies belong to a host, not to a port. So that two pages of one host do not share a cookie, its name has the
	// port.
	a := access{token: rand.Text(), directiveToken: rand.Text(), cookie: fmt.Sprintf("wanderd-%d", port)}
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
		a.hosts = append(a.hosts, fmt.Sprintf("%s:%d", host, port))
	}
	return a
}

// headers restrict the page: only its own script, style and events are loaded, no other page may contain it, and
// nothing of it is stored.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func (a *access) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		switch {
		case !slices.Contains(a.hosts, r.Host):
			http.Error(w, "this page is "+a.hosts[0], http.StatusMisdirectedRequest)
		case origin != "" && !sameOrigin(origin, r.Host), site != "" && site != "same-origin" && site != "none":
			http.Error(w, "another page has asked", http.StatusForbidden)
		case a.mayGiveDirective(r):
			next.ServeHTTP(w, r)
		case r.URL.Path == pathDirective:
			http.Error(w, "directives come from the page only", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this is only shown", http.StatusMethodNotAllowed)
		case equal(r.URL.Query().Get("token"), a.token):
			http.SetCookie(w, &http.Cookie{
				Name: a.cookie, Value: a.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
			})
			next.ServeHTTP(w, r)
		case a.hasCookie(r):
			next.ServeHTTP(w, r)
		default:
			http.Error(w, "open the address that \"wanderd web\" has printed: it has a token", http.StatusForbidden)
		}
	})
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func (a *access) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(a.cookie)
	return err == nil && equal(c.Value, a.token)
}
