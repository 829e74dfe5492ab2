package config

import (
	"slices"
	"strconv"
)

// nodeKind is what a node is.
type nodeKind int

const (
	brokenNode nodeKind = iota // something was wrong with it, and has been said
	nullNode
	textNode
	boolNode
	intNode
	floatNode
	listNode
	mapNode
)

// node is a value of a file.
type node struct {
	kind    nodeKind
	at      position
	text    string     // of a scalar, with variables replaced
	raw     string     // of a scalar, as the file spells it
	used    []variable // whose values are in text
	items   []*node    // of a listNode
	entries []entry    // of a mapNode, without those of a key that was there before
}

// entry is a key of a mapNode and its value.
type entry struct {
	key   string
	at    position
	value *node
}

// lookup returns the value of key, nil if there is none.
func (n *node) lookup(key string) *node {
	for _, e := range n.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// shown describes n for an error, without what came from the environment.
func (n *node) shown() string {
	switch n.kind {
	case nullNode:
		return "empty"
	case textNode:
		return "the text " + strconv.Quote(short(n.raw))
	case boolNode:
		return "the switch " + n.raw
	case intNode, floatNode:
		return "the number " + short(n.raw)
	case listNode:
		return "a list"
	}
	return "a mapping"
}

// maxValue is how many characters of a value an error shows.
const maxValue = 60

func short(text string) string {
	if runes := []rune(text); len(runes) > maxValue {
		return string(runes[:maxValue]) + "..."
	}
	return text
}

// variables returns what n and all in it used of the environment.
func (n *node) variables() []variable {
	used := n.used
	for _, item := range n.items {
		used = append(used, item.variables()...)
	}
	for _, e := range n.entries {
		used = append(used, e.value.variables()...)
	}
	return used
}

// hasBroken reports whether something was wrong with n or anything in it.
func (n *node) hasBroken() bool {
	return n.kind == brokenNode ||
		slices.ContainsFunc(n.items, (*node).hasBroken) ||
		slices.ContainsFunc(n.entries, func(e entry) bool { return e.value.hasBroken() })
}
