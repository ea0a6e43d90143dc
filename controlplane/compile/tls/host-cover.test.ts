import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { compile } from '../compile.ts';
import { EXT_AUTHZ } from '../node-groups.ts';
import { type EdgeAnswer, edgeAnswers } from '../testing/edge-answer.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { type Chances, chancesOf } from '../testing/seeded-pick.ts';
import { FUZZ_OPTIONS, written } from '../testing/written.ts';

const mapping = (name: string, spec: object = {}) =>
  written('Mapping', 'default', name, { prefix: '/', service: 's', ...spec });
const host = (name: string, spec: object) => written('Host', 'default', name, spec);
const action = (action: string) => ({ requestPolicy: { insecure: { action } } });
const TLS = { tls: { issuer: 'gateway' } };

function compiled(documents: readonly object[]) {
  const { resources, problems } = resourceSetOf(
    documents.map(document => stringify(document)).join('---\n'),
    'in.yaml',
  );
  const edge = compile(resources, 'edge', FUZZ_OPTIONS);
  const decisions = snapshotEncoder(Buffer.alloc(32))(compile(resources, EXT_AUTHZ, FUZZ_OPTIONS));
  return { ask: edgeAnswers(edge, decisions), problems: [...problems, ...edge.problems] };
}

/** Returns the answer to a GET without TLS for the path `/x` of a name. */
function answers(
  names: readonly string[],
  ...documents: readonly object[]
): readonly (number | string)[] {
  const { ask } = compiled(documents);
  return names.map(name => said(ask(name, '/x')));
}

function said(answer: EdgeAnswer): number | string {
  return 'status' in answer ? answer.status : 'served';
}

const NAMES = ['a.test', 'b.test', '192.0.2.1'];

test('without a Host a Mapping without host is served on every name', () =>
  assert.deepEqual(answers(NAMES, mapping('m')), ['served', 'served', 'served']));

test('with a Host it is served on the names of Hosts alone', () =>
  assert.deepEqual(answers(NAMES, mapping('m'), host('a', { hostname: 'a.test' })), [
    'served',
    404,
    404,
  ]));

test('where every Host redirects, other names are redirected too', () => {
  const hosts = [host('a', { hostname: 'a.test', ...TLS })];
  assert.deepEqual(answers(NAMES, mapping('m'), ...hosts), [301, 301, 301]);
  const mixed = [...hosts, host('b', { hostname: 'b.test', ...TLS, ...action('Reject') })];
  assert.deepEqual(answers(NAMES, mapping('m'), ...mixed), [301, 403, 404]);
});

test('a Host of `*` or the Module opens the rest', () => {
  const strict = host('a', { hostname: 'a.test', ...TLS });
  const module = written('Module', 'default', 'gateway', { config: { serve_other_hosts: true } });
  for (const opening of [host('any', { hostname: '*' }), module])
    assert.deepEqual(answers(NAMES, mapping('m'), strict, opening), [301, 'served', 'served']);
});

test('an expression for hosts is served on the names of Hosts alone', () => {
  const documents = [
    mapping('m', { host: '.*', host_regex: true }),
    host('a', { hostname: 'a.test' }),
  ];
  assert.deepEqual(answers(NAMES, ...documents), ['served', 404, 404]);
});

test('a Mapping for a name that no Host covers is not served, and has a Problem', () => {
  const documents = [
    host('shop', { hostname: '*.shop.test' }),
    mapping('lone', { host: 'b.test' }),
    mapping('wide', { host: '*.test' }),
    mapping('within', { host: 'a.shop.test' }),
  ];
  const { ask, problems } = compiled(documents);
  assert.deepEqual(
    ['b.test', 'a.shop.test', 'x.shop.test', 'c.test'].map(name => said(ask(name, '/'))),
    [404, 'served', 'served', 404],
  );
  assert.deepEqual(
    problems.map(({ severity, name, field }) => [severity, name, field]),
    [['error', 'lone', 'spec.host']],
  );
});

test('a Mapping that no Host selects by its labels is not served, and has a Problem', () => {
  const selecting = { mappingSelector: { matchLabels: { team: 'a' } } };
  const labelled = (name: string, team: string, spec: object) => ({
    ...mapping(name, spec),
    metadata: { name, labels: { team } },
  });
  const documents = [
    host('a', { hostname: 'a.test', ...selecting }),
    host('c', { hostname: 'c.test' }),
    labelled('selected', 'a', {}),
    mapping('unlabelled', {}),
    mapping('lost', { host: 'a.test', prefix: '/lost/' }),
    labelled('other', 'b', { host: 'a.test', prefix: '/other/' }),
  ];
  const { problems } = compiled(documents);
  assert.deepEqual(
    problems.map(({ severity, name, field }) => [severity, name, field]),
    ['lost', 'other'].map(name => ['error', name, 'spec.host']),
  );
  assert.match(String(problems[0]?.message), /choose Mappings by labels \(`mappingSelector`\)/);
});

test('a Mapping for every host with a label of no Host is told about the label', () => {
  const mappingSelector = { matchLabels: { team: 'a' } };
  const labelled = (name: string, spec: object) => ({
    ...mapping(name, spec),
    metadata: { name, labels: { team: 'b' } },
  });
  const { ask, problems } = compiled([
    host('any', { hostname: '*' }),
    host('a', { hostname: 'a.test', mappingSelector }),
    labelled('every', {}),
    labelled('one', { host: 'c.test', prefix: '/one/' }),
  ]);
  assert.deepEqual([said(ask('c.test', '/')), said(ask('c.test', '/one/'))], [404, 'served']);
  assert.deepEqual(
    problems.map(({ severity, name, field }) => [severity, name, field]),
    [['error', 'every', 'metadata.labels']],
  );
  assert.match(String(problems[0]?.message), /has a label by which Hosts choose Mappings/);
});

test('a Host whose name cannot be read closes every name that no other Host has', () => {
  const documents = [
    mapping('m'),
    host('odd', { hostname: 'a b' }),
    host('a', { hostname: 'a.test' }),
  ];
  assert.deepEqual(answers(NAMES, ...documents), ['served', 500, 500]);
  assert.ok(compiled(documents).problems.some(({ message }) => message.includes('answers 500')));
});

test("what a ProxyConfig declares for a name is served there, and no Mapping's route besides", () => {
  const virtual_hosts = [{ name: 'v', domains: ['*'], routes: [{ prefix: '/own', cluster: 'c' }] }];
  const clusters = [{ name: 'c', type: 'static', hosts: [{ url: 'tcp://127.0.0.1:1' }] }];
  const proxy = written('ProxyConfig', 'default', 'p', {
    node_group: 'edge',
    virtual_hosts,
    clusters,
  });
  const { ask } = compiled([proxy, mapping('m'), host('a', { hostname: 'a.test', ...TLS })]);
  assert.deepEqual(
    ['/own', '/x'].map(path => said(ask('b.test', path))),
    ['served', 404],
  );
});

test('domains of one ProxyConfig that different Hosts have keep to their own Host', () => {
  const virtual_hosts = [
    { name: 'v', domains: ['a.test', 'b.test'], routes: [{ prefix: '/', cluster: 'c' }] },
  ];
  const clusters = [{ name: 'c', type: 'static', hosts: [{ url: 'tcp://127.0.0.1:1' }] }];
  const proxy = written('ProxyConfig', 'default', 'p', {
    node_group: 'edge',
    virtual_hosts,
    clusters,
  });
  const hosts = [
    host('a', { hostname: 'a.test' }),
    host('b', { hostname: 'b.test', ...action('Reject') }),
  ];
  assert.deepEqual(answers(['a.test', 'b.test'], proxy, ...hosts), ['served', 403]);
});

const DOMAINS = ['*', '*.test', '*.shop.test', 'a.test', 'b.test', 'x.shop.test'];
const ASKED = ['a.test', 'b.test', 'c.test', 'x.shop.test', 'y.shop.test', 'z.example'];

function meets(domain: string, name: string): boolean {
  return (
    domain === '*' || domain === name || (domain.startsWith('*') && name.endsWith(domain.slice(1)))
  );
}

function randomDomains({ chance }: Chances): readonly string[] {
  return DOMAINS.filter(() => chance(0.4));
}

test('a name is served exactly when a Mapping is for it and a Host has it, or there is no Host', () => {
  for (let seed = 0; seed < 60; seed++) {
    const chances = chancesOf(seed);
    const [hostnames, hosts] = [randomDomains(chances), randomDomains(chances)];
    const { ask } = compiled([
      written('Module', 'default', 'gateway', { config: {} }),
      ...hostnames.map((hostname, n) => host(`h${n}`, { hostname })),
      ...hosts.map((name, n) => mapping(`m${n}`, { host: name })),
    ]);
    for (const name of ASKED) {
      const covered = hostnames.length === 0 || hostnames.some(domain => meets(domain, name));
      const expected = covered && hosts.some(domain => meets(domain, name)) ? 'served' : 404;
      assert.equal(
        said(ask(name, '/')),
        expected,
        `${name}: Hosts ${hostnames}, Mappings ${hosts}`,
      );
    }
  }
});
