package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
)

func TestWhoseContainer(t *testing.T) {
	t.Parallel()
	self := strings.Split(engine.OwnerLabel(), "=")[1]
	user, rest, _ := strings.Cut(self, ".")
	boot, rest, _ := strings.Cut(rest, ".")
	space, _, _ := strings.Cut(rest, ".")
	for _, test := range []struct {
		name, owner string
		running     bool
		age         time.Duration
		want        bool
	}{
		{"lives", self, true, time.Hour, false},
		{"ended", user + "." + boot + "." + space + ".999999999.7", true, 0, true},
		{"number of another process", user + "." + boot + "." + space + "." + fmt.Sprint(os.Getpid()) + ".7", true, 0, true},
		{"before a boot", user + ".0." + space + ".1.7", true, 0, true},
		{"another namespace, runs", user + "." + boot + ".0.1.7", true, time.Hour, false},
		{"another namespace, new", user + "." + boot + ".0.1.7", false, time.Minute, false},
		{"another namespace, old", user + "." + boot + ".0.1.7", false, time.Hour, true},
		{"another user", "0." + boot + "." + space + ".999999999.7", false, time.Hour, false},
		{"no owner", "", false, time.Hour, false},
		{"no number", user + "." + boot + "." + space + ".x.7", false, time.Hour, false},
	} {
		labels := map[string]string{"io.github.workspacekit.owner": test.owner, "io.github.workspacekit.name": "box"}
		if got := engine.IsLeft("/box", labels, test.running, test.age, self); got != test.want {
			t.Errorf("%s: the container is left: %v, want %v", test.name, got, test.want)
		}
		if engine.IsLeft("/other", labels, test.running, test.age, self) {
			t.Errorf("%s: a container with the labels of another one is left", test.name)
		}
		labels["io.github.workspacekit.keep"] = "" // over that of an image
		if got := engine.IsLeft("/box", labels, test.running, test.age, self); got != test.want {
			t.Errorf("%s: the container that is not kept is left: %v, want %v", test.name, got, test.want)
		}
		labels["io.github.workspacekit.keep"] = "x"
		if engine.IsLeft("/box", labels, test.running, test.age, self) {
			t.Errorf("%s: the container that is kept is left", test.name)
		}
	}
}
