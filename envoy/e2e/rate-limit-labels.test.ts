import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  document,
  type LimitedSystem,
  labelled,
  limits,
  patientService,
  type Services,
  startLimited,
} from '#ratelimit-service/e2e/limited-system.ts';
import type { RequestOptions } from './request.ts';
import { until } from './until.ts';

/** Shows which limits a request has met, in the order of its label groups. */
const NAMES =
  '{{ range $index, $status := .RateLimitResponse.Statuses }}{{ if $index }} {{ end }}{{ $status.CurrentLimit.Name }}{{ end }}';
/** Far from being exceeded, so that no window's end matters. */
const WIDE = {
  rate: 1_000_000,
  unit: 'hour',
  injectResponseHeaders: [{ name: 'X-Limits', value: NAMES }],
};

type Group = readonly unknown[];
type Case = RequestOptions & {
  readonly row: string;
  /**
   * The label groups of the Mapping, each after a label `{ generic_key: <number of the case> }`.
   */
  readonly groups: readonly Group[];
  /** Patterns by limit name, after the same label. */
  readonly patterns: Readonly<Record<string, readonly object[]>>;
  /** The names of the limits that the request meets. */
  readonly meets: string;
};

const UPSTREAM = 'the upstream';
/** Written as `generic_key`. The documents have one key twice in a map. */
const AGAIN = 'generic_key_again';
const HOST = { host: { header: 'Host', omit_if_not_present: true } };
const TENANT = { tenant: { header: 'X-Tenant', omit_if_not_present: true } };

const CASES: readonly Case[] = [
  {
    row: 'source_cluster is the name of the node group',
    groups: [['source_cluster']],
    patterns: { edge: [{ source_cluster: 'edge' }] },
    meets: 'edge',
  },
  {
    row: "destination_cluster is the name of the Mapping's cluster",
    groups: [['destination_cluster']],
    patterns: { upstream: [{ destination_cluster: UPSTREAM }] },
    meets: 'upstream',
  },
  {
    row: 'a header is a label with the key that the specifier names',
    groups: [[TENANT]],
    patterns: { acme: [{ tenant: 'acme' }] },
    headers: { 'x-TENANT': 'acme' },
    meets: 'acme',
  },
  {
    row: 'the header Host is :authority, without port and dot',
    groups: [[HOST]],
    patterns: { shop: [{ host: 'shop.example.com' }] },
    headers: { Host: 'shop.example.com.:8080' },
    meets: 'shop',
  },
  {
    row: 'a host is the same in any letter case',
    groups: [[HOST], ['any', HOST]],
    patterns: {
      shop: [{ host: 'shop.example.com' }],
      any: [{ generic_key: 'any' }, { host: 'Shop.example.com' }],
    },
    headers: { Host: 'SHOP.Example.com' },
    meets: 'shop any',
  },
  {
    row: 'the header :method is the request method',
    groups: [[{ method: { header: ':method', omit_if_not_present: true } }]],
    patterns: { put: [{ method: 'PUT' }], get: [{ method: 'GET' }] },
    method: 'PUT',
    meets: 'put',
  },
  {
    row: 'remote_address is the address of the client, whatever it says in X-Forwarded-For',
    groups: [['remote_address']],
    patterns: { client: [{ remote_address: '127.0.0.1' }] },
    headers: { 'x-forwarded-for': '203.0.113.9' },
    meets: 'client',
  },
  {
    row: 'generic_key has the value that the specifier says',
    groups: [[{ generic_key: 'remote_address' }]],
    patterns: { literal: [{ generic_key: 'remote_address' }] },
    meets: 'literal',
  },
  {
    row: 'any other bare string is a generic_key',
    groups: [['a bare string: 100 %, "%REQ(:path)%"']],
    patterns: { bare: [{ generic_key: 'a bare string: 100 %, "%REQ(:path)%"' }] },
    meets: 'bare',
  },
  {
    row: 'a header that is missing drops its group only',
    groups: [['before', TENANT], ['alone'], [TENANT, 'after']],
    patterns: {
      before: [{ generic_key: 'before' }],
      alone: [{ generic_key: 'alone' }],
      after: [{ generic_key: 'after' }],
    },
    meets: 'alone',
  },
  {
    row: 'an empty header counts as set',
    groups: [[TENANT, 'after']],
    patterns: { set: [{ tenant: '' }, { generic_key: 'after' }] },
    headers: { 'x-tenant': '' },
    meets: 'set',
  },
  {
    row: 'of a repeated header the first counts',
    groups: [[TENANT]],
    patterns: { first: [{ tenant: 'one' }], other: [{ tenant: '*' }] },
    headers: { 'x-tenant': ['one', 'two'] },
    meets: 'first',
  },
  {
    row: 'every group has its limit',
    groups: [['a'], ['b', TENANT], ['c']],
    patterns: { b: [{ generic_key: 'b' }, { tenant: '*' }], c: [{ generic_key: 'c' }] },
    headers: { 'x-tenant': 'acme' },
    meets: 'b c',
  },
  {
    row: 'rule 1: the group starts with the labels of the pattern, in their order',
    groups: [['a', 'b', 'c'], ['b', 'a'], ['a'], ['x', 'a', 'b']],
    patterns: { 'a b': [{ generic_key: 'a' }, { generic_key: 'b' }] },
    meets: 'a b',
  },
  {
    row: 'rule 2: an empty value and * check the key only',
    groups: [
      ['a', TENANT],
      ['b', TENANT],
      ['c', 'not a tenant'],
    ],
    patterns: {
      empty: [{ generic_key: 'a' }, { tenant: '' }],
      star: [{ generic_key: 'b' }, { tenant: '*' }],
      none: [{ generic_key: 'c' }, { tenant: '*' }],
    },
    headers: { 'x-tenant': 'acme' },
    meets: 'empty star',
  },
  {
    row: 'rule 3: an item of several pairs matches by any of them',
    groups: [['a'], ['b'], [TENANT], ['c']],
    patterns: { any: [{ generic_key: 'a', [AGAIN]: 'b', tenant: 'acme' }] },
    headers: { 'x-tenant': 'acme' },
    meets: 'any any any',
  },
  {
    row: 'rule 4: the longest pattern wins',
    groups: [['a', 'b', 'c']],
    patterns: {
      short: [{ generic_key: 'a' }],
      long: [{ generic_key: '*' }, { generic_key: 'b' }],
      longer: [{ generic_key: '*' }, { generic_key: '*' }, { generic_key: 'x' }],
    },
    meets: 'long',
  },
];

const CANARY = {
  prefix: '/canary/',
  labels: { gateway: [{ to: ['canary', 'destination_cluster'] }] },
};

function resources({ rateLimit, upstream }: Services): Record<string, string> {
  const mapping = (name: string, spec: object) =>
    document('Mapping', name, { prefix: `/${name}/`, service: upstream, ...spec });
  const cases = CASES.map(({ groups, patterns }, at) => {
    const number = `case ${at}`;
    const list = Object.entries(patterns).map(([name, pattern]) => {
      const ofUpstream = pattern.map(item =>
        JSON.parse(JSON.stringify(item).replace(UPSTREAM, upstream)),
      );
      return { ...WIDE, name, pattern: [{ generic_key: number }, ...ofUpstream] };
    });
    return (
      labelled(`${at}`, upstream, ...groups.map(group => [number, ...group])) +
      limits(`case-${at}`, list)
    );
  });
  const localhost = upstream.replace('127.0.0.1', 'localhost');
  return {
    'service.yaml': patientService(rateLimit),
    'cases.yaml': cases.join('').replaceAll(AGAIN, 'generic_key'),
    'more.yaml': [
      document('Mapping', 'canary-old', { ...CANARY, service: upstream }),
      document('Mapping', 'canary-new', { ...CANARY, service: localhost, weight: 50 }),
      limits('canary', [
        {
          ...WIDE,
          name: 'old',
          pattern: [{ generic_key: 'canary' }, { destination_cluster: upstream }],
        },
        {
          ...WIDE,
          name: 'new',
          pattern: [{ generic_key: 'canary' }, { destination_cluster: localhost }],
        },
      ]),
      labelled('twofold', upstream, ['twofold']),
      limits('one', [{ ...WIDE, name: 'hourly', pattern: [{ generic_key: 'twofold' }] }]),
      limits('two', [
        { ...WIDE, name: 'daily', unit: 'day', pattern: [{ generic_key: 'twofold' }] },
      ]),
      labelled('any', upstream, ['open'], ['closed', TENANT], ['open']),
      limits('any', [
        { ...WIDE, name: 'open', pattern: [{ generic_key: 'open' }] },
        { ...WIDE, name: 'closed', pattern: [{ generic_key: 'closed' }], rate: 0 },
      ]),
      mapping('plain', {}),
      mapping('elsewhere', { labels: { other: [{ g: ['elsewhere'] }] } }),
      labelled('own', upstream, ['own'], [TENANT]),
    ].join(''),
  };
}

/**
 * Limits of the default labels. These stand before each group of a Mapping, and without one they
 * are a group of their own.
 */
const DEFAULTS = [
  document('Module', 'gateway', {
    config: { default_labels: { gateway: { defaults: ['every', 'remote_address'] } } },
  }),
  limits('defaults', [
    {
      ...WIDE,
      name: 'default',
      pattern: [{ generic_key: 'every' }, { remote_address: '127.0.0.1' }],
    },
    {
      ...WIDE,
      name: 'prepended',
      pattern: [{ generic_key: 'every' }, { remote_address: '*' }, { generic_key: 'own' }],
    },
    {
      ...WIDE,
      name: 'tenant',
      pattern: [{ generic_key: 'every' }, { remote_address: '*' }, { tenant: '*' }],
    },
    {
      ...WIDE,
      name: 'forwarded',
      pattern: [{ generic_key: 'every' }, { remote_address: '203.0.113.9' }],
    },
    {
      ...WIDE,
      name: 'before it',
      pattern: [{ generic_key: 'every' }, { remote_address: '203.0.113.7' }],
    },
  ]),
].join('');

describe('a request through the edge', () => {
  let system: LimitedSystem;
  before(async () => {
    system = await startLimited(resources);
  });
  after(() => system.stop());

  const met = async (path: string, options: RequestOptions = {}) =>
    (await system.ask(path, options)).headers['x-limits'] ?? '';

  for (const [at, { meets, row, ...options }] of CASES.entries()) {
    test(`has its labels: ${row}`, async () => {
      assert.equal(await met(`/${at}/`, options), meets);
    });
  }

  test('is labelled with the cluster of the canary Mapping that it is routed to', async () => {
    const seen = new Set<unknown>();
    await until(async () => seen.add(await met('/canary/')).size === 2 || undefined);
    assert.deepEqual([...seen].sort(), ['new', 'old']);
  });

  test('meets the limits of all resources', async () => {
    assert.equal(await met('/twofold/'), 'hourly daily');
  });

  test('is refused when any of its groups hits its limit (rule 5), and only then', async () => {
    assert.equal(await system.statusOf('/any/'), 200);
    const { headers, status } = await system.ask('/any/', { headers: { 'x-tenant': 'acme' } });
    assert.deepEqual([status, headers['x-limits']], [429, 'open closed open']);
  });

  test('without labels meets no limit', async () => {
    const { headers, status } = await system.ask('/plain/');
    assert.deepEqual([status, headers['x-limits']], [200, undefined]);
  });

  test('has the default labels before each group, or in a group of their own', async () => {
    system.write('defaults.yaml', DEFAULTS);
    await until(async () => (await met('/plain/')) === 'default' || undefined);
    assert.equal(await met('/elsewhere/'), 'default');
    assert.equal(await met('/own/'), 'prepended');
    assert.equal(await met('/own/', { headers: { 'x-tenant': 'acme' } }), 'prepended tenant');
    assert.equal(await met('/twofold/'), 'default', 'its own labels come after the default ones');
  });

  test('is labelled with the address that a trusted hop says', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7, 203.0.113.9' };
    for (const [hops, name] of [
      [1, 'forwarded'],
      [2, 'before it'],
    ] as const) {
      system.write(
        'defaults.yaml',
        DEFAULTS.replace('config:\n', `config:\n    xff_num_trusted_hops: ${hops}\n`),
      );
      await until(async () => (await met('/plain/', { headers })) === name || undefined);
    }
  });
});
