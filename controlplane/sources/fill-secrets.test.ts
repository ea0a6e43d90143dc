/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the forms that operators write */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import type { Resource } from '#resources/resource.ts';
import type { SecretPlace } from '#resources/words/secret-value.ts';
import { secretFiller } from './fill-secrets.ts';
import type { FoundValue } from './secret-places.ts';

const FILE = parseFile(
  'my/login.yaml',
  `apiVersion: v1
kind: Secret
metadata: { name: plain }
stringData: { a: b }
---
apiVersion: v1
kind: Secret
metadata: { name: login }
stringData:
  own: literal
  a.b: \${env:A_SECRET}
  c: \${file:c}
`,
  DEFAULT_PARSE_OPTIONS,
);

function values(resource: Resource | undefined): object {
  assert.ok(resource?.kind === 'Secret');
  const entries = Object.entries(resource.spec.stringData);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Buffer.from(value.reveal()).toString()]),
  );
}

function from(known: Readonly<Record<string, string>>) {
  return (place: SecretPlace): FoundValue => {
    const text = known[JSON.stringify(place)];
    return text === undefined ? { error: 'it is gone' } : { bytes: Buffer.from(text) };
  };
}

const A = JSON.stringify({ env: 'A_SECRET' });
const C = JSON.stringify({ file: 'c' });

test('values from elsewhere stand in the Secret beside its own', () => {
  const filled = secretFiller(from({ [A]: 'one', [C]: 'two' }))(FILE);
  assert.deepEqual(filled.problems, []);
  assert.deepEqual(filled.resources[0], FILE.resources[0]);
  assert.deepEqual(values(filled.resources[1]), { own: 'literal', 'a.b': 'one', c: 'two' });
  assert.doesNotMatch(
    JSON.stringify(filled) + inspect(filled, { depth: 9, showHidden: true }),
    /\bone\b|\btwo\b/,
  );
});

test('the same values give the same object, and other values another hash', () => {
  const known = { [A]: 'one', [C]: 'two' };
  const fill = secretFiller(place => from(known)(place));
  const [first, again] = [fill(FILE), fill(FILE)].map(({ resources }) => resources[1]);
  assert.equal(first, again);
  known[C] = 'three';
  const [, other] = fill(FILE).resources;
  assert.notEqual(other?.hash, first?.hash);
  assert.equal(other?.writtenHash, first?.writtenHash);
  assert.equal(other?.writtenHash, FILE.resources[1]?.hash);
});

test('a Secret without one of its values is rejected, with the line and the place of each', () => {
  const filled: ParsedFile = secretFiller(from({ [A]: 'one' }))(FILE);
  assert.deepEqual(filled.resources, FILE.resources.slice(0, 1));
  assert.deepEqual(filled.rejected, [
    {
      id: 'Secret/default/login',
      kind: 'Secret',
      name: 'login',
      namespace: 'default',
      source: { file: 'my/login.yaml', line: 6 },
    },
  ]);
  assert.deepEqual(filled.problems, [
    {
      severity: 'error',
      kind: 'Secret',
      namespace: 'default',
      name: 'login',
      file: 'my/login.yaml',
      line: 12,
      field: 'stringData.c',
      message: 'it is gone',
    },
  ]);
  assert.equal(secretFiller(from({}))(FILE).problems[0]?.field, 'stringData["a.b"]');
});

test('a file without such a Secret is the same object', () => {
  const other = parseFile('a.yaml', 'kind: Deployment', DEFAULT_PARSE_OPTIONS);
  assert.equal(secretFiller(from({}))(other), other);
});
