package webdav

import (
	"encoding/xml"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/webdav"
)

// maxProperties is how many bytes the properties of all files can have.
const maxProperties = 1 << 20

// properties are those that clients invent, which have a meaning for them alone ("dead"
// in RFC 4918). They are kept in memory.
type properties struct {
	mu     sync.Mutex
	byName propertiesByName
	size   int // bytes, of all
}

// propertiesByName are the properties of files and directories.
type propertiesByName map[string]map[xml.Name]webdav.Property

// newProperties returns the properties of files, none at first.
func newProperties() *properties {
	return &properties{byName: propertiesByName{}}
}

// sizeOf returns how many bytes a property of a file takes.
func sizeOf(name string, p webdav.Property) int {
	return len(name) + len(p.XMLName.Space) + len(p.XMLName.Local) + len(p.Lang) + len(p.InnerXML)
}

// remove forgets the properties of name and of everything below it.
func (p *properties) remove(name string) { p.take(name) }

// rename gives the properties of from, and of everything below it, to the name to.
func (p *properties) rename(from, to string) {
	p.remove(to)
	for name, props := range p.take(from) {
		p.set(path.Clean("/"+to)+strings.TrimPrefix(name, path.Clean("/"+from)), props)
	}
}

// take returns the properties of name, and of everything below it, and forgets them.
func (p *properties) take(name string) propertiesByName {
	name = path.Clean("/" + name)
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := propertiesByName{}
	for known, props := range p.byName {
		if known == name || isBelow(known, name) {
			taken[known] = props
		}
	}
	for known := range taken {
		p.replace(known, nil)
	}
	return taken
}

// set gives name other properties.
func (p *properties) set(name string, props map[xml.Name]webdav.Property) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replace(name, props)
}

// replace gives name other properties. p.mu is held.
func (p *properties) replace(name string, props map[xml.Name]webdav.Property) {
	p.size += total(name, props) - total(name, p.byName[name])
	if len(props) == 0 {
		delete(p.byName, name)
	} else {
		p.byName[name] = props
	}
}

// total returns the bytes that the properties of a file take.
func total(name string, props map[xml.Name]webdav.Property) (size int) {
	for _, prop := range props {
		size += sizeOf(name, prop)
	}
	return size
}

// patch changes the properties of name, all of them or none.
func (p *properties) patch(name string, patches []webdav.Proppatch) []webdav.Propstat {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := map[xml.Name]webdav.Property{}
	maps.Copy(changed, p.byName[name])
	stat := webdav.Propstat{Status: http.StatusOK}
	for _, patch := range patches {
		for _, prop := range patch.Props {
			stat.Props = append(stat.Props, webdav.Property{XMLName: prop.XMLName})
			if patch.Remove {
				delete(changed, prop.XMLName)
			} else {
				prop.InnerXML = slices.Clone(prop.InnerXML)
				changed[prop.XMLName] = prop
			}
		}
	}
	if p.size+total(name, changed)-total(name, p.byName[name]) > maxProperties {
		stat.Status = http.StatusInsufficientStorage
	} else {
		p.replace(name, changed)
	}
	return []webdav.Propstat{stat}
}

// propertyHolder is the properties of one file.
type propertyHolder struct {
	properties *properties
	path       string
}

var _ webdav.DeadPropsHolder = propertyHolder{}

// DeadProps implements [webdav.DeadPropsHolder].
func (h propertyHolder) DeadProps() (map[xml.Name]webdav.Property, error) {
	h.properties.mu.Lock()
	defer h.properties.mu.Unlock()
	return maps.Clone(h.properties.byName[h.path]), nil
}

// Patch implements [webdav.DeadPropsHolder].
func (h propertyHolder) Patch(patches []webdav.Proppatch) ([]webdav.Propstat, error) {
	return h.properties.patch(h.path, patches), nil
}
