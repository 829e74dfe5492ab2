package engine

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

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// ErrPodLost says that a pod has ended, or has been deleted or replaced; see
// container.ErrPodLost.
var ErrPodLost = errors.New("the pod has ended, or has been deleted or replaced")

// Pod is a container in a pod of Kubernetes.
type Pod struct {
	Command   []string // kubectl with its flags
	Name      string   // of the pod, or of what selects pods, such as deploy/web
	Container string   // empty for the default one
	UID       string   // empty for whatever pod the name leads to

	timeout time.Duration // of kubectl get
}

// getTimeout bounds kubectl get, as a new shell is bounded.
const getTimeout = time.Minute

// Start starts a program in the container.
func (p *Pod) Start(args ...string) (shell.Process, error) {
	return Start(p.Words(args...)...)
}

// Pin returns the one pod that p leads to now, which must have the UID of p.
func (p *Pod) Pin(ctx context.Context, timeout time.Duration) (*Pod, error) {
	pinned := *p
	pinned.timeout = getTimeout
	if timeout > 0 {
		pinned.timeout = min(timeout, getTimeout)
	}
	what := []string{p.Name}
	if !strings.Contains(p.Name, "/") {
		what = []string{"pod", p.Name}
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
	if p.UID != "" && p.UID != found.Metadata.UID {
		return nil, p.lost()
	}
	pinned.Name, pinned.UID = found.Metadata.Name, found.Metadata.UID
	if pinned.UID == "" || pinned.Name == "" || strings.HasPrefix(pinned.Name, "-") || strings.Contains(pinned.Name, "/") {
		return nil, &Error{kind: workspace.ErrUnavailable, text: kubectlUnclear, remedy: checkEngine}
	}
	return &pinned, nil
}

// Check returns an error unless the pod is the one that was pinned, and has not
// ended. A shell that was opened before has been opened in that pod then: no two
// pods have a name at a time, and no uid comes back.
func (p *Pod) Check(ctx context.Context) error {
	var now object
	if err := p.get(ctx, &now, "pod", p.Name, "--ignore-not-found"); err != nil {
		return err
	}
	if now.Metadata.UID == p.UID && now.Status.Phase != "Succeeded" && now.Status.Phase != "Failed" {
		return nil
	}
	return p.lost()
}

func (p *Pod) lost() error {
	return &Error{
		text:   fmt.Sprintf("the pod %q of this workspace has ended, or has been deleted or replaced", p.Name),
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
func (p *Pod) get(ctx context.Context, into any, what ...string) error {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	words := append(append(slices.Clone(p.Command), "get"), what...)
	said, err := output(limited, append(words, "--output=json"))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return &Error{kind: workspace.ErrUnavailable, text: fmt.Sprintf("kubectl get did not answer within %v", p.timeout), remedy: "see that the cluster answers"}
	case err != nil:
		return err
	case len(said) > 0 && json.Unmarshal(said, into) != nil:
		return &Error{kind: workspace.ErrUnavailable, text: kubectlUnclear, remedy: checkEngine}
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
			return "", &Error{kind: errors.ErrUnsupported, text: fmt.Sprintf("its pods are selected by an unknown operator %q", e.Operator), remedy: namePod}
		}
		terms = append(terms, fmt.Sprintf(format, e.Key, strings.Join(e.Values, ",")))
	}
	if len(terms) == 0 { // which would select all pods
		return "", &Error{text: "this selects no pods", remedy: namePod}
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
		return object{}, &Error{kind: workspace.ErrUnavailable, text: "none of its pods runs", remedy: "see that one runs"}
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
