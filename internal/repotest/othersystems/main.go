// Command othersystems checks the types of all packages and of their tests as other
// operating systems build them. Unlike "GOOS=darwin go vet" it does not compile what
// they import, which takes ten times as long.
//
//	go run ./internal/repotest/othersystems GOOS...
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

// main checks one system after the other, and exits with 1 if one of them has
// an error. The types of imported packages come from their source, as the other
// system selects it, without cgo, which would need a C compiler for that
// system.
func main() {
	failed := 0
	for _, system := range os.Args[1:] {
		loaded, err := packages.Load(&packages.Config{
			Mode:  packages.LoadAllSyntax &^ packages.NeedTypesInfo,
			Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
			Tests: true,
		}, "./...")
		if err != nil {
			fmt.Fprintln(os.Stderr, "othersystems:", err)
			os.Exit(1)
		}
		n := packages.PrintErrors(loaded)
		fmt.Printf("%s: %d packages and tests, %d errors\n", system, len(loaded), n)
		failed += n
	}
	if failed > 0 {
		os.Exit(1)
	}
}
