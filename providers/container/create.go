package container

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// createFlags returns the flags of the engine's client for the options.
func (o *Options) createFlags() []string {
	var args []string
	network := o.Create.Network
	if network == "" {
		network = "none"
	}
	args = append(args, "--network="+network)
	if o.User != "" {
		args = append(args, "--user="+o.User)
	}
	// Docker makes a missing one before it mounts one in memory there, which then
	// belongs to root alone. The shells go to it in any case.
	if dir := o.Create.Workdir; dir != "" && !slices.Contains(o.Create.tmpfs(), path.Clean(dir)) {
		args = append(args, "--workdir="+dir)
	}
	return append(args, o.Create.flags()...)
}

// flags returns the flags of the engine's client for the settings.
func (c *CreateOptions) flags() []string {
	flags := []string{"--pids-limit=" + strconv.Itoa(max(cmp.Or(c.PIDs, DefaultPIDs), -1))}
	for _, option := range [][2]string{
		{"--pull=", c.Pull}, {"--platform=", c.Platform},
		{"--memory=", c.memory()},
	} {
		if option[1] != "" {
			flags = append(flags, option[0]+option[1])
		}
	}
	if c.CPUs > 0 {
		flags = append(flags, "--cpus="+strconv.FormatFloat(c.CPUs, 'f', -1, 64))
	}
	dropped := c.DropCapabilities
	if dropped == nil {
		dropped = []string{"ALL"}
	}
	for _, name := range dropped {
		flags = append(flags, "--cap-drop="+name)
	}
	if !c.AllowNewPrivileges {
		flags = append(flags, "--security-opt=no-new-privileges")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		flags = append(flags, "--env="+name+"="+c.Env[name])
	}
	return append(flags, c.mountFlags()...)
}

// memory returns the limit of memory, spelled the same for the same amount: "2g" for
// "2048M". It is empty if there is none.
func (c *CreateOptions) memory() string {
	limit := cmp.Or(c.Memory, DefaultMemory)
	if limit == Unlimited {
		return ""
	}
	parts := memorySize().FindStringSubmatch(limit)
	if parts == nil {
		return limit
	}
	const units = "bkmgtp"
	number, _ := strconv.ParseFloat(parts[1], 64)
	unit := max(strings.Index(units, strings.ToLower(parts[3][:min(1, len(parts[3]))])), 0)
	// Engines set no limit for less than a byte, or for more than 64 bits hold.
	amount := int64(min(max(math.Ldexp(number, 10*unit), 1), 1<<62))
	for unit = 0; amount%1024 == 0 && unit < len(units)-1; unit++ {
		amount /= 1024
	}
	return strconv.FormatInt(amount, 10) + units[unit:unit+1]
}

// mountFlags returns those for what is mounted. In a mount that cannot be changed
// the file systems below it could be, so they are left out.
func (c *CreateOptions) mountFlags() []string {
	var flags []string
	for _, m := range c.Mounts {
		flag := "--mount=type=bind,source=" + m.Source + ",target=" + m.Target
		if !m.Writable {
			flag += ",readonly,bind-nonrecursive"
		}
		flags = append(flags, flag)
	}
	if c.ReadOnlyRoot {
		flags = append(flags, "--read-only")
	}
	for _, dir := range c.tmpfs() {
		flags = append(flags, "--tmpfs="+dir+":rw,nosuid,nodev,exec,mode=1777")
	}
	return flags
}

// tmpfs returns the directories whose files are kept in memory. Workdir is one of its
// own below another: the engine would make it there for root alone.
func (c *CreateOptions) tmpfs() []string {
	dirs, workdir := slices.Clone(c.Tmpfs), path.Clean("/"+c.Workdir)
	mounted := func(dir string) bool {
		return dir == "/" || slices.ContainsFunc(c.Mounts, func(m Mount) bool { return holds(m.Target, dir) })
	}
	byDefault := c.Tmpfs == nil && c.ReadOnlyRoot
	if byDefault {
		dirs = slices.DeleteFunc([]string{"/run", "/tmp", "/var/tmp"}, mounted)
	}
	same := func(dir string) bool { return path.Clean(dir) == workdir }
	below := slices.ContainsFunc(dirs, func(dir string) bool { return holds(dir, workdir) })
	if (byDefault || below) && !mounted(workdir) && !slices.ContainsFunc(dirs, same) {
		dirs = append(dirs, workdir)
	}
	return dirs
}

// holds reports whether name is dir or below it.
func holds(dir, name string) bool {
	dir = path.Clean(dir)
	return dir == name || strings.HasPrefix(name, dir+"/")
}
