// Package config is the table of what an agent can be told, by flags, environment and a TOML file, and the checks of
// what is told.
//
// Reading ([Read]) finds out what is set where, and what cannot be understood; checking ([Layers.Check]) finds out what
// does not fit together. Both report everything that is wrong at once.
//
// Constants at the top of the file, in the environment and in flags are the defaults of all gates. What a [[gate]]
// table says of a constant is said of that gate alone, and holds for it whatever the layers say of all gates.
//
// Relative paths start at the working directory, wherever they are written.
//
// Its decisions, in docs/decisions: 058.
package config
