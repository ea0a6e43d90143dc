import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Memo } from '#controlplane/compile/memo.ts';
import { servedGateways } from './served-gateways.ts';
import { CLASS, gateway, namespace, object, service } from './testing/documents.ts';
import { clusterOf, OPTIONS, served } from './testing/served.ts';
import { statusLines } from './testing/told.ts';

const LISTENERS = `listeners: [
  {name: any, port: 80, protocol: HTTP},
  {name: shop, port: 80, protocol: HTTP, hostname: "*.shop.test"},
  {name: team, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: a}}}}},
  {name: grpc, port: 8081, protocol: HTTP, allowedRoutes: {kinds: [{kind: GRPCRoute}], namespaces: {from: All}}},
  {name: db, port: 5432, protocol: TCP}]`;

const GATEWAY = gateway('g', LISTENERS);
const CLUSTER = CLASS + GATEWAY + service('s') + namespace('a', 'team: a') + namespace('b', 'x: y');

/** A route in `home` with these parentRefs and hostnames. */
function route(parent: string, { home = 'infra', hosts = '', kind = 'HTTPRoute' } = {}): string {
  const rules = kind === 'HTTPRoute' ? '' : 'rules: [{backendRefs: [{name: s, port: 80}]}], ';
  const hostnames = hosts === '' ? '' : `, hostnames: [${hosts}]`;
  return object(
    kind,
    'r',
    `${rules}parentRefs: [{name: g, namespace: infra${parent}}]${hostnames}`,
    {
      namespace: home,
    },
  );
}

const CASES: readonly [
  what: string,
  route: string,
  accepted: string,
  listeners: readonly string[],
][] = [
  ['to all listeners that allow it', route(''), 'Accepted', ['any', 'shop']],
  ['to the listener that it names', route(', sectionName: shop'), 'Accepted', ['shop']],
  ['to the listeners of a port', route(', port: 80'), 'Accepted', ['any', 'shop']],
  ['to a listener by name and port', route(', sectionName: shop, port: 80'), 'Accepted', ['shop']],
  [
    'to none of another port',
    route(', sectionName: shop, port: 8080'),
    'Accepted=False:NoMatchingParent',
    [],
  ],
  ['to none of another name', route(', sectionName: x'), 'Accepted=False:NoMatchingParent', []],
  [
    'to none whose kind is another',
    route(', sectionName: grpc'),
    'Accepted=False:NotAllowedByListeners',
    [],
  ],
  [
    'to none whose protocol is for another kind',
    route(', sectionName: db'),
    'Accepted=False:NotAllowedByListeners',
    [],
  ],
  ['to the one of its kind', route('', { kind: 'TCPRoute' }), 'Accepted', ['db']],
  [
    'to the one that allows its kind',
    route(', sectionName: grpc', { kind: 'GRPCRoute' }),
    'Accepted',
    ['grpc'],
  ],
  ['to one that selects its namespace', route('', { home: 'a' }), 'Accepted', ['team']],
  [
    'to none from another namespace',
    route('', { home: 'b' }),
    'Accepted=False:NotAllowedByListeners',
    [],
  ],
  [
    'to none from a namespace without labels',
    route('', { home: 'c' }),
    'Accepted=False:NotAllowedByListeners',
    [],
  ],
  ['to those whose hostname it meets', route('', { hosts: 'a.org' }), 'Accepted', ['any']],
  [
    'to none of another hostname',
    route(', sectionName: shop', { hosts: 'a.org' }),
    'Accepted=False:NoMatchingListenerHostname',
    [],
  ],
];

describe('a route is attached', () => {
  for (const [what, document, accepted, listeners] of CASES) {
    test(what, () => {
      const api = served(CLUSTER + document);
      const id = [...api.statuses.keys()].find(
        key => key.endsWith('Route/infra/r') || /Route\/[abc]\/r$/.test(key),
      );
      const [parent = ''] = statusLines(api, id ?? '');
      assert.match(parent, new RegExp(`^Gateway g: ${accepted} `));
      const attached = api.gateways[0]?.listeners.filter(({ routes }) => routes.length > 0);
      assert.deepEqual(
        attached?.map(({ name }) => name),
        listeners,
      );
    });
  }

  test('to none that forbids a label, from a namespace of the cluster that is not read', () => {
    const selector = '{matchExpressions: [{key: closed, operator: DoesNotExist}]}';
    const allowed = `allowedRoutes: {namespaces: {from: Selector, selector: ${selector}}}`;
    const open = gateway('g', `listeners: [{name: h, port: 80, protocol: HTTP, ${allowed}}]`);
    const parents = 'parentRefs: [{name: g, namespace: infra}]';
    const text = `${CLASS}${open}${namespace('b', 'x: y')}`;
    const attached = (home: string, isCluster: boolean) => {
      const set = clusterOf(
        text + object('HTTPRoute', 'r', parents, { namespace: home }),
        isCluster,
      );
      const { gateways } = servedGateways(set, OPTIONS, new Memo());
      return gateways[0]?.listeners[0]?.routes.length;
    };
    assert.deepEqual([attached('b', true), attached('c', true), attached('c', false)], [1, 0, 1]);
  });

  test('with its hostnames that meet those of the listener', () => {
    const api = served(CLUSTER + route('', { hosts: 'a.shop.test, b.org, "*.test"' }));
    assert.deepEqual(
      api.gateways[0]?.listeners.map(({ routes }) => routes[0]?.hostnames),
      [
        ['a.shop.test', 'b.org', '*.test'],
        ['a.shop.test', '*.shop.test'],
        undefined,
        undefined,
        undefined,
      ],
    );
  });

  test('once to a listener that two references select, and counts once', () => {
    const api = served(
      CLUSTER +
        object(
          'HTTPRoute',
          'r',
          'parentRefs: [{name: g, sectionName: any}, {name: g, sectionName: shop}]',
        ) +
        object('HTTPRoute', 'q', 'parentRefs: [{name: g, port: 80}, {name: g, port: 5432}]'),
    );
    assert.deepEqual(
      [statusLines(api, 'HTTPRoute/infra/q'), statusLines(api, 'Gateway/infra/g').slice(1, 3)],
      [
        [
          'Gateway g: Accepted ResolvedRefs',
          'Gateway g: Accepted=False:NotAllowedByListeners ResolvedRefs',
        ],
        [
          'any 2 [HTTPRoute,GRPCRoute] Accepted ResolvedRefs Conflicted=False',
          'shop 2 [HTTPRoute,GRPCRoute] Accepted ResolvedRefs Conflicted=False',
        ],
      ],
    );
  });

  test('to a TCP listener alone when it is the oldest, while younger ones count too', () => {
    const tcp = (name: string, created: number) =>
      object(
        'TCPRoute',
        name,
        'parentRefs: [{name: g}], rules: [{backendRefs: [{name: s, port: 80}]}]',
        { created },
      );
    const api = served(CLUSTER + tcp('a', 2) + tcp('b', 1) + tcp('c', 1));
    const db = api.gateways[0]?.listeners.find(({ name }) => name === 'db');
    assert.deepEqual(
      db?.routes.map(each => each.route.name),
      ['b'],
    );
    assert.match(statusLines(api, 'Gateway/infra/g').at(-1) ?? '', /^db 3 /);
    assert.match(statusLines(api, 'TCPRoute/infra/a')[0] ?? '', /: Accepted ResolvedRefs$/);
  });

  test('in the order of age, then of namespace and name', () => {
    const http = (name: string, created: number) =>
      object('HTTPRoute', name, 'parentRefs: [{name: g, sectionName: any}]', { created });
    const api = served(CLUSTER + http('a', 3) + http('c', 1) + http('b', 1));
    assert.deepEqual(
      api.gateways[0]?.listeners[0]?.routes.map(each => each.route.name),
      ['b', 'c', 'a'],
    );
  });

  test('to nothing of another controller, without a status', () => {
    const other = object('GatewayClass', 'other', 'controllerName: example.com/other', {}).replace(
      ', namespace: infra',
      '',
    );
    const foreign = GATEWAY.replace('name: g', 'name: f').replace('ours', 'other');
    const api = served(
      CLUSTER + other + foreign + object('HTTPRoute', 'r', 'parentRefs: [{name: f}]'),
    );
    assert.deepEqual([statusLines(api, 'HTTPRoute/infra/r'), api.problems], [[], []]);
    assert.deepEqual([...api.statuses.keys()], ['GatewayClass//ours', 'Gateway/infra/g']);
  });

  test('to nothing that does not exist, which is a Problem', () => {
    const api = served(CLUSTER + object('HTTPRoute', 'r', 'parentRefs: [{name: x}]'));
    assert.deepEqual(
      api.problems.map(({ severity, field, message }) => [severity, field, message]),
      [['warning', 'spec.parentRefs[0]', 'there is no Gateway infra/x']],
    );
  });
});

describe('default Gateways', () => {
  const asking = (more = '') =>
    object('HTTPRoute', 'r', `useDefaultGateways: All${more}`, { namespace: 'a' });
  const http = (from: string) =>
    `defaultScope: All, listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: ${from}}}}]`;
  const attachedTo = (text: string) => statusLines(served(CLUSTER + text), 'HTTPRoute/a/r');

  test('take a route that asks for them, and tell it in its status', () => {
    const text = gateway('d', http('All')) + gateway('e', http('All')) + gateway('f', http('Same'));
    assert.deepEqual(attachedTo(text + asking()), [
      'Gateway d: Accepted ResolvedRefs',
      'Gateway e: Accepted ResolvedRefs',
    ]);
  });

  test('take a route once, also when it names one', () => {
    const named = ', parentRefs: [{name: d, namespace: infra, sectionName: x}]';
    assert.deepEqual(attachedTo(gateway('d', http('All')) + asking(named)), [
      'Gateway d: Accepted=False:NoMatchingParent ResolvedRefs',
    ]);
  });

  test('take no route that does not ask, and no other Gateway takes one that does', () => {
    const silent = object('HTTPRoute', 'r', 'rules: [{}]', { namespace: 'a' });
    assert.deepEqual(attachedTo(gateway('d', http('All')) + silent), []);
    const none = http('All').replace('defaultScope: All', 'defaultScope: None');
    assert.deepEqual(attachedTo(gateway('d', none) + asking()), []);
  });
});
