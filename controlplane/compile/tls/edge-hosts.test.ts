import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import type { ResourceSet } from '#resources/resource-set.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { written } from '../testing/written.ts';
import { contextProblems } from './context-problems.ts';
import { edgeHosts } from './edge-hosts.ts';

const host = (name: string, spec: object, namespace = 'default') =>
  written('Host', namespace, name, { hostname: 'a.test', ...spec });
const context = (name: string, spec: object, namespace = 'default') =>
  written('TLSContext', namespace, name, spec);
const mapping = (spec: object) =>
  written('Mapping', 'default', 'm', { prefix: '/', service: 'https://s', ...spec });

const resourcesOf = (documents: readonly object[]): ResourceSet =>
  resourceSetOf(documents.map(document => stringify(document)).join('---\n'), 'in.yaml').resources;

/** Returns the names of the edge, those that answer 500 with `closed`, and the Problems. */
function edgeOf(...documents: readonly object[]) {
  const resources = resourcesOf(documents);
  const { contexts, hosts, problems } = edgeHosts(resources);
  return {
    names: hosts.map(each => `${each.hostname}${each.insecure === 'closed' ? ' closed' : ''}`),
    problems: [...problems, ...contextProblems(resources, contexts)].map(
      ({ severity, kind, name, message }) => `${severity} ${kind} ${name}: ${message}`,
    ),
  };
}

const FILES = { cert_chain_file: '/t.crt', private_key_file: '/t.key' };
const REQUIRED = { cacert_chain_file: '/ca.crt', cert_required: true };
const STRICT = { ...FILES, ...REQUIRED };
const LISTED = { ...STRICT, hosts: ['a.test'] };
const TLS = { tls: { issuer: 'gateway' } };
const ROUTE = { requestPolicy: { insecure: { action: 'Route' } } };
const REJECT = { requestPolicy: { insecure: { action: 'Reject' } } };
const BAD = { sni: '10.0.0.1' };

describe('the demands of a TLSContext', () => {
  const CLOSING: readonly [what: string, documents: readonly object[]][] = [
    ['has `tls`', [host('h', TLS), context('c', LISTED)]],
    [
      'has `tls`, and a Mapping uses it',
      [host('h', TLS), context('c', LISTED), mapping({ tls: 'c' })],
    ],
    ['names another', [host('h', { tlsContext: 'd' }), context('c', LISTED), context('d', FILES)]],
    [
      'is listed by another before',
      [
        host('h', {}),
        context('c', { ...FILES, hosts: ['a.test'] }, 'before'),
        context('c', LISTED),
      ],
    ],
    [
      'is listed by another, which demands other certificates',
      [
        host('h', {}),
        context('b', { ...LISTED, cacert_chain_file: '/b.crt' }),
        context('c', LISTED),
      ],
    ],
    ['has `tls` beside `<name>-context`', [host('h', TLS), context('h-context', STRICT)]],
    [
      'demands certificates of another authority',
      [
        host('h', { tls: { issuer: 'gateway', ...REQUIRED, cacert_chain_file: '/b' } }),
        context('c', LISTED),
      ],
    ],
    [
      'serves without TLS',
      [
        host('h', { ...TLS, ...ROUTE }),
        context('c', { hosts: ['a.test'], redirect_cleartext_from: 8080 }),
      ],
    ],
    [
      'has `tls`, while another Host uses it',
      [host('h', TLS), context('c', LISTED), host('i', { hostname: 'b.test', tlsContext: 'c' })],
    ],
    ['has `tls`, when it is rejected', [host('h', TLS), context('c', { ...LISTED, ...BAD })]],
    [
      'has `tls` beside it, when it is rejected',
      [host('h', TLS), context('h-context', { hosts: [7] })],
    ],
  ];
  for (const [what, documents] of CLOSING)
    test(`close a Host that ${what}`, () => {
      const { names, problems } = edgeOf(...documents);
      assert.deepEqual(
        names.filter(name => name.startsWith('a.test')),
        ['a.test closed'],
      );
      const [problem = '', ...others] = problems;
      assert.match(
        problem,
        /^error Host h: .*TLSContext .*"a\.test".* answers 500\. (Demand|Mend)/,
      );
      assert.deepEqual(others, []);
    });

  const SECRET = { ca_secret: 'ca.other', cert_required: true };
  const OPEN: readonly [what: string, documents: readonly object[]][] = [
    ['uses it by name', [host('h', { tlsContext: 'c' }), context('c', LISTED)]],
    ['uses it by its list', [host('h', {}), context('c', LISTED)]],
    ['uses it by its own name', [host('h', {}), context('h-context', STRICT)]],
    [
      'demands the same',
      [host('h', { tls: { issuer: 'gateway', ...REQUIRED } }), context('c', LISTED)],
    ],
    [
      'demands the same by another name of the Secret',
      [
        host('h', { tls: { issuer: 'gateway', ca_secret: 'ca', cert_required: true } }, 'other'),
        context('c', { ...FILES, ...SECRET, hosts: ['a.test'] }),
      ],
    ],
    [
      'demands the same by another TLSContext',
      [host('h', { tlsContext: 'd' }), context('c', LISTED), context('d', STRICT)],
    ],
    [
      'rejects requests without TLS',
      [
        host('h', { ...TLS, ...REJECT }),
        context('c', { hosts: ['a.test'], redirect_cleartext_from: 8080 }),
      ],
    ],
    ['has `tls`, where nothing is demanded', [host('h', TLS), context('c', { hosts: ['a.test'] })]],
    ['is not listed', [host('h', TLS), context('c', { ...STRICT, hosts: [] })]],
  ];
  for (const [what, documents] of OPEN)
    test(`do not close a Host that ${what}`, () => {
      const { names, problems } = edgeOf(...documents);
      assert.deepEqual(names, ['a.test']);
      assert.deepEqual(
        problems.filter(problem => problem.startsWith('error') && problem.includes('500')),
        [],
      );
    });

  test('close a name that no Host has, also when it is rejected or used for another name', () => {
    const other = host('i', { hostname: 'b.test', tlsContext: 'c' });
    for (const documents of [[context('c', LISTED)], [context('c', { ...LISTED, ...BAD })]])
      assert.deepEqual(edgeOf(...documents).names, ['a.test closed']);
    assert.deepEqual(edgeOf(other, context('c', LISTED)).names, ['b.test', 'a.test closed']);
  });

  test('have an effect where they close a name, so none is said to have none', () => {
    const { problems } = edgeOf(context('c', LISTED));
    assert.deepEqual(
      problems.map(problem => /answer 500|no effect/.exec(problem)?.[0]),
      ['answer 500'],
    );
  });
});

describe('of two Hosts with one hostname', () => {
  const PLAIN = host('a', {});
  const CLOSING: readonly [what: string, first: object, second: object][] = [
    ['rejects requests without TLS', PLAIN, host('b', REJECT)],
    ['redirects requests without TLS', PLAIN, host('b', TLS)],
    [
      'demands client certificates',
      host('a', TLS),
      host('b', { tls: { issuer: 'gateway', ...REQUIRED } }),
    ],
    [
      'demands client certificates, but serves without TLS',
      PLAIN,
      host('b', { tls: { issuer: 'gateway', ...REQUIRED }, ...ROUTE }),
    ],
    ['has no TLSContext in force', host('a', TLS), host('b', { tlsContext: 'none', ...ROUTE })],
  ];
  for (const [what, first, second] of CLOSING)
    test(`neither is served when the one that does not count ${what}`, () => {
      const { names, problems } = edgeOf(first, second);
      assert.deepEqual(names, ['a.test closed']);
      assert.match(
        problems.filter(problem => problem.startsWith('error')).join('\n'),
        /^error Host b: the hostname "a\.test" is already that of Host\/default\/a\. .* answers 500/,
      );
    });

  const OPEN: readonly [what: string, first: object, second: object][] = [
    ['demands nothing', PLAIN, host('b', {})],
    ['demands less', host('a', REJECT), host('b', ROUTE)],
    ['redirects what that rejects', host('a', REJECT), host('b', TLS)],
    [
      'demands the same',
      host('a', { tls: { issuer: 'gateway', ...REQUIRED } }),
      host('b', { tls: { issuer: 'gateway', ...REQUIRED } }),
    ],
  ];
  for (const [what, first, second] of OPEN)
    test(`the first is served when the other ${what}`, () => {
      const { names, problems } = edgeOf(first, second);
      assert.deepEqual(names, ['a.test']);
      assert.deepEqual(
        problems.filter(problem => problem.startsWith('error')),
        ['error Host b: the hostname "a.test" is already that of Host/default/a. That one counts'],
      );
    });
});

test('a Secret that has the name of the host keeps the certificate of that Host alone', () => {
  const ordered = { acmeProvider: { email: 'operator@a.test' } };
  const own = host('own', { ...ordered, hostname: 'b.test' });
  const other = host('other', { ...ordered, tlsSecret: { name: 'acme-b.test' } });
  const { hosts } = edgeHosts(resourcesOf([own, other]));
  assert.deepEqual(
    hosts.filter(({ tls }) => tls === 'broken').map(({ id }) => id),
    ['Host/default/other'],
  );
  assert.match(edgeOf(own, other).problems.join(), /^error Host other: Host\/default\/own keeps/);
});
