package document

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// Decoder sets Go values to what nodes say, and adds what is wrong with them to
// its Diagnostics. A [*Node] in a Go value is set to the node as it is, to be
// decoded once its type is known.
//
// What a node must be depends on the Go type:
//
//	string          a text
//	one of Words    a text that is one of its words, or a switch where that is a word
//	bool            true or false, in any letter case
//	int, int64 ...  a whole number that fits, also as 0x1f, 0o17 or 1_000
//	float64 ...     a number, but no infinity and no NaN
//	time.Duration   a text such as 1m30s
//	slice, map      a list, a mapping; the keys of a map are strings
//	struct          a mapping with keys as its JSON tags say
//
// Where a text has a variable of the environment in it, that text can be a switch or a number,
// too, as a variable has no type.
type Decoder struct {
	*Diagnostics
	// Words are the types of strings that have a fixed set of values.
	Words Words
}

// Words are the values of types of strings.
type Words map[reflect.Type][]string

// Decode sets v, which can be set, to what n says. what names it in diagnostics. After an
// error v is as it was, or set in part, and the caller must not use it. A broken node sets
// nothing and adds nothing.
func (d Decoder) Decode(what string, n *Node, v reflect.Value) {
	switch {
	case n.Kind == Broken:
		return
	case v.Type() == reflect.TypeFor[*Node]():
		v.Set(reflect.ValueOf(n))
		return
	case v.Type() == reflect.TypeFor[time.Duration]():
		d.duration(what, n, v)
		return
	case d.Words[v.Type()] != nil:
		d.word(what, n, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.Decode(what, n, v.Elem())
	case reflect.Struct:
		d.DecodeStruct(what, n, v, "")
	case reflect.Map:
		d.mapping(what, n, v)
	case reflect.Slice:
		d.list(what, n, v)
	default:
		d.scalar(what, n, v)
	}
}

// Wrong adds that n is not what is wanted. wanted is a noun, such as "a text". The values of
// variables are not shown, as they may be secrets.
func (d Decoder) Wrong(what string, n *Node, wanted string) {
	remedy := ""
	switch {
	case n.Kind == Null && n.needed:
		remedy = ": give it a value"
	case n.Kind == Null:
		remedy = ": give it a value, or remove it"
	case wanted == AText && n.Kind >= Bool && n.Kind <= Float:
		remedy = fmt.Sprintf(": write it in quotes, %q", n.Raw)
	case n.Kind == Text && slices.ContainsFunc(n.Used, func(v Variable) bool { return v.Value != "" }):
		remedy = " with what the environment says"
	}
	d.Add(n.At, "%s must be %s, and is %s%s", what, wanted, n.shown(), remedy)
}

// shown describes n for an error, without what came from the environment.
func (n *Node) shown() string {
	switch n.Kind {
	case Null:
		return "empty"
	case Text:
		return "the text " + strconv.Quote(Short(n.Raw))
	case Bool:
		return "the switch " + n.Raw
	case Int, Float:
		return "the number " + Short(n.Raw)
	case List:
		return "a list"
	}
	return "a mapping"
}

// What scalars must be.
const (
	AText     = "a text"
	aSwitch   = "true or false"
	aNumber   = "a number"
	anInteger = "a whole number"
	aDuration = `a time such as "10s" or "1m30s"`
)

// scalar sets v to a text, a switch or a number.
func (d Decoder) scalar(what string, n *Node, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if n.Kind != Text {
			d.Wrong(what, n, AText)
			return
		}
		v.SetString(n.Text)
	case reflect.Bool:
		d.boolean(what, n, v)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.integer(what, n, v)
	case reflect.Float32, reflect.Float64:
		d.float(what, n, v)
	default:
		d.Add(n.At, "%s cannot be set in a file", what)
	}
}

// is reports whether n is of kind, or is a text in which a variable stood, and
// so may be any scalar.
func (n *Node) is(kind Kind) bool {
	return n.Kind == kind || n.Kind == Text && strings.Contains(n.Raw, "${")
}

func (d Decoder) boolean(what string, n *Node, v reflect.Value) {
	text := strings.ToLower(n.Text)
	if !n.is(Bool) || text != "true" && text != "false" {
		d.Wrong(what, n, aSwitch)
		return
	}
	v.SetBool(text == "true")
}

// IsInteger reports whether n can be decoded into an int64.
func (n *Node) IsInteger() bool {
	_, err := parseInteger(n.Text)
	return n.is(Int) && err == nil
}

// parseInteger returns the integer that text is in YAML 1.2, where 010 is ten and 0o10 eight.
func parseInteger(text string) (int64, error) {
	if number, err := strconv.ParseInt(text, 10, 64); err == nil {
		return number, nil
	}
	return strconv.ParseInt(text, 0, 64)
}

func (d Decoder) integer(what string, n *Node, v reflect.Value) {
	number, err := parseInteger(n.Text)
	if !n.is(Int) || err != nil || v.OverflowInt(number) {
		d.Wrong(what, n, anInteger)
		return
	}
	v.SetInt(number)
}

func (d Decoder) float(what string, n *Node, v reflect.Value) {
	number, err := strconv.ParseFloat(n.Text, 64)
	if !n.is(Float) && !n.is(Int) || err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
		d.Wrong(what, n, aNumber)
		return
	}
	v.SetFloat(number)
}

func (d Decoder) duration(what string, n *Node, v reflect.Value) {
	duration, err := time.ParseDuration(n.Text)
	unit := strings.TrimLeft(n.Text, "0123456789")
	switch {
	case n.Kind == Text && err != nil && unit != n.Text && slices.Contains([]string{"h", "m", "s", "ms"}, unit): // of a number that is too large
		d.Add(n.At, "%s is too long: the most is %dh", what, int64(math.MaxInt64/time.Hour))
		return
	case n.Kind != Text || err != nil:
		d.Wrong(what, n, aDuration)
		return
	}
	v.SetInt(int64(duration))
}

// word sets v to a word. A word such as "off" is text, but "true" is a switch, in any letter case,
// and "true" in quotes is not.
func (d Decoder) word(what string, n *Node, v reflect.Value) {
	words, text := d.Words[v.Type()], n.Text
	lower := strings.ToLower(text)
	isSwitch := lower == "true" || lower == "false"
	if isSwitch {
		text = lower
	}
	if !slices.Contains(words, text) || isSwitch && !n.is(Bool) || !isSwitch && n.Kind != Text {
		last := len(words) - 1
		wanted := strings.Join(words[:last], ", ") + " or " + words[last]
		near := wording.DidYouMean(n.Raw, words)
		if slices.Contains(words, text) {
			near = "remove the quotes"
		}
		if n.Kind != Text || len(n.Used) > 0 || near == "" {
			d.Wrong(what, n, wanted)
			return
		}
		d.Add(n.At, "%s must be %s, and is %s: %s", what, wanted, n.shown(), near)
		return
	}
	v.SetString(text)
}

func (d Decoder) list(what string, n *Node, v reflect.Value) {
	if n.Kind != List {
		d.Wrong(what, n, "a list such as [a, b]")
		return
	}
	items := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		d.Decode("item "+strconv.Itoa(i+1)+" of "+what, item, items.Index(i))
	}
	v.Set(items)
}

// mapping sets v to a new map: what it had is not kept. Keys are as the file spells them.
func (d Decoder) mapping(what string, n *Node, v reflect.Value) {
	if n.Kind != Map || v.Type().Key().Kind() != reflect.String {
		d.Wrong(what, n, "a mapping such as {a: b}")
		return
	}
	entries := reflect.MakeMapWithSize(v.Type(), len(n.Entries))
	for _, e := range n.Entries {
		value := reflect.New(v.Type().Elem()).Elem()
		d.Decode(e.Key, e.Value, value)
		entries.SetMapIndex(reflect.ValueOf(e.Key).Convert(v.Type().Key()), value)
	}
	v.Set(entries)
}

// field is a field of a struct that a file can set.
type field struct {
	key      string // in the file
	index    int    // of the field in the struct
	required bool
}

// fieldsOf returns the fields of a struct type, by their JSON tags, as the JSON Schema of the
// type has them: what is not "omitempty" or "omitzero" is required. Fields that are not
// exported, or have the tag "-", are not for files.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		optional := strings.Contains(flags, "omitempty") || strings.Contains(flags, "omitzero")
		fields = append(fields, field{key: name, index: i, required: !optional})
	}
	return fields
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// DecodeStruct sets the fields of the struct v to what n says. The key besides, if it is not
// empty, is somebody else's. An unknown key is wrong, and so is a missing one that is
// required, unless an unknown one is likely to be meant for it: one mistake is reported once.
func (d Decoder) DecodeStruct(what string, n *Node, v reflect.Value, besides string) {
	if n.Kind != Map {
		d.Wrong(what, n, "a mapping such as {a: b}")
		return
	}
	fields := fieldsOf(v.Type())
	meant := map[string]bool{} // by keys that are spelled wrongly
	for _, e := range n.Entries {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == e.Key })
		switch {
		case i >= 0 && fields[i].required:
			d.Decode(e.Key, e.Value.Needed(), v.Field(fields[i].index))
		case i >= 0:
			d.Decode(e.Key, e.Value, v.Field(fields[i].index))
		case e.Key != besides:
			meant[wording.Closest(e.Key, keysOf(fields))] = true
			d.Add(e.At, "%s has no key %q: %s", what, Short(e.Key), wording.Suggest(e.Key, keysOf(fields)))
		}
	}
	for _, f := range fields {
		if f.required && n.Lookup(f.key) == nil && !meant[f.key] {
			d.Add(n.At, "%s needs the key %q", what, f.key)
		}
	}
}

// CheckType returns the error of a struct type that no mapping in a file can be
// decoded into, or that has the key reserved. A schema would have the same error,
// and takes much longer: programs register kinds each time they start.
func CheckType(t reflect.Type, reserved string) error {
	if slices.Contains(keysOf(fieldsOf(t)), reserved) {
		return fmt.Errorf("its Options have a key %q, which names the kind", reserved)
	}
	return checkType(t, nil)
}

// checkType is CheckType for a type that is a part of the types inside. A type that contains
// itself could be nested without end, and is refused.
func checkType(t reflect.Type, inside []reflect.Type) error {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		return nil
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return checkType(t.Elem(), inside)
		}
	case reflect.Slice, reflect.Pointer:
		return checkType(t.Elem(), inside)
	case reflect.Struct:
		if slices.Contains(inside, t) {
			break
		}
		for _, f := range fieldsOf(t) {
			if err := checkType(t.Field(f.index).Type, append(inside, t)); err != nil {
				return fmt.Errorf("%s: %w", f.key, err)
			}
		}
		return nil
	}
	return fmt.Errorf("its Options have the type %s, which no value in a file can have", t)
}
