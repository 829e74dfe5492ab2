// Package s3test is an S3 server in memory, for tests: strongly consistent,
// with signatures, checksums and conditions verified as Amazon S3 does, and
// with faults that a test injects. It is written for the standard library
// alone and nothing a user imports depends on it.
//
//	server := s3test.New(t, nil)
//	client := s3.New(s3.Options{
//		BaseEndpoint: &server.URL,
//		Region:       server.Region,
//		HTTPClient:   server.Client(),
//		UsePathStyle: true,
//		Credentials:  credentials(server.AccessKeyID, server.SecretAccessKey),
//	})
//
// Where Amazon's documentation says what is to happen, that happens. What the
// server does not have (versions, changes of tags, access lists) it
// refuses with NotImplemented, and never ignores.
//
// # A real server
//
// The tests of this package, and of what is built on it, also run against a
// real server if these variables name one; see [External]:
//
//	WORKSPACEKIT_S3_ENDPOINT           http://127.0.0.1:7070
//	WORKSPACEKIT_S3_REGION             us-east-1, which is the default
//	WORKSPACEKIT_S3_ACCESS_KEY_ID
//	WORKSPACEKIT_S3_SECRET_ACCESS_KEY
//	WORKSPACEKIT_S3_BUCKET             a bucket that exists
//
// `eval "$(.ci/s3 start)"` starts one and sets them all. With
// WORKSPACEKIT_REQUIRE_PROGRAMS set, their absence is a failure.
package s3test
