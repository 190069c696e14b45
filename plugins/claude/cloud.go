package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/bedrock"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/vertex"
	aws "github.com/aws/aws-sdk-go-v2/config"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/sdk"
)

// The clouds that serve Claude beside Anthropic's own API.
const (
	onBedrock = "bedrock"
	onVertex  = "vertex"
)

// cloudEnv are the variables by which the clouds' own clients log in. The claude
// program gets none of them.
func cloudEnv() []sdk.EnvVar {
	return []sdk.EnvVar{
		{Name: "AWS_BEARER_TOKEN_BEDROCK", Secret: true, Purpose: "key of Amazon Bedrock, for backend bedrock"},
		{Name: "AWS_ACCESS_KEY_ID", Secret: true, Purpose: "credentials of AWS, for backend bedrock"},
		{Name: "AWS_SECRET_ACCESS_KEY", Secret: true, Purpose: "credentials of AWS, for backend bedrock"},
		{Name: "AWS_SESSION_TOKEN", Secret: true, Purpose: "credentials of AWS, for backend bedrock"},
		{Name: "AWS_PROFILE", Purpose: "profile in ~/.aws, for backend bedrock"},
		{Name: "AWS_CONFIG_FILE", Purpose: "AWS's configuration, when not in ~/.aws"},
		{Name: "AWS_SHARED_CREDENTIALS_FILE", Purpose: "AWS's credentials, when not in ~/.aws"},
		{Name: "AWS_REGION", Purpose: "region for backend bedrock"},
		{Name: "AWS_EC2_METADATA_DISABLED", Purpose: "true: the machine is not asked for credentials of AWS"},
		{Name: "GOOGLE_APPLICATION_CREDENTIALS", Purpose: "file of Google Cloud's default credentials, for backend vertex"},
		{Name: "ANTHROPIC_VERTEX_PROJECT_ID", Purpose: "project for backend vertex"},
		{Name: "CLOUD_ML_REGION", Purpose: "region for backend vertex"},
	}
}

// cloud reports whether a cloud answers instead of Anthropic's own API.
func (p *provider) cloud() bool { return p.Backend == onBedrock || p.Backend == onVertex }

// checkBackend refuses what no call could work with.
func (p *provider) checkBackend() error {
	switch {
	case p.Backend == "" || p.Backend == "anthropic":
		return nil
	case !p.cloud():
		return sdk.Fail(sdk.BadConfig, "backend is none of anthropic, bedrock and vertex", sdk.EffectNone, sdk.Fix(`set "backend": "anthropic"`))
	case p.Transport == "cli" || p.Tools != "":
		return sdk.Fail(sdk.BadConfig, "the backend "+p.Backend+" is reached by the transport api, which has no tools", sdk.EffectNone,
			sdk.Fix(`set "transport": "api" and leave tools out`))
	}
	return nil
}

// cloudHost is who is asked when no server is configured.
func (p *provider) cloudHost(region string) string {
	if p.Backend == onVertex {
		return "https://aiplatform.googleapis.com"
	}
	return "https://bedrock-runtime." + region + ".amazonaws.com"
}

// place is the region, and for Vertex AI the project.
func (p *provider) place() (region, project string, err error) {
	variable := "AWS_REGION"
	if p.Backend == onVertex {
		variable = "CLOUD_ML_REGION"
	}
	region = cmp.Or(p.Region, os.Getenv(variable))
	if region == "" && p.Backend == onVertex {
		region = "global"
	}
	if p.Backend == onVertex {
		if project = cmp.Or(p.Project, os.Getenv("ANTHROPIC_VERTEX_PROJECT_ID")); project == "" {
			return "", "", sdk.Fail(sdk.BadConfig, "Vertex AI needs a project", sdk.EffectNone,
				sdk.Fix(`set "project" in the plugin's configuration, or ANTHROPIC_VERTEX_PROJECT_ID`))
		}
	}
	return region, project, nil
}

// cloudOptions log in to a cloud, with what its own tools left on the machine.
func (p *provider) cloudOptions(ctx context.Context, client *http.Client) ([]option.RequestOption, error) {
	region, project, err := p.place()
	if err != nil {
		return nil, err
	}
	opts := []option.RequestOption{option.WithHTTPClient(client)} // before the cloud's, which wrap it
	if p.Backend == onVertex {
		creds, err := google.FindDefaultCredentials(ctx, "https://www.googleapis.com/auth/cloud-platform")
		if err != nil {
			return nil, sdk.Fail(sdk.NotLoggedIn, "there are no application default credentials for Vertex AI", sdk.Cause(err), sdk.EffectNone,
				sdk.Fix(cloudFix[onVertex]))
		}
		return append(opts, vertex.WithCredentials(ctx, region, project, creds)), nil
	}
	cfg, err := aws.LoadDefaultConfig(ctx, aws.WithRegion(region))
	if err == nil && cfg.Region == "" {
		return nil, sdk.Fail(sdk.BadConfig, "Amazon Bedrock needs a region", sdk.EffectNone, sdk.Fix(`set "region" in the plugin's configuration, or AWS_REGION`))
	}
	if err == nil && os.Getenv("AWS_BEARER_TOKEN_BEDROCK") == "" {
		_, err = cfg.Credentials.Retrieve(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return nil, sdk.Fail(sdk.NotLoggedIn, "there are no credentials of AWS", sdk.Cause(err), sdk.EffectNone, sdk.Fix(cloudFix[onBedrock]))
	}
	return append(opts, bedrock.WithConfig(cfg)), err
}

// cloudFix says how to log in.
var cloudFix = map[string]string{
	onBedrock: "`aws configure`, or put a key into AWS_BEARER_TOKEN_BEDROCK",
	onVertex:  "`gcloud auth application-default login`",
}

// classify says what an error of the client means, in a cloud in the cloud's words.
func (p *provider) classify(err error, now time.Time) *sdk.Failure {
	if _, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return sdk.Fail(sdk.AuthRejected, "Google gave no token for the default credentials", sdk.Cause(err), sdk.EffectNone, sdk.Fix(cloudFix[onVertex]))
	}
	f := classify(err, p.credentials(), now)
	var status *anthropic.Error
	if !p.cloud() || !errors.As(err, &status) || status.Response == nil {
		return f
	}
	h := status.Response.Header
	if f.UpstreamRequestID == "" {
		f.UpstreamRequestID = h.Get("X-Amzn-Requestid")
	}
	kind, _, _ := strings.Cut(h.Get("X-Amzn-Errortype"), ":")
	switch {
	case expired[kind]:
		f.Reason, f.Summary, f.Fix = sdk.AuthRejected, "AWS rejected the credentials", cloudFix[p.Backend]
	case f.Reason == sdk.RateLimited && f.RetryAfter == 0: // the clouds do not say for how long
		f.RetryAfter = cloudWait
	case f.Reason == sdk.AuthRejected:
		f.Fix = cloudFix[p.Backend]
	case f.Reason == sdk.Permission:
		f.Fix = "open the model to the account or project in the cloud's console"
	}
	return f
}

const cloudWait = 30 * time.Second

// expired are AWS's words for credentials that are not, or no longer, good.
var expired = map[string]bool{
	"ExpiredTokenException": true, "UnrecognizedClientException": true, "InvalidSignatureException": true, "IncompleteSignatureException": true,
}

// cloudHealth says where a call would go. The login was tried already; with the network
// it is tried whether the server is there.
func (p *provider) cloudHealth(ctx context.Context, deep bool) (*sdk.Health, error) {
	region, project, err := p.place()
	if err != nil {
		return nil, err
	}
	server := cmp.Or(p.server(), p.cloudHost(region))
	if deep {
		if err := httpapi.Reachable(ctx, server); err != nil {
			return nil, err
		}
	}
	return &sdk.Health{Detail: strings.TrimSpace("Claude on " + p.Backend + " at " + server + " " + project)}, nil
}
