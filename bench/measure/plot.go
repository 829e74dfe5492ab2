package measure

import (
	_ "embed"
	"io"
	"math"
	"slices"
	"text/template"
)

// The plot, in pixels. Its axis is logarithmic, from lowest to highest. Ratios
// beyond its ends are drawn at the ends.
const (
	rowHeight, labelWidth, plotWidth, margin = 20, 370, 520, 14

	lowest, highest = 1.0 / 64, 8.0
)

// colours are for up to eight others; they can be told apart without seeing red or green.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999"}

//go:embed plot.svg.tmpl
var plotText string

// plot is the template of the picture, an SVG.
var plot = template.Must(template.New("plot").Parse(plotText))

// figure is what the template shows.
type figure struct {
	Width, Height, Left, Right, Bottom, One int
	Ticks                                   []mark
	Lines                                   []line
	Legend                                  []mark
}

// line is a row of the plot: a title of a group, or a job with its marks.
type line struct {
	Y     int
	Text  string
	Title bool
	Marks []mark
}

// mark is a place on the axis.
type mark struct {
	X, Y, Low, High int
	Text, Colour    string
}

// Plot writes the ratios, of processor time with CPU, as an SVG image: a dot
// for each median, with a line from the least to the greatest ratio of a round.
// Colours are given in the order in which contenders first appear. It may be
// called after any Run.
func (r *Report) Plot(w io.Writer) error {
	f := figure{Width: labelWidth + plotWidth + margin, Left: labelWidth, Right: labelWidth + plotWidth, One: place(1)}
	var peers []string
	y := rowHeight
	for _, g := range r.groups {
		f.Lines = append(f.Lines, line{Y: y, Text: g.title, Title: true})
		y += rowHeight
		for _, job := range g.rows {
			l := line{Y: y, Text: job.job}
			for _, c := range job.results {
				if !slices.Contains(peers, c.peer) {
					peers = append(peers, c.peer)
				}
				l.Marks = append(l.Marks, mark{
					X: place(c.ratio), Y: y, Low: place(c.least), High: place(c.most),
					Colour: colours[slices.Index(peers, c.peer)%len(colours)],
				})
			}
			f.Lines = append(f.Lines, l)
			y += rowHeight
		}
	}
	f.Bottom = y
	for _, tick := range []struct {
		at   float64
		text string
	}{{1.0 / 64, "1/64"}, {1.0 / 16, "1/16"}, {1.0 / 4, "1/4"}, {1.0 / 2, "1/2"}, {1, "1"}, {2, "2"}, {4, "4"}, {8, "8"}} {
		f.Ticks = append(f.Ticks, mark{X: place(tick.at), Y: y + rowHeight, Text: tick.text})
	}
	y += rowHeight
	for i, peer := range peers {
		const perLine = 3
		if i%perLine == 0 {
			y += rowHeight
		}
		f.Legend = append(f.Legend, mark{X: margin + i%perLine*(f.Width/perLine), Y: y, Text: peer, Colour: colours[i%len(colours)]})
	}
	f.Height = y + rowHeight
	return plot.Execute(w, f)
}

// place returns where a ratio is on the axis.
//
// The axis is logarithmic so that twice as fast and half as fast are equally
// far from 1.
func place(ratio float64) int {
	at := math.Log(min(max(ratio, lowest), highest)/lowest) / math.Log(highest/lowest)
	return labelWidth + int(math.Round(at*plotWidth))
}
