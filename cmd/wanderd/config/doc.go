// Package config has the table of an agent's settings, from flags, environment and a TOML file, and checks them.
//
// Reading ([Read]) finds out what is set where, and what cannot be understood; checking ([Layers.Check]) finds out what
// does not fit together. Both report everything that is wrong at once.
//
// Constants at the top of the file, in the environment and in flags are the defaults of all gates. A constant in a
// [[gate]] table holds for that gate alone, and prevails there over all layers that concern all gates.
//
// Relative paths start at the working directory, wherever they are written.
//
// Its decisions, in docs/decisions: 058, 096.
package config
