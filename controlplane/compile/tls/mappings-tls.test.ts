import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER, SERVED_SECRET } from '#protos/type-url.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { compile } from '../compile.ts';
import type { Compiled } from '../compiled.ts';
import { Memo } from '../memo.ts';
import { EDGE, SDS } from '../node-groups.ts';
import type { CompileOptions } from '../options.ts';
import { randomHosts } from '../testing/random-hosts.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { type Chances, chancesOf } from '../testing/seeded-pick.ts';
import { FUZZ_OPTIONS } from '../testing/written.ts';

const document = (kind: string, name: string, spec: object) => ({
  ...{ apiVersion: 'gateway.internal/v2', kind, metadata: { name }, spec },
});
const mapping = (name: string, spec: object) =>
  document('Mapping', name, { prefix: `/${name}/`, service: 'shop', ...spec });
const context = (name: string, spec: object = {}) => document('TLSContext', name, spec);
const secret = (name: string, key = 'a key') => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name } },
  stringData: { 'tls.crt': 'a certificate', 'tls.key': key, 'ca.crt': 'authorities' },
});
const BOTH = { secret: 'pair', ca_secret: 'pair' };

const setOf = (...documents: readonly object[]): ResourceSet =>
  resourceSetOf(documents.map(each => JSON.stringify(each)).join('\n---\n')).resources;
const edge = (resources: ResourceSet, memo = new Memo(), options: Partial<CompileOptions> = {}) =>
  compile(resources, EDGE, { ...FUZZ_OPTIONS, ...options, memo });

/** Returns the clusters of the operator's service, by name. */
const clusters = ({ resources }: Compiled): ReadonlyMap<string, JsonObject> =>
  new Map(
    (resources.get(CLUSTER) ?? [])
      .filter(({ name }) => name.startsWith('shop'))
      .map(({ name, json }) => [name, json]),
  );
const names = (compiled: Compiled) => [...clusters(compiled).keys()];

test('a service that is asked in one way keeps its plain name, by whatever TLS that is', () => {
  for (const tls of [false, true, 'a', { name: 'a' }])
    assert.deepEqual(
      names(edge(setOf(context('a'), mapping('x', { tls })))),
      ['shop'],
      String(tls),
    );
});

test('Mappings share a cluster by their TLSContext, and others have clusters of their own', () => {
  const contexts = [context('a', BOTH), context('b', BOTH), secret('pair')];
  const same = [
    mapping('1', { tls: 'a' }),
    mapping('2', { tls: { name: 'a', namespace: 'default' } }),
    mapping('3', { tls: 'a', service: 'https://shop:443' }),
  ];
  assert.deepEqual(names(edge(setOf(...contexts, ...same))), ['shop']);
  const all = names(
    edge(setOf(...contexts, ...same, mapping('4', { tls: 'b' }), mapping('5', { tls: true }))),
  );
  assert.equal(all.length, 3);
  assert.ok(all.every(name => /^shop~[0-9a-f]{16}$/.test(name)));
  const fewer = names(edge(setOf(...contexts, ...same, mapping('5', { tls: true }))));
  assert.ok(
    fewer.every(name => all.includes(name)),
    'one that goes renames no other',
  );
});

test('what a TLSContext says changes its clusters only, and what a Secret holds changes none', () => {
  const memo = new Memo();
  const set = (spec: object, key?: string) =>
    setOf(
      secret('pair', key),
      context('a', spec),
      mapping('x', { tls: 'a' }),
      mapping('y', { tls: true }),
    );
  const [first, again, other] = [
    set(BOTH),
    set(BOTH, 'another key'),
    set({ ...BOTH, sni: 'b.test' }),
  ].map(resources => clusters(edge(resources, memo)));
  assert.deepEqual(again, first);
  const changed = [...(first ?? [])].filter(
    ([name, json]) => JSON.stringify(other?.get(name)) !== JSON.stringify(json),
  );
  assert.equal(changed.length, 1);
  assert.equal(other?.size, first?.size);
});

test('a TLSContext that changes is not forgotten, where the Mapping is the very same', () => {
  const memo = new Memo();
  const one = setOf(secret('pair'), context('a', BOTH), mapping('x', { tls: 'a' }));
  const { tlsContexts } = setOf(context('a', { ...BOTH, min_tls_version: 'v1.3' }));
  assert.notDeepEqual(clusters(edge({ ...one, tlsContexts }, memo)), clusters(edge(one, memo)));
  assert.deepEqual(names(edge({ ...one, tlsContexts: [] }, memo)), [], 'nor one that goes');
});

const HOP = { hopTls: true };

for (const [spec, warned] of [
  [{ resolver: 'sds', tls: 'a' }, true],
  [{ resolver: 'sds', tls: true }, true],
  [{ resolver: 'sds', tls: 'a', hop_tls: false }, false],
  [{ tls: 'a' }, false],
  [{ resolver: 'sds' }, false],
] as const) {
  test(`with hop TLS ${JSON.stringify(spec)} ${warned ? 'has a warning' : 'is right'}`, () => {
    const resources = setOf(context('a'), mapping('x', spec));
    const warnings = (options: Partial<CompileOptions>) =>
      edge(resources, new Memo(), options).problems.filter(({ message }) =>
        message.includes('HOP_TLS'),
      );
    assert.equal(warnings(HOP).length, warned ? 1 : 0);
    assert.deepEqual(warnings({}), []);
  });
}

test('a secret is served to each node group whose Mappings use it, and to no other', () => {
  const resources = setOf(
    ...[secret('pair'), secret('other'), context('a', BOTH), context('b', { secret: 'other' })],
    mapping('1', { tls: 'a', node_group: 'side' }),
    mapping('2', { tls: 'a' }),
    mapping('3', { tls: 'b', node_group: 'side' }),
    mapping('4', { tls: 'b', node_group: 'sds' }),
    mapping('5', { tls: 'b', host_redirect: true }),
  );
  const served = compile(resources, SDS, FUZZ_OPTIONS).resources.get(SERVED_SECRET) ?? [];
  assert.deepEqual(
    served.map(({ json, name }) => [name, json.node_groups]),
    [
      ['authorities/default/pair', ['edge', 'side']],
      ['key-pair/default/other', ['side']],
      ['key-pair/default/pair', ['edge', 'side']],
    ],
  );
});

type Context = {
  sni?: string;
  common_tls_context: {
    tls_certificate_sds_secret_configs?: [{ name: string }];
    validation_context?: Validation & { trusted_ca?: JsonObject };
    combined_validation_context?: {
      default_validation_context: Validation;
      validation_context_sds_secret_config: { name: string };
    };
  };
};
type Validation = { match_typed_subject_alt_names: readonly JsonObject[] };

const errors = ({ problems }: Compiled) =>
  problems
    .filter(({ severity }) => severity === 'error')
    .map(({ field, name }) => `${name} ${field}`);

const DECLARED = document('ProxyConfig', 'edge', {
  node_group: 'edge',
  clusters: [{ name: 'declared', type: 'static', hosts: [{ url: 'tcp://127.0.0.1:9000' }] }],
});

function randomMapping(index: number, { chance, pick }: Chances): object {
  return mapping(`m${index}`, {
    prefix: pick(['/a', '/b']),
    service: pick([
      'shop',
      'http://shop:80',
      'https://shop',
      '10.0.0.1',
      'declared',
      'a.shop:8443',
    ]),
    tls: pick([true, 'c0', 'c2', { name: 'h0-context' }, 'none']),
    resolver: pick(['dns', 'sds']),
    ...(chance(0.2) ? { hop_tls: false } : {}),
    ...(chance(0.2) ? { grpc: true } : {}),
    ...(chance(0.2) ? { shadow: true } : {}),
  });
}

test('whatever is written, a service with tls is asked by TLS that proves a name, with secrets that are served, or not at all', () => {
  const seen = { asked: 0, closed: 0 };
  for (let seed = 0; seed < 60; seed += 1) {
    const chances = chancesOf(seed);
    const mappings = Array.from({ length: 6 }, (_, index) => randomMapping(index, chances));
    const resources = setOf(DECLARED, ...mappings, ...randomHosts(chances).documents);
    assert.equal(resources.mappings.length + resources.proxyConfigs.length, 7);
    const compiled = edge(resources, new Memo(), { hopTls: chances.chance(0.5) });
    const served = compile(resources, SDS, FUZZ_OPTIONS).resources.get(SERVED_SECRET) ?? [];
    const allowed = new Set(served.map(({ name }) => name));
    for (const { id, name, spec } of resources.mappings) {
      const what = `seed ${seed}, ${id}`;
      const own =
        compiled.resources.get(CLUSTER)?.filter(({ origins }) => origins.includes(id)) ?? [];
      const context =
        typeof spec.tls === 'object' ? `TLSContext/default/${spec.tls.name}` : undefined;
      const isClosed = errors(compiled).includes(`${name} spec.tls`);
      assert.equal(own.length, isClosed ? 0 : 1, what);
      seen[isClosed ? 'closed' : 'asked'] += 1;
      for (const { json, origins } of own) {
        if (context !== undefined) assert.ok(origins.includes(context), what);
        assertVerified(json, context !== undefined, allowed, what);
      }
    }
  }
  assert.ok(Math.min(seen.asked, seen.closed) > 50, JSON.stringify(seen));
});

function assertVerified(
  cluster: JsonObject,
  byContext: boolean,
  allowed: ReadonlySet<string>,
  what: string,
): void {
  const socket = cluster.transport_socket as { typed_config: Context } | undefined;
  const tls = socket?.typed_config.common_tls_context;
  const { combined_validation_context: combined, validation_context: plain } = tls ?? {};
  const validation = plain ?? combined?.default_validation_context;
  assert.equal(validation?.match_typed_subject_alt_names.length, 1, what);
  const authorities = combined?.validation_context_sds_secret_config.name;
  assert.ok(
    plain?.trusted_ca !== undefined || (authorities !== undefined && allowed.has(authorities)),
    what,
  );
  const [pair] = tls?.tls_certificate_sds_secret_configs ?? [];
  assert.ok(pair === undefined || (byContext && allowed.has(pair.name)), what);
}
