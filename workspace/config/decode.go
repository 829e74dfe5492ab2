package config

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// decoder sets Go values to what nodes say, and adds what is wrong with them.
type decoder struct{ *problems }

// later is a node that is decoded once it is known what it is to be.
type later struct{ *node }

// decode sets v to what n says. what names it in problems.
func (d decoder) decode(what string, n *node, v reflect.Value) {
	switch {
	case n.kind == brokenNode:
		return
	case v.Type() == reflect.TypeFor[later]():
		v.Set(reflect.ValueOf(later{n}))
		return
	case v.Type() == reflect.TypeFor[time.Duration]():
		d.duration(what, n, v)
		return
	case v.Type() == reflect.TypeFor[Sharing]():
		d.sharing(what, n, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(what, n, v.Elem())
	case reflect.Struct:
		d.structure(what, n, v, "")
	case reflect.Map:
		d.mapping(what, n, v)
	case reflect.Slice:
		d.list(what, n, v)
	default:
		d.scalar(what, n, v)
	}
}

// wrong adds that n is not what it is to be.
func (d decoder) wrong(what string, n *node, wanted string) {
	remedy := ""
	switch {
	case n.kind == nullNode:
		remedy = ": give it a value, or remove it"
	case wanted == aText && n.kind >= boolNode && n.kind <= floatNode:
		remedy = fmt.Sprintf(": write it in quotes, %q", n.raw)
	case n.kind == textNode && len(n.used) > 0:
		remedy = " with what the environment says"
	}
	d.add(n.at, "%s is to be %s, and is %s%s", what, wanted, n.shown(), remedy)
}

// What scalars are to be.
const (
	aText     = "a text"
	aSwitch   = "true or false"
	aNumber   = "a number"
	anInteger = "a whole number"
	aDuration = `a time such as "10s" or "1m30s"`
)

func (d decoder) scalar(what string, n *node, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if n.kind != textNode {
			d.wrong(what, n, aText)
			return
		}
		v.SetString(n.text)
	case reflect.Bool:
		d.boolean(what, n, v)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.integer(what, n, v)
	case reflect.Float32, reflect.Float64:
		d.float(what, n, v)
	default:
		d.add(n.at, "%s cannot be set in a file", what)
	}
}

// is reports whether n is of kind, or is a text in which a variable stood, and
// so may be any scalar.
func (n *node) is(kind nodeKind) bool {
	return n.kind == kind || n.kind == textNode && strings.Contains(n.raw, "${")
}

func (d decoder) boolean(what string, n *node, v reflect.Value) {
	switch text := strings.ToLower(n.text); {
	case n.is(boolNode) && (text == "true" || text == "false"):
		v.SetBool(text == "true")
	default:
		d.wrong(what, n, aSwitch)
	}
}

// integer reports whether n can be decoded into an int64.
func (n *node) integer() bool {
	_, err := strconv.ParseInt(n.text, 0, 64)
	return n.is(intNode) && err == nil
}

func (d decoder) integer(what string, n *node, v reflect.Value) {
	number, err := strconv.ParseInt(n.text, 0, 64)
	if !n.is(intNode) || err != nil || v.OverflowInt(number) {
		d.wrong(what, n, anInteger)
		return
	}
	v.SetInt(number)
}

func (d decoder) float(what string, n *node, v reflect.Value) {
	number, err := strconv.ParseFloat(n.text, 64)
	if !n.is(floatNode) && !n.is(intNode) || err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
		d.wrong(what, n, aNumber)
		return
	}
	v.SetFloat(number)
}

func (d decoder) duration(what string, n *node, v reflect.Value) {
	duration, err := time.ParseDuration(n.text)
	if n.kind != textNode || err != nil {
		d.wrong(what, n, aDuration)
		return
	}
	v.SetInt(int64(duration))
}

func (d decoder) sharing(what string, n *node, v reflect.Value) {
	text := strings.ToLower(n.text)
	ok := n.is(boolNode) && (text == "true" || text == "false") || n.kind == textNode && text == string(SharedAuto)
	if !ok {
		d.wrong(what, n, "true, false or auto")
		return
	}
	v.SetString(text)
}

func (d decoder) list(what string, n *node, v reflect.Value) {
	if n.kind != listNode {
		d.wrong(what, n, "a list such as [a, b]")
		return
	}
	items := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		d.decode("item "+strconv.Itoa(i+1)+" of "+what, item, items.Index(i))
	}
	v.Set(items)
}

func (d decoder) mapping(what string, n *node, v reflect.Value) {
	if n.kind != mapNode || v.Type().Key().Kind() != reflect.String {
		d.wrong(what, n, "a mapping such as {a: b}")
		return
	}
	entries := reflect.MakeMapWithSize(v.Type(), len(n.entries))
	for _, e := range n.entries {
		value := reflect.New(v.Type().Elem()).Elem()
		d.decode(e.key, e.value, value)
		entries.SetMapIndex(reflect.ValueOf(e.key).Convert(v.Type().Key()), value)
	}
	v.Set(entries)
}
