package control

import (
	"encoding/json"
	"net/http"
	"time"
)

// serveRun lets a hook run. Its answer may wait for what this host says, or for as long as the run takes.
func (s *Server) serveRun(w http.ResponseWriter, r *http.Request, p peer) {
	var call RunNow
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxCall)).Decode(&call); err != nil {
		answer(w, s.log, http.StatusBadRequest, failure{Error: "a request for a run is a document of at most 4 KiB"})
		return
	}
	call.PID = p.pid
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // net/http's connections have deadlines
	end, err := s.source.RunNow(r.Context(), call)
	if err != nil {
		answer(w, s.log, http.StatusServiceUnavailable, failure{Error: err.Error()})
		return
	}
	answer(w, s.log, http.StatusOK, end)
}
