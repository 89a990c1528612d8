// Package trace writes runs so that people can read them: a [Trace] as text, a [Diagram] for Mermaid. An [Excerpt]
// finds the run that is worth reading. The package imports no protocol: it is given a protocol's own terms as [Words].
// It never judges or changes a run.
package trace
