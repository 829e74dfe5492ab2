package config

import "slices"

// Only returns c with the workspaces of the given names alone, in the order of
// the file.
//
// # Errors
//
// A name that the file does not have.
func (c *Config) Only(names ...string) (*Config, error) {
	chosen, err := c.choose(names)
	if err != nil {
		return nil, err
	}
	part := *c
	part.descriptions = chosen
	return &part, nil
}

// ReadOnly returns c with the setting readOnly in each workspace.
func (c *Config) ReadOnly() *Config {
	tightened := *c
	tightened.descriptions = slices.Clone(c.descriptions)
	for i, d := range tightened.descriptions {
		frozen := *d
		frozen.FS.ReadOnly = true
		tightened.descriptions[i] = &frozen
	}
	return &tightened
}
