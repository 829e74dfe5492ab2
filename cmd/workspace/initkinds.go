package main

import (
	"cmp"
	"fmt"
	"strings"
)

// initKind is a kind of provider that init can describe.
type initKind struct {
	name    string
	summary string
	options []initOption
	// settings are options, as YAML, that the file has.
	settings []string
	// examples are other options, as YAML, that the file has as comments.
	examples []string
	// notes are sentences that the file has above the provider.
	notes []string
}

// initOption is an option of a kind.
type initOption struct {
	flag     string // and the key in the file
	usage    string
	question string // empty if it is not asked for
	standard string // the value if none is given
	required bool
}

// initKinds lists the kinds in the order in which they are offered.
func initKinds() []initKind {
	return []initKind{
		{
			name: nameLocal, summary: "a folder of this computer",
			options: []initOption{{
				flag: "root", usage: "the folder, from the folder of the file", question: "Which folder, from the folder of the file?", standard: ".",
			}},
			examples: []string{"sync: true   # makes every change durable before it is reported as done"},
			notes:    []string{"A folder of this computer, from the folder of this file."},
		},
		{
			name: nameMemory, summary: "files in memory, gone when the program ends",
			examples: []string{"seed: fixtures   # a folder whose files it begins with"},
			notes:    []string{"Files in memory, which are gone when the program ends."},
		},
		{
			name: nameStore, summary: "a bucket of S3, or of a store that speaks its protocol",
			options: []initOption{
				{flag: "bucket", usage: "the bucket", question: "Which bucket?", required: true},
				{flag: "endpoint", usage: "the URL of the store, if it is not AWS", question: "At which URL is the store? Empty for AWS."},
			},
			examples: []string{
				"prefix: team-a/   # what the keys begin with",
				"region: eu-west-1",
				"profile: default   # of the AWS configuration, for credentials",
				"anonymous: false   # true sends no credentials, for public buckets",
				"assumeRole: {arn: \"arn:aws:iam::123456789012:role/reader\", externalID: ticket-7}",
				"caFile: ca.pem   # certificates that are trusted beside those of the system",
				"proxy: http://proxy.example.org:3128",
				"pathStyle: true   # the bucket is in the path of the URL; what suits the endpoint if it is left out",
				"probe: true   # finds out, when it is opened, whether the store honours conditions",
				"compat: {verifyETags: false}   # what the store can do, where that differs from what its endpoint suggests",
				"maxAttempts: 3   # how often a request is sent",
				"expectedBucketOwner: \"123456789012\"   # the account that must own the bucket",
				"requesterPays: false   # true pays for the requests to a bucket whose owner does not",
				"encryption: {type: sse-kms, kmsKey: alias/files}   # or {type: sse-s3}, or {type: sse-c, keyVariable: FILES_KEY}",
				"newObjects: [{glob: \"*.html\", cacheControl: max-age=60, storageClass: STANDARD_IA, metadata: {team: a}}]",
				"partSizeMb: 8   # of the parts in which a long file is written",
				"cacheSizeMb: 64   # of searched files, in memory",
				"workers: 16   # how many files a search downloads at a time",
				"folderTTL: 5s   # how long a directory that has been seen is taken to exist",
				"responseTimeout: 1m   # how long a request waits for its answer to begin",
				"idleTimeout: 30s   # how long an answer that has begun may stand still",
				"pollInterval: 10s   # between two listings of a watch",
			},
			notes: []string{
				"A bucket, which exists. Credentials do not belong into this file: they come from the",
				"environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY) or from a profile.",
			},
		},
		{
			name: nameContainer, summary: "a directory in a container",
			options: []initOption{
				{flag: "image", usage: "the image of a new container", question: "Of which image is the container made?", standard: "debian:12"},
			},
			settings: []string{"workspaceDir: /workspace   # the directory in the container, created if it is missing"},
			examples: []string{
				"engine: docker   # or podman, nerdctl",
				"pull: missing   # or always, never",
				"platform: linux/amd64   # the engine's if it is left out",
				"network: bridge   # none if it is left out",
				"memory: 512m   # 2g if it is left out, or unlimited",
				"cpus: 1.5",
				"pids: 200   # processes and threads; 1024 if it is left out, -1 for no limit",
				"mounts: [{source: ., target: /project}]   # folders it can read; with writable: true change",
				"readOnlyRoot: true   # only writable mounts and tmpfs can be changed",
				"tmpfs: [/tmp, /workspace]   # directories in memory",
				"env: {LANG: C.UTF-8}   # no place for secrets",
				"dropCapabilities: [ALL]   # all if it is left out; [] leaves what the engine gives",
				"noNewPrivileges: true",
				"user: \"1000:1000\"   # who reads and writes, such as the owner of a mounted folder",
			},
			notes: []string{
				"A directory in a container that is made at the first use and removed in the end. For one",
				"that runs already, give its name as container, and leave image out.",
			},
		},
		{
			name: nameKubernetes, summary: "a directory in a pod",
			options: []initOption{
				{flag: "pod", usage: "the pod, or what selects pods, such as deploy/web", question: "Which pod?", required: true},
			},
			examples: []string{
				"namespace: default",
				"container: app   # the pod's default one if it is left out",
				"workspaceDir: /workspace   # the directory in the container",
			},
			notes: []string{
				"A directory in a pod that is running, by kubectl and its configuration. Where pod",
				"selects several, as deploy/web does, one is chosen, and stays until the workspace is closed.",
			},
		},
	}
}

func initKindNames() []string {
	var names []string
	for _, kind := range initKinds() {
		names = append(names, kind.name)
	}
	return names
}

// missing returns the flag of an option that is required and not given.
func (k initKind) missing(given map[string]*string) string {
	for _, o := range k.options {
		if o.required && *given[o.flag] == "" {
			return o.flag
		}
	}
	return ""
}

// file returns a file with one workspace of the kind. Its comments whose first
// word ends in a colon are examples: without their "# " they hold.
func (k initKind) file(name string, given map[string]*string) (string, error) {
	key, err := yamlText(name)
	if err != nil {
		return "", flagFault("name", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, initHead, schemaURL, docsURL, key)
	for _, note := range k.notes {
		fmt.Fprintf(&b, "    # %s\n", note)
	}
	fmt.Fprintf(&b, "    provider:\n      kind: %s\n", k.name)
	for _, o := range k.options {
		value := cmp.Or(*given[o.flag], o.standard)
		if value == "" {
			continue
		}
		quoted, err := yamlText(value)
		if err != nil {
			return "", flagFault(o.flag, err)
		}
		fmt.Fprintf(&b, "      %s: %s\n", o.flag, quoted)
	}
	for _, setting := range k.settings {
		fmt.Fprintf(&b, "      %s\n", setting)
	}
	for _, example := range k.examples {
		fmt.Fprintf(&b, "      # %s\n", example)
	}
	b.WriteString(initTail)
	return b.String(), nil
}

// initHead is what each file begins with.
const initHead = `# yaml-language-server: $schema=%s
#
# Which workspaces there are, where their files live, and what may be done with them.
# All that can be said here is described at
# %s

workspaces:
  %s:
`

// initTail is what each file ends with.
const initTail = `
    # Settings that hold for every provider, and whoever uses the workspace.
    # fs:
    #   maxFileSizeMb: 10   # the largest file to read, write or search
    #   readOnly: true
    #   allowedPaths: ["src/**", "docs/**", "*.md"]   # all others are refused, and hidden

    # Capabilities without which the workspace is not opened.
    # requires: [watch]

# No workspace can change this file, or create one that would be found.
# protectConfig: false   # lets agents do so

# The tools that an agent is given.
# tools:
#   naming: "workspace__{name}__{op}"
#   disable: [rm]
#   timeout: 2m   # how long one call may take
#   shared: auto   # or true, one set of tools whose calls name the workspace, or false; auto shares above maxTools
#   maxTools: 100
`
