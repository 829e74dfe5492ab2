// Package pictures draws the pictures of the documents. In goes what they show, out
// comes SVG that is dark where the page around it is. The test of the repository makes
// them from the code, and from runs of it.
package pictures

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// style has the colors for light pages, and those for dark ones. A class means
// the same in both, so that what draws never chooses a color.
const style = `<style>
text{font:13px ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.code{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.head{font-weight:600;font-size:15px}.dim{fill:#57606a}.mid{text-anchor:middle}
.bg{fill:#fff}.box{fill:#f6f8fa;stroke:#d0d7de}.hot{fill:#ddf4ff;stroke:#54aeff}
.line{stroke:#57606a;fill:none}.tip{fill:#57606a}.lane{stroke:#d0d7de;stroke-dasharray:4 4}
.over{paint-order:stroke;stroke:#fff;stroke-width:5px}
.on{fill:#2da44e}.off{fill:none;stroke:#afb8c1}.prompt{fill:#0969da}.good{fill:#1a7f37}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.dim{fill:#9198a1}
.bg{fill:#0d1117}.box{fill:#161b22;stroke:#30363d}.hot{fill:#0c2d6b;stroke:#1f6feb}
.line{stroke:#9198a1}.tip{fill:#9198a1}.lane{stroke:#30363d}
.over{stroke:#0d1117}
.on{fill:#3fb950}.off{stroke:#484f58}.prompt{fill:#58a6ff}.good{fill:#3fb950}
}
</style>
`

// The widths are upper bounds for common fonts, in pixels: an SVG cannot
// measure its text, and a reader's font is not known.
const (
	margin  = 24
	sans    = 7.6 // how wide a letter is at most, on average
	mono    = 7.4
	heading = 9.0
)

// picture is an SVG that is being drawn. It is drawn from the top; y grows
// downwards. problem is the first text that does not fit.
type picture struct {
	b       strings.Builder
	title   string
	problem error
}

// text writes s from x on, or around x with the class mid. It must fit into room.
func (p *picture) text(x, y, room float64, class, s string) {
	width := sans
	switch {
	case strings.Contains(class, "code"):
		width = mono
	case strings.Contains(class, "head"):
		width = heading
	}
	if need := float64(len([]rune(s))) * width; need > room && p.problem == nil {
		p.problem = fmt.Errorf("%s: %q is %.0f wide, and there is room for %.0f", p.title, s, need, room)
	}
	fmt.Fprintf(&p.b, `<text x="%g" y="%g" class="%s" xml:space="preserve">%s</text>`+"\n", x, y, class, escaped(s))
}

// box draws a rectangle with round corners; x and y are its upper left one.
func (p *picture) box(x, y, w, h float64, class string) {
	fmt.Fprintf(&p.b, `<rect x="%g" y="%g" width="%g" height="%g" rx="6" class="%s"/>`+"\n", x, y, w, h, class)
}

func (p *picture) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&p.b, `<path d="M%g %gL%g %g" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

// arrow draws a line from one point to another on the same height, or the same
// distance from the left, with a tip at the second.
func (p *picture) arrow(x1, y1, x2, y2 float64) {
	p.line(x1, y1, x2, y2, "line")
	const size = 7
	dx, dy := 0.0, 0.0
	switch {
	case x2 > x1:
		dx = size
	case x2 < x1:
		dx = -size
	case y2 > y1:
		dy = size
	default:
		dy = -size
	}
	fmt.Fprintf(&p.b, `<path d="M%g %gL%g %gL%g %gz" class="tip"/>`+"\n", x2, y2, x2-dx-dy/2, y2-dy-dx/2, x2-dx+dy/2, y2-dy+dx/2)
}

// svg returns the picture, or why it cannot be read. w and h are the size of
// the whole, with its margins.
func (p *picture) svg(w, h float64) (string, error) {
	title := escaped(p.title)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-label="%s">`+"\n<title>%s</title>\n", w, h, w, h, title, title) +
		style + fmt.Sprintf(`<rect width="%g" height="%g" class="bg"/>`+"\n", w, h) + p.b.String() + "</svg>\n", p.problem
}

func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) //nolint:errcheck // a builder takes all
	return b.String()
}

// Layer is a row of the architecture, with boxes side by side.
type Layer struct {
	Title string
	Boxes []string
}

// Layers draws rows. Each uses the one below it. Boxes that do not fit into a
// row go on in the next one. The error is that of a text which is too wide, as
// in all functions of this package.
func Layers(title string, layers []Layer) (string, error) {
	const width, left, boxHeight, gap = 880.0, 150.0, 30.0, 10.0
	p := &picture{title: title}
	y := float64(margin)
	for i, layer := range layers {
		rows := [][]string{nil}
		x := left
		for _, box := range layer.Boxes {
			w := float64(len(box))*mono + 20
			if x+w > width-margin-gap && len(rows[len(rows)-1]) > 0 {
				rows, x = append(rows, nil), left
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], box)
			x += w + gap
		}
		height := float64(len(rows))*(boxHeight+gap) + gap
		p.box(margin, y, width-2*margin, height, "box")
		p.text(margin+12, y+height/2+5, left-margin-16, "head", layer.Title)
		for j, row := range rows {
			x := left
			for _, box := range row {
				w := float64(len(box))*mono + 20
				top := y + gap + float64(j)*(boxHeight+gap)
				p.box(x, top, w, boxHeight, "hot")
				p.text(x+w/2, top+boxHeight/2+4, w, "code mid", box)
				x += w + gap
			}
		}
		y += height
		if i < len(layers)-1 {
			p.arrow(width/2, y, width/2, y+22)
			y += 24
		}
	}
	return p.svg(width, y+margin)
}

// Step is a message from one lane to another, or a note where both are the
// same. From and To are indexes of lanes.
type Step struct {
	From, To int
	Text     string
}

// Sequence draws the messages between lanes, from the top to the bottom.
//
// A text may be wider than its arrow: it is then moved so that it stays inside
// of the picture.
func Sequence(title string, lanes []string, steps []Step) (string, error) {
	const width, top, stepHeight, laneHeight = 960.0, 66.0, 34.0, 34.0
	p := &picture{title: title}
	each := (width - 2*margin) / float64(len(lanes))
	at := func(lane int) float64 { return margin + each*(float64(lane)+0.5) }
	bottom := top + float64(len(steps))*stepHeight + 16
	for i, lane := range lanes {
		p.line(at(i), top-8, at(i), bottom, "line lane")
		p.box(at(i)-each/2+6, margin, each-12, laneHeight, "hot")
		p.text(at(i), margin+22, each-12, "mid", lane)
	}
	for i, step := range steps {
		y := top + float64(i)*stepHeight + 22
		if step.From == step.To {
			w := float64(len(step.Text))*sans + 16
			x := min(max(at(step.From)-w/2, margin), width-margin-w)
			p.box(x, y-17, w, 24, "box")
			p.text(x+w/2, y-1, w, "mid dim", step.Text)
			continue
		}
		p.arrow(at(step.From), y, at(step.To), y)
		left, right := min(at(step.From), at(step.To)), max(at(step.From), at(step.To))
		middle, need := (left+right)/2, float64(len(step.Text))*mono
		middle = min(max(middle, margin+need/2), width-margin-need/2)
		p.text(middle, y-6, width-2*margin, "code mid over", step.Text)
	}
	return p.svg(width, bottom+margin)
}

// Column is one of several things side by side. Lines are broken by the caller.
// Result stands at the foot of the box.
type Column struct {
	Title  string
	Lines  []string
	Result string
}

// Columns draws one cause and its columns. An arrow leads from the cause to
// each column, and from each column to the effect.
func Columns(title, cause string, columns []Column, effect string) (string, error) {
	const width, lineHeight, gap = 960.0, 21.0, 14.0
	p := &picture{title: title}
	each := (width - 2*margin - gap*float64(len(columns)-1)) / float64(len(columns))
	most := 0
	for _, c := range columns {
		most = max(most, len(c.Lines))
	}
	p.box(margin, margin, width-2*margin, 36, "hot")
	p.text(width/2, margin+23, width-2*margin, "code mid", cause)
	top := margin + 36 + 34.0
	height := 44 + float64(most)*lineHeight + 40
	for i, c := range columns {
		x := margin + float64(i)*(each+gap)
		p.arrow(x+each/2, top-34, x+each/2, top)
		p.box(x, top, each, height, "box")
		p.text(x+each/2, top+26, each, "head mid", c.Title)
		for j, line := range c.Lines {
			p.text(x+10, top+52+float64(j)*lineHeight, each-12, "", line)
		}
		p.text(x+10, top+height-14, each-12, "good", c.Result)
		p.arrow(x+each/2, top+height, x+each/2, top+height+34)
	}
	p.box(margin, top+height+34, width-2*margin, 36, "hot")
	p.text(width/2, top+height+57, width-2*margin, "mid", effect)
	return p.svg(width, top+height+70+margin)
}

// Row is a row of a matrix: for each column, whether each of some things holds.
type Row struct {
	Title string
	Cells [][]bool
}

// Matrix draws a square for each thing, filled if it holds. Twelve squares are
// in a line; a cell with more has several lines. The legend says what a filled
// square means, and an empty one.
func Matrix(title string, columns []string, rows []Row, legend [2]string) (string, error) {
	const left, side, perLine, gap = 340.0, 9.0, 12, 3.0
	const each = perLine*(side+gap) + 16
	width := left + float64(len(columns))*each + margin
	p := &picture{title: title}
	for i, column := range columns {
		p.text(left+float64(i)*each, margin+12, each-4, "head", column)
	}
	y := margin + 28.0
	for _, row := range rows {
		lines := 1
		for _, cell := range row.Cells {
			lines = max(lines, (len(cell)+perLine-1)/perLine)
		}
		height := float64(lines)*(side+gap) + 8
		p.line(margin, y, width-margin, y, "line lane")
		p.text(margin, y+15, left-margin-6, "", row.Title)
		for i, cell := range row.Cells {
			for j, holds := range cell {
				class := "off"
				if holds {
					class = "on"
				}
				x := left + float64(i)*each + float64(j%perLine)*(side+gap)
				top := y + 6 + float64(j/perLine)*(side+gap)
				fmt.Fprintf(&p.b, `<rect x="%g" y="%g" width="%g" height="%g" class="%s"/>`+"\n", x, top, side, side, class)
			}
		}
		y += height + 2
	}
	y += 14
	for i, class := range []string{"on", "off"} {
		x := margin + float64(i)*(width/2-margin)
		fmt.Fprintf(&p.b, `<rect x="%g" y="%g" width="%g" height="%g" class="%s"/>`+"\n", x, y, side, side, class)
		p.text(x+side+8, y+10, width/2-margin-side-8, "dim", legend[i])
	}
	return p.svg(width, y+margin+8)
}

// Terminal draws what was typed, which begins with "$ ", and what was printed.
// The picture is as wide as the longest line, so the caller cuts lines.
func Terminal(title string, lines []string) (string, error) {
	const lineHeight, bar = 17.0, 28.0
	most := 0
	for _, line := range lines {
		most = max(most, len([]rune(line)))
	}
	width := float64(most)*mono + 2*margin + 24
	height := bar + float64(len(lines))*lineHeight + 20
	p := &picture{title: title}
	p.box(margin/2, margin/2, width-margin, height, "box")
	for i := range 3 {
		fmt.Fprintf(&p.b, `<circle cx="%g" cy="%g" r="5" class="off"/>`+"\n", margin+10+float64(i)*16, margin/2+15.0)
	}
	for i, line := range lines {
		class := "code"
		switch {
		case strings.HasPrefix(line, "$ "):
			class = "code prompt"
		case strings.Contains(line, "all is well"):
			class = "code good"
		}
		p.text(margin+8, margin/2+bar+float64(i+1)*lineHeight, width-2*margin, class, line)
	}
	return p.svg(width, height+margin)
}
