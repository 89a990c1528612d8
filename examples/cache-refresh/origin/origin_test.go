package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/bubble"
)

// download requests the artifact with the number seq and returns the status.
func download(t *testing.T, o *origin, seq uint64) int {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/artifact", http.NoBody)
	request.Header.Set(seqHeader, strconv.FormatUint(seq, 10))
	response := httptest.NewRecorder()
	o.handler().ServeHTTP(response, request)
	return response.Code
}

func TestDownloadsOneAfterTheOtherAreNotCountedAsOverlapping(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOrigin(1000, time.Second)
		for seq := range uint64(3) {
			if code := download(t, o, seq); code != http.StatusOK {
				t.Fatalf("download %d: status %d", seq, code)
			}
		}
		if want := (stats{Downloads: 3, Most: 1, Seq: 2}); o.stats != want {
			t.Errorf("stats are %+v, want %+v", o.stats, want)
		}
	})
}

func TestDownloadsAtOneTimeAreCounted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOrigin(1000, time.Second)
		var both sync.WaitGroup
		both.Go(func() { download(t, o, 1) })
		both.Go(func() {
			time.Sleep(999 * time.Millisecond)
			download(t, o, 1)
		})
		both.Wait()
		if want := (stats{Downloads: 2, Most: 2, Seq: 1}); o.stats != want {
			t.Errorf("stats are %+v, want %+v", o.stats, want)
		}
	})
}

func TestALowerNumberIsRefused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o := newOrigin(1000, time.Second)
		download(t, o, 7)
		if code := download(t, o, 6); code != http.StatusPreconditionFailed {
			t.Errorf("number 6 after 7: status %d, want %d", code, http.StatusPreconditionFailed)
		}
		if want := (stats{Downloads: 1, Most: 1, Seq: 7, Refused: 1}); o.stats != want {
			t.Errorf("stats are %+v, want %+v", o.stats, want)
		}
	})
}

func TestFetchStoresTheArtifactAndReportsARefusal(t *testing.T) {
	server := httptest.NewServer(newOrigin(1003, 0).handler())
	defer server.Close()
	file := filepath.Join(t.TempDir(), "artifact")
	if err := fetch(t.Context(), []string{"--seq", "2", server.URL + "/artifact", file}); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != strings.Repeat("w", 1003) {
		t.Errorf("stored %d bytes, error %v, want the artifact's 1003", len(content), err)
	}
	err := fetch(t.Context(), []string{"--seq", "1", server.URL + "/artifact", file})
	if err == nil || !strings.Contains(err.Error(), "overtaken") {
		t.Errorf("a refused fetch ended with %v, want an error that says why", err)
	}
}
