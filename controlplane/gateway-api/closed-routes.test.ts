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

const WIDE = object(
  'HTTPRoute',
  'wide',
  `${PARENT}, rules: [{backendRefs: [{name: s, port: 80}]}]`,
);
const BEFORE = CLASS + GATEWAY + service('s') + WIDE;
const POLICY = 'apiVersion: gateway.internal/v2\nkind: FilterPolicy\n';
const ON_SECRET = '{kind: HTTPRoute, name: secret}';

/** A FilterPolicy for a target. */
function policy(target: string, filters = '{name: jwt}'): string {
  const spec = `{targetRefs: [${target}], filters: [${filters}]}`;
  return `${POLICY}metadata: {name: p, namespace: infra}\nspec: ${spec}\n---\n`;
}

const PATH = 'path: {type: RegularExpression, value: "/secret/(?!x)"}';
const SECRET = (rule: string, more = '') =>
  object('HTTPRoute', 'secret', `${PARENT}${more}, rules: [{matches: [{${PATH}}], ${rule}}]`);
const BACKEND = 'backendRefs: [{name: s, port: 80}]';
const NAMED = 'filters: [{type: ExtensionRef, extensionRef: {name: jwt, group: gateway.internal}}]';
const ASKED = 'filters: [{type: ExternalAuth, externalAuth: {}}]';

function servedBy(text: string) {
  const { resources, rejected } = collect([parseFile('a.yaml', text, DEFAULT_PARSE_OPTIONS)]);
  const set = toResourceSet(resources.values(), rejected.values());
  return servedGateways(set, OPTIONS, new Memo());
}

function listenerOf(text: string) {
  const { gateways, statuses, problems } = servedBy(text);
  return { listener: gateways[0]?.listeners[0], statuses, problems };
}

const CASES: readonly [why: string, documents: string, closed: number][] = [
  ['nothing protects it', SECRET(BACKEND), 0],
  ['a policy for it', SECRET(BACKEND) + policy(ON_SECRET), 1],
  ['a policy for its Gateway', SECRET(BACKEND) + policy('{kind: Gateway, name: g}'), 1],
  ['a policy for another route', SECRET(BACKEND) + policy('{kind: HTTPRoute, name: wide}'), 0],
  ['a policy without Filters', SECRET(BACKEND) + policy(ON_SECRET, ''), 0],
  ['a rejected policy', SECRET(BACKEND) + policy(ON_SECRET, '{nom: x}'), 1],
  [
    'a policy for its rule',
    SECRET(`name: own, ${BACKEND}`) + policy('{kind: HTTPRoute, name: secret, sectionName: own}'),
    1,
  ],
  [
    'a policy for another rule',
    SECRET(`name: own, ${BACKEND}`) + policy('{kind: HTTPRoute, name: secret, sectionName: other}'),
    0,
  ],
  ['a Filter that it names', SECRET(NAMED), 1],
  ['a service that it asks', SECRET(ASKED), 1],
  [
    'only its host names are wrong',
    object('HTTPRoute', 'secret', `${PARENT}, hostnames: ["B_"], rules: [{${BACKEND}}]`) +
      policy(ON_SECRET),
    1,
  ],
  ['its host names are wrong too', SECRET(NAMED, ', hostnames: ["B_"]'), 1],
];

for (const [why, documents, closed] of CASES)
  test(`a match that cannot be read closes what it may be for under Filters alone: ${why}`, () => {
    const { listener, statuses } = listenerOf(BEFORE + documents);
    const secret = listener?.routes.find(({ route }) => route.name === 'secret');
    assert.equal(secret?.rules.length, closed);
    assert.deepEqual(secret?.hostnames, ['*']);
    for (const { broken } of secret?.rules ?? []) assert.notEqual(broken, undefined);
    const status = statuses.get('HTTPRoute/infra/secret');
    assert.ok(status?.kind === 'Route');
    assert.equal(status.parents.length, 1);
  });

test('a rejected route answers 500 where it would have served, before a wider one', () => {
  const rules = 'rules: [{matches: [{path: {value: /a}}], backendRefs: [{name: s}]}]';
  const { listener, statuses, problems } = listenerOf(
    BEFORE + object('HTTPRoute', 'wrong', `${PARENT}, ${rules}`),
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

const AGES: readonly [what: string, created: number, first: string][] = [
  ['behind an older one', 2, 'right'],
  ['before a younger one', 0, 'wrong'],
];
for (const [what, created, first] of AGES)
  test(`a rejected route has its place by its age, ${what}`, () => {
    const match = 'matches: [{path: {value: /a}}]';
    const streams = gateway('streams', 'listeners: [{name: tcp, port: 90, protocol: TCP}]');
    const two = (kind: string, parent: string, rule: string) =>
      object(kind, 'right', `${parent}, rules: [{${rule}${BACKEND}}]`, { created: 1 }) +
      object(kind, 'wrong', `${parent}, rules: [{${rule}backendRefs: [{name: s}]}]`, { created });
    const { gateways } = servedBy(
      `${CLASS}${GATEWAY}${streams}${service('s')}` +
        two('HTTPRoute', PARENT, `${match}, `) +
        two('TCPRoute', 'parentRefs: [{name: streams}]', ''),
    );
    assert.deepEqual(
      gateways.map(({ listeners }) => listeners[0]?.routes[0]?.route.name),
      [first, first],
    );
  });
