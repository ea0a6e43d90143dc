import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLASS, gateway, object, service } from './testing/documents.ts';
import { served } from './testing/served.ts';

const SITE = [
  CLASS,
  service('web'),
  service('other'),
  gateway('g', 'listeners: [{name: a, port: 80, protocol: HTTP}]'),
  ours('Filter', 'f', '{JWT: {jwksURI: "https://a.test/k", validAlgorithms: [RS256]}}'),
].join('');

function ours(kind: string, name: string, spec: string): string {
  return `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}, namespace: infra}\nspec: ${spec}\n---\n`;
}

const policy = (kind: string, filters = '[{name: f}]') =>
  ours(
    'FilterPolicy',
    kind.toLowerCase(),
    `{targetRefs: [{kind: ${kind}, name: r}], filters: ${filters}}`,
  );

const route = (kind: string, hostnames: string, match = '', to = 'web') =>
  object(
    kind,
    'r',
    `parentRefs: [{name: g}], hostnames: [${hostnames}], rules: [{matches: [${match}], backendRefs: [{name: ${to}, port: 80}]}]`,
  );

const LOGIN = policy('HTTPRoute');
const CALL = '{method: {service: a.B}}';
const ACCOUNT = '{path: {value: /account}}';

const CASES: readonly [what: string, text: string, isTold: boolean][] = [
  ['all calls', route('HTTPRoute', 'a.test', ACCOUNT) + route('GRPCRoute', 'a.test') + LOGIN, true],
  ['some calls', route('HTTPRoute', 'a.test') + route('GRPCRoute', 'a.test', CALL) + LOGIN, true],
  ['a wider host', route('HTTPRoute', 'a.test') + route('GRPCRoute', '"*.test"') + LOGIN, true],
  ['a narrower host', route('HTTPRoute', '"*.test"') + route('GRPCRoute', 'a.test') + LOGIN, true],
  [
    'calls with other paths',
    route('HTTPRoute', 'a.test', ACCOUNT) + route('GRPCRoute', 'a.test', CALL) + LOGIN,
    false,
  ],
  ['another host', route('HTTPRoute', 'a.test') + route('GRPCRoute', 'b.test') + LOGIN, false],
  [
    'another Service',
    route('HTTPRoute', 'a.test') + route('GRPCRoute', 'a.test', '', 'other') + LOGIN,
    false,
  ],
  ['what is open', route('HTTPRoute', 'a.test') + route('GRPCRoute', 'a.test'), false],
  [
    'what is protected itself',
    route('HTTPRoute', 'a.test') + route('GRPCRoute', 'a.test') + LOGIN + policy('GRPCRoute'),
    false,
  ],
  [
    'what is meant to be open',
    route('HTTPRoute', 'a.test') + route('GRPCRoute', 'a.test') + LOGIN + policy('GRPCRoute', '[]'),
    false,
  ],
];

for (const [what, text, isTold] of CASES)
  test(`a GRPCRoute past a login is ${isTold ? '' : 'not '}told of ${what}`, () => {
    const told = served(SITE + text).problems.map(
      ({ severity, kind, field, message }) => `${severity} ${kind} ${field}: ${message}`,
    );
    const warning =
      'warning GRPCRoute spec.rules[0]: its calls reach the same Service without the Filters of the HTTPRoute infra/r. Protect it too, or name it in a FilterPolicy with `filters: []`';
    assert.deepEqual(told, isTold ? [warning] : []);
  });
