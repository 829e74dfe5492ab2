package workspace

// As returns the optional interface T of fsys, or of the first FileSystem that
// has it in the chain of its Unwrap methods: see the Unwrapper of package fallback.
func As[T any](fsys FileSystem) (T, bool) {
	for {
		if t, ok := fsys.(T); ok {
			return t, true
		}
		wrapper, ok := fsys.(interface{ Unwrap() FileSystem })
		if !ok {
			var none T
			return none, false
		}
		fsys = wrapper.Unwrap()
	}
}
