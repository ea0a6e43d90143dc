import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Memo } from '#controlplane/compile/memo.ts';
import { type Chances, chancesOf } from '#controlplane/compile/testing/seeded-pick.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { servedGateways } from './served-gateways.ts';
import { CLASS, gateway, namespace, object, service } from './testing/documents.ts';
import { clusterOf, OPTIONS } from './testing/served.ts';

const NAMESPACES = ['a', 'b'];
const GATEWAYS = ['g', 'h'];
const HOSTS = ['', '', 'x.test', 'y.x.test', '"*.x.test"', '"*.test"'];
const KINDS = ['HTTPRoute', 'HTTPRoute', 'HTTPRoute', 'GRPCRoute', 'TCPRoute'];

/** Documents that are all right by themselves, and seldom fit each other. */
function randomCluster(chances: Chances): string {
  const { pick, chance, random } = chances;
  const some = <T>(most: number, make: (index: number) => T) =>
    Array.from({ length: 1 + Math.floor(random() * most) }, (_, index) => make(index));
  const hostOf = () => pick(HOSTS);
  const from = () => pick(['Same', 'All', 'Selector, selector: {matchLabels: {team: t}}']);
  const listener = (index: number) => {
    const protocol = pick(['HTTP', 'HTTP', 'HTTP', 'TCP', 'SCTP']);
    const host = hostOf();
    const hostname = protocol === 'HTTP' && host !== '' ? `, hostname: ${host}` : '';
    const kinds = chance(0.2) ? `, kinds: [{kind: ${pick(KINDS)}}]` : '';
    const port = 80 + index;
    return `{name: l${index}, port: ${port}, protocol: ${protocol}${hostname}, allowedRoutes: {namespaces: {from: ${from()}}${kinds}}}`;
  };
  const created = () => Math.floor(random() * 3);
  const parentRef = (section: string) => {
    const kind = chance(0.3)
      ? 'kind: ListenerSet, name: s'
      : `name: ${pick([...GATEWAYS, ...GATEWAYS, 'nosuch'])}`;
    return `{${kind}, namespace: ${pick(NAMESPACES)}${section}}`;
  };
  const parentRefs = () =>
    chance(0.5) ? parentRef('') : some(3, index => parentRef(`, sectionName: l${index}`));
  const backend = () =>
    `{name: ${pick(['s', 's', 't'])}, port: ${pick(['80', '80', '81'])}, namespace: ${pick(NAMESPACES)}}`;
  const route = (index: number) => {
    const kind = pick(KINDS);
    const host = hostOf();
    const hostnames = kind === 'TCPRoute' || host === '' ? '' : `, hostnames: [${host}]`;
    const rules = `rules: [{backendRefs: [${some(2, backend)}]}]`;
    const parents = `parentRefs: [${parentRefs()}]`;
    return object(kind, `r${index}`, `${parents}, ${rules}${hostnames}`, {
      namespace: pick(NAMESPACES),
      created: created(),
    });
  };
  const gatewayOf = (name: string) =>
    gateway(
      name,
      `listeners: [${some(3, listener)}], allowedListeners: {namespaces: {from: ${from()}}}`,
      {
        namespace: pick(NAMESPACES),
        created: created(),
      },
    );
  const set = `parentRef: {name: ${pick(GATEWAYS)}, namespace: ${pick(NAMESPACES)}}, listeners: [${some(3, listener)}]`;
  return [
    CLASS,
    namespace('a', 'team: t'),
    ...GATEWAYS.map(gatewayOf),
    object('ListenerSet', 's', set, { namespace: pick(NAMESPACES), created: created() }),
    ...NAMESPACES.map(home => service('s', '{port: 80}', home)),
    object(
      'ReferenceGrant',
      'grant',
      `from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: ${pick(NAMESPACES)}}], to: [{group: "", kind: Service}]`,
      { namespace: pick(NAMESPACES) },
    ),
    ...some(8, route),
  ].join('');
}

/** The same resources in another order. */
function shuffled(resources: ResourceSet, { random }: Chances): ResourceSet {
  const mix = <T>(items: readonly T[]): readonly T[] =>
    items
      .map(item => ({ item, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  const entries = Object.entries(resources).map(([field, value]) => [
    field,
    Array.isArray(value) ? mix(value) : value,
  ]);
  return Object.fromEntries(entries) as ResourceSet;
}

describe('what random objects of Gateway API come to', () => {
  const SEEDS = Array.from({ length: 150 }, (_, seed) => seed);
  const each = SEEDS.map(seed => {
    const resources = clusterOf(randomCluster(chancesOf(seed)));
    return { seed, resources, api: servedGateways(resources, OPTIONS, new Memo()) };
  });

  test('does not depend on the order of the input', () => {
    for (const { seed, resources, api } of each) {
      const other = servedGateways(shuffled(resources, chancesOf(seed)), OPTIONS, new Memo());
      assert.deepEqual(other.gateways, api.gateways, `seed ${seed}`);
      assert.deepEqual(
        new Map([...other.statuses].sort()),
        new Map([...api.statuses].sort()),
        `seed ${seed}`,
      );
    }
  });

  test('is the same with what is remembered of other objects', () => {
    const memo = new Memo();
    for (const { seed, resources, api } of [...each, ...each]) {
      assert.deepEqual(servedGateways(resources, OPTIONS, memo), api, `seed ${seed}`);
    }
  });

  test('counts on each listener the routes that are attached there', () => {
    let attached = 0;
    for (const { seed, api } of each) {
      const counts = [...api.statuses].flatMap(([id, status]) =>
        'listeners' in status
          ? status.listeners.map(
              ({ name, attachedRoutes }) => [`${id}/${name}`, attachedRoutes] as const,
            )
          : [],
      );
      for (const { id, protocol, routes } of api.gateways.flatMap(({ listeners }) => listeners)) {
        const count = counts.find(([key]) => key === id)?.[1] ?? 0;
        attached += count;
        if (protocol === 'TCP')
          assert.equal(routes.length, Math.min(count, 1), `seed ${seed} ${id}`);
        else assert.equal(routes.length, count, `seed ${seed} ${id}`);
      }
    }
    assert.ok(attached > 50, `only ${attached} routes are attached at all`);
  });

  test('attaches a route of another namespace only where the listener allows it', () => {
    let across = 0;
    for (const { seed, resources, api } of each) {
      const origins = new Map(
        [...resources.gateways, ...resources.listenerSets].map(origin => [origin.id, origin]),
      );
      for (const { origin: id, name, routes } of api.gateways.flatMap(
        ({ listeners }) => listeners,
      )) {
        const origin = origins.get(id);
        const spec = origin?.spec.listeners.find(listener => listener.name === name);
        const foreign = routes.filter(({ route }) => route.namespace !== origin?.namespace);
        across += foreign.length;
        for (const { route } of foreign) {
          const { from } = spec?.allowedRoutes.namespaces ?? {};
          const isAllowed = from === 'All' || (from === 'Selector' && route.namespace === 'a');
          assert.ok(isAllowed, `seed ${seed}: ${route.id} on ${id}/${name}`);
        }
      }
    }
    assert.ok(across > 10, `only ${across} routes come from another namespace`);
  });

  test('reaches a Service of another namespace only with a grant', () => {
    let reached = 0;
    for (const { seed, resources, api } of each) {
      const [grant] = resources.referenceGrants;
      const routes = api.gateways
        .flatMap(({ listeners }) => listeners)
        .flatMap(listener => listener.routes);
      for (const { kind, route, rules } of routes) {
        const targets = rules
          .flatMap(({ backends }) => backends)
          .flatMap(({ target }) => target ?? []);
        for (const { namespace } of targets.filter(
          target => target.namespace !== route.namespace,
        )) {
          reached += 1;
          assert.deepEqual(
            [kind, route.namespace, namespace],
            ['HTTPRoute', grant?.spec.from[0]?.namespace, grant?.namespace],
            `seed ${seed}`,
          );
        }
      }
    }
    assert.ok(reached > 0, 'no Service of another namespace is reached at all');
  });

  test('is made again only where something has changed', () => {
    const memo = new Memo();
    const text =
      CLASS +
      gateway('g', 'listeners: [{name: l, port: 80, protocol: HTTP}]') +
      gateway('h', 'listeners: [{name: l, port: 80, protocol: HTTP}]') +
      service('s') +
      object(
        'HTTPRoute',
        'one',
        'parentRefs: [{name: g}], rules: [{backendRefs: [{name: s, port: 80}]}]',
      ) +
      object(
        'HTTPRoute',
        'two',
        'parentRefs: [{name: h}], rules: [{backendRefs: [{name: t, port: 80}]}]',
      );
    const before = clusterOf(text);
    const [added] = clusterOf(CLASS + service('t')).services;
    const first = servedGateways(before, OPTIONS, memo);
    const services = [...before.services, ...(added === undefined ? [] : [added])];
    const next = servedGateways({ ...before, services }, OPTIONS, memo);
    const same = first.gateways.map((each, index) => each === next.gateways[index]);
    assert.deepEqual(same, [true, false]);
  });
});
