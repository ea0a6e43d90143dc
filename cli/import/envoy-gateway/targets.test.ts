import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importObjects } from '../import-objects.ts';
import { readObjects } from '../source-object.ts';
import { check } from '../testing/golden-cases.ts';

const CLOSING = 'basicAuth: { users: { name: users } }';
const OPENING = 'cors: { allowOrigins: ["https://a.test"] }';

const AT = (name: string, section?: string) => ({
  kind: 'Gateway',
  name,
  ...(section === undefined ? {} : { sectionName: section }),
});
const ROUTE = { kind: 'HTTPRoute', name: 'shop' };

/** The policies of a case, the older one first, each with its target. */
type Policies = readonly (readonly [target: object, spec: string])[];

function importedWith(parentRefs: readonly object[], policies: Policies, kind = 'SecurityPolicy') {
  const rules = 'rules: [{ backendRefs: [{ name: web, port: 80 }] }]';
  const texts = [
    `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: web }
spec: { gatewayClassName: eg, listeners: [{ name: http, protocol: HTTP, port: 80 }] }
`,
    `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop }
spec: { parentRefs: ${JSON.stringify(parentRefs)}, ${rules} }
`,
    ...policies.map(
      ([target, spec], at) => `apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ${kind}
metadata: { name: p${at}, creationTimestamp: "2026-01-0${at + 1}T00:00:00Z" }
spec:
  targetRefs: [${JSON.stringify(target)}]
  ${spec}
`,
    ),
  ];
  const objects = readObjects('a.yaml', texts.join('---\n'));
  return importObjects(objects, { ingressClass: 'nginx', to: 'mappings', check });
}

/** Returns whether the rule of a route with these parents has no backend after the import. */
function isClosed(parentRefs: readonly object[], policies: Policies, kind?: string): boolean {
  const { documents } = importedWith(parentRefs, policies, kind);
  const written = documents.find(({ kind }) => kind === 'HTTPRoute');
  return !JSON.stringify(written?.spec.rules).includes('backendRefs');
}

describe('what a policy of Envoy Gateway closes', () => {
  const CLOSED: readonly (readonly [string, readonly object[], Policies])[] = [
    [
      'a Gateway, under a policy for a listener that the route is not attached to',
      [AT('web', 'http')],
      [
        [AT('web', 'other'), OPENING],
        [AT('web'), CLOSING],
      ],
    ],
    [
      'a Gateway, under a policy for one of the listeners of the route',
      [AT('web')],
      [
        [AT('web', 'http'), OPENING],
        [AT('web'), CLOSING],
      ],
    ],
    [
      'a listener, beside an older policy for another one',
      [AT('web')],
      [
        [AT('web', 'http'), OPENING],
        [AT('web', 'https'), CLOSING],
      ],
    ],
    [
      'a Gateway, beside an older policy for another one',
      [AT('partners'), AT('web')],
      [
        [AT('partners'), OPENING],
        [AT('web'), CLOSING],
      ],
    ],
    [
      'a Gateway, under a policy for the only listener of the route on another one',
      [AT('partners', 'http'), AT('web')],
      [
        [AT('partners', 'http'), OPENING],
        [AT('web'), CLOSING],
      ],
    ],
  ];
  for (const [what, parents, policies] of CLOSED)
    test(`is closed: ${what}`, () => assert.equal(isClosed(parents, policies), true));

  const OPEN: typeof CLOSED = [
    [
      'a Gateway, under a policy for the only listener of the route',
      [AT('web', 'http')],
      [
        [AT('web'), CLOSING],
        [AT('web', 'http'), OPENING],
      ],
    ],
    [
      'a Gateway, under a policy for the route',
      [AT('web')],
      [
        [AT('web'), CLOSING],
        [ROUTE, OPENING],
      ],
    ],
    [
      'a listener that the route is not attached to',
      [AT('web', 'http')],
      [[AT('web', 'https'), CLOSING]],
    ],
    [
      'a Gateway, by a policy that is younger than another one for it',
      [AT('web')],
      [
        [AT('web'), OPENING],
        [AT('web'), CLOSING],
      ],
    ],
  ];
  for (const [what, parents, policies] of OPEN)
    test(`is open: ${what}`, () => assert.equal(isClosed(parents, policies), false));
});

test('a policy of a kind that is not known closes what it is for', () => {
  const policies: Policies = [[ROUTE, 'rules: []']];
  assert.equal(isClosed([AT('web')], policies, 'VisitorPolicy'), true);
});

const PROVIDER = 'name: a, remoteJWKS: { uri: "https://a.test/keys" }';

for (const [field, jwt, closes] of [
  ['a provider', `{ providers: [{ ${PROVIDER}, subjects: [a] }] }`, true],
  ['all tokens', `{ providers: [{ ${PROVIDER} }], maxAge: 1h }`, true],
  ['nothing', `{ providers: [{ ${PROVIDER}, recomputeRoute: true }], optional: true }`, false],
] as const)
  test(`an unknown field of ${field} ${closes ? 'closes' : 'leaves open'} a route with tokens`, () =>
    assert.equal(isClosed([AT('web')], [[ROUTE, `jwt: ${jwt}`]]), closes));

/** Envoy Gateway with `mergeGateways` has patches for all Gateways of a class. */
const PATCHED: readonly (readonly [string, string, object, boolean])[] = [
  ['the class of the Gateway', 'eg', AT('web'), true],
  ['a Gateway that is not among the files', 'eg', AT('partners'), true],
  ['a ListenerSet', 'eg', { kind: 'ListenerSet', name: 'more' }, true],
  ['another class', 'other', AT('web'), false],
];

for (const [what, name, parent, closes] of PATCHED)
  test(`a patch of a class ${closes ? 'closes' : 'leaves open'} a route at ${what}`, () => {
    const target = { kind: 'GatewayClass', name };
    const policies: Policies = [[target, 'type: JSONPatch']];
    assert.equal(isClosed([parent], policies, 'EnvoyPatchPolicy'), closes);
  });

test('a policy that would be rejected is written, since it closes its targets', () => {
  const jwt = 'jwt: { providers: [{ name: a, remoteJWKS: { uri: "https://a.test/keys" } }] }';
  const { documents, remarks } = importedWith([AT('web')], [[AT('web', 'a'.repeat(254)), jwt]]);
  assert.equal(documents.filter(({ kind }) => kind === 'FilterPolicy').length, 1);
  assert.ok(
    remarks.some(({ effect, message }) => effect === 'closed' && /FilterPolicy/.test(message)),
  );
});

test('a login for a listener without routes among the files is written', () => {
  const jwt = 'jwt: { providers: [{ name: a, remoteJWKS: { uri: "https://a.test/keys" } }] }';
  const { documents } = importedWith([AT('web', 'http')], [[AT('web', 'https'), jwt]]);
  assert.deepEqual(
    documents.filter(({ kind }) => kind === 'FilterPolicy').map(({ spec }) => spec.targetRefs),
    [[AT('web', 'https')]],
  );
});

for (const kind of ['BackendTrafficPolicy', 'ClientTrafficPolicy'])
  test(`a field of a ${kind} that every object knows is told as an unknown one`, () => {
    const { remarks } = importedWith([AT('web')], [[AT('web'), 'toString: 1']], kind);
    assert.ok(remarks.some(({ message }) => message === 'the gateway has nothing like it'));
  });
