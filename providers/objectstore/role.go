package objectstore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/workspacekit/workspacekit/workspace"
)

// Role is a role of AWS, or of a store that has them.
type Role struct {
	// ARN names the role: "arn:aws:iam::123456789012:role/reader".
	ARN string
	// ExternalID is what the role's owner asks of those who assume it. Empty
	// means nothing.
	ExternalID string
}

// sessionName is what the logs of the store call who has assumed a role.
const sessionName = "workspacekit"

// The external ids that AWS accepts
// (https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html).
const maxExternalID = 1224

var externalIDs = regexp.MustCompile(`^[\w+=,.@:/-]{2,}$`)

var roleNames = regexp.MustCompile(`^role/[\w+=,.@/-]+$`)

func (r Role) check() error {
	if r == (Role{}) {
		return nil
	}
	role, err := arn.Parse(r.ARN)
	switch {
	case r.ARN == "":
		return wrong("AssumeRole", "it has an external id and no ARN: name the role")
	case err != nil || role.Service != "iam" || !roleNames.MatchString(role.Resource):
		return wrong("AssumeRole", "%q is not the ARN of a role, such as arn:aws:iam::123456789012:role/reader", r.ARN)
	case r.ExternalID != "" && (len(r.ExternalID) > maxExternalID || !externalIDs.MatchString(r.ExternalID)):
		return wrong("AssumeRole", "the external id must have 2 to 1224 letters, digits and characters of _+=,.@:/-")
	}
	return nil
}

// assumeRole returns the credentials of the role, which are asked for with
// those of cfg, when they are needed, and kept until they expire.
func (o Options) assumeRole(cfg aws.Config) aws.CredentialsProvider {
	o = o.withDefaults()
	point, _ := accessPointOf(o.Bucket)
	client := sts.NewFromConfig(cfg, func(so *sts.Options) {
		so.Region = cmp.Or(so.Region, point.Region, "us-east-1")
		so.HTTPClient = &timedClient{so.HTTPClient, &timeouts{response: o.ResponseTimeout, idle: o.IdleTimeout}}
	})
	provider := stscreds.NewAssumeRoleProvider(client, o.AssumeRole.ARN, func(ro *stscreds.AssumeRoleOptions) {
		ro.RoleSessionName = sessionName
		if o.AssumeRole.ExternalID != "" {
			ro.ExternalID = aws.String(o.AssumeRole.ExternalID)
		}
	})
	return roleCredentials{aws.NewCredentialsCache(provider)}
}

// roleCredentials tells the errors of the service that gives out the
// credentials of a role from those of the store.
type roleCredentials struct{ aws.CredentialsProvider }

func (c roleCredentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := c.CredentialsProvider.Retrieve(ctx)
	switch {
	case err == nil, errors.Is(err, errCredentials):
		return found, err
	case statusOf(err)/100 == 4 && codeOf(err) != "" && codeOf(err) != "UnknownError": // which the SDK calls other answers
		return found, &roleError{fs.ErrPermission, codeOf(err)}
	}
	return found, &roleError{kind: workspace.ErrUnavailable}
}

// roleError says that a role could not be assumed. What caused it is hidden: it
// would look like an answer of the store.
type roleError struct {
	kind error
	code string // of the answer, empty for none
}

func (e *roleError) Error() string {
	if e.kind == workspace.ErrUnavailable {
		return "the service that gives out the credentials of the role (STS) does not answer: try again later"
	}
	return "the role cannot be assumed: check its ARN, its external id, its trust policy, and the rights of the credentials (" + e.code + ")"
}
