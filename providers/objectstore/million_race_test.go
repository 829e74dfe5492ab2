//go:build race

package objectstore_test

// million is less under the race detector, which is ten times slower.
const million = 100_000
