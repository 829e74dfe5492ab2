package ignore

import "strings"

// Rules are what applies inside one directory. They are immutable, and safe
// for concurrent use. Nil Rules are those above the root of a tree, and
// exclude nothing but ".git".
type Rules struct {
	file  *File  // nil if there are no rules yet
	dir   string // the path from file's directory, with a slash at its end; or ""
	paths []rule // the rules of file that can match here or below
	outer *Rules // the rules of the files above, seen from the same directory
}

// Enter returns the rules inside the child directory name, whose own
// ".gitignore" is f, or nil. The rules inside the root of a tree are
// (*Rules)(nil).Enter("", f), and are not nil.
func (r *Rules) Enter(name string, f *File) *Rules {
	inside := r.step(name)
	switch {
	case f != nil && len(f.keep) > 1:
		return &Rules{file: f, paths: f.paths, outer: inside}
	case inside == nil:
		return new(Rules)
	}
	return inside
}

// step returns r seen from the child directory name: r itself if nothing in it
// depends on where it is.
func (r *Rules) step(name string) *Rules {
	if r == nil {
		return nil
	}
	outer := r.outer.step(name)
	if len(r.paths) == 0 && outer == r.outer {
		return r
	}
	below := &Rules{file: r.file, outer: outer}
	if len(r.paths) > 0 {
		below.dir = r.dir + name + "/"
		below.paths = reachable(r.paths, below.dir)
	}
	return below
}

// reachable returns the rules that can match in dir or below it.
func reachable(rules []rule, dir string) []rule {
	count := 0
	for i := range rules {
		if rules[i].reaches(dir) {
			count++
		}
	}
	if count == 0 || count == len(rules) {
		return rules[:count]
	}
	left := make([]rule, 0, count)
	for i := range rules {
		if rules[i].reaches(dir) {
			left = append(left, rules[i])
		}
	}
	return left
}

// Ignored reports whether the child called name, a directory or not, is
// excluded: by the nearest file that has a rule for it, and there by the last
// such rule. ".git" always is. What lies in an excluded directory is excluded
// whatever its own rules say, so a walk must not enter one.
func (r *Rules) Ignored(name string, dir bool) bool {
	if name == ".git" {
		return true
	}
	for ; r != nil && r.file != nil; r = r.outer {
		if last := r.last(name, dir); last > 0 {
			return !r.file.keep[last]
		}
	}
	return false
}

// last returns the last rule of r's file that matches the child called name.
func (r *Rules) last(name string, dir bool) int {
	last := r.file.nameRule(name, dir)
	for i := range r.paths {
		p := &r.paths[i]
		if p.number < last {
			break
		}
		if (dir || !p.dirOnly) && p.match(r.dir, name) {
			return p.number
		}
	}
	return last
}

// nameRule returns the last rule that matches name wherever it is.
func (f *File) nameRule(name string, dir bool) int {
	last := f.names[name].of(dir)
	if len(f.exts) > 0 {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			last = max(last, f.exts[name[dot:]].of(dir))
		}
	}
	for i := range f.globs {
		r := &f.globs[i]
		if r.number < last {
			break
		}
		if (dir || !r.dirOnly) && r.match("", name) {
			return r.number
		}
	}
	return last
}

// reaches reports whether the pattern can match something in dir or below it.
func (p *pattern) reaches(dir string) bool {
	if len(dir) <= len(p.prefix) {
		return strings.HasPrefix(p.prefix, dir)
	}
	return strings.HasPrefix(dir, p.prefix) && strings.Count(dir, "/") <= p.slashes
}
