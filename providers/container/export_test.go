package container

// Texts reports whether grep in the container can leave out what has a NUL.
func (f *FS) Texts() bool { return f.store.start.found.Load().Texts }
