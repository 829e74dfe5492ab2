package command

import (
	"bufio"
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// column lines up words or fields in columns, as util-linux's does. With -t the input
// is a table: cells are separated by blanks, where several count as one, or by the
// characters of -s, where each counts. Without -t, lines are put into as many columns
// as fit into -c, from top to bottom, or from left to right with -x.
//
//	printf 'a 1\nbcd 20\n' | column -t       column -t -s: -o' | ' -R2 on a:1, bcd:20
//	a    1                                   a   |  1
//	bcd  20                                  bcd | 20
func column(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [FILE]...")
	table := f.BoolP("table", "t", false, "create a table")
	separator := f.StringP("separator", "s", "", "possible table delimiters")
	between := f.StringP("output-separator", "o", "  ", "columns separator for table output")
	width := f.countP("output-width", "c", 80, "width of output in number of characters")
	fillRows := f.BoolP("fillrows", "x", false, "fill rows before columns")
	names := f.StringP("table-columns", "N", "", "comma separated columns names")
	right := f.StringP("table-right", "R", "", "right align text in these columns")
	limit := f.countP("table-columns-limit", "l", 0, "maximal number of input columns")
	keep := f.BoolP("keep-empty-lines", "L", false, "do not ignore empty lines")
	noHeadings := f.BoolP("table-noheadings", "d", false, "do not print header")
	f.BoolP("json", "J", false, "not supported: use jq")
	files, status, ok := f.parse()
	if !ok {
		return status
	}
	if f.Changed("json") {
		return p.errorf("-J is not supported: use jq")
	}
	c := &columns{separators: " \t", merge: true, between: *between, width: *width, limit: *limit, fillRows: *fillRows}
	if f.Changed("separator") {
		c.separators, c.merge = *separator, false
	}
	if *names != "" {
		c.names = strings.Split(*names, ",")
		c.headings = !*noHeadings
	}
	if *right != "" {
		c.right = strings.Split(*right, ",")
	}
	held := int64(0)
	status = p.eachLine(ctx, files, '\n', func(r *lineReader) error {
		line := bytes.TrimLeft(r.line, " \t\r\v\f")
		if len(line) == 0 {
			if *keep {
				c.rows = append(c.rows, nil)
			}
			return nil
		}
		// 64 bytes are about what the slices of a line take.
		if held += int64(len(r.line)) + 64; held > p.MaxMemory {
			return errTooMuch(p.MaxMemory)
		}
		if *table {
			c.rows = append(c.rows, c.split(string(r.line)))
		} else {
			c.rows = append(c.rows, []string{string(r.line)})
		}
		return nil
	})
	if held > p.MaxMemory {
		return status
	}
	out := bufio.NewWriter(p.Stdout)
	if *table {
		c.writeTable(out)
	} else {
		c.fill(out)
	}
	return p.finish(out, status)
}

// columns is one run of column. It keeps all rows in memory, because the width of a
// column is that of its widest cell.
type columns struct {
	separators string   // the bytes of -s; each of them ends a cell
	merge      bool     // several separators count as one
	between    string   // what stands between two columns of a table: two spaces, or that of -o
	width      int      // of the output in which the columns without -t have to fit
	limit      int      // the most columns of a table, of -l; zero for no limit
	fillRows   bool     // -x: fill a row before the next one, not a column
	names      []string // the headings of -N, one for each column
	headings   bool
	right      []string   // the columns of -R, by name or by number from 1
	rows       [][]string // nil: an empty line
}

// split splits a line into cells. The last column that -l allows has the rest of the line,
// with its separators.
//
//	" a  b"    merged:       "a", "b"
//	"a::b"     with -s:      "a", "", "b"
//	"a:b:c"    and -l2       "a", "b:c"
func (c *columns) split(line string) []string {
	var cells []string
	for {
		if c.merge {
			line = strings.TrimLeft(line, c.separators)
			if line == "" {
				return cells
			}
		}
		at := strings.IndexAny(line, c.separators)
		if c.separators == "" {
			at = -1
		}
		if at < 0 || c.limit > 0 && len(cells) == c.limit-1 {
			return append(cells, line)
		}
		_, size := utf8.DecodeRuneInString(line[at:])
		cells = append(cells, line[:at])
		line = line[at+size:]
	}
}

// textWidth returns how many columns a text takes on a terminal.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// writeTable writes a table. Each column is as wide as its widest cell, but the last
// one ends with its text. A row with fewer cells than the widest has empty ones, so that each
// row has all separators. With -L an empty line stays empty.
func (c *columns) writeTable(out *bufio.Writer) {
	rows := c.rows
	if c.headings && len(rows) > 0 {
		rows = slices.Insert(slices.Clone(rows), 0, c.names)
	}
	count := 0
	for _, row := range rows {
		count = max(count, len(row))
	}
	widths := make([]int, count)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], textWidth(cell))
		}
	}
	for _, row := range rows {
		if row == nil {
			out.WriteByte('\n')
			continue
		}
		for i := range count {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			if i > 0 {
				out.WriteString(c.between)
			}
			padding := strings.Repeat(" ", widths[i]-textWidth(cell))
			switch {
			case c.isRight(i):
				out.WriteString(padding + cell)
			case i == count-1:
				out.WriteString(cell)
			default:
				out.WriteString(cell + padding)
			}
		}
		out.WriteByte('\n')
	}
}

// isRight reports whether a column is aligned to the right: it is named, by its name
// or by its number from one. The name "0" is all of them. i counts from zero.
func (c *columns) isRight(i int) bool {
	for _, name := range c.right {
		if name == "0" || atoi(name) == i+1 && strings.Trim(name, "0123456789") == "" || i < len(c.names) && c.names[i] == name {
			return true
		}
	}
	return false
}

// fill puts the lines into as many columns as there is room for. Tabs separate them.
//
// A column is as wide as the widest line, rounded up to the next tab stop, so that at least
// one blank is between two of them. Five lines of one letter, and a width of 24, make three
// columns with two rows:
//
//	a       c       e
//	b       d
func (c *columns) fill(out *bufio.Writer) {
	const tab = 8
	cell := 0
	for _, row := range c.rows {
		cell = max(cell, textWidth(strings.Join(row, "")))
	}
	cell = (cell + tab) / tab * tab
	perRow := max(1, c.width/cell)
	count := (len(c.rows) + perRow - 1) / perRow
	for i := range count {
		at := 0
		for n := range perRow {
			// From top to bottom: count rows stand in each column.
			index := n*count + i
			if c.fillRows {
				index = i*perRow + n
			}
			if index >= len(c.rows) {
				break
			}
			for ; n > 0 && at < n*cell; at = at/tab*tab + tab {
				out.WriteByte('\t')
			}
			text := strings.Join(c.rows[index], "")
			out.WriteString(text)
			at = n*cell + textWidth(text)
		}
		out.WriteByte('\n')
	}
}
