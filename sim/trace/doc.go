// Package trace writes runs so that people can read them: a [Trace] as text, a [Diagram] for Mermaid. A [Story] finds
// the run that is worth reading. What a protocol calls its own it is given as [Words]; it imports none, and never
// judges a run or changes it.
package trace
