import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lineOfField } from './field-lines.ts';
import { parseFile } from './parse.ts';
import { DEFAULT_PARSE_OPTIONS } from './parse-options.ts';

const TEXT = `# A shop.
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: other }
spec: { prefix: /other/, service: other }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata:
  name: shop
spec:
  prefix: /shop/
  service: shop
  headers: { x-a: b }
  labels:
    "my shop.a":
      - all: [remote_address]
      - path:
          - remote_address
          - generic_key: x
`;

describe('the line of a field', () => {
  const parse = (text: string) => parseFile('shop.yaml', text, DEFAULT_PARSE_OPTIONS).resources;
  const resources = parse(TEXT);
  const lineOf = (name: string, field: string) => {
    const resource = resources.find(candidate => candidate.name === name);
    assert.ok(resource !== undefined);
    return lineOfField(resource, field);
  };

  for (const [field, line] of [
    ['spec', 11],
    ['spec.prefix', 12],
    ['spec.service', 13],
    ['spec.headers.x-a', 14],
    ['spec.labels["my shop.a"][0]', 17],
    ['spec.labels["my shop.a"][1].path[1]', 20],
    ['metadata.name', 10],
  ] as const)
    test(`${field} is its own`, () => assert.equal(lineOf('shop', field), line));

  test('that is not written is that of the nearest field above it', () => {
    assert.equal(lineOf('shop', 'spec.labels.gateway[0]'), 15);
    assert.equal(lineOf('shop', 'spec.tls'), 11);
    assert.equal(lineOf('shop', 'spec.prefix_regex'), 11);
  });

  test('in a document of one line is that of the line', () => {
    assert.equal(lineOf('other', 'spec.service'), 5);
    assert.equal(lineOf('other', 'metadata'), 4);
  });

  test('costs no more than a bound, whatever a resource holds', () => {
    const limits = Array.from(
      { length: 3_000 },
      (_, at) => `    - { pattern: [{ k: v${at} }], rate: 1, unit: second }`,
    );
    const head = [
      'apiVersion: gateway.internal/v2',
      'kind: RateLimit',
      'metadata: { name: many }',
      'spec:',
      '  domain: d',
      '  limits:',
    ];
    const [many] = parse([...head, ...limits].join('\n'));
    assert.ok(many !== undefined);
    assert.equal(lineOfField(many, 'spec.limits[7]'), 14);
    assert.equal(lineOfField(many, 'spec.limits[2999]'), 6);
  });
});
