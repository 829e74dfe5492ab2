package audit

import "os"

// SetSync has l call sync in the place of [os.File.Sync].
func SetSync(l *Log, sync func(*os.File) error) { l.sync = sync }
