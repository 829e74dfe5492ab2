package container

// Docker returns the Executor of a running container in Docker. To set more
// than that, use [Options].
func Docker(container string) Command { return execIn([]string{"docker"}, container, "") }

// Podman returns the Executor of a running container in Podman.
func Podman(container string) Command { return execIn([]string{"podman"}, container, "") }

// Nerdctl returns the Executor of a running container in containerd.
func Nerdctl(container string) Command { return execIn([]string{"nerdctl"}, container, "") }

// execIn returns the Executor of a container by the command line of an engine
// that is used as Docker is.
func execIn(engine []string, container, user string) Command {
	command := append(append(Command{}, engine...), "exec", "-i")
	if user != "" {
		command = append(command, "--user", user)
	}
	return append(command, container)
}
