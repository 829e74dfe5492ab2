package container

// Extended is extended.
func Extended(pattern string, literal, ignoreCase bool) string {
	return extended(pattern, literal, ignoreCase)
}
