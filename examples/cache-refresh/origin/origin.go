package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// seqHeader carries the fencing number of the client's run.
const seqHeader = "Wanderd-Seq"

// pieces is the number of pieces in which the artifact is sent.
const pieces = 10

// origin serves one artifact and counts its downloads.
type origin struct {
	artifact []byte
	takes    time.Duration

	mu    sync.Mutex
	stats stats
}

// stats answers /stats.
type stats struct {
	// Downloads counts all downloads, Now the current ones; Most is the highest value of Now.
	Downloads int `json:"downloads"`
	Now       int `json:"now"`
	Most      int `json:"most"`
	// Seq is the highest fencing number seen; Refused counts requests with a lower one.
	Seq     uint64 `json:"seq"`
	Refused int    `json:"refused"`
}

func newOrigin(size int, takes time.Duration) *origin {
	return &origin{artifact: bytes.Repeat([]byte{'w'}, size), takes: takes}
}

func (o *origin) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /artifact", o.serveArtifact)
	mux.HandleFunc("GET /stats", o.serveStats)
	return mux
}

func (o *origin) serveArtifact(w http.ResponseWriter, r *http.Request) {
	seq, err := strconv.ParseUint(r.Header.Get(seqHeader), 10, 64)
	if err != nil {
		http.Error(w, seqHeader+" must be the number of the grant, WANDERD_SEQ", http.StatusBadRequest)
		return
	}
	if seen, ok := o.begin(seq); !ok {
		http.Error(w, fmt.Sprintf("overtaken: %d comes after %d", seq, seen), http.StatusPreconditionFailed)
		return
	}
	defer o.end()
	w.Header().Set("Content-Length", strconv.Itoa(len(o.artifact)))
	for i := range pieces {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(o.takes / pieces):
		}
		piece := o.artifact[len(o.artifact)*i/pieces : len(o.artifact)*(i+1)/pieces]
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}

// begin counts a download, unless a higher number has been seen. Only the resource can make this check, not a lock.
func (o *origin) begin(seq uint64) (seen uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := &o.stats
	if seq < s.Seq {
		s.Refused++
		return s.Seq, false
	}
	s.Seq = seq
	s.Downloads++
	s.Now++
	s.Most = max(s.Most, s.Now)
	return seq, true
}

func (o *origin) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stats.Now--
}

func (o *origin) serveStats(w http.ResponseWriter, _ *http.Request) {
	o.mu.Lock()
	s := o.stats
	o.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	// If this fails, the client has closed the connection.
	_ = json.NewEncoder(w).Encode(s)
}
