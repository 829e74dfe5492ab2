package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// flags are the options of a program: definitions and values of pflag, read in the way
// of GNU's getopt_long. A long name of one letter stands for an option that has a short
// name only. An option whose NoOptDefVal is set, and that is no bool, has an optional
// value: --color=always, -i.bak.
//
// Its parser is not pflag's, which refuses what getopt_long allows: abbreviated long names,
// a cluster whose last letter has its value in the same word, and "-5".
type flags struct {
	*pflag.FlagSet
	usage   string // "[OPTION]... [FILE]..."
	number  string // the option that "-5" stands for, "" if there is none
	first   bool   // options end at the first operand: xargs, env
	failure int    // the status for wrong usage
	p       *Process

	words []string // those that parse has taken for options and their values
}

// newFlags returns no options yet. Wrong usage has the status 1; see flags.failure.
func newFlags(p *Process, usage string) *flags {
	set := pflag.NewFlagSet(p.name(), pflag.ContinueOnError)
	set.SortFlags = false
	return &flags{FlagSet: set, usage: usage, failure: 1, p: p}
}

// parse reads the arguments and returns the operands. If ok is false, the program
// returns status: the usage was wrong, or help was asked for, and it has been printed.
// Options and operands may be mixed, as GNU's getopt_long allows, unless first is set:
//
//	sort file -r         the option counts: -r, and the operand file
//	xargs grep -l        -l belongs to grep, as an operand ends the options
//	rm -- -x             after "--", all are operands
//	head -5              the option of flags.number, with the value 5
//
// The first wrong option ends it, with one message and the line "Try ... --help". POSIX
// (Utility Syntax Guidelines) would end the options at the first operand for all programs;
// GNU does so only where POSIXLY_CORRECT is set, which is not looked at.
func (f *flags) parse() (operands []string, status int, ok bool) {
	args := f.p.Args[1:]
	for len(args) > 0 {
		arg, before := args[0], args
		args = args[1:]
		var err error
		switch {
		case arg == "--":
			f.words = append(f.words, arg)
			return append(operands, args...), 0, true
		case arg == "--help" && f.Lookup("help") == nil:
			f.help()
			return nil, 0, false
		case strings.HasPrefix(arg, "--"):
			args, err = f.long(arg[2:], args)
		case len(arg) > 1 && arg[0] == '-' && f.number != "" && arg[1] >= '0' && arg[1] <= '9':
			err = f.set(f.Lookup(f.number), arg[1:])
		case len(arg) > 1 && arg[0] == '-':
			args, err = f.short(arg[1:], args)
		case f.first:
			return append([]string{arg}, args...), 0, true
		default:
			operands = append(operands, arg)
			continue
		}
		if err != nil {
			f.p.errorf("%v", err)
			fmt.Fprintf(f.p.Stderr, "Try '%s --help' for more information.\n", f.p.name())
			return nil, f.failure, false
		}
		f.words = append(f.words, before[:len(before)-len(args)]...)
	}
	return operands, 0, true
}

// long reads one option with a long name, which may be abbreviated.
// It returns the arguments that are left. "--name=value" and "--name value" are the same,
// except for an option with an optional value, which takes it after "=" only.
func (f *flags) long(arg string, rest []string) ([]string, error) {
	name, value, given := strings.Cut(arg, "=")
	flag, err := f.find(name)
	if err != nil {
		return nil, err
	}
	switch {
	case given && isSwitch(flag):
		return nil, fmt.Errorf("option '--%s' doesn't allow an argument", flag.Name)
	case given:
	case flag.NoOptDefVal != "":
		value = flag.NoOptDefVal
	case len(rest) == 0:
		return nil, fmt.Errorf("option '--%s' requires an argument", flag.Name)
	default:
		value, rest = rest[0], rest[1:]
	}
	return rest, f.set(flag, value)
}

// find returns the option whose long name is name, or the only one that begins with it:
// --rev is --reverse of sort.
func (f *flags) find(name string) (*pflag.Flag, error) {
	var found []*pflag.Flag
	f.VisitAll(func(flag *pflag.Flag) {
		if len(flag.Name) > 1 && strings.HasPrefix(flag.Name, name) {
			found = append(found, flag)
		}
	})
	if i := slices.IndexFunc(found, func(flag *pflag.Flag) bool { return flag.Name == name }); i >= 0 {
		return found[i], nil
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("unrecognized option '--%s'%s", name, f.near(name))
	case 1:
		return found[0], nil
	}
	var names strings.Builder
	for _, flag := range found {
		fmt.Fprintf(&names, " '--%s'", flag.Name)
	}
	return nil, fmt.Errorf("option '--%s' is ambiguous; possibilities:%s", name, names.String())
}

// near names the option that is like name, "" if there is none.
func (f *flags) near(name string) string {
	var names []string
	f.VisitAll(func(flag *pflag.Flag) {
		if len(flag.Name) > 1 {
			names = append(names, flag.Name)
		}
	})
	if near := wording.Closest(name, names); near != "" {
		return fmt.Sprintf("; did you mean '--%s'?", near)
	}
	return ""
}

// short reads a cluster of options with short names: "rn5" is -r, and -n with the value
// 5. An option with a value ends the cluster: what is left of it is the value, or the
// next argument is.
func (f *flags) short(cluster string, rest []string) ([]string, error) {
	for cluster != "" {
		letter := cluster[:1]
		cluster = cluster[1:]
		flag := f.ShorthandLookup(letter)
		if flag == nil {
			return nil, fmt.Errorf("invalid option -- '%s'", letter)
		}
		value := cluster
		switch {
		case isSwitch(flag):
			if err := f.set(flag, flag.NoOptDefVal); err != nil {
				return nil, err
			}
			continue
		case value != "":
		case flag.NoOptDefVal != "":
			value = flag.NoOptDefVal
		case len(rest) == 0:
			return nil, fmt.Errorf("option requires an argument -- '%s'", letter)
		default:
			value, rest = rest[0], rest[1:]
		}
		return rest, f.set(flag, value)
	}
	return rest, nil
}

// isSwitch reports whether flag has no value.
// NoOptDefVal alone does not tell: an option with an optional value has one, too.
func isSwitch(flag *pflag.Flag) bool {
	return flag.NoOptDefVal != "" && slices.Contains([]string{"bool", "boolfunc", "count"}, flag.Value.Type())
}

// set gives an option its value.
func (f *flags) set(flag *pflag.Flag, value string) error {
	if err := flag.Value.Set(value); err != nil {
		return fmt.Errorf("invalid argument '%s' for '%s'", value, spelled(flag))
	}
	flag.Changed = true
	return nil
}

// spelled returns an option as people write it.
func spelled(flag *pflag.Flag) string {
	if len(flag.Name) > 1 {
		return "--" + flag.Name
	}
	return "-" + flag.Shorthand
}

// help prints the usage, with one line for each option.
func (f *flags) help() {
	fmt.Fprintf(f.p.Stdout, "Usage: %s %s\n", f.p.name(), f.usage)
	f.VisitAll(func(flag *pflag.Flag) {
		name := spelled(flag)
		if flag.Shorthand != "" && len(flag.Name) > 1 {
			name = "-" + flag.Shorthand + ", " + name
		}
		io.WriteString(f.p.Stdout, strings.TrimRight(fmt.Sprintf("  %-28s %s", name, flag.Usage), " ")+"\n")
	})
}
