package main

import (
	"bytes"
	"embed"
	"fmt"
	"path"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The schemas of CycloneDX 1.6, as they are published (Apache License 2.0).
//
//go:embed cyclonedx/*.json
var cyclonedx embed.FS

// conforms says what is wrong with an SBOM by the schema of its format.
func conforms(sbom []byte) error {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	files, err := cyclonedx.ReadDir("cyclonedx")
	if err != nil {
		return err
	}
	const base = "http://cyclonedx.org/schema/"
	for _, f := range files {
		b, err := cyclonedx.ReadFile(path.Join("cyclonedx", f.Name()))
		if err != nil {
			return err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err == nil {
			err = c.AddResource(base+f.Name(), doc)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	schema, err := c.Compile(base + "bom-1.6.schema.json")
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(sbom))
	if err == nil {
		err = schema.Validate(doc)
	}
	if err != nil {
		return fmt.Errorf("the SBOM is not as CycloneDX 1.6 wants it: %w", err)
	}
	return nil
}
