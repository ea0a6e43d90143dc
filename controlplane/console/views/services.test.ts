import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  MappingFigures,
  Rates,
  UpstreamCounts,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import type { RouteRow } from './route-row.ts';
import { type ServiceFacts, serviceRows } from './services.ts';

const ID = 'Mapping/default/m';
const ROUTE = { id: ID, services: ['s'] } as Partial<RouteRow> as RouteRow;
const QUIET = { connectFailures: 0, tlsFailures: 0, noHealthy: 0, updateFailures: 0 };
const FACTS: ServiceFacts = {
  upstreams: [],
  figuresOf: () => undefined,
  serviceOf: () => undefined,
  seconds: 900,
};

type Seen = Pick<UpstreamFigures, 'members' | 'healthy'> & { readonly failures: number };

function seen(members: number, healthy: number, failures = 0): Seen {
  return { members, healthy, failures };
}

type Count = readonly [requests: number, failed: number];

function counts([requests, serverErrors]: Count, connectFailures = 0): UpstreamCounts {
  const counted = { answers: requests - serverErrors, serverErrors };
  return { ...QUIET, ...counted, connectFailures } as Partial<UpstreamCounts> as UpstreamCounts;
}

function upstreamOf(
  { failures, ...members }: Seen,
  minute: Count,
  quarter = minute,
  { cluster, origin } = { cluster: 's', origin: ID },
): UpstreamFigures {
  const upstream: Partial<UpstreamFigures> = {
    ...{ cluster, origins: [origin], ...members },
    ...{ lastMinute: counts(minute, failures), last15Minutes: counts(quarter) },
  };
  return upstream as UpstreamFigures;
}

function wordOf(upstream: Seen, minute: Count, quarter: Count = minute) {
  const upstreams = [upstreamOf(upstream, minute, quarter)];
  return serviceRows([ROUTE], { ...FACTS, upstreams })[0]?.word;
}

test('a service whose every request fails is failing, however healthy its instances look', () => {
  assert.equal(wordOf(seen(1, 1, 3), [3, 3]), 'failing');
  assert.equal(wordOf(seen(2, 2), [1.2, 1.1]), 'failing', 'counts are estimates');
  assert.equal(wordOf(seen(1, 1), [0, 0], [5, 5]), 'failing', 'nothing has succeeded since');
  assert.equal(wordOf(seen(2, 0), [0, 0]), 'failing');
});

test('a service that answers some requests is partly well', () => {
  assert.equal(wordOf(seen(2, 2, 3), [5, 3]), 'partly');
  assert.equal(wordOf(seen(2, 1), [0, 0]), 'partly');
});

test('a service that has recovered is healthy, and one that nobody asked too', () => {
  assert.equal(wordOf(seen(1, 1), [2, 0], [9, 7]), 'healthy');
  assert.equal(wordOf(seen(1, 1), [0, 0]), 'healthy');
});

const ALL: Rates = {
  ...{ rate: 1, requests: 900, clientErrors: 0, serverErrors: 90, p50: 1, p99: 7 },
};
const FIGURES: MappingFigures = { lastMinute: ALL, last15Minutes: ALL, answeredByGateway: 0 };
const APART = [
  ['next', 'failing', { rate: 0.1, requests: 90, serverErrors: 90, p99: null }],
  ['old', 'healthy', { rate: 0.9, requests: 810, serverErrors: 0, p99: null }],
];

for (const [what, rows, ids] of [
  [
    'Mappings',
    [
      { id: 'Mapping/default/old', services: ['old'], share: 90 },
      { id: 'Mapping/default/old-next', services: ['next'], share: 10 },
    ],
    ['Mapping/default/old', 'Mapping/default/old-next'],
  ],
  [
    'backends',
    [{ id: 'HTTPRoute/default/r', services: ['old', 'next'] }],
    ['HTTPRoute/default/r', 'HTTPRoute/default/r'],
  ],
] as const)
  test(`services of ${what} that share a route have figures of their own`, () => {
    const [first, second] = ids;
    const found = serviceRows(rows as readonly Partial<RouteRow>[] as readonly RouteRow[], {
      ...FACTS,
      upstreams: [
        upstreamOf(seen(1, 1), [810, 0], [810, 0], { cluster: 'old', origin: first }),
        upstreamOf(seen(1, 1), [90, 90], [90, 90], { cluster: 'next', origin: second }),
      ],
      figuresOf: id => (id === first ? FIGURES : undefined),
      serviceOf: cluster => cluster,
    });
    assert.deepEqual(
      found.map(({ name, rates, word }) => [name, word, rates]),
      APART,
    );
  });

test('a service alone behind its routes has their latency', () => {
  const upstreams = [upstreamOf(seen(1, 1), [9, 0])];
  const [row] = serviceRows([ROUTE], { ...FACTS, upstreams, figuresOf: () => FIGURES });
  assert.equal(row?.rates?.p99, 7);
  assert.equal(serviceRows([ROUTE], FACTS)[0]?.rates, undefined);
});
