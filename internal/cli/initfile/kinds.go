package initfile

import (
	"slices"

	"github.com/workspacekit/workspacekit/internal/cli/target"
)

// kind is a kind of provider that init can describe.
type kind struct {
	name    string
	summary string
	options []option
	// settings are options, as YAML, that the file has.
	settings []string
	// examples are other options, as YAML, that the file has as comments.
	examples []string
	// notes are sentences that the file has above the provider.
	notes []string
}

// option is an option of a kind.
type option struct {
	flag     string // and the key in the file
	usage    string
	question string // empty if it is not asked for
	standard string // the value if none is given
	required bool
}

// kinds are the kinds in the order in which they are offered.
var kinds = []kind{
	{
		name: target.KindLocal, summary: "a folder of this computer",
		options: []option{{
			flag: "root", usage: "the folder, from the folder of the file", question: "Which folder, from the folder of the file?", standard: ".",
		}},
		examples: []string{
			"sync: true   # makes every change durable before it is reported as done",
			"run: {enabled: true, sandbox: require}   # lets callers run commands, in a sandbox of bubblewrap",
		},
		notes: []string{"A folder of this computer, from the folder of this file."},
	},
	{
		name: target.KindMemory, summary: "files in memory, lost when the program ends",
		examples: []string{"seed: fixtures   # a folder whose files are copied into memory"},
		notes:    []string{"Files in memory, which are lost when the program ends."},
	},
	{
		name: target.KindStore, summary: "a bucket of S3, or of a store that speaks its protocol",
		options: []option{
			{flag: "bucket", usage: "the bucket", question: "Which bucket?", required: true},
			{flag: "endpoint", usage: "the URL of the store, if it is not AWS", question: "At which URL is the store? Empty for AWS."},
		},
		examples: []string{
			"prefix: team-a/   # the keys begin with this",
			"region: eu-west-1",
			"profile: default   # of the AWS configuration, for credentials",
			"anonymous: false   # true sends no credentials, for public buckets",
			"assumeRole: {arn: \"arn:aws:iam::123456789012:role/reader\", externalID: ticket-7}",
			"caFile: ca.pem   # certificates that are trusted beside those of the system",
			"proxy: http://proxy.example.org:3128",
			"pathStyle: true   # the bucket is in the path of the URL; if it is left out, what suits the endpoint",
			"probe: true   # finds out, when it is opened, whether the store honours conditions",
			"compat: {verifyETags: false}   # what the store can do, where that differs from what its endpoint suggests",
			"maxAttempts: 3   # how often a request is sent at most",
			"expectedBucketOwner: \"123456789012\"   # the account that must own the bucket",
			"requesterPays: false   # true pays for the requests to a bucket whose owner does not",
			"encryption: {type: sse-kms, kmsKey: alias/files}   # or {type: sse-s3}, or {type: sse-c, keyVariable: FILES_KEY}",
			"newObjects: [{glob: \"*.html\", cacheControl: max-age=60, storageClass: STANDARD_IA, metadata: {team: a}}]",
			"partSizeMb: 8   # of the parts in which a long file is written",
			"cacheSizeMb: 64   # of searched files, in memory",
			"index: true   # keeps summaries of searched files in memory, so that fewer are downloaded again",
			"indexMemoryMb: 64   # of these summaries",
			"workers: 16   # how many files a search downloads at a time",
			"folderTTL: 5s   # how long a directory that was seen counts as existing",
			"responseTimeout: 1m   # how long a request waits for the first byte of its reply",
			"idleTimeout: 30s   # how long a reply may pause",
			"pollInterval: 10s   # between two listings of a watch",
		},
		notes: []string{
			"A bucket, which exists. Credentials do not belong in this file: they come from the",
			"environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY) or from a profile.",
		},
	},
	{
		name: target.KindContainer, summary: "a directory in a container",
		options: []option{
			{flag: "image", usage: "the image of a new container", question: "Which image is the container created from?", standard: "debian:12"},
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
			"readOnlyRoot: true   # only writable mounts, volumes of the image, tmpfs and /dev can be changed, in Podman also /tmp, /var/tmp and /run",
			"tmpfs: [/tmp, /workspace]   # directories in memory",
			"env: {LANG: C.UTF-8}   # no place for secrets",
			"dropCapabilities: [ALL]   # all if it is left out; [] leaves what the engine gives",
			"noNewPrivileges: true",
			"user: \"1000:1000\"   # who reads and writes, such as the owner of a mounted folder",
		},
		notes: []string{
			"A directory in a container that is created on first use and removed on close. To use a",
			"container that runs already, give its name as container, and leave image out.",
		},
	},
	{
		name: target.KindKubernetes, summary: "a directory in a pod",
		options: []option{
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

// kindNames returns the names of the kinds in the order of the table.
func kindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// kindNamed returns the kind with a name that kindNames has.
func kindNamed(name string) kind { return kinds[slices.Index(kindNames(), name)] }
