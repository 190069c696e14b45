package blob

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// patience is how long an object may take.
const patience = time.Minute

// bucket is one of an S3-compatible store.
type bucket struct {
	c            *minio.Client
	name, prefix string
}

// openBucket takes the store's address, region and keys from where Amazon's own tools have them.
func openBucket(at string) (place, error) {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q names no bucket (fix: --blobs s3://BUCKET/PREFIX)", at)
	}
	end, err := url.Parse(cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com"))
	if err != nil || end.Host == "" {
		return nil, fmt.Errorf("the address of the store of blobs is none (fix: `export AWS_ENDPOINT_URL_S3=https://s3.example.org`)")
	}
	c, err := minio.New(end.Host, &minio.Options{Secure: end.Scheme != "http", Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		Creds: credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{}})})
	if err != nil {
		return nil, err
	}
	return bucket{c, u.Host, strings.Trim(u.Path, "/")}, nil
}

func (b bucket) key(name string) string { return path.Join(b.prefix, name[:2], name) }

func (b bucket) has(name string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := b.c.StatObject(ctx, b.name, b.key(name), minio.StatObjectOptions{})
	return err == nil
}

func (b bucket) put(name string, text []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := b.c.PutObject(ctx, b.name, b.key(name), bytes.NewReader(text), int64(len(text)), minio.PutObjectOptions{ContentType: "application/octet-stream"})
	return err
}

func (b bucket) get(name string, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	o, err := b.c.GetObject(ctx, b.name, b.key(name), minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return io.ReadAll(io.LimitReader(o, most+1))
}
