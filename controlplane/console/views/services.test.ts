import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MappingFigures, Rates, UpstreamFigures } from '#controlplane/figures/figures.ts';
import type { RouteRow } from './routes.ts';
import { serviceRows } from './services.ts';

const ID = 'Mapping/default/m';
const ROUTE = { id: ID, services: ['s'] } as Partial<RouteRow> as RouteRow;
const QUIET = { connectFailures: 0, tlsFailures: 0, noHealthy: 0, updateFailures: 0 };

function seen(members: number, healthy: number, failures = 0): UpstreamFigures {
  const lastMinute = { ...QUIET, connectFailures: failures } as UpstreamFigures['lastMinute'];
  const upstream: Partial<UpstreamFigures> = { origins: [ID], members, healthy, lastMinute };
  return upstream as UpstreamFigures;
}

type Count = readonly [requests: number, failed: number];

function rates([requests, serverErrors]: Count): Rates {
  return { rate: 1, requests, clientErrors: 0, serverErrors, p50: null, p99: null };
}

function wordOf(upstream: UpstreamFigures, minute: Count, quarter: Count = minute) {
  const figures: MappingFigures = {
    ...{ lastMinute: rates(minute), last15Minutes: rates(quarter), answeredByGateway: 0 },
  };
  return serviceRows([ROUTE], [upstream], () => figures)[0]?.word;
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
