package siblings

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/wanderd/wanderd/policy/kcopies/survival"
	"github.com/wanderd/wanderd/sim/report"
)

// listedRing is the largest ring of which all states are examined.
const listedRing = 12

// figureFour is W_k(f, N) for small rings, counted in three ways. It returns how often they agree, and the numbers of
// the largest ring, as a table and one by one.
func figureFour() (check, table report.Table, points report.Comparison) {
	check = report.Table{
		Title:  "Figure 4: W_k(f, N) of every f and k, counted in three ways",
		Header: []string{"N", "numbers", "unlike the listing of all states", "unlike section 4's recurrence"},
	}
	table = report.Table{
		Title:  fmt.Sprintf("Figure 4: W_k(f, %d), the arrangements of f crashes with at most k in a row", listedRing),
		Header: []string{"f"},
	}
	points = report.Comparison{Title: table.Title, What: "ring", Figure: "arrangements"}
	for k := range listedRing + 1 {
		table.Header = append(table.Header, fmt.Sprintf("k = %d", k))
	}
	for n := 1; n <= listedRing; n++ {
		numbers, unlisted, unlike := 0, 0, 0
		for f := range n + 1 {
			ring, err := survival.NewRing(n, f)
			if err != nil {
				continue
			}
			row := []string{strconv.Itoa(f)}
			for k := range n + 1 {
				w := ring.Arrangements(k)
				numbers++
				if w.Cmp(big.NewInt(ring.Listed(k))) != 0 {
					unlisted++
				}
				if w.Cmp(ring.Enumerated(k)) != 0 {
					unlike++
				}
				row = append(row, w.String())
				if n == listedRing {
					points.Rows = append(points.Rows,
						report.Measured(fmt.Sprintf("N = %d, f = %d, k = %d", n, f, k), float64(w.Int64())))
				}
			}
			if n == listedRing {
				table.Rows = append(table.Rows, row)
			}
		}
		check.Rows = append(check.Rows, []string{
			strconv.Itoa(n), strconv.Itoa(numbers), strconv.Itoa(unlisted), strconv.Itoa(unlike),
		})
	}
	return check, table, points
}
