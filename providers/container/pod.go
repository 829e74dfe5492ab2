package container

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// ErrPodLost says that the pod of an [FS] has ended, or has been deleted or
// replaced, also by a pod of the same name. Its files outside of volumes are lost.
// Every later call fails in the same way; [Open] finds another pod.
var ErrPodLost = errors.New("the pod has ended, or has been deleted or replaced")

// Kubectl returns the Executor of a container in a pod. Instead of a pod it takes
// what kubectl exec takes, such as "deploy/web", "statefulset/db" or "svc/api",
// which stands for the oldest of its pods that are ready. flags come first, such
// as "--context=staging", "--namespace=agents". An empty container is the pod's
// default one.
//
// Pods of one deployment have different files, so an [FS] chooses one with its
// first shell and opens all other shells in that pod. It asks the cluster after
// each whether it is still the same, and fails with [ErrPodLost] if it is not.
// An Executor that wraps this one does not have that.
func Kubectl(pod, container string, flags ...string) Executor {
	return &kubectl{command: append(Command{"kubectl"}, flags...), name: pod, container: container}
}

// kubectl is the [Executor] of a container in a pod.
type kubectl struct {
	command   Command // kubectl with its flags
	name      string
	container string        // empty for the default one
	uid       string        // empty for whatever pod the name leads to
	timeout   time.Duration // of kubectl get
}

// getTimeout bounds kubectl get, as a new shell is bounded.
const getTimeout = time.Minute

// Start implements [Executor].
func (p *kubectl) Start(args ...string) (Process, error) {
	words := append(slices.Clone(p.command), "exec", "-i", p.name)
	if p.container != "" {
		words = append(words, "-c", p.container)
	}
	return append(words, "--").Start(args...)
}

// pin returns the Executor of the one pod that p leads to now.
func (p *kubectl) pin(ctx context.Context, timeout time.Duration) (Executor, error) {
	pinned := *p
	pinned.timeout = getTimeout
	if timeout > 0 {
		pinned.timeout = min(timeout, getTimeout)
	}
	what := []string{p.name}
	if !strings.Contains(p.name, "/") {
		what = []string{"pod", p.name}
	}
	var found object
	if err := pinned.get(ctx, &found, what...); err != nil {
		return nil, err
	}
	if found.Kind != "Pod" {
		selector, err := found.selector()
		if err != nil {
			return nil, err
		}
		var list struct{ Items []object }
		if err := pinned.get(ctx, &list, "pods", "--selector="+selector); err != nil {
			return nil, err
		}
		if found, err = choosePod(list.Items); err != nil {
			return nil, err
		}
	}
	pinned.name, pinned.uid = found.Metadata.Name, found.Metadata.UID
	if pinned.uid == "" || pinned.name == "" || strings.HasPrefix(pinned.name, "-") || strings.Contains(pinned.name, "/") {
		return nil, &engineError{kind: workspace.ErrUnavailable, text: kubectlUnclear, remedy: checkEngine}
	}
	return &pinned, nil
}

// check returns an error unless the pod is the one that was pinned, and has not
// ended. A shell that was opened before has been opened in that pod then: no two
// pods have a name at a time, and no uid comes back.
func (p *kubectl) check(ctx context.Context) error {
	var now object
	if err := p.get(ctx, &now, "pod", p.name, "--ignore-not-found"); err != nil {
		return err
	}
	if now.Metadata.UID == p.uid && now.Status.Phase != "Succeeded" && now.Status.Phase != "Failed" {
		return nil
	}
	return &engineError{
		text:   fmt.Sprintf("the pod %q of this workspace has ended, or has been deleted or replaced", p.name),
		remedy: "open the workspace again, which finds another pod; files outside of volumes are lost",
		cause:  ErrPodLost,
	}
}

// kubectlUnclear is the text of a fault.
const kubectlUnclear = "what kubectl says cannot be understood"

// object is what kubectl says of a pod, or of what has pods.
type object struct {
	Kind     string
	Metadata struct{ Name, UID, CreationTimestamp, DeletionTimestamp string }
	Spec     struct{ Selector json.RawMessage }
	Status   struct {
		Phase      string
		Conditions []struct{ Type, Status string }
	}
}

// get asks kubectl for what exists, and leaves into as it is if that is nothing.
func (p *kubectl) get(ctx context.Context, into any, what ...string) error {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	words := append(append(slices.Clone(p.command), "get"), what...)
	said, err := output(limited, append(words, "--output=json"))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return &engineError{kind: workspace.ErrUnavailable, text: fmt.Sprintf("kubectl get did not answer within %v", p.timeout), remedy: "see that the cluster answers"}
	case err != nil:
		return err
	case len(said) > 0 && json.Unmarshal(said, into) != nil:
		return &engineError{kind: workspace.ErrUnavailable, text: kubectlUnclear, remedy: checkEngine}
	}
	return nil
}

// selector returns the selector of an object's pods as kubectl takes it. The one
// of a Service is a plain map.
func (o *object) selector() (string, error) {
	var s struct {
		MatchLabels      map[string]string
		MatchExpressions []struct {
			Key, Operator string
			Values        []string
		}
	}
	if json.Unmarshal(o.Spec.Selector, &s) != nil || s.MatchLabels == nil && s.MatchExpressions == nil {
		_ = json.Unmarshal(o.Spec.Selector, &s.MatchLabels) // if it is no map either there are no terms
	}
	var terms []string
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		terms = append(terms, key+"="+s.MatchLabels[key])
	}
	operators := map[string]string{"In": "%s in (%s)", "NotIn": "%s notin (%s)", "Exists": "%s%s", "DoesNotExist": "!%s%s"}
	for _, e := range s.MatchExpressions {
		format, known := operators[e.Operator]
		if !known {
			return "", &engineError{kind: errors.ErrUnsupported, text: fmt.Sprintf("its pods are selected by an unknown operator %q", e.Operator), remedy: namePod}
		}
		terms = append(terms, fmt.Sprintf(format, e.Key, strings.Join(e.Values, ",")))
	}
	if len(terms) == 0 { // which would select all pods
		return "", &engineError{text: "this selects no pods", remedy: namePod}
	}
	return strings.Join(terms, ","), nil
}

const namePod = "name a pod, or what selects pods, such as a deployment"

// choosePod returns the oldest of the pods that are ready, or that run if none is
// ready.
func choosePod(pods []object) (object, error) {
	pods = slices.DeleteFunc(pods, func(p object) bool {
		return p.Status.Phase != "Running" || p.Metadata.DeletionTimestamp != ""
	})
	if len(pods) == 0 {
		return object{}, &engineError{kind: workspace.ErrUnavailable, text: "none of its pods runs", remedy: "see that one runs"}
	}
	return slices.MinFunc(pods, func(a, b object) int {
		return cmp.Or(cmp.Compare(a.unready(), b.unready()),
			cmp.Compare(a.Metadata.CreationTimestamp, b.Metadata.CreationTimestamp),
			cmp.Compare(a.Metadata.Name, b.Metadata.Name))
	}), nil
}

// unready returns 0 if a pod is ready, and 1 if it is not.
func (o *object) unready() int {
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" {
			return 0
		}
	}
	return 1
}
