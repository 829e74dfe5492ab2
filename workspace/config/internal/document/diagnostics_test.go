package document

import "testing"

// TestMaskSecrets masks what looks like a secret, and keeps the length of the line.
func TestMaskSecrets(t *testing.T) {
	for line, want := range map[string]string{
		"bucket: b": "bucket: b",
		"endpoint: https://me:pa55@example.org/x":         "endpoint: https://*******@example.org/x",
		`secretKey: "a}b" # comment`:                      "secretKey: ***** # comment",
		"secret: 'it'":                                    "secret: ****",
		"a: { secret: abc }":                              "a: { secret: *** }",
		"token: abc":                                      "token: ***",
		"token: ${KEY}":                                   "token: ${KEY}",
		`token: "${KEY}"`:                                 `token: "${KEY}"`,
		"token: ${KEY} # of the team":                     "token: ${KEY} # of the team",
		"token: ${KEY:-s3cret}":                           "token: **************",
		`token: "${KEY:-s3 cret}"`:                        "token: *****************",
		"token: ${KEY}s3cret":                             "token: ************",
		"password: ab{cd":                                 "password: *****",
		"password: ab,cd":                                 "password: *****",
		"password: two wörds\r":                           "password: *********\r",
		"lake: { secret: abc, bucket: b }":                "lake: { secret: ***, bucket: b }",
		"lake: { secret: ${KEY}, token: x y, bucket: b}":  "lake: { secret: ${KEY}, token: ***, bucket: b}",
		"lake: { secret: ${KEY:-a,b}, bucket: b }":        "lake: { secret: ***********, bucket: b }",
		"list: [ apiKey=abc, d ]":                         "list: [ apiKey=***, d ]",
		"a: { url: s3://u:p@b, secret: c, url: x://y@z }": "a: { url: s3://***@b, secret: *, url: x://*@z }",
		"secret: s3://u:p@b":                              "secret: **********",
	} {
		if got := maskSecrets(line); got != want {
			t.Errorf("maskSecrets(%q) = %q, want %q", line, got, want)
		}
	}
}
