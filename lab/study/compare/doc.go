// Package compare puts the protocols side by side on one demand, to help an operator choose.
//
// The fleets have no gate around them: no ballot keeps a ring or a tree strict, so what their recoveries cost in
// overlap is shown, too.
package compare
