import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';
import { layersOf } from './listener.ts';

const BASE = { port: 8443, protocol: 'HTTPS', securityModel: 'XFP', hostBinding: {} };

test('a Listener binds the Hosts of its own namespace', () => {
  assert.deepEqual(parseText(documentOf('Listener', BASE)).resources[0]?.spec, {
    ...BASE,
    hostBinding: { namespace: { from: 'SELF' } },
    gateway_id: ['default'],
  });
  assert.deepEqual(problemsOf('Listener', BASE), []);
});

test("a Listener of Ambassador's own example is read", () => {
  const text = `apiVersion: getambassador.io/v2
kind: Listener
metadata: { name: example-listener }
spec:
  port: 8080
  protocol: HTTPS
  securityModel: XFP
  statsPrefix: example-listener
  l7Depth: 0
  hostBinding:
    namespace: { from: SELF }
    selector: { matchLabels: { tenant: shop } }
`;
  const { problems, resources } = parseText(text);
  assert.deepEqual(problems, []);
  assert.deepEqual(resources[0]?.spec, {
    port: 8080,
    protocol: 'HTTPS',
    securityModel: 'XFP',
    statsPrefix: 'example-listener',
    l7Depth: 0,
    hostBinding: {
      namespace: { from: 'SELF' },
      selector: { matchLabels: { tenant: 'shop' }, matchExpressions: [] },
    },
    gateway_id: ['default'],
  });
});

const WITHOUT = { tls: false, proxyProtocol: false };

const LAYERS: readonly [fields: Parameters<typeof layersOf>[0], layers: object | undefined][] = [
  [{ protocol: 'HTTP' }, WITHOUT],
  [{ protocol: 'HTTPS' }, { tls: true, proxyProtocol: false }],
  [{ protocol: 'HTTPPROXY' }, { tls: false, proxyProtocol: true }],
  [{ protocol: 'HTTPSPROXY' }, { tls: true, proxyProtocol: true }],
  [{ protocolStack: ['HTTP', 'TCP'] }, WITHOUT],
  [{ protocolStack: ['TLS', 'HTTP', 'TCP'] }, { tls: true, proxyProtocol: false }],
  [{ protocolStack: ['HTTP', 'PROXY', 'TCP'] }, { tls: false, proxyProtocol: true }],
  [{ protocolStack: ['TLS', 'HTTP', 'PROXY', 'TCP'] }, { tls: true, proxyProtocol: true }],
  [{ protocolStack: ['TLS', 'TCP'] }, undefined],
  [{ protocolStack: ['TCP'] }, undefined],
  [{ protocolStack: ['HTTP'] }, undefined],
  [{ protocolStack: ['HTTP', 'TCP', 'PROXY'] }, undefined],
  [{ protocolStack: ['PROXY', 'PROXY', 'HTTP', 'TCP'] }, undefined],
];

for (const [fields, expected] of LAYERS)
  test(`a Listener with ${JSON.stringify(fields)} has the layers ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(layersOf(fields), expected);
  });

const { protocol: _, ...WITHOUT_PROTOCOL } = BASE;
const { hostBinding: __, ...WITHOUT_BINDING } = BASE;

const PROBLEMS: readonly [fields: object, problem: RegExp][] = [
  [WITHOUT_PROTOCOL, /^error spec\.protocol: a Listener needs `protocol`/],
  [WITHOUT_BINDING, /^error spec\.hostBinding: `hostBinding` is required/],
  [{ ...BASE, port: 0 }, /^error spec\.port: `port` must be a port from 1 to 65535/],
  [{ ...BASE, protocol: 'TCP' }, /^error spec\.protocol: `protocol` must be one of `HTTP`, /],
  [
    { ...WITHOUT_PROTOCOL, protocolStack: ['TLS', 'TCP'] },
    /^error spec\.protocolStack: \[TLS, TCP\] is not served: served are \[HTTP, TCP\]/,
  ],
  [
    { ...BASE, protocolStack: ['HTTP', 'TCP'] },
    /^error spec\.protocolStack: `protocol` and `protocolStack` exclude each other/,
  ],
  [{ ...BASE, securityModel: 'LAX' }, /^error spec\.securityModel: `securityModel` must be one of/],
  [
    { ...BASE, securityModel: 'INSECURE' },
    /^warning spec\.securityModel: requests over TLS count as insecure too/,
  ],
  [
    { ...BASE, hostBinding: { namespace: { from: 'SELECTOR' } } },
    /^error spec\.hostBinding\.namespace\.from: `from` must be one of `SELF`, `ALL`/,
  ],
  [
    { ...BASE, hostBinding: { selector: { matchLabel: { a: 'b' } } } },
    /^error spec\.hostBinding\.selector\.matchLabel: unknown field `matchLabel`, did you mean/,
  ],
  [{ ...BASE, internal_address_config: {} }, /^error spec\.internal_address_config: unknown field/],
  [{ ...BASE, l7Depth: -1 }, /^error spec\.l7Depth: `l7Depth` must be an integer from 0/],
  [{ ...BASE, statsPrefix: 'a b' }, /^error spec\.statsPrefix: "a b" is no name for statistics/],
];

for (const [fields, problem] of PROBLEMS)
  test(`a Listener with ${JSON.stringify(fields)} has the Problem`, () => {
    const [first = '', ...others] = problemsOf('Listener', fields);
    assert.match(first, problem);
    assert.deepEqual(others, []);
  });
