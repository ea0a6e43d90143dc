import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeProblem } from '#controlplane/rollout/problems.ts';
import { compile } from '../compile.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { MOST_ROUTES } from './many-routes.ts';

const ADDRESS = { host: '127.0.0.1', port: 1 };
const OPTIONS = { edge: ADDRESS, sds: ADDRESS, rateLimit: ADDRESS, extAuthz: ADDRESS };

const mapping = (name: string, more = '') =>
  `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: { name: ${name} }\nspec: { prefix: /${name}/, service: shop${more} }\n---\n`;

const HOSTS = 500;

/** Returns what is told of so many Mappings for all hosts, beside 500 that have their own. */
function told(everywhere: number): readonly string[] {
  const text = [
    ...Array.from({ length: everywhere }, (_, at) => mapping(`a${at}`)),
    ...Array.from({ length: HOSTS }, (_, at) => mapping(`h${at}`, `, host: h${at}.test`)),
  ].join('');
  return compile(resourceSetOf(text).resources, 'edge', OPTIONS).problems.map(describeProblem);
}

test('more routes than half of the heap holds are told once, with what makes them', () => {
  const most = Math.floor((MOST_ROUTES - HOSTS) / (HOSTS + 1));
  assert.deepEqual(told(most), []);
  assert.deepEqual(told(most + 1), [
    'warning: Mapping default/a0 (in.yaml:4, spec.host): the 501 hosts of node group "edge" have 250,499 routes together. 499 Mappings have no `host`, so each of these hosts has them. A proxy with a heap of 2 GiB holds about 500,000, and turns requests away beyond that. Give the Mappings a narrower `host`, or raise `max_heap_size_bytes` in the bootstrap of the proxies',
  ]);
});
