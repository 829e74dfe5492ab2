package ctxregexp

// WithSmall returns r, for which searches of more than small cost are large.
func (r *Regexp) WithSmall(small int) *Regexp {
	changed := *r
	changed.small = small
	return &changed
}
