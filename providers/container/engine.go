package container

// Docker returns the Executor of a running container in Docker. To set more
// than that, use [Options].
func Docker(container string) Command { return execIn([]string{"docker"}, container, "") }

// Podman returns the Executor of a running container in Podman.
func Podman(container string) Command { return execIn([]string{"podman"}, container, "") }

// Nerdctl returns the Executor of a running container in containerd.
func Nerdctl(container string) Command { return execIn([]string{"nerdctl"}, container, "") }

// Kubectl returns the Executor of a container in a pod. flags come first, such
// as "--context=staging", "--namespace=agents". An empty container is the
// pod's default one.
func Kubectl(pod, container string, flags ...string) Command {
	command := append(append(Command{"kubectl"}, flags...), "exec", "-i", pod)
	if container != "" {
		command = append(command, "-c", container)
	}
	return append(command, "--")
}

// execIn returns the Executor of a container by the command line of an engine
// that is used as Docker is.
func execIn(engine []string, container, user string) Command {
	command := append(append(Command{}, engine...), "exec", "-i")
	if user != "" {
		command = append(command, "--user", user)
	}
	return append(command, container)
}
