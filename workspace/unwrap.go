package workspace

// Unwrapper is implemented by a neutral wrapper of a [FileSystem]: one that
// observes or repeats calls (logging, metrics, retry) and does not change their
// meaning. [As] looks for optional interfaces that it lacks in the FileSystem that
// it wraps. A wrapper that enforces or renames something must not be an
// Unwrapper: it forwards each optional interface itself.
type Unwrapper interface {
	// Unwrap returns the wrapped FileSystem.
	Unwrap() FileSystem
}

// As returns the optional interface T of fsys, or of the first FileSystem that
// has it in the chain of its Unwrap methods.
func As[T any](fsys FileSystem) (T, bool) {
	for {
		if t, ok := fsys.(T); ok {
			return t, true
		}
		wrapper, ok := fsys.(Unwrapper)
		if !ok {
			var none T
			return none, false
		}
		fsys = wrapper.Unwrap()
	}
}
