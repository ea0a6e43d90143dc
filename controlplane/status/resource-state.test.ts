import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import { accept, type Rollout, refuse, startRollout, want } from '#controlplane/rollout/rollout.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import {
  type ResourceState,
  resourceStates,
  type StateFacts,
  unservedState,
} from './resource-state.ts';

const text = (kind: string, spec: string) =>
  `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: a }\nspec: ${spec}\n`;
const mapping = (service: string) => text('Mapping', `{ prefix: /a/, service: ${service} }`);
const JWT = text('Filter', '{ JWT: { jwksURI: "https://idp.test/keys" } }');
const LIMIT = text(
  'RateLimit',
  '{ domain: d, limits: [{ pattern: [{ a: "" }], rate: 1, unit: second }] }',
);

const read = (yaml: string) =>
  collect([parseFile('f.yaml', yaml, DEFAULT_PARSE_OPTIONS)]).resources;
const inForce = (yaml: string) => accept(want(startRollout(new Map()), read(yaml)));
const rejected = (rollout: Rollout) => {
  const searching = accept(refuse(rollout, 'no'));
  return refuse(searching, 'no');
};

/** Returns the state of the only written resource. */
function stateOf(rollout: Rollout, more: Partial<StateFacts> = {}): ResourceState {
  const facts = {
    rollout,
    kept: new Set<string>(),
    outOfService: new Set<string>(),
    compiled: [],
    ...more,
  };
  const [resource] = rollout.wanted.values();
  assert.ok(resource !== undefined);
  return resourceStates(facts)(resource);
}

function errorIn(rollout: Rollout): Pick<StateFacts, 'compiled'> {
  const [resource] = rollout.wanted.values();
  assert.ok(resource !== undefined);
  return { compiled: [problemOf(resource, 'error', 'spec', 'it misses its Secret')] };
}

describe('a resource is', () => {
  test('in force when the proxies run what is written', () => {
    assert.equal(stateOf(inForce(mapping('one'))), 'in force');
  });

  test('trying until they have answered, also when an older version of it is in force', () => {
    assert.equal(stateOf(want(startRollout(new Map()), read(mapping('one')))), 'trying');
    assert.equal(stateOf(want(inForce(mapping('one')), read(mapping('two')))), 'trying');
  });

  test('last good when an older version is in force, since the written one has an error or was rejected', () => {
    assert.equal(
      stateOf(inForce(mapping('one')), { kept: new Set(['Mapping/default/a']) }),
      'last good',
    );
    assert.equal(
      stateOf(rejected(want(inForce(mapping('one')), read(mapping('two'))))),
      'last good',
    );
  });

  test('closed when it was rejected and had never been good', () => {
    assert.equal(stateOf(rejected(want(startRollout(new Map()), read(mapping('one'))))), 'closed');
  });

  test('out of service when it has limits of a domain that no request has labels of', () => {
    const rollout = inForce(LIMIT);
    const [limit] = rollout.wanted.values();
    assert.ok(limit !== undefined);
    const told = (field: string) => ({
      compiled: [problemOf(limit, 'warning', field, 'no effect')],
    });
    assert.equal(stateOf(rollout, told('spec.domain')), 'out of service');
    assert.equal(stateOf(rollout, told('spec.limits[0]')), 'in force', 'others may count');
  });

  test('out of service when no request can meet any of its limits', () => {
    const limit = '{ pattern: [{ a: "" }, { b: "" }], rate: 0, unit: day }';
    const limits = (...list: readonly string[]) =>
      inForce(text('RateLimit', `{ domain: d, limits: [${list.join()}] }`));
    const two = limits(limit, limit);
    for (const [rollout, fields, state] of [
      [two, ['limits[0].pattern[1]', 'limits[1].pattern[0]'], 'out of service'],
      [two, ['limits[0].pattern[1]'], 'in force'],
      [two, ['limits[0].pattern', 'limits[1].pattern'], 'in force'], // they hide or are escaped
      [limits(), [], 'in force'],
    ] as const) {
      const [resource] = rollout.wanted.values();
      assert.ok(resource !== undefined);
      const compiled = fields.map(at => problemOf(resource, 'warning', `spec.${at}`, 'unmet'));
      assert.equal(stateOf(rollout, { compiled }), state, fields.join());
    }
  });

  test('out of service when it was rejected, had never been good, and is of a kind that closes nothing', () => {
    const never = rejected(want(startRollout(new Map()), read(LIMIT)));
    assert.equal(stateOf(never), 'out of service');
    const source = { file: 'f.yaml', line: 1 };
    const of = (kind: string) =>
      unservedState({ kind, namespace: 'default', name: 'a', id: `${kind}/default/a`, source });
    for (const kind of ['LogService', 'RateLimitService', 'TracingService'])
      assert.equal(of(kind), 'out of service', kind);
    for (const kind of ['AuthService', 'Filter', 'Host', 'Module', 'unknown'])
      assert.equal(of(kind), 'closed', kind);
  });

  for (const [why, spec, state] of [
    ['what it matches is right', 'prefix: /a/, service: 1', 'closed'],
    ['its prefix has no leading slash', 'prefix: a/, service: s', 'out of service'],
    ['its prefix is given twice', 'prefix: /a/, prefix: /b/, service: s', 'out of service'],
    ['its expression is none', 'prefix: "/(", prefix_regex: true, service: s', 'out of service'],
    ['it is a shadow', 'prefix: /a/, shadow: true, service: 1', 'out of service'],
  ] as const)
    test(`${state} when it is a rejected Mapping and ${why}`, () => {
      const { rejected } = collect([
        parseFile('f.yaml', text('Mapping', `{ ${spec} }`), DEFAULT_PARSE_OPTIONS),
      ]);
      assert.deepEqual([...rejected.values()].map(unservedState), [state]);
    });

  test('out of service when it is a shadow that was rejected and had never been good', () => {
    const shadow = read(text('Mapping', '{ prefix: /a/, service: one, shadow: true }'));
    assert.equal(stateOf(rejected(want(startRollout(new Map()), shadow))), 'out of service');
  });

  test('closed when it cannot be served beside the others, though the proxies have taken that', () => {
    for (const yaml of [mapping('one'), JWT])
      assert.equal(stateOf(inForce(yaml), errorIn(inForce(yaml))), 'closed');
  });

  test('in force when an error leaves out a part that restricts nothing', () => {
    assert.equal(stateOf(inForce(LIMIT), errorIn(inForce(LIMIT))), 'in force');
  });

  test('closed when it is a policy without any authority that its Service could be trusted by', () => {
    const validation =
      '{ hostname: a.test, caCertificateRefs: [{ group: "", kind: ConfigMap, name: a }] }';
    const target = '{ group: "", kind: Service, name: a }';
    const policy = text(
      'BackendTLSPolicy',
      `{ targetRefs: [${target}], validation: ${validation} }`,
    );
    const rollout = inForce(policy.replace('gateway.internal/v2', 'gateway.networking.k8s.io/v1'));
    const [resource] = rollout.wanted.values();
    assert.ok(resource !== undefined);
    for (const [field, state] of [
      ['validation.caCertificateRefs', 'closed'],
      ['validation.wellKnownCACertificates', 'closed'],
      ['validation.caCertificateRefs[0]', 'in force'], // another one may be valid
      ['targetRefs[0].sectionName', 'closed'],
    ] as const) {
      const error = problemOf(resource, 'error', `spec.${field}`, 'none is valid');
      assert.equal(stateOf(rollout, { compiled: [error] }), state, field);
    }
  });

  test('out of service when each target of a policy has an error, which closes nothing', () => {
    const targets = '[{ kind: HTTPRoute, name: a }, { kind: HTTPRoute, name: b }]';
    for (const yaml of [
      text('FilterPolicy', `{ targetRefs: ${targets}, filters: [] }`),
      text('RateLimit', `{ targetRefs: ${targets}, limits: [{ rate: 1, unit: second }] }`),
      text(
        'BackendTLSPolicy',
        `{ targetRefs: ${targets.replaceAll('kind', 'group: "", kind')}, validation: { hostname: a.test, wellKnownCACertificates: System } }`,
      ).replace('gateway.internal/v2', 'gateway.networking.k8s.io/v1'),
    ]) {
      const rollout = inForce(yaml);
      const [policy] = rollout.wanted.values();
      assert.ok(policy !== undefined);
      const errors = [0, 1].map(at =>
        problemOf(policy, 'error', `spec.targetRefs[${at}]`, 'there is none'),
      );
      assert.equal(stateOf(rollout, { compiled: errors.slice(1) }), 'in force');
      assert.equal(stateOf(rollout, { compiled: errors }), 'out of service');
    }
  });

  test('out of service when it is a Gateway without a class, or a ListenerSet without a Gateway', () => {
    const listeners = 'listeners: [{ name: h, port: 80, protocol: HTTP }]';
    for (const [kind, field, spec] of [
      ['Gateway', 'spec.gatewayClassName', `{ gatewayClassName: nope, ${listeners} }`],
      ['ListenerSet', 'spec.parentRef', `{ parentRef: { name: nope }, ${listeners} }`],
    ] as const) {
      const api = 'gateway.networking.k8s.io/v1';
      const rollout = inForce(text(kind, spec).replace('gateway.internal/v2', api));
      const [resource] = rollout.wanted.values();
      assert.ok(resource !== undefined);
      const told = (at: string) => [problemOf(resource, 'warning', at, 'there is none')];
      assert.equal(stateOf(rollout, { compiled: told(field) }), 'out of service');
      assert.equal(stateOf(rollout, { compiled: told('spec.listeners[0]') }), 'in force');
    }
  });

  test('in force when it is a Gateway whose class is not accepted, which its proxies serve', () => {
    const spec = '{ gatewayClassName: g, listeners: [{ name: h, port: 80, protocol: HTTP }] }';
    const yaml = text('Gateway', spec).replace(
      'gateway.internal/v2',
      'gateway.networking.k8s.io/v1',
    );
    const rollout = inForce(yaml);
    const [gateway] = rollout.wanted.values();
    assert.ok(gateway !== undefined);
    const error = problemOf(gateway, 'error', 'spec.gatewayClassName', 'the class is not accepted');
    assert.equal(stateOf(rollout, { compiled: [error] }), 'in force');
  });

  test('out of service when it is a route that none of its parents takes', () => {
    const rules = 'rules: [{ backendRefs: [{ name: s, port: 80 }] }]';
    for (const [more, state] of [
      ['', 'out of service'],
      [', useDefaultGateways: All', 'in force'],
    ] as const) {
      const spec = `{ parentRefs: [{ name: a }, { name: b }], ${rules}${more} }`;
      const api = 'gateway.networking.k8s.io/v1';
      const rollout = inForce(text('HTTPRoute', spec).replace('gateway.internal/v2', api));
      const [route] = rollout.wanted.values();
      assert.ok(route !== undefined);
      const told = (at: number, severity: 'error' | 'warning') =>
        problemOf(route, severity, `spec.parentRefs[${at}]`, 'there is none');
      assert.equal(stateOf(rollout, { compiled: [told(0, 'error')] }), 'in force');
      assert.equal(stateOf(rollout, { compiled: [told(0, 'error'), told(1, 'warning')] }), state);
    }
  });

  test('out of service when a service of ours cannot work with it', () => {
    assert.equal(
      stateOf(inForce(JWT), { outOfService: new Set(['Filter/default/a']) }),
      'out of service',
    );
  });
});
