import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isKubernetesObject, type KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { resourcePath } from '#kubernetes/resource.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { makeNamespace } from '#kubernetes/testing/service-account.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { Parser, parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { objectParser } from '../object-parser.ts';
import {
  applyGatewayApi,
  gatewayApiDocuments,
  gatewayApiPlural,
  whyNoGatewayApi,
} from '../testing/gateway-api.ts';

const SKIP = whyNoKubeApiserver() ?? whyNoGatewayApi() ?? false;

describe('a document of Gateway API', { skip: SKIP }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
    await applyGatewayApi(api.admin);
    for (const namespace of ['shop', 'other']) await makeNamespace(api.admin, namespace);
  });
  after(() => api?.remove());

  /** The object as the server would keep it, or why it would not. Nothing is stored. */
  async function wouldKeep(document: KubernetesObject): Promise<KubernetesObject | string> {
    const { apiVersion = '', kind = '', metadata } = document;
    const [group = '', version = ''] = apiVersion.split('/');
    const namespace = kind === 'GatewayClass' ? undefined : (metadata.namespace ?? 'default');
    const path = resourcePath({ group, version, plural: gatewayApiPlural(kind), namespace });
    const query = { dryRun: 'All' };
    const { body } = await api.admin.call({ method: 'POST', path, query, body: document });
    return isKubernetesObject(body) ? body : (body as { message: string }).message;
  }

  /** The parser takes what the server keeps, with the same meaning, and rejects all else. */
  async function check(document: KubernetesObject): Promise<boolean> {
    const kept = await wouldKeep(document);
    const text = JSON.stringify(document);
    const file = parseFile('a.yaml', text, DEFAULT_PARSE_OPTIONS);
    if (typeof kept === 'string') {
      assert.deepEqual(file.resources, [], `the server refuses what is taken: ${kept}\n${text}`);
      return false;
    }
    const read = objectParser('a.yaml', new Parser(DEFAULT_PARSE_OPTIONS)).parse(kept);
    const said = file.problems.map(({ field, message }) => `${field}: ${message}`).join('\n');
    if (STRICTER.test(said)) return false;
    assert.equal(file.resources.length, 1, `the server keeps what is rejected: ${said}\n${text}`);
    assert.deepEqual(read.resources[0]?.spec, file.resources[0]?.spec, text);
    return true;
  }

  for (const document of gatewayApiDocuments())
    test(`means what the server keeps: ${document.kind} ${document.metadata.name}`, async () => {
      assert.equal(await check(document), true);
    });

  for (const seed of [1, 2])
    test(`is taken when the server takes it, with something odd in it (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const documents = gatewayApiDocuments();
      const odd = Array.from({ length: 200 }, () => {
        const document = documents[Math.floor(random() * documents.length)];
        assert.ok(document !== undefined);
        return { ...document, spec: disturb(structuredClone(document.spec), random) };
      });
      let kept = 0;
      for (const document of odd) if (await check(document)) kept += 1;
      assert.ok(kept > 20 && kept < 180, `${kept} of ${odd.length} were kept`);
    });
});

/**
 * A proxy knows no more expressions than RE2. A null in a map may be an oversight. The definition
 * of ListenerSet lacks a rule that the one of Gateway has.
 */
const STRICTER =
  /regular expression|must be a string, not nothing|`filters` are only for `HTTP` and `HTTPS`/;

const ODD: readonly unknown[] = [
  null,
  0,
  1,
  1.5,
  -1,
  70_000,
  true,
  '',
  'x',
  'X',
  '/a//b',
  '/a/%2F',
  '/a/..',
  '*',
  '*.x',
  '10.0.0.1',
  '1h30m',
  'HTTP',
  'HTTPS',
  'TLS',
  'TCP',
  'Terminate',
  'Exact',
  'RegularExpression',
  'RequestRedirect',
  'a/b',
  [],
  {},
  ['a'],
  [{}],
  { a: 'b' },
];

/** One value anywhere in it is another, is missing or stands twice, or one is nobody's. */
function disturb(value: unknown, random: () => number): unknown {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  if (typeof value !== 'object' || value === null || random() < 0.1) return pick(ODD);
  if (Array.isArray(value)) {
    const at = Math.floor(random() * value.length);
    if (random() < 0.15) return [...value, structuredClone(value[at])];
    return value.map((item, index) => (index === at ? disturb(item, random) : item));
  }
  const key = pick(Object.keys(value)) ?? 'unknown';
  const way = random();
  const entries = Object.entries(value);
  if (way < 0.05) return { ...value, [`x${key}`]: pick(ODD) };
  if (way < 0.15) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === key ? disturb(item, random) : item]),
  );
}
