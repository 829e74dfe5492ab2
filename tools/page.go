package tools

// fit returns how many of the first items have, together, at most listBytes
// of text; at least one, so that every page gets on.
func fit[T any](items []T, size func(T) int) int {
	total := 0
	for i, item := range items {
		if total += size(item); total > listBytes && i > 0 {
			return i
		}
	}
	return len(items)
}

// page cuts items to at most limit, and to what fits. more says that there are
// others.
func page[T any](items []T, limit int, size func(T) int) (_ []T, more bool) {
	n := min(len(items), limit)
	n = fit(items[:n], size)
	return items[:n:n], n < len(items)
}
