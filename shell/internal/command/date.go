package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// date prints a time, as POSIX says, with the formats and descriptions of GNU's date.
// It is the time of the shell ([Process.Now]), and nobody sets it. TZ is UTC or an
// offset such as EST5: names of zones need a database of the machine, and are refused.
//
//	date -u +%F                       2026-11-23
//	date -d '2026-01-31 + 1 month'    Tue Mar  3: there is no February 31
//	date -d 'last friday' +%A         Friday
//	date -d @0 -u +%FT%TZ             1970-01-01T00:00:00Z
//
// parseDate reads what -d describes, and find -newermt uses it as well. formatTime prints
// for all programs that show times: ls, stat, diff, find -printf and printf %(...)T.
func date(ctx context.Context, p *Process) int {
	f := newFlags(p, "[OPTION]... [+FORMAT]")
	text := f.StringP("date", "d", "", "print the time that STRING describes, not now")
	f.StringP("file", "f", "", "not supported: use -d for each line")
	iso := f.StringP("iso-8601", "I", "", "ISO 8601 format: date, hours, minutes, seconds or ns")
	f.Lookup("iso-8601").NoOptDefVal = "date"
	reference := f.StringP("reference", "r", "", "print the last modification time of FILE")
	mail := f.BoolP("rfc-email", "R", false, "the format of mails: Mon, 14 Aug 2006 02:34:56 -0600")
	rfc := f.String("rfc-3339", "", "RFC 3339 format: date, seconds or ns")
	f.StringP("set", "s", "", "not supported: nobody sets the clock here")
	utc := f.BoolP("utc", "u", false, "print Coordinated Universal Time (UTC)")
	f.BoolVar(utc, "universal", false, "the same as -u")
	operands, status, ok := f.parse()
	if !ok {
		return status
	}
	switch {
	case f.Changed("file"):
		return p.errorf("-f is not supported: use -d for each line")
	case f.Changed("set"):
		return p.errorf("cannot set date: Operation not permitted")
	case f.Changed("date") && f.Changed("reference"):
		return f.wrong("the options to specify dates for printing are mutually exclusive")
	case len(operands) > 1:
		return f.wrong("extra operand %s", quoteName(operands[1]))
	}
	zone, err := parseZone(p.Env("TZ"))
	if *utc {
		zone, err = time.UTC, nil
	}
	if err != nil {
		return p.errorf("%v", err)
	}
	formats := 0
	format := "%a %b %e %H:%M:%S %Z %Y"
	for _, choice := range []struct {
		chosen bool
		format string
	}{
		{f.Changed("iso-8601"), isoFormat(*iso)},
		{*mail, "%a, %d %b %Y %H:%M:%S %z"},
		// GNU's date has a blank for the T of ISO 8601 here, and a point before the
		// fraction.
		{f.Changed("rfc-3339"), strings.Replace(strings.Replace(isoFormat(*rfc), "T", " ", 1), ",%N", ".%N", 1)},
		{len(operands) > 0 && strings.HasPrefix(operands[0], "+"), strings.TrimPrefix(strings.Join(operands, ""), "+")},
	} {
		if choice.chosen {
			format = choice.format
			formats++
		}
	}
	switch {
	case formats > 1:
		return p.errorf("multiple output formats specified")
	case f.Changed("iso-8601") && isoFormat(*iso) == "":
		return f.wrong("invalid argument %s for '--iso-8601'", quoteName(*iso))
	case f.Changed("rfc-3339") && (isoFormat(*rfc) == "" || (*rfc)[0] == 'h' || (*rfc)[0] == 'm'):
		return f.wrong("invalid argument %s for '--rfc-3339'", quoteName(*rfc))
	case len(operands) > 0 && !strings.HasPrefix(operands[0], "+"):
		if f.Changed("date") {
			return f.wrong("the argument %s lacks a leading '+';\nwhen using an option to specify date(s), any non-option\nargument must be a format string beginning with '+'", quoteName(operands[0]))
		}
		return p.errorf("invalid date %s", quoteName(operands[0]))
	}
	t := p.Now().In(zone)
	switch {
	case f.Changed("date"):
		if t, err = parseDate(*text, t); err != nil {
			return p.errorf("invalid date %s", quoteName(*text))
		}
	case f.Changed("reference"):
		info, err := p.Stat(ctx, *reference)
		if err != nil {
			return p.fail(*reference, err)
		}
		t = info.ModTime.In(zone)
	}
	out := bufio.NewWriter(p.Stdout)
	out.WriteString(formatTime(t, format))
	out.WriteByte('\n')
	return p.finish(out, 0)
}

// isoFormats are the formats of -I, by its argument, which is "date" if it has none.
var isoFormats = map[string]string{
	"date": "%Y-%m-%d", "hours": "%Y-%m-%dT%H%:z", "minutes": "%Y-%m-%dT%H:%M%:z",
	"seconds": "%Y-%m-%dT%H:%M:%S%:z", "ns": "%Y-%m-%dT%H:%M:%S,%N%:z",
}

// isoFormat returns the format for an argument of -I, which may be abbreviated, "" for another
// argument. No two begin with the same letter.
func isoFormat(arg string) string {
	for name, format := range isoFormats {
		if arg != "" && strings.HasPrefix(name, arg) {
			return format
		}
	}
	return ""
}

// zoneOffset is a time zone of POSIX without daylight saving, such as "CET-1" or
// "<+0530>-5:30". Its sign says how to get to UTC from there: "-1" is one hour east.
//
// A name in angle brackets may have digits and signs:
//
//	EST5            5 hours west: -0500
//	CET-1           1 hour east: +0100
//	<+0530>-5:30    +0530
var zoneOffset = lazyregexp.New(`^:?(?:([A-Za-z]{3,})|<([A-Za-z0-9+-]{3,})>)([+-]?)(\d{1,2})(?::(\d{2}))?$`)

// parseZone reads the value of TZ: none, UTC, or a name and an offset in POSIX's
// form, in which the west is positive.
//
// A name such as Europe/Paris is an error rather than UTC, as the times would be wrong
// without a word. So is a zone with daylight saving time, such as EST5EDT. Hours above 24 are
// 24, and minutes above 59 are 59, as in the GNU C library. Callers that cannot fail use [Process.location], which has UTC then.
func parseZone(tz string) (*time.Location, error) {
	switch strings.TrimPrefix(tz, ":") {
	case "", "UTC", "UTC0", "GMT", "Etc/UTC", "Etc/GMT", "Zulu", "Universal":
		return time.UTC, nil
	}
	m := zoneOffset().FindStringSubmatch(tz)
	if m == nil {
		return nil, fmt.Errorf("TZ=%s: time zones by name are not available; use UTC or an offset such as EST5", tz)
	}
	offset := min(atoi(m[4]), 24)*3600 + min(atoi(m[5]), 59)*60
	if m[3] != "-" {
		offset = -offset
	}
	return time.FixedZone(m[1]+m[2], offset), nil
}

// formatTime formats a time as C's strftime does in the C locale, with the
// extensions of GNU's date.
//
// It cannot fail: a directive that strftime does not know, and a "%" at the end, are
// printed as they are. The zone is that of t. A width of more than maxField counts as
// maxField, so that %999999999d takes no gigabyte.
func formatTime(t time.Time, format string) string {
	var b strings.Builder
	for format != "" {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			b.WriteString(format)
			break
		}
		b.WriteString(format[:at])
		m := timeDirective().FindStringSubmatch(format[at:])
		if m == nil {
			b.WriteString(format[at : at+1])
			format = format[at+1:]
			continue
		}
		text, ok := timeField(t, m[1], min(atoi(m[2]), maxField), m[2] != "", m[3]+m[4])
		if !ok {
			text = m[0]
		}
		b.WriteString(text)
		format = format[at+len(m[0]):]
	}
	return b.String()
}

// timeDirective is one directive of a format: flags, a width, a modifier that has no
// meaning here, and a letter, or colons before z.
var timeDirective = lazyregexp.New(`^%([-_0+^#]*)(\d*)(?:[EO]?([a-zA-Z])|(:{1,3}z|%))`)

// timeComposites are directives that are formats themselves.
var timeComposites = map[string]string{
	"c": "%a %b %e %H:%M:%S %Y", "D": "%m/%d/%y", "F": "%Y-%m-%d", "r": "%I:%M:%S %p", "R": "%H:%M",
	"T": "%H:%M:%S", "x": "%m/%d/%y", "X": "%H:%M:%S", "h": "%b",
}

// timeField formats one directive: % [flags] [width] letter. "-" is without padding,
// "_" pads with blanks, "0" with zeros, "^" makes upper case, "#" the other case. %-d
// is 5, %_d " 5", and %03d "005".
//
// sized says that a width was given, which replaces the usual one. It returns false for a
// letter that is not known. Of several flags for padding the last one counts. "#" makes AM
// and the zone lower case, and everything else upper case.
func timeField(t time.Time, flags string, width int, sized bool, verb string) (string, bool) {
	year, week := t.ISOWeek()
	hour12 := (t.Hour()+11)%12 + 1
	// number pads n to digits with pad, unless the flags say otherwise.
	number := func(n, digits int, pad byte) (string, bool) {
		for _, flag := range []byte(flags) {
			switch flag {
			case '_':
				pad = ' '
			case '0', '+':
				pad = '0'
			case '-':
				pad = '-'
			}
		}
		if sized {
			digits = width
		}
		s := strconv.Itoa(n)
		if pad == '-' {
			return s, true
		}
		return strings.Repeat(string(pad), max(0, digits-len(s))) + s, true
	}
	// text pads with blanks, and only if a width was given.
	text := func(s string) (string, bool) {
		if strings.Contains(flags, "^") {
			s = strings.ToUpper(s)
		}
		if strings.Contains(flags, "#") {
			if s = strings.ToUpper(s); verb == "p" || verb == "Z" {
				s = strings.ToLower(s)
			}
		}
		pad := " "
		if strings.Contains(flags, "0") {
			pad = "0"
		}
		return strings.Repeat(pad, max(0, width-len(s))) + s, true
	}
	if composite, ok := timeComposites[verb]; ok {
		return text(formatTime(t, composite))
	}
	switch verb {
	case "%":
		return text("%")
	case "n":
		return text("\n")
	case "t":
		return text("\t")
	case "a":
		return text(t.Format("Mon"))
	case "A":
		return text(t.Format("Monday"))
	case "b":
		return text(t.Format("Jan"))
	case "B":
		return text(t.Format("January"))
	case "p":
		return text(t.Format("PM"))
	case "P":
		return text(t.Format("pm"))
	case "Z":
		return text(t.Format("MST"))
	case "C":
		return number(t.Year()/100, 2, '0')
	case "d":
		return number(t.Day(), 2, '0')
	case "e":
		return number(t.Day(), 2, ' ')
	case "g":
		return number(year%100, 2, '0')
	case "G":
		return number(year, 4, '0')
	case "H":
		return number(t.Hour(), 2, '0')
	case "I":
		return number(hour12, 2, '0')
	case "j":
		return number(t.YearDay(), 3, '0')
	case "k":
		return number(t.Hour(), 2, ' ')
	case "l":
		return number(hour12, 2, ' ')
	case "m":
		return number(int(t.Month()), 2, '0')
	case "M":
		return number(t.Minute(), 2, '0')
	// A width cuts the nine digits of nanoseconds: %3N is milliseconds.
	case "N":
		digits := 9
		if sized && width < 9 {
			digits = width
		}
		s := fmt.Sprintf("%09d", t.Nanosecond())
		if sized && width > 9 {
			s += strings.Repeat("0", width-9)
		}
		if sized && width > 9 {
			return s, true
		}
		return s[:digits], true
	case "q":
		return number((int(t.Month())+2)/3, 1, '0')
	case "s":
		return number(int(t.Unix()), 1, '0')
	case "S":
		return number(t.Second(), 2, '0')
	case "u":
		return number((int(t.Weekday())+6)%7+1, 1, '0')
	// Weeks begin on Sunday. The days before the first Sunday are in week 0.
	case "U":
		return number((t.YearDay()+6-int(t.Weekday()))/7, 2, '0')
	// The week is that of ISO 8601, whose year is %G: January 1 may be in week 53 of the
	// year before.
	case "V":
		return number(week, 2, '0')
	case "w":
		return number(int(t.Weekday()), 1, '0')
	// It is %U with weeks that begin on Monday.
	case "W":
		return number((t.YearDay()+6-(int(t.Weekday())+6)%7)/7, 2, '0')
	case "y":
		return number(t.Year()%100, 2, '0')
	case "Y":
		return number(t.Year(), 4, '0')
	case "z", ":z", "::z", ":::z":
		return zoneText(t, len(verb)-1), true
	}
	return "", false
}

// zoneText is %z: +0100, with one colon +01:00, with two +01:00:00, and with three as
// short as possible.
//
// For half an hour more than five: +0530, +05:30, +05:30:00 and +05:30. For one whole hour
// the last is +01.
func zoneText(t time.Time, colons int) string {
	_, offset := t.Zone()
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	h, m, s := offset/3600, offset/60%60, offset%60
	switch {
	case colons == 0:
		return fmt.Sprintf("%c%02d%02d", sign, h, m)
	case colons == 2 || colons == 3 && s != 0:
		return fmt.Sprintf("%c%02d:%02d:%02d", sign, h, m, s)
	case colons == 3 && m == 0:
		return fmt.Sprintf("%c%02d", sign, h)
	}
	return fmt.Sprintf("%c%02d:%02d", sign, h, m)
}

// errDate says that a description of a date is none, or gives the same thing twice.
var errDate = errors.New("invalid date")

// dateParser collects what the words of a date say, as GNU's date does: an absolute
// date and time, a zone, a day of the week, and amounts to add, in any order. Each may
// occur once, but for amounts, which add up. "2026-01-31 10:00 1 month" has a date, a
// time and an amount. Only result puts them together, as a month more depends on the
// date, and a date on the zone: February 31 is March 3, so the result is March 3, 10:00.
type dateParser struct {
	now                                time.Time // what relative times are relative to
	rest                               string    // what is left to read, in lower case
	year, month, day                   int
	hour, minute, second, nano         int
	hasDate, hasYear, hasTime, hasZone bool           // which parts have been given: none may be given twice
	hasDay, relative                   bool           // a weekday was given; a relative time was given
	zone                               *time.Location // in which the date is meant
	weekday, ordinal                   int            // 0 is Sunday; how many weeks later, -1 for "last"
	years, months, days                int            // to add to the date
	seconds                            int64          // to add to the result
}

// monthNames matches the name of a month in lower case, whole or as its first three
// letters. September has four in a usual abbreviation.
const monthNames = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`

// dateRules are the forms that a date consists of, tried in this order: the expression
// of each for the beginning of what is left, and the function that takes its groups.
//
// Each rule takes at least one byte, so that parseDate ends. The longer form must come
// first: "10:30" is a time and not the number 10, and "10 may" is a date. Words are in
// lower case, as parseDate has made them so.
var dateRules = []struct {
	form string
	read func(d *dateParser, m []string) error
}{
	// In 2026-01-31T10:00 of ISO 8601, the T is read with the digit after it, which is
	// given back for the rule of the time.
	{`(\d+)-(\d{1,2})-(\d{1,2})(?:t(\d))?`, func(d *dateParser, m []string) error {
		if m[4] != "" {
			d.rest = m[4] + d.rest
		}
		return d.date(m[1], m[2], m[3])
	}},
	{`(\d{4,})/(\d{1,2})/(\d{1,2})`, func(d *dateParser, m []string) error { return d.date(m[1], m[2], m[3]) }},
	// The month comes first, as in the United States.
	{`(\d{1,2})/(\d{1,2})(?:/(\d+))?`, func(d *dateParser, m []string) error { return d.date(m[3], m[1], m[2]) }},
	{`(\d{1,2})[ -]*(` + monthNames + `)\b\.?(?:[ ,-]*(\d{4})\b)?`, func(d *dateParser, m []string) error {
		return d.date(m[3], monthNumber(m[2]), m[1])
	}},
	{`(` + monthNames + `)\b\.?[ -]*(\d{1,2})\b(?:[ ,-]+(\d{4})\b)?`, func(d *dateParser, m []string) error {
		if strings.HasPrefix(d.rest, ":") { // "may 10:30"
			return errDate
		}
		return d.date(m[3], monthNumber(m[1]), m[2])
	}},
	// A sign and digits after a time are a zone, as in GNU's date: "10:00 +1 day" is 10:00
	// in the zone +01, and a day later. "10:00 1 day" adds a day alone.
	{`(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d+))?)?\s*([ap]\.?m\b\.?)?(?:\s*([+-])(\d{1,2})(?::?(\d{2}))?)?`, func(d *dateParser, m []string) error {
		if m[6] != "" {
			if err := d.offset(m[6], m[7], m[8]); err != nil {
				return err
			}
		}
		return d.time(m[1], m[2], m[3], m[4], m[5])
	}},
	{`(\d{1,2})\s*([ap]\.?m\b\.?)`, func(d *dateParser, m []string) error { return d.time(m[1], "0", "0", "", m[2]) }},
	// There is no ordinal "second": that word is the unit. A unit alone counts once.
	{`([+-]*\s*\d+|next|last|this|first|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth)?\s*(year|month|fortnight|week|day|hour|min|minute|sec|second)s?\b(\s+ago\b)?`,
		func(d *dateParser, m []string) error { return d.relativeTo(m[1], m[2], m[3] != "") }},
	{`([+-]?\s*\d+|next|last|this|first|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth)?\s*(sun|mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur)(?:day)?\b\.?`,
		func(d *dateParser, m []string) error {
			n, err := ordinal(m[1], 0)
			if err != nil || d.hasDay {
				return errDate
			}
			d.hasDay, d.ordinal = true, n
			d.weekday = strings.Index("sunmontuewedthufrisat", m[2][:3]) / 3
			return nil
		}},
	{`(now|today|yesterday|tomorrow)\b`, func(d *dateParser, m []string) error {
		d.relative = true
		d.days += map[string]int{"yesterday": -1, "tomorrow": 1}[m[1]]
		return nil
	}},
	// A zone with an offset, "utc+3", must be UTC itself: est+3 would be two offsets.
	{`(z|utc|gmt|ut|est|edt|cst|cdt|mst|mdt|pst|pdt|cet|cest|eet|eest|bst|wet|west)\b(?:([+-])(\d{1,2})(?::?(\d{2}))?)?`, func(d *dateParser, m []string) error {
		if m[2] != "" {
			if zoneHours[m[1]] != 0 {
				return errDate
			}
			return d.offset(m[2], m[3], m[4])
		}
		if d.hasZone {
			return errDate
		}
		d.hasZone, d.zone = true, time.FixedZone("", zoneHours[m[1]]*3600)
		return nil
	}},
	{`(\d+)`, func(d *dateParser, m []string) error { return d.number(m[1]) }},
}

// dateForms are the expressions of dateRules, compiled when a date is first read.
var dateForms = sync.OnceValue(func() []*regexp.Regexp {
	forms := make([]*regexp.Regexp, len(dateRules))
	for i, rule := range dateRules {
		forms[i] = regexp.MustCompile(`^(?:` + rule.form + `)`)
	}
	return forms
})

// zoneHours are the hours east of UTC of the time zones with a name. Those that are not
// here, such as utc and z, are UTC itself.
var zoneHours = map[string]int{"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
	"cet": 1, "cest": 2, "eet": 2, "eest": 3, "bst": 1, "west": 1}

// parseDate reads a description of a time, as date -d does. now has the time zone. "@N"
// is a time in seconds since 1970, and stands alone.
//
// "" is midnight of today, as in GNU's date. The time that it returns with an error means
// nothing. A description such as TZ="EST5" 10:00 is read in that zone, and the result is in
// the zone of now.
func parseDate(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if m := epochForm().FindStringSubmatch(s); m != nil {
		seconds, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return now, errDate
		}
		// The fraction has the sign of the seconds: @-1.5 is a second and a half before
		// 1970.
		nano := int64(atoi((m[2] + "000000000")[:9]))
		if strings.HasPrefix(m[1], "-") {
			nano = -nano
		}
		return time.Unix(seconds, nano).In(now.Location()), nil
	}
	d := &dateParser{now: now, zone: now.Location()}
	if m := zonePrefix().FindStringSubmatch(s); m != nil {
		zone, err := parseZone(m[1])
		if err != nil {
			return now, err
		}
		d.zone, s = zone, s[len(m[0]):]
	}
	d.rest = strings.ToLower(s)
	for {
		d.rest = strings.TrimLeft(d.rest, " \t\n,")
		if d.rest == "" {
			return d.result()
		}
		if err := d.next(); err != nil {
			return now, err
		}
	}
}

// The forms that stand before all others: "@" and seconds since 1970 as the whole
// description, and a time zone to read the rest in.
var (
	epochForm  = lazyregexp.New(`^@([+-]?\d+)(?:[.,](\d+))?$`)
	zonePrefix = lazyregexp.New(`^TZ="([^"]*)"\s*`)
)

// next reads the first form that matches. One that matches and is wrong ends the
// description: the order of the forms decides, not their success.
func (d *dateParser) next() error {
	rest := d.rest
	for i, form := range dateForms() {
		m := form.FindStringSubmatch(rest)
		if m == nil {
			continue
		}
		d.rest = rest[len(m[0]):]
		if dateRules[i].read(d, m) == nil {
			return nil
		}
		break
	}
	return errDate
}

// monthNumber returns the number of a month as digits, from its first three letters.
func monthNumber(name string) string {
	return strconv.Itoa(strings.Index(months, strings.ToUpper(name[:3]))/3 + 1)
}

// date takes a date. Without a year it is in the current one.
//
// Parts that are out of range are found by result, when it has the time.
func (d *dateParser) date(year, month, day string) error {
	if d.hasDate {
		return errDate
	}
	d.hasDate = true
	d.year, d.month, d.day = d.now.In(d.zone).Year(), atoi(month), atoi(day)
	if year != "" {
		d.hasYear = true
		d.setYear(year)
	}
	return nil
}

// setYear reads a year. With two digits, 69 to 99 are of the 20th century, 0 to 68 of
// the 21st (POSIX, strptime).
//
// 68 is 2068, 69 is 1969, and 0068 is the year 68.
func (d *dateParser) setYear(digits string) {
	d.year = atoi(digits)
	if len(digits) <= 2 {
		if d.year += 1900; d.year < 1969 {
			d.year += 100
		}
	}
}

// time reads a time of day. 12am is 0:00, and 12pm noon. A leap second is an error.
func (d *dateParser) time(hour, minute, second, fraction, half string) error {
	if d.hasTime {
		return errDate
	}
	d.hasTime = true
	d.hour, d.minute, d.second = atoi(hour), atoi(minute), atoi(second)
	// Digits after the ninth are cut.
	d.nano = atoi((fraction + "000000000")[:9])
	if half != "" {
		if d.hour < 1 || d.hour > 12 {
			return errDate
		}
		d.hour %= 12
		if half[0] == 'p' {
			d.hour += 12
		}
	}
	if d.hour > 23 || d.minute > 59 || d.second > 59 {
		return errDate
	}
	return nil
}

// offset takes a time zone as its difference from UTC. GNU's date knows up to 24 hours.
func (d *dateParser) offset(sign, hours, minutes string) error {
	h, m := atoi(hours), atoi(minutes)
	if d.hasZone || h > 24 || m > 59 {
		return errDate
	}
	offset := h*3600 + m*60
	if sign == "-" {
		offset = -offset
	}
	d.hasZone, d.zone = true, time.FixedZone("", offset)
	return nil
}

// ordinal is the number that a word before a unit stands for.
//
// It returns missing for "". A number may have a sign, with blanks after it; two signs are
// an error.
func ordinal(word string, missing int) (int, error) {
	words := map[string]int{"": missing, "next": 1, "last": -1, "this": 0, "first": 1, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6,
		"seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12}
	if n, ok := words[word]; ok {
		return n, nil
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(word, " ", ""), 10, 32)
	return int(n), err
}

// relativeTo adds count units of time. Days and longer units are added to the date and
// not as hours, so they keep the time of day when the clocks change.
func (d *dateParser) relativeTo(count, unit string, ago bool) error {
	n, err := ordinal(count, 1)
	if err != nil {
		return errDate
	}
	if ago {
		n = -n
	}
	d.relative = true
	switch unit {
	case "year":
		d.years += n
	case "month":
		d.months += n
	case "fortnight":
		d.days += 14 * n
	case "week":
		d.days += 7 * n
	case "day":
		d.days += n
	case "hour":
		d.seconds += int64(n) * 3600
	case "min", "minute":
		d.seconds += int64(n) * 60
	default:
		d.seconds += int64(n)
	}
	return nil
}

// number reads digits without anything else: a year after a date, a date such as
// 20240131, or a time such as 9 or 0930.
//
// The last four digits of a date are month and day, whatever the year has:
//
//	20260131         2026-01-31
//	260131           2026-01-31
//	0930             9:30
//	9                9:00
//	jan 31 9:00 2026 the year
func (d *dateParser) number(digits string) error {
	n := len(digits)
	switch {
	case d.hasDate && !d.hasYear && !d.relative && (d.hasTime || n > 2):
		d.hasYear = true
		d.setYear(digits)
		return nil
	case n > 4:
		return d.date(digits[:n-4], digits[n-4:n-2], digits[n-2:])
	case n <= 2:
		return d.time(digits, "0", "0", "", "")
	}
	return d.time(digits[:n-2], digits[n-2:], "0", "", "")
}

// result puts everything together. A date without a time is midnight, and an amount
// alone counts from now: "tomorrow" has the time of now. A date that does not exist,
// such as February 30, is an error, and one that an amount leads to goes on into the
// next month.
//
// A day of the week counts from today, unless there is a date, which is then the answer. On
// a Monday:
//
//	monday        today         friday        in 4 days
//	next monday   in 7 days     next friday   in 4 days
//	last monday   7 days ago    last friday   3 days ago
func (d *dateParser) result() (time.Time, error) {
	now := d.now.In(d.zone)
	if !d.hasDate {
		d.year, d.month, d.day = now.Year(), int(now.Month()), now.Day()
	}
	if !d.hasTime && d.relative && !d.hasDate && !d.hasDay {
		d.hour, d.minute, d.second, d.nano = now.Hour(), now.Minute(), now.Second(), now.Nanosecond()
	}
	t := time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, d.nano, d.zone)
	if t.Day() != d.day || int(t.Month()) != d.month {
		return t, errDate
	}
	if d.hasDay && !d.hasDate {
		days := (d.weekday-int(t.Weekday())+7)%7 + 7*d.ordinal
		if d.ordinal > 0 && int(t.Weekday()) != d.weekday {
			days -= 7
		}
		t = t.AddDate(0, 0, days)
	}
	t = t.AddDate(d.years, d.months, d.days)
	// A Duration would hold 292 years only.
	return time.Unix(t.Unix()+d.seconds, int64(t.Nanosecond())).In(d.now.Location()), nil
}

// sleep waits for the sum of its arguments, as GNU's does, and ends early with ctx,
// which the time budget of the shell ends.
//
// The units are s, m, h and d, and one year is the longest. Nothing is printed when ctx
// ends; the status is 1.
func sleep(ctx context.Context, p *Process) int {
	f := newFlags(p, "NUMBER[SUFFIX]...")
	operands, status, ok := f.parse()
	if !ok {
		return status
	}
	if len(operands) == 0 {
		return f.wrong("missing operand")
	}
	sum := time.Duration(0)
	for _, operand := range operands {
		interval, ok := parseInterval(operand)
		if !ok {
			return f.wrong("invalid time interval %s", quoteName(operand))
		}
		sum = min(sum+interval, longestInterval)
	}
	timer := time.NewTimer(sum)
	defer timer.Stop()
	select {
	case <-timer.C:
		return 0
	case <-ctx.Done():
		return 1
	}
}

// longestInterval stands for all that is longer.
const longestInterval = 365 * 24 * time.Hour

// parseInterval reads a number of seconds, or of what a suffix says: s, m, h or d.
func parseInterval(s string) (time.Duration, bool) {
	n, unit, ok := parseExtended(s)
	factor, known := map[string]time.Duration{"": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[unit]
	if !ok || n.nan || n.Sign() < 0 || !known {
		return 0, false
	}
	seconds, _ := n.Float64()
	return time.Duration(min(seconds*factor.Seconds(), longestInterval.Seconds()) * float64(time.Second)), true
}
