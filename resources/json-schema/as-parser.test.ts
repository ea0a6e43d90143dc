import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { randomDocuments } from '#controlplane/compile/testing/random-documents.ts';
import { cases } from '#protos/testing/cases.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { DOCUMENTED_KINDS } from '#resources/kinds/known-kinds.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { disturb } from '#resources/testing/disturb.ts';
import { toldProblems } from '#resources/testing/told-problems.ts';
import { splitDocuments } from '#resources/yaml/document-text.ts';
import { readYaml } from '#resources/yaml/yaml-value.ts';
import { bundledSchema, kindSchema } from './kind-schema.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FILES = globSync(
  [
    'readme/examples/*.yaml',
    'envoy/{resources,gateway-api}/*.yaml',
    'deploy/compose/resources/*.yaml',
    'deploy/kubernetes/demo/resources.yaml',
    'controlplane/compile/testdata/**/*.yaml',
    'resources/kinds/gateway-api/testdata/valid.yaml',
  ],
  { cwd: ROOT },
).filter(name => !name.endsWith('.out.yaml'));

/** How many examples get something odd. */
const ODD = cases({ all: 400, quick: 50 });

type Document = Readonly<Record<string, unknown>>;

const DOCUMENTS: readonly Document[] = FILES.flatMap(name =>
  splitDocuments(readFileSync(join(ROOT, name), 'utf8')).flatMap(({ text }) => {
    const { read } = readYaml(text);
    return 'value' in read && typeof read.value === 'object' && read.value !== null
      ? [read.value as Document]
      : [];
  }),
);

const ajv = new Ajv({ strict: false, allErrors: false });
const accepts = ajv.compile(bundledSchema());

/**
 * What a schema knows: fields, kinds, and words of enumerations. The text form of an
 * `outlier_detection` holds JSON, so its fields are checked by code.
 */
const KNOWABLE = /^unknown field |^`.*` must be one of `|^unknown kind /;
const CHECKED_BY_CODE = /^spec\.outlier_detection\./;

/** Returns whether it is right, as the schema and the parser both say. */
function check(document: Document): 'right' | 'wrong' {
  const shown = JSON.stringify(document);
  const file = parseFile('a.yaml', shown, DEFAULT_PARSE_OPTIONS);
  const isIgnored = file.resources.length + file.rejected.length + file.problems.length === 0;
  const problems = toldProblems(file);
  if (accepts(document)) {
    const missed = problems.filter(
      ({ field = '', message }) => KNOWABLE.test(message) && !CHECKED_BY_CODE.test(field),
    );
    assert.deepEqual(missed, [], `the schema accepts ${shown}`);
    return 'right';
  }
  const why = JSON.stringify(accepts.errors?.[0]);
  // What is for another gateway may be anything.
  if (isIgnored) return 'wrong';
  // A restriction that is not served is told when it is compiled, in any case of its letters.
  const told = [...problems, ...file.resources.flatMap(({ unserved = [] }) => unserved)];
  assert.notDeepEqual(told, [], `the schema refuses what has no Problem: ${why}\n${shown}`);
  return 'wrong';
}

describe('the schema for editors', () => {
  test('accepts every example and refuses what the parser has a Problem with', () => {
    const results = DOCUMENTS.map(check);
    assert.ok(results.filter(result => result === 'right').length > 150);
  });

  test('knows every kind as the schema of the kind does', () => {
    for (const kind of DOCUMENTED_KINDS) {
      const schema = new Ajv({ strict: false }).compile(kindSchema(kind));
      const own = DOCUMENTS.filter(document => document.kind === kind);
      assert.ok(own.length > 0, kind);
      for (const document of own) assert.equal(schema(document), accepts(document), kind);
    }
  });

  for (const seed of [31, 32])
    test(`is right about random resources (seed ${seed})`, () => {
      const results = (randomDocuments(seed, cases({ all: 150, quick: 25 })) as Document[]).map(
        check,
      );
      assert.ok(results.includes('right') && results.includes('wrong'));
    });

  for (const seed of [41, 42])
    test(`is right about examples with something odd in them (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const results = Array.from({ length: ODD }, () => {
        const document = DOCUMENTS[Math.floor(random() * DOCUMENTS.length)] as Document;
        return check({ ...document, spec: disturb(structuredClone(document.spec), random) });
      });
      const right = results.filter(result => result === 'right').length;
      assert.ok(right > ODD / 20 && right < ODD - ODD / 20, `${right} are right`);
    });

  const odd: readonly (readonly [string, unknown, boolean])[] = [
    ['an empty document', null, true],
    ['a Deployment', { apiVersion: 'apps/v1', kind: 'Deployment', spec: { x: 1 } }, true],
    ['a ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 1 } }, true],
    ['a kind that is misspelt', { apiVersion: 'gateway.internal/v2', kind: 'Maping' }, false],
    ['a document without a kind', { apiVersion: 'gateway.internal/v2' }, false],
    ['an old version', { apiVersion: 'getambassador.io/v1', kind: 'Mapping' }, false],
    [
      'a list with a mistake in it',
      {
        apiVersion: 'v1',
        kind: 'List',
        items: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, strngData: {} }],
      },
      false,
    ],
  ];
  for (const [what, document, right] of odd)
    test(`${right ? 'accepts' : 'refuses'} ${what}`, () =>
      assert.equal(accepts(document), right, JSON.stringify(accepts.errors)));
});
