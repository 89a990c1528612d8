package marks

import (
	"slices"
	"testing"
)

func TestAPairIsAMarkAndTheOneBeforeItOfTheSameMachine(t *testing.T) {
	var s Set
	one, other := s.Marker(), s.Marker()
	one.Hit(7)
	other.Hit(9)
	one.Hit(200)
	one.Hit(200)
	other.Hit(9)
	if s.Count(7) != 1 || s.Count(9) != 2 || s.Count(200) != 2 || s.Count(8) != 0 {
		t.Errorf("7 was hit %d times, 9 %d times, 200 %d times", s.Count(7), s.Count(9), s.Count(200))
	}
	if n := s.Pairs(); n != 5 { // 0-7, 7-200, 200-200; 0-9, 9-9
		t.Errorf("%d pairs", n)
	}
}

func TestOnlyPairsThatAreNotKnownAreNews(t *testing.T) {
	var known Set
	k := known.Marker()
	k.Hit(1)
	k.Hit(2)
	s := Beside(&known)
	m := s.Marker()
	m.Hit(1)
	m.Hit(2)
	if n := s.Fresh(); n != 0 {
		t.Errorf("%d pairs are news", n)
	}
	m.Hit(1)
	m.Hit(2)
	if n := s.Fresh(); n != 1 {
		t.Errorf("%d pairs are news", n)
	}
	if n := known.Add(s); n != 1 || known.Pairs() != 3 || known.Count(1) != 3 {
		t.Errorf("%d pairs are new; there are %d, and the first mark was hit %d times", n, known.Pairs(),
			known.Count(1))
	}
	if n := known.Add(s); n != 0 {
		t.Errorf("%d pairs are new twice", n)
	}
}

func TestMarksThatWereNeverHitAreNamed(t *testing.T) {
	names := Join(Names{1: "one", 40: "forty"}, Names{3: "three"})
	var s Set
	s.Marker().Hit(3)
	if never := names.Never(&s); !slices.Equal(never, []string{"one", "forty"}) {
		t.Errorf("never hit: %q", never)
	}
	defer func() {
		if recover() == nil {
			t.Error("two packages have a mark with the same number")
		}
	}()
	Join(Names{1: "one"}, Names{1: "another"})
}

// Where nobody listens a mark costs the comparison with nil. Nothing is allocated in any case.
func TestAHitAllocatesNothing(t *testing.T) {
	var s *Set
	for _, k := range []*Marker{s.Marker(), new(Set).Marker()} {
		if n := testing.AllocsPerRun(100, func() { k.Hit(5) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func BenchmarkHit(b *testing.B) {
	for name, k := range map[string]*Marker{"nobody": nil, "somebody": new(Set).Marker()} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				k.Hit(Mark(i))
			}
		})
	}
}
