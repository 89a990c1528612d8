package paper

// agenda is what will happen in the model: a binary heap by time, and then by who asked first.
type agenda struct {
	heap []appointment
	seq  uint64
}

type appointment struct {
	at   float64
	seq  uint64
	who  int
	kind appointmentKind
}

// appointmentKind says what will happen.
type appointmentKind uint8

const (
	// departure: the token at a member goes on.
	departure appointmentKind = iota
	// suspicion: a member may have been without a token for Δgen.
	suspicion
)

func (a appointment) before(b appointment) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

func (g *agenda) add(at float64, who int, kind appointmentKind) {
	g.seq++
	g.heap = append(g.heap, appointment{at: at, seq: g.seq, who: who, kind: kind})
	h := g.heap
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// next removes what comes first. There must be something.
func (g *agenda) next() appointment {
	h := g.heap
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	g.heap = h
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			return first
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(h[i]) {
			return first
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
