import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { managersOf, tableOf } from '#controlplane/explain/asked-listener.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { compile } from '../compile.ts';
import { EXT_AUTHZ } from '../node-groups.ts';
import { edgeAnswers } from '../testing/edge-answer.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { chancesOf } from '../testing/seeded-pick.ts';
import { FUZZ_OPTIONS, written } from '../testing/written.ts';

type Written = { readonly metadata: object };

function labelled(document: object, labels: object): object {
  return { ...document, metadata: { ...(document as Written).metadata, labels } };
}

/** Returns the edge of these documents, and how a port answers a GET of a name without TLS. */
function edgeOf(documents: readonly object[]) {
  const { resources, problems } = resourceSetOf(
    documents.map(each => stringify(each)).join('---\n'),
  );
  const edge = compile(resources, 'edge', FUZZ_OPTIONS);
  const decisions = snapshotEncoder(Buffer.alloc(32))(compile(resources, EXT_AUTHZ, FUZZ_OPTIONS));
  const listeners = edge.resources.get(LISTENER) ?? [];
  const answer = (port: number, host: string) => {
    const listener = listeners.find(({ name }) => name === `127.0.0.1:${port}`);
    if (listener === undefined) return 'closed';
    const [manager = {}] = managersOf(listener.json, false);
    const said = edgeAnswers(edge, decisions, tableOf(manager))(host, '/x');
    return 'status' in said ? said.status : 'served';
  };
  return {
    names: listeners.map(({ name }) => name),
    answer,
    problems: [...problems, ...edge.problems].map(
      ({ severity, kind, name, field }) => `${severity} ${kind} ${name} ${field}`,
    ),
  };
}

const listener = (name: string, port: number, more: object = {}, namespace = 'default') =>
  written('Listener', namespace, name, {
    ...{
      port,
      protocol: 'HTTP',
      securityModel: 'XFP',
      hostBinding: { namespace: { from: 'ALL' } },
    },
    ...more,
  });
const host = (name: string, hostname: string, spec: object = {}, namespace = 'default') =>
  written('Host', namespace, name, { hostname, ...spec });
const MAPPING = written('Mapping', 'default', 'all', { prefix: '/', service: 's' });
const TLS = { tls: { issuer: 'gateway' } };

test('without a Listener the edge listens at its own addresses', () => {
  assert.deepEqual(edgeOf([MAPPING]).names, ['127.0.0.1:8080']);
  assert.deepEqual(edgeOf([MAPPING, host('a', 'a.test', TLS)]).names, [
    '127.0.0.1:8080',
    '127.0.0.1:8443',
  ]);
});

test('Listeners replace these addresses', () => {
  const { answer, names, problems } = edgeOf([MAPPING, listener('a', 9000), listener('b', 9001)]);
  assert.deepEqual(names, ['127.0.0.1:9000', '127.0.0.1:9001']);
  assert.deepEqual(
    [9000, 9001, 8080].map(port => answer(port, 'a.test')),
    ['served', 'served', 'closed'],
  );
  assert.deepEqual(problems, []);
});

test('of two Listeners with one port the first has it, whatever the other binds', () => {
  const narrow = { hostBinding: { namespace: { from: 'SELF' } }, securityModel: 'SECURE' };
  const { answer, problems } = edgeOf([
    MAPPING,
    host('a', 'a.test', { requestPolicy: { insecure: { action: 'Reject' } } }),
    listener('a', 9000, { ...narrow, securityModel: 'INSECURE' }),
    listener('b', 9000, narrow),
  ]);
  assert.equal(answer(9000, 'a.test'), 403);
  assert.deepEqual(problems, ['error Listener b spec.port']);
});

test('a Listener has the port before a ProxyConfig', () => {
  const config = written('ProxyConfig', 'default', 'p', {
    node_group: 'edge',
    listener: { port: 9000 },
  });
  const { answer, names, problems } = edgeOf([
    ...[MAPPING, config, host('a', 'a.test')],
    listener('a', 9000, { hostBinding: {} }, 'other'),
  ]);
  assert.deepEqual(names, ['127.0.0.1:9000']);
  assert.equal(answer(9000, 'a.test'), 404);
  assert.deepEqual(problems, [
    'error ProxyConfig p spec.listener',
    'warning Listener a spec.hostBinding',
    'error Host a spec.hostname',
  ]);
});

test('a Gateway has the port before a Listener', () => {
  const api = 'gateway.networking.k8s.io/v1';
  const { names, problems } = edgeOf([
    ...[MAPPING, listener('a', 9000), listener('b', 9001)],
    {
      apiVersion: api,
      kind: 'GatewayClass',
      metadata: { name: 'c' },
      spec: { controllerName: 'gateway.internal/gateway-controller' },
    },
    {
      apiVersion: api,
      kind: 'Gateway',
      metadata: { name: 'g' },
      spec: { gatewayClassName: 'c', listeners: [{ name: 'l', port: 9000, protocol: 'HTTP' }] },
    },
  ]);
  assert.deepEqual(names, ['127.0.0.1:9000', '127.0.0.1:9001']);
  assert.deepEqual(problems, ['error Listener a spec.port']);
});

test('while no Listener can be read, all is closed at the usual address', () => {
  const broken = listener('a', 9000, { protocol: 'TCP' });
  const { answer } = edgeOf([MAPPING, host('a', 'a.test'), broken]);
  assert.deepEqual([answer(8080, 'a.test'), answer(9000, 'a.test')], [500, 'closed']);
  const beside = edgeOf([MAPPING, host('a', 'a.test'), broken, listener('b', 9001)]);
  assert.deepEqual(
    [beside.answer(8080, 'a.test'), beside.answer(9001, 'a.test')],
    ['closed', 'served'],
  );
});

test('the security model says which requests came by https', () => {
  const reject = { ...TLS, requestPolicy: { insecure: { action: 'Reject' } } };
  const { answer } = edgeOf([
    ...[MAPPING, host('a', 'a.test', reject)],
    ...['XFP', 'SECURE', 'INSECURE'].map((securityModel, n) =>
      listener(securityModel.toLowerCase(), 9000 + n, { securityModel }),
    ),
  ]);
  assert.deepEqual(
    [9000, 9001, 9002].map(port => answer(port, 'a.test')),
    [403, 'served', 403],
  );
});

test('where clients must show certificates, no security model stands in for the connection', () => {
  const strict = {
    tls: { issuer: 'gateway', cacert_chain_file: '/ca', cert_required: true },
    requestPolicy: { insecure: { action: 'Reject' } },
  };
  const { answer } = edgeOf([
    ...[MAPPING, host('a', 'a.test', strict)],
    listener('l', 9000, { securityModel: 'SECURE' }),
  ]);
  assert.equal(answer(9000, 'a.test'), 403);
});

const DOMAINS = ['*', '*.test', '*.shop.test', 'a.test', 'b.test', 'x.shop.test'];
const ASKED = ['a.test', 'b.test', 'c.test', 'x.shop.test', 'y.shop.test', 'z.example'];
const NAMESPACES = ['default', 'other'];
const TEAMS = ['red', 'blue'];

function meets(domain: string, name: string): boolean {
  return domain === '*' || domain === name || (domain[0] === '*' && name.endsWith(domain.slice(1)));
}

/** Returns the narrowest of the domains that a name meets. */
function narrowest<T extends { readonly hostname: string }>(hosts: readonly T[], name: string) {
  const rank = ({ hostname }: T) => (hostname === name ? 1_000 : hostname.length);
  return hosts.filter(({ hostname }) => meets(hostname, name)).sort((a, b) => rank(b) - rank(a))[0];
}

test('a port serves a name exactly when it binds the Host of the name and a Mapping is for it', () => {
  for (let seed = 0; seed < 80; seed++) {
    const { chance, pick } = chancesOf(seed);
    const hosts = DOMAINS.filter(() => chance(0.5)).map((hostname, n) => ({
      ...{ hostname, name: `h${n}`, namespace: pick(NAMESPACES), team: pick(TEAMS) },
    }));
    const ports = Array.from(
      { length: 1 + Math.floor(chancesOf(seed + 1).random() * 3) },
      (_, n) => ({
        ...{ port: 9000 + n, namespace: pick(NAMESPACES), from: pick(['SELF', 'ALL']) },
        team: chance(0.5) ? pick(TEAMS) : undefined,
      }),
    );
    const mappings = DOMAINS.filter(() => chance(0.4));
    const others = chance(0.3);
    const { answer } = edgeOf([
      written('Module', 'default', 'gateway', { config: { serve_other_hosts: others } }),
      ...mappings.map((domain, n) =>
        written('Mapping', 'default', `m${n}`, { prefix: '/', service: 's', host: domain }),
      ),
      ...hosts.map(({ hostname, name, namespace, team }) =>
        labelled(host(name, hostname, {}, namespace), { team }),
      ),
      ...ports.map(({ from, namespace, port, team }) => {
        const selector = team === undefined ? {} : { selector: { matchLabels: { team } } };
        const hostBinding = { namespace: { from }, ...selector };
        return listener(`l${port}`, port, { hostBinding }, namespace);
      }),
    ]);
    for (const { from, namespace, port, team } of ports)
      for (const name of ASKED) {
        const owner = narrowest(hosts, name);
        const isOpen =
          owner === undefined
            ? others || hosts.length === 0
            : (from === 'ALL' || owner.namespace === namespace) &&
              (team === undefined || owner.team === team);
        const isMapped = mappings.some(domain => meets(domain, name));
        assert.equal(
          answer(port, name),
          isOpen && isMapped ? 'served' : 404,
          `seed ${seed}: ${name} at ${port} ${from} ${team}, Hosts ${JSON.stringify(hosts)}, Mappings ${mappings}`,
        );
      }
  }
});

test('redirects to https go to a port without the PROXY protocol, where there is one', () => {
  const redirectsTo = (...listeners: readonly object[]) => {
    const documents = [MAPPING, host('a', 'a.test', TLS), ...listeners];
    const { resources } = resourceSetOf(documents.map(each => stringify(each)).join('---\n'));
    const tables =
      compile(resources, 'edge', FUZZ_OPTIONS).resources.get(ROUTE_CONFIGURATION) ?? [];
    const ports = JSON.stringify(tables).matchAll(/"port_redirect":(\d+)/g);
    return [...new Set([...ports].map(([, port]) => Number(port)))];
  };
  const balanced = listener('a', 8001, { protocol: 'HTTPSPROXY' });
  const direct = listener('b', 8002, { protocol: 'HTTPS' });
  assert.deepEqual(redirectsTo(balanced, direct), [8002]);
  assert.deepEqual(redirectsTo(balanced), [8001]);
});
