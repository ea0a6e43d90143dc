import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import { service, tlsSecret } from '#controlplane/gateway-api/testing/documents.ts';
import { accept, startRollout, want } from '#controlplane/rollout/rollout.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { objectParser } from '#resources/kubernetes/object-parser.ts';
import { type ServedObject, toServedObject } from '#resources/kubernetes/served-object.ts';
import { Parser, parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { Problem } from '#resources/problem.ts';
import { fieldsIn } from './conditions.ts';
import { gatewayStatusWrites } from './gateway-status-writes.ts';

const GROUP = 'gateway.networking.k8s.io';

function object(kind: string, name: string, spec: object, status?: unknown): ServedObject {
  const namespace = kind === 'GatewayClass' ? {} : { namespace: 'infra' };
  const metadata = { name, ...namespace, uid: name, resourceVersion: '1', generation: 1 };
  return toServedObject(
    { apiVersion: `${GROUP}/v1`, kind, metadata, spec, status },
    { group: GROUP, version: 'v1', plural: `${kind.toLowerCase()}s` },
    objectParser('api', new Parser(DEFAULT_PARSE_OPTIONS)).parse,
  );
}

/** Returns the statuses that are written of objects that the proxies run, by name. */
function writtenOf(
  objects: readonly ServedObject[],
  problems: readonly Problem[] = [],
  others = '',
  version?: string,
) {
  const { resources: more } = parseFile('api', others, DEFAULT_PARSE_OPTIONS);
  const resources = [...objects.flatMap(({ parsed }) => parsed.resources), ...more];
  const rejected = objects.flatMap(({ parsed }) => parsed.rejected);
  const rollout = want(startRollout(new Map()), new Map(resources.map(each => [each.id, each])));
  const writes = gatewayStatusWrites({
    options: { controller: DEFAULT_CONTROLLER, sharedEdge: true, apiGroups: [] },
    edgeOf: () => ({ addresses: [{ type: 'IPAddress', value: '192.0.2.1' }], missing: [] }),
    versions: () => (version === undefined ? undefined : new Map([['gatewayclasses', version]])),
    now: () => 0,
  })({
    rollout: accept(rollout),
    written: { rejected: new Map(rejected.map(each => [each.id, each])) },
    problems,
    settled: new Set(['edge']),
    objects,
  });
  return new Map(
    writes.map(({ object: { name }, status }) => [name, status as Record<string, unknown>]),
  );
}

const lines = (conditions: unknown) =>
  fieldsIn(conditions).map(({ type, status, reason }) => `${type}=${status}:${reason}`);

const CLASS = object('GatewayClass', 'ours', { controllerName: DEFAULT_CONTROLLER });
const LISTENERS = [{ name: 'http', port: 80, protocol: 'HTTP' }];
const gateway = (gatewayClassName: string, status?: unknown) =>
  object('Gateway', 'g', { gatewayClassName, listeners: LISTENERS }, status);

test('a rejected route of which no match can be read tells its parents why', () => {
  const matches = [{ path: { type: 'RegularExpression', value: '(?!x)' } }];
  const spec = { parentRefs: [{ name: 'g' }], rules: [{ matches }] };
  const calls = [{ method: { type: 'RegularExpression', method: '(?!x)' } }];
  const objects = [
    object('HTTPRoute', 'http', spec),
    object('GRPCRoute', 'grpc', { ...spec, rules: [{ matches: calls }] }),
  ];
  const written = writtenOf([CLASS, gateway('ours'), ...objects]);
  for (const name of ['http', 'grpc']) {
    const [parent, ...others] = fieldsIn(written.get(name)?.parents);
    assert.deepEqual(others, []);
    assert.deepEqual(lines(parent?.conditions).slice(0, 1), ['Accepted=False:UnsupportedValue']);
    assert.match(JSON.stringify(parent), /Cannot parse regular expression/);
  }
});

const REF = { group: 'gateway.internal', kind: 'Filter', name: 'f' };

test('a rejected ListenerSet tells why, and not once its Gateway is of another controller', () => {
  const filters = { requests: [{ type: 'ExtensionRef', extensionRef: REF }] };
  const listeners = [{ name: 'bytes', port: 81, protocol: 'TCP', filters }];
  const set = object('ListenerSet', 'more', { parentRef: { name: 'g' }, listeners });
  const told = writtenOf([CLASS, gateway('ours'), set]).get('more');
  assert.deepEqual(
    [lines(told?.conditions), told?.listeners],
    [['Accepted=False:Invalid', 'Programmed=False:Invalid'], []],
  );
  assert.match(JSON.stringify(told), /`filters` are only for `HTTP` and `HTTPS`/);
  assert.equal(writtenOf([CLASS, gateway('other'), set]).has('more'), false);
});

test('a rejected BackendTLSPolicy tells each Gateway that sends requests to its Service why', () => {
  const rules = [{ backendRefs: [{ name: 's', port: 80 }] }];
  const targetRefs = [{ group: '', kind: 'Service', name: 's' }];
  const spec = { targetRefs, validation: { hostname: 'X y', wellKnownCACertificates: 'System' } };
  const objects = [
    ...[CLASS, gateway('ours')],
    object('HTTPRoute', 'r', { parentRefs: [{ name: 'g' }], rules }),
    object('BackendTLSPolicy', 'p', spec),
  ];
  const written = writtenOf(objects, [], service('s'));
  const [ancestor, ...others] = fieldsIn(written.get('p')?.ancestors);
  assert.deepEqual([lines(ancestor?.conditions), others], [['Accepted=False:Invalid'], []]);
  assert.match(JSON.stringify(ancestor), /spec\.validation\.hostname/);
});

test('a route tells that its backend is not reached, and nothing once it is', () => {
  const spec = { parentRefs: [{ name: 'g' }], rules: [{ backendRefs: [{ name: 's', port: 80 }] }] };
  const route = (status?: unknown) => object('HTTPRoute', 'r', spec, status);
  const problem: Problem = {
    ...{
      severity: 'warning',
      kind: 'HTTPRoute',
      namespace: 'infra',
      name: 'r',
      file: 'api',
      line: 0,
    },
    ...{ field: 'spec.rules[0].backendRefs[0]', message: 'a:1 accepts no connection' },
    since: '2026-01-02T03:04:05Z',
  };
  const ofParent = (written: ReturnType<typeof writtenOf>) => {
    const [parent] = fieldsIn(written.get('r')?.parents);
    return fieldsIn(parent?.conditions).filter(({ type }) => type === 'Reachable');
  };
  const failing = writtenOf([CLASS, gateway('ours'), route()], [problem]);
  const [told, ...more] = ofParent(failing);
  assert.deepEqual([told?.status, told?.reason, more], ['False', 'Unreachable', []]);
  assert.match(String(told?.message), /backendRefs\[0\]: a:1 accepts no connection/);
  const objects = [CLASS, gateway('ours'), route(failing.get('r'))];
  assert.equal(writtenOf(objects, [problem]).has('r'), false, 'it is right then');
  const over = writtenOf(objects);
  assert.deepEqual([over.has('r'), ofParent(over)], [true, []]);
  const other = { ...problem, kind: 'Mapping' };
  assert.deepEqual(ofParent(writtenOf([CLASS, gateway('ours'), route()], [other])), []);
});

test('a Gateway that we served and whose class is gone is programmed no more', () => {
  const served = writtenOf([CLASS, gateway('ours')]).get('g');
  assert.ok(lines(served?.conditions).includes('Programmed=True:Programmed'));
  const others = object('GatewayClass', 'theirs', { controllerName: 'example.com/theirs' });
  const lost = gateway('nope', served);
  const written = writtenOf([CLASS, lost]).get('g');
  assert.deepEqual(lines(written?.conditions), [
    'Accepted=Unknown:Pending',
    'Programmed=False:Invalid',
  ]);
  assert.deepEqual([written?.addresses, written?.listeners], [[], []]);
  assert.equal(writtenOf([gateway('nope', written)]).size, 0, 'it is right then');
  assert.equal(writtenOf([others, gateway('theirs', served)]).size, 0);
  const foreign = { conditions: [{ type: 'Programmed', status: 'True', message: 'Theirs' }] };
  assert.equal(writtenOf([gateway('nope', foreign)]).size, 0);
  const rejected = object('GatewayClass', 'ours', {});
  assert.equal(writtenOf([rejected, gateway('ours', served)]).size, 0, 'its class exists');
});

test('so is one of which a part was served', () => {
  const listeners = [...LISTENERS, { name: 'odd', port: 81, protocol: 'example.com/odd' }];
  const spec = { gatewayClassName: 'ours', listeners };
  const { conditions, listeners: told } =
    writtenOf([CLASS, object('Gateway', 'g', spec)]).get('g') ?? {};
  const without = fieldsIn(conditions).filter(({ type }) => type !== 'Programmed');
  const status = { conditions: without, listeners: told };
  const lost = object('Gateway', 'g', { ...spec, gatewayClassName: 'nope' }, status);
  assert.ok(
    lines(writtenOf([CLASS, lost]).get('g')?.conditions).includes('Accepted=Unknown:Pending'),
  );
});

test('a ListenerSet that we served is programmed no more without its Gateway, or its class', () => {
  const set = (status?: unknown) =>
    object(
      'ListenerSet',
      'more',
      { parentRef: { name: 'g' }, listeners: [{ name: 'h', port: 81, protocol: 'HTTP' }] },
      status,
    );
  const all = { allowedListeners: { namespaces: { from: 'Same' } }, listeners: LISTENERS };
  const parent = (gatewayClassName: string) => object('Gateway', 'g', { ...all, gatewayClassName });
  const served = writtenOf([CLASS, parent('ours'), set()]).get('more');
  assert.deepEqual(lines(served?.conditions), [
    'Accepted=True:Accepted',
    'Programmed=True:Programmed',
  ]);
  for (const [objects, why] of [
    [[CLASS], /There is no Gateway infra\/g/],
    [[CLASS, parent('nope')], /There is no GatewayClass nope/],
  ] as const) {
    const lost = writtenOf([...objects, set(served)]).get('more');
    assert.deepEqual(
      [lines(lost?.conditions), lost?.listeners],
      [['Accepted=Unknown:Pending', 'Programmed=False:ParentNotProgrammed'], []],
    );
    assert.match(JSON.stringify(lost), why);
    assert.equal(writtenOf([...objects, set(lost)]).has('more'), false, 'it is right then');
    assert.equal(writtenOf([...objects, set()]).has('more'), false, 'it is not known to be ours');
  }
});

test('a BackendTLSPolicy keeps no Gateway of ours when no class is left, and that of others', () => {
  const ancestor = (controllerName: string) => ({
    ancestorRef: { group: GROUP, kind: 'Gateway', namespace: 'infra', name: 'g' },
    controllerName,
    conditions: [],
  });
  const spec = {
    targetRefs: [{ group: '', kind: 'Service', name: 's' }],
    validation: { hostname: 'a.test', wellKnownCACertificates: 'System' },
  };
  const others = ancestor('example.com/theirs');
  const status = { ancestors: [ancestor(DEFAULT_CONTROLLER), others] };
  const written = writtenOf([object('BackendTLSPolicy', 'p', spec, status)]);
  assert.deepEqual(written.get('p')?.ancestors, [others]);
});

test('a listener tells that the Secret with its certificate cannot be used now', async () => {
  const secret = tlsSecret('old', await (await testAuthority()).issue('a.test'));
  const tls = (...names: readonly string[]) => ({
    options: { 'gateway.internal/issuer': 'gateway' },
    certificateRefs: names.map(name => ({ name })),
  });
  const listener = (name: string, port: number, more: object) => {
    return { name, port, protocol: 'HTTPS', ...more };
  };
  const spec = {
    gatewayClassName: 'ours',
    listeners: [listener('a', 1443, { tls: tls('old') }), listener('b', 2443, { tls: tls() })],
  };
  const set = { parentRef: { name: 'g' }, listeners: [listener('c', 3443, { tls: tls('old') })] };
  const problem: Problem = {
    ...{ severity: 'error', kind: 'Secret', namespace: 'infra', name: 'old' },
    ...{ file: 'api', line: 0, message: 'the certificate expired at 2026' },
  };
  const allowing = { ...spec, allowedListeners: { namespaces: { from: 'Same' } } };
  const objects = [CLASS, object('Gateway', 'g', allowing), object('ListenerSet', 's', set)];
  for (const severity of ['error', 'warning'] as const) {
    const written = writtenOf(objects, [{ ...problem, severity }], secret);
    const resolved = (name: string) =>
      fieldsIn(written.get(name)?.listeners).flatMap(({ conditions }) =>
        fieldsIn(conditions).filter(({ type }) => type === 'ResolvedRefs'),
      );
    const told = [...resolved('g'), ...resolved('s')].map(({ message, reason, status }) =>
      String(message).includes('expired') ? `${status} ${reason}` : '',
    );
    const no = severity === 'error' ? 'False InvalidCertificateRef' : '';
    assert.deepEqual(told, [no, '', no]);
  }
});

test('a class lists features, but for v1.1, whose definition takes none in this form', () => {
  const featuresIn = (version?: string) => {
    const { conditions, supportedFeatures } = writtenOf([CLASS], [], '', version).get('ours') ?? {};
    assert.match(lines(conditions)[0] ?? '', /^Accepted=True/);
    return fieldsIn(supportedFeatures).length;
  };
  for (const version of [undefined, 'v1.2.0', 'v1.7.0']) assert.ok(featuresIn(version) > 40);
  assert.equal(featuresIn('v1.1.1'), 0);
});
