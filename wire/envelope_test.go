package wire

import (
	"bytes"
	"testing"
)

func TestGossipIsNotChanged(t *testing.T) {
	gossip := []byte("whatever memberlist has to say, a single zero byte included: \x00")
	datagram := AppendGossip([]byte("before"), gossip)
	if want := append([]byte("beforewd\x04\x01"), gossip...); !bytes.Equal(datagram, want) {
		t.Fatalf("got %q, want %q", datagram, want)
	}
	class, payload, drop := Classify(datagram[len("before"):])
	if class != ClassGossip || drop != 0 || !bytes.Equal(payload, gossip) {
		t.Errorf("got class %d, %q, dropped for %v", class, payload, drop)
	}
}

func TestGossipMayBeLongerThanAMessage(t *testing.T) {
	gossip := make([]byte, 2*MaxDatagram)
	class, payload, drop := Classify(AppendGossip(nil, gossip))
	if class != ClassGossip || drop != 0 || len(payload) != len(gossip) {
		t.Errorf("got class %d, %d bytes, dropped for %v", class, len(payload), drop)
	}
}

func TestMessagesAreAcceptedUpToMaxDatagram(t *testing.T) {
	for class, shortest := range map[Class]int{ClassClear: 356, ClassSealed: 396} {
		for _, tc := range []struct {
			size int
			want Drop
		}{{shortest - 1, DropSize}, {shortest, 0}, {MaxDatagram, 0}, {MaxDatagram + 1, DropSize}} {
			datagram := appendEnvelope(nil, class)
			datagram = append(datagram, make([]byte, tc.size-len(datagram))...)
			got, payload, drop := Classify(datagram)
			if drop != tc.want {
				t.Errorf("class %d, %d bytes: dropped for %v, want %v", class, tc.size, drop, tc.want)
			}
			if drop == 0 && (got != class || len(payload) != tc.size-EnvelopeSize) {
				t.Errorf("class %d, %d bytes: class %d with %d bytes", class, tc.size, got, len(payload))
			}
		}
	}
}

func TestASocketFilterFindsTheMagicInTheFirstTwoBytes(t *testing.T) {
	for _, datagram := range [][]byte{
		AppendGossip(nil, []byte("x")), datagramOf(t, token(), nil), datagramOf(t, token(), secret()),
	} {
		if got := string(datagram[:len(Magic)]); got != Magic {
			t.Errorf("it begins with %q, want %q", got, Magic)
		}
		if datagram[2] != Version {
			t.Errorf("the third byte is %d, want %d", datagram[2], Version)
		}
	}
}
