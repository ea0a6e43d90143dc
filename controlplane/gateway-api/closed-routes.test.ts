import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Memo } from '#controlplane/compile/memo.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { servedGateways } from './served-gateways.ts';
import { CLASS, gateway, object, service } from './testing/documents.ts';
import { OPTIONS } from './testing/served.ts';

const GATEWAY = gateway('g', 'listeners: [{name: http, port: 80, protocol: HTTP}]');
const PARENT = 'parentRefs: [{name: g}]';

function listenerOf(text: string) {
  const { resources, rejected } = collect([parseFile('a.yaml', text, DEFAULT_PARSE_OPTIONS)]);
  const set = toResourceSet(resources.values(), rejected.values());
  const { gateways, statuses, problems } = servedGateways(set, OPTIONS, new Memo());
  return { listener: gateways[0]?.listeners[0], statuses, problems };
}

test('a rejected route answers 500 where it would have served, before a wider one', () => {
  const wide = object(
    'HTTPRoute',
    'wide',
    `${PARENT}, rules: [{backendRefs: [{name: s, port: 80}]}]`,
  );
  const rules = 'rules: [{matches: [{path: {value: /a}}], backendRefs: [{name: s}]}]';
  const { listener, statuses, problems } = listenerOf(
    CLASS + GATEWAY + service('s') + wide + object('HTTPRoute', 'wrong', `${PARENT}, ${rules}`),
  );
  const routes = listener?.routes.map(({ route, rules }) => [
    route.name,
    rules.map(({ broken }) => broken !== undefined),
  ]);
  assert.deepEqual(routes, [
    ['wide', [false]],
    ['wrong', [true]],
  ]);
  const status = statuses.get('Gateway/infra/g');
  assert.ok(status?.kind === 'Gateway');
  assert.equal(status.listeners[0]?.attachedRoutes, 1);
  assert.deepEqual(problems, []);
});
