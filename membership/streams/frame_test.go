package streams

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/wanderd/wanderd/membership/packets"
)

func keysOf(t testing.TB, secret []byte, side string) *streamKeys {
	t.Helper()
	k := newTestSeal(t, secret).streamKeys(ForGossip, side, make([]byte, CallerNonce+AcceptorNonce))
	return &k
}

func TestAFrameIsReadAsItWasWritten(t *testing.T) {
	for _, secret := range [][]byte{secretOne, nil} {
		keys := keysOf(t, secret, "caller")
		for _, length := range []int{0, 1, frameChunk, maxClear} {
			sent := bytes.Repeat([]byte{7}, length)
			got, err := readFrame(bytes.NewReader(appendFrame(sent, keys)), keys, maxClear, func() error { return nil })
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%d bytes: %d, %v", length, len(got), err)
			}
		}
	}
}

func TestAFrameOfAnotherConnectionOrSideDoesNotOpen(t *testing.T) {
	sent := appendFrame([]byte("hello"), keysOf(t, secretOne, "caller"))
	for what, keys := range map[string]*streamKeys{
		"side": keysOf(t, secretOne, "acceptor"), "secret": keysOf(t, secretTwo, "caller"),
	} {
		if _, err := readFrame(bytes.NewReader(sent), keys, maxClear, func() error {
			return nil
		}); !errors.Is(err, packets.ErrForeignSeal) {
			t.Errorf("another %s: %v", what, err)
		}
	}
}

func TestAFrameIsBoundedBeforeAnythingIsAllocated(t *testing.T) {
	for _, secret := range [][]byte{secretOne, nil} {
		keys := keysOf(t, secret, "caller")
		if _, err := readFrame(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff}), keys, maxFrame, func() error {
			return nil
		}); !errors.Is(err, ErrTooLong) {
			t.Errorf("4 GiB: %v", err)
		}
		const times = 100
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			_, err := readFrame(bytes.NewReader([]byte{0, 1, 0xff, 0xff, 1}), keys, maxFrame, func() error {
				return nil
			})
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) / times; n > 4*frameChunk {
			t.Errorf("%d bytes are allocated for a frame of which one byte came", n)
		}
	}
}

func TestALongFrameTellsBeforeItTakesTheMemory(t *testing.T) {
	keys := keysOf(t, secretOne, "caller")
	for length, want := range map[int]int{FrameShort - sealedTag: 0, FrameShort + 1: 1, maxFrame: 1} {
		told := 0
		got, err := readFrame(bytes.NewReader(appendFrame(make([]byte, length), keys)), keys, maxFrame, func() error {
			told++
			return nil
		})
		if err != nil || len(got) != length || told != want {
			t.Errorf("%d bytes: %d, %v, told %d times", length, len(got), err, told)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(appendFrame([]byte("hello"), keysOf(f, nil, "caller")), false)
	f.Add(appendFrame([]byte("hello"), keysOf(f, secretOne, "caller")), true)
	plain, secret := keysOf(f, nil, "caller"), keysOf(f, secretOne, "caller")
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		keys := plain
		if sealed {
			keys = secret
		}
		if got, err := readFrame(bytes.NewReader(b), keys, maxFrame, func() error { return nil }); err == nil &&
			len(got) > len(b) {
			t.Errorf("%d bytes of %d", len(got), len(b))
		}
	})
}
