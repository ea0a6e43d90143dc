// Package conformance runs the official conformance suite of Gateway API.
package conformance

import (
	"encoding/json"
	"os"
	"testing"

	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
)

// line is what is written for each test at first, without a result, and again when it has ended.
type line struct {
	Name     string   `json:"name"`
	Features []string `json:"features"`
	Result   string   `json:"result,omitempty"`
}

// TestConformance runs the suite by its own flags. File descriptor 3 gets one line of JSON for each
// test of the suite, and one for each that has ended.
func TestConformance(t *testing.T) {
	results := os.NewFile(3, "results")
	write := func(test suite.ConformanceTest, result string) {
		features := []string{}
		for _, feature := range test.Features {
			features = append(features, string(feature))
		}
		text, _ := json.Marshal(line{test.ShortName, features, result})
		_, _ = results.Write(append(text, '\n'))
	}
	for _, test := range tests.ConformanceTests {
		write(test, "")
	}
	options := conformance.DefaultOptions(t)
	options.Hook = func(t *testing.T, test suite.ConformanceTest, _ *suite.ConformanceTestSuite) {
		switch {
		case t.Failed():
			write(test, "failed")
		case t.Skipped():
			write(test, "skipped")
		default:
			write(test, "passed")
		}
	}
	conformance.RunConformanceWithOptions(t, options)
}
