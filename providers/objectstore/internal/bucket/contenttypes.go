package bucket

import (
	"path"
	"strings"
)

const (
	text = "text/plain; charset=utf-8"
	yaml = "application/yaml"
)

// DescribeType returns the description of a new file name: the type that its
// ending stands for, so that a browser shows what other programs serve from the
// bucket. It is nil for an ending that is not known.
func DescribeType(name string) Description {
	if t := contentTypes[strings.ToLower(path.Ext(name))]; t != "" {
		return Description{"Content-Type": {t}}
	}
	return nil
}

// contentTypes are the types of files by their endings. The table is ours: what
// a machine's own says differs from one to the next, such as a program's
// translations for ".ts".
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".cjs": "text/javascript; charset=utf-8",
	".csv": "text/csv; charset=utf-8", ".tsv": "text/tab-separated-values; charset=utf-8",
	".md": "text/markdown; charset=utf-8", ".markdown": "text/markdown; charset=utf-8",
	".xml": "text/xml; charset=utf-8", ".ics": "text/calendar; charset=utf-8", ".vcf": "text/vcard; charset=utf-8",

	".txt": text, ".text": text, ".log": text, ".ini": text, ".conf": text, ".cfg": text, ".env": text, ".diff": text, ".patch": text,
	".rst": text, ".adoc": text, ".tex": text, ".gitignore": text,
	".go": text, ".mod": text, ".sum": text, ".ts": text, ".mts": text, ".cts": text, ".tsx": text, ".jsx": text, ".vue": text, ".svelte": text,
	".py": text, ".rb": text, ".pl": text, ".php": text, ".lua": text, ".r": text, ".jl": text, ".sh": text, ".bash": text, ".zsh": text,
	".bat": text, ".ps1": text, ".c": text, ".h": text, ".cc": text, ".cpp": text, ".hpp": text, ".cs": text, ".java": text, ".kt": text,
	".scala": text, ".swift": text, ".rs": text, ".zig": text, ".hs": text, ".ml": text, ".ex": text, ".exs": text, ".erl": text, ".clj": text,
	".dart": text, ".sql": text, ".proto": text, ".graphql": text, ".tf": text, ".scss": text, ".less": text,

	".json": "application/json", ".map": "application/json", ".ipynb": "application/json", ".jsonl": "application/jsonl", ".ndjson": "application/x-ndjson",
	".yaml": yaml, ".yml": yaml, ".toml": "application/toml", ".wasm": "application/wasm", ".webmanifest": "application/manifest+json",
	".pdf": "application/pdf", ".rtf": "application/rtf", ".epub": "application/epub+zip",
	".doc": "application/msword", ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xls": "application/vnd.ms-excel", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".ppt": "application/vnd.ms-powerpoint", ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".odt": "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".zip": "application/zip", ".gz": "application/gzip", ".tgz": "application/gzip", ".tar": "application/x-tar", ".bz2": "application/x-bzip2",
	".xz": "application/x-xz", ".zst": "application/zstd", ".7z": "application/x-7z-compressed", ".jar": "application/java-archive",
	".parquet": "application/vnd.apache.parquet", ".sqlite": "application/vnd.sqlite3",

	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif",
	".svg": "image/svg+xml", ".ico": "image/vnd.microsoft.icon", ".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".wav": "audio/wav", ".flac": "audio/flac", ".m4a": "audio/mp4",
	".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime",
	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
}
