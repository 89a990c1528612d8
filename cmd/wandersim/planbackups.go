package main

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/policy/kcopies/survival"
	"github.com/wanderd/wanderd/sim/plan"
	"github.com/wanderd/wanderd/sim/report"
)

const longPlanBackups = `Compute how many members must keep a copy of a token that goes round a ring, so that
it survives the crash of a share of them.

The holder and its k successors have the token. All sets of crashed members of the given
size are equally likely. The token can be lost in two ways:

  eventually   the crashed members stay down, and somewhere in the ring the token meets
               more than k of them in a row: 1 − P_k of the k-copies paper
  at once      all crash at the same time, and the holder and its k successors are among
               them. If dead members are replaced, like guardians of a soft gate, only
               this can happen

The answer is the smallest k with which the token is not lost eventually with probability
--target or more. It shows both probabilities of loss, for this k and for others. They are
computed exactly, and rounded for the output.`

const examplePlanBackups = `  Half of ten thousand members crash.
      wanderd plan backups --members 10000 --crashed 50%

  One in ten crashes, and the token may be lost once in a million cases.
      wanderd plan backups --members 500 --crashed 10% --target 99.9999%

  For scripts.
      wanderd plan backups --members 500 --crashed 10% --json | jq .k`

// The allowed rings: as many members as in "wanderd plan". With fewer than two survivors the token cannot move, and k,
// at most N − 2, cannot be enough.
const (
	fewestInRing  = 2
	mostInRing    = 20_000
	fewestSurvive = 2
)

const usualTarget = "0.999"

// curvePoints bounds how many steps of k a curve has; it has one value more.
const curvePoints = 60

// backupsRequest is the parameters of a ring, and the required probability.
type backupsRequest struct {
	members         int
	crashed, target exactShare
}

// backupsResult is the number of backups that a token needs. Probabilities are rounded to the nearest number.
type backupsResult struct {
	Members int     `json:"members"`
	Crashed int     `json:"crashed"`
	Target  float64 `json:"target"`
	backupsOdds
	// Curve has the answer's k, and other values from about 0 to the value at which the token is lost a hundred times
	// less often than allowed.
	Curve []backupsOdds `json:"curve"`
}

// backupsOdds has the probabilities for a token with k backups.
type backupsOdds struct {
	K int `json:"k"`
	// Probability is the probability that the token is never lost.
	Probability float64 `json:"probability"`
	Eventual    float64 `json:"eventual"`
	AtOnce      float64 `json:"at_once"`
}

func newPlanBackupsCommand() *cobra.Command {
	var w backupsRequest
	asJSON := false
	cmd := &cobra.Command{
		Use:     "backups --members N --crashed SHARE",
		Short:   "Compute how many copies of a token survive crashes",
		Long:    longPlanBackups,
		Example: examplePlanBackups,
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := w.answer()
			if err != nil {
				return cli.UsageError(err)
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), answer)
			}
			_, err = io.WriteString(cmd.OutOrStdout(), answer.text(cli.ChartWidth(cmd.OutOrStdout())))
			return err
		},
	}
	_ = w.target.Set(usualTarget)
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&w.members, "members", 0,
		fmt.Sprintf("How many members the ring has: a `NUMBER` from %d to %d. Required.",
			fewestInRing, mostInRing))
	flags.Var(&w.crashed, "crashed", "The share of them that crash, rounded up to whole members. Required.")
	flags.Var(&w.target, "target", "The least probability that the token survives: a share above 0.")
	flags.BoolVar(&asJSON, "json", false, "Print one JSON object. Probabilities are from 0 to 1.")
	flags.Lookup("members").DefValue = ""
	return cmd
}

// check returns all errors in a request, with their remedies.
func (w *backupsRequest) check() error {
	var problems []string
	demand := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	membersOK := w.members >= fewestInRing && w.members <= mostInRing
	demand(membersOK, "members is %d: say how many members the ring has, from %d to %d", w.members, fewestInRing,
		mostInRing)
	demand(w.crashed.given(), "crashed is missing: say which share of the members crash, as in 50%%")
	demand(w.target.share.Sign() > 0,
		"target is 0, which a token without backups reaches: name the probability that you need, as in 0.999")
	if membersOK && w.crashed.given() {
		crashed := w.crashed.of(w.members)
		demand(w.members-crashed >= fewestSurvive,
			"crashed is %s, %d of %d members: at least %d must survive, one to pass the token on and one to "+
				"take it; name a lower share", w.crashed.text, crashed, w.members, fewestSurvive)
	}
	if len(problems) > 0 {
		return &plan.Impossible{Problems: problems}
	}
	return nil
}

func (w *backupsRequest) answer() (backupsResult, error) {
	if err := w.check(); err != nil {
		return backupsResult{}, err
	}
	a := backupsResult{Members: w.members, Crashed: w.crashed.of(w.members), Target: nearest(&w.target.share)}
	ring, err := survival.NewRing(a.Members, a.Crashed)
	if err != nil {
		return a, err
	}
	odds := func(k int) backupsOdds {
		return backupsOdds{k, nearest(ring.Survives(k)), nearest(ring.LostEventually(k)), nearest(ring.LostAtOnce(k))}
	}
	k := ring.Least(&w.target.share)
	a.backupsOdds = odds(k)
	rarely := new(big.Rat).Add(big.NewRat(99, 1), &w.target.share) // 1 − (1 − target) / 100
	last := ring.Least(rarely.Quo(rarely, big.NewRat(100, 1)))
	step := 1 + last/curvePoints
	for i := k % step; i <= last; i += step {
		a.Curve = append(a.Curve, odds(i))
	}
	return a, nil
}

func nearest(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// text returns the answer for people.
func (a *backupsResult) text(columns int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d members in a ring, %d of them crash: %d backups.\n\n", a.Members, a.Crashed, a.K)
	fmt.Fprintf(&b, "  survives         %-14s at least %v was asked for\n", likelihood(a.Probability, a.Eventual),
		a.Target)
	fmt.Fprintf(&b, "  lost eventually  %-14s the crashed stay down, and the token meets more than %d in a row\n",
		report.Number(a.Eventual), a.K)
	fmt.Fprintf(&b, "  lost at once     %-14s all crash in one moment, the holder and its %d backups among them\n",
		report.Number(a.AtOnce), a.K)
	if len(a.Curve) > 1 {
		b.WriteString("\n" + a.table().Render(report.Text) + "\n" + a.chart().Terminal(columns))
	}
	return b.String()
}

// likelihood writes a probability near 1 with enough digits to distinguish it from 1; missing is 1 − p.
func likelihood(p, missing float64) string {
	const near, tooNear = 0.1, 1e-9
	switch {
	case missing <= 0 || missing > near:
		return report.Number(p)
	case missing < tooNear:
		return "1 − " + report.Number(missing)
	}
	return fmt.Sprintf("%.*f", 2+int(math.Ceil(-math.Log10(missing))), p)
}

// table has the rows of the curve around k.
func (a *backupsResult) table() report.Table {
	const around = 5
	t := report.Table{Header: []string{"k", "survives", "lost eventually", "lost at once"}}
	at := slices.IndexFunc(a.Curve, func(o backupsOdds) bool { return o.K == a.K })
	for _, o := range a.Curve[max(0, at-around):min(len(a.Curve), at+around+1)] {
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(o.K), likelihood(o.Probability, o.Eventual), report.Number(o.Eventual), report.Number(o.AtOnce),
		})
	}
	return t
}

func (a *backupsResult) chart() report.Chart {
	eventual, atOnce := report.Curve{Name: "lost eventually"}, report.Curve{Name: "lost at once"}
	for _, o := range a.Curve {
		k := float64(o.K)
		eventual.X, eventual.Y = append(eventual.X, k), append(eventual.Y, o.Eventual)
		atOnce.X, atOnce.Y = append(atOnce.X, k), append(atOnce.Y, o.AtOnce)
	}
	return report.Chart{
		Title: "The token is lost", X: "backups, k", Y: "probability", Logarithmic: true,
		Curves: []report.Curve{eventual, atOnce},
	}
}

// exactShare is a share without rounding, so that 10% of 50 members is exactly 5.
type exactShare struct {
	share big.Rat
	text  string
}

func (v *exactShare) Set(text string) error {
	if _, err := settings.ParseShare(text); err != nil {
		return err
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	if _, ok := v.share.SetString(strings.TrimSpace(digits)); !ok {
		return fmt.Errorf("%q has too many digits: write fewer", text)
	}
	if percent {
		v.share.Quo(&v.share, big.NewRat(100, 1))
	}
	v.text = text
	return nil
}

func (v *exactShare) String() string { return v.text }
func (*exactShare) Type() string     { return "share" }
func (v *exactShare) given() bool    { return v.text != "" }

// of returns the share of members, rounded up.
func (v *exactShare) of(members int) int {
	whole := new(big.Rat).Mul(&v.share, big.NewRat(int64(members), 1))
	n, rest := new(big.Int).QuoRem(whole.Num(), whole.Denom(), new(big.Int))
	return int(n.Int64()) + rest.Sign()
}
