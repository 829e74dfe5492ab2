package container

import "context"

// gateWidth is how many writers without a condition pass at a time.
const gateWidth = 8

// gate keeps writers with a condition, who look before they write, from all
// other writers of one FS. So those without a condition need no lock in the
// container, which costs as much as the write. It is safe for concurrent use.
type gate struct {
	alone  chan struct{} // held by one who is about to take all places
	places chan struct{}
}

func newGate() *gate {
	return &gate{alone: make(chan struct{}, 1), places: make(chan struct{}, gateWidth)}
}

// pass lets a writer in, and returns how it leaves.
func (g *gate) pass(ctx context.Context) (leave func(), err error) {
	if err := enter(ctx, g.places); err != nil {
		return nil, err
	}
	return func() { g.free(1) }, nil
}

// passAlone lets a writer in when nobody else is, and returns how it leaves.
func (g *gate) passAlone(ctx context.Context) (leave func(), err error) {
	if err := enter(ctx, g.alone); err != nil {
		return nil, err
	}
	defer func() { <-g.alone }()
	for taken := range gateWidth {
		if err := enter(ctx, g.places); err != nil {
			g.free(taken)
			return nil, err
		}
	}
	return func() { g.free(gateWidth) }, nil
}

func (g *gate) free(places int) {
	for range places {
		<-g.places
	}
}

func enter(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
