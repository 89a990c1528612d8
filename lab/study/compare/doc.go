// Package compare puts the protocols side by side under one demand, to help an operator choose.
//
// The fleets have no gate around them: no ballot keeps a ring or a tree strict. So the overlap that their recoveries
// cause is shown, too.
package compare
