package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const module = "github.com/paxiom/relay"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen PROTO_ROOT OUT_DIR")
		os.Exit(3)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	files, err := protoFiles(root)
	if err != nil {
		return err
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(context.Background(), files...)
	if err != nil {
		return err
	}
	req := &pluginpb.CodeGeneratorRequest{FileToGenerate: files, Parameter: proto.String("module=" + module)}
	seen := map[string]bool{}
	for _, f := range compiled {
		addWithImports(req, seen, f)
	}
	for _, tool := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := generate(tool, req, out); err != nil {
			return fmt.Errorf("%s: %w", tool, err)
		}
	}
	return nil
}

// protoFiles lists every .proto below root, relative to it, in a stable order.
func protoFiles(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(p) == ".proto" {
			rel, relErr := filepath.Rel(root, p)
			files, err = append(files, filepath.ToSlash(rel)), relErr
		}
		return err
	})
	sort.Strings(files)
	return files, err
}

// addWithImports adds a file after everything that it imports, as the generators want it.
func addWithImports(req *pluginpb.CodeGeneratorRequest, seen map[string]bool, f protoreflect.FileDescriptor) {
	if seen[f.Path()] {
		return
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		addWithImports(req, seen, f.Imports().Get(i).FileDescriptor)
	}
	req.ProtoFile = append(req.ProtoFile, toProto(f))
}

// toProto keeps the source comments where the compiler has them.
func toProto(f protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	if p, ok := f.(interface {
		FileDescriptorProto() *descriptorpb.FileDescriptorProto
	}); ok {
		return p.FileDescriptorProto()
	}
	return protodesc.ToFileDescriptorProto(f)
}

func generate(tool string, req *pluginpb.CodeGeneratorRequest, out string) error {
	in, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", tool)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return err
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(answer, &resp); err != nil {
		return err
	}
	if resp.Error != nil {
		return fmt.Errorf("%s", *resp.Error)
	}
	for _, f := range resp.File {
		p := filepath.Join(out, f.GetName())
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
