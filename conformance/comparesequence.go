package conformance

import (
	"pgregory.net/rapid"
)

// anySequence makes sequences of -rapid.steps operations on average. Names and
// patterns that are malformed are among them if malformed is set.
func anySequence(malformed bool) *rapid.Generator[sequence] {
	return rapid.Custom(func(t *rapid.T) sequence {
		g := newGenerators(t, malformed)
		var s sequence
		for _, name := range g.names {
			if rapid.Bool().Draw(t, "exists") {
				s = append(s, g.write(t, name, noOptions))
			}
		}
		any := g.step()
		t.Repeat(map[string]func(*rapid.T){"step": func(t *rapid.T) {
			next := any.Draw(t, "step")
			if rapid.IntRange(0, 49).Draw(t, "ended") == 49 {
				next.ended = true
				next.text += ", its context ended"
			}
			s = append(s, next)
		}})
		return s
	})
}

func (g *generators) step() *rapid.Generator[step] {
	return oneOf(
		g.writeFile(), g.writeFile(), g.writeFile(), g.writeFile(), g.writeFile(), g.create(), g.mkdir(), g.rm(), g.move(), g.copy(),
		g.readFile(), g.readVersioned(), g.open(), g.ls(), g.lsPages(), g.stat(), g.glob(), g.glob(), g.globPages(),
		g.grep(), g.grep(), g.grepPages(), g.walk(), g.resolve(),
	)
}
