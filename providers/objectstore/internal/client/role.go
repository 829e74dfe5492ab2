package client

import (
	"cmp"
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
)

// Role is a role of AWS, or of a store that has them. The zero Role is none.
type Role struct {
	ARN        string
	ExternalID string // what the role's owner asks for; empty for nothing
	Region     string // of the service that gives out the credentials, where cfg names none
	Timeouts   *Timeouts
}

// sessionName is what the logs of the store call who has assumed a role.
const sessionName = "workspacekit"

// assume returns the credentials of the role, which are asked for with those of
// cfg, when they are needed, and kept until they expire.
func (r Role) assume(cfg aws.Config) aws.CredentialsProvider {
	client := sts.NewFromConfig(cfg, func(so *sts.Options) {
		so.Region = cmp.Or(so.Region, r.Region, "us-east-1")
		so.HTTPClient = &timedClient{so.HTTPClient, r.Timeouts}
	})
	provider := stscreds.NewAssumeRoleProvider(client, r.ARN, func(ro *stscreds.AssumeRoleOptions) {
		ro.RoleSessionName = sessionName
		if r.ExternalID != "" {
			ro.ExternalID = aws.String(r.ExternalID)
		}
	})
	return roleCredentials{aws.NewCredentialsCache(provider)}
}

// roleCredentials tells the errors of the service that gives out the
// credentials of a role from those of the store.
type roleCredentials struct{ aws.CredentialsProvider }

func (c roleCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	if err == nil || errors.Is(err, answer.ErrCredentials) {
		return found, err
	}
	code := answer.Code(err)
	if answer.Status(err)/100 != 4 || code == "UnknownError" { // which the SDK calls other answers
		code = ""
	}
	return found, &answer.RoleError{Code: code}
}
