// Package browser tests the page of "wanderd web" in a real browser, with real agents on loopback. It is a module of
// its own, so that the browser's driver stays out of the product's.
package browser
