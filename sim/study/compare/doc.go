// Package compare puts the protocols side by side on one demand, to help an operator choose.
//
//	contender.go  the protocols, and how a fleet of each is made
//	course.go     what all of them have to do, with which faults
//	page.go       tables, plots and advice
//
// The fleets have no gate around them: no ballot keeps a ring or a tree strict, so what their recoveries cost in overlap is shown, too.
package compare
