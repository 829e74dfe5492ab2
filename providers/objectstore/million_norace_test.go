//go:build !race

package objectstore_test

const million = 1_000_000
