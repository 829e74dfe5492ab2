package observe

import (
	"context"
	"log/slog"
)

// Slog returns an [Observer] that logs each operation: denials at the level Warn,
// changes at Info, and all else at Debug. The attributes have the names and values
// of the fields of [Event], with "error" for Err and without Time and Edit; those that are
// empty are left out.
func Slog(logger *slog.Logger) Observer {
	return Func(func(ctx context.Context, e Event) {
		if level := levelOf(e); logger.Enabled(ctx, level) {
			logger.LogAttrs(ctx, level, "workspace operation", attributes(e)...)
		}
	})
}

// levelOf returns how much e matters.
func levelOf(e Event) slog.Level {
	switch {
	case e.Decision != Allowed:
		return slog.LevelWarn
	case e.Changes():
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// attributes returns what is known of e.
func attributes(e Event) []slog.Attr {
	attrs := []slog.Attr{slog.String("op", e.Op), slog.String("path", e.Path)}
	for _, field := range [...]struct{ key, value string }{
		{"to", e.To}, {"command", e.Command}, {"session", e.Session}, {"workspace", e.Workspace},
		{"versionBefore", string(e.VersionBefore)}, {"versionAfter", string(e.VersionAfter)},
		{"code", e.Code}, {"rule", e.Rule}, {"decision", string(e.Decision)},
	} {
		if field.value != "" {
			attrs = append(attrs, slog.String(field.key, field.value))
		}
	}
	if e.Bytes > 0 {
		attrs = append(attrs, slog.Int64("bytes", e.Bytes))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.String("error", e.Err.Error()))
	}
	return append(attrs, slog.Duration("duration", e.Duration))
}
