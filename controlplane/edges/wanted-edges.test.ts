import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLASS, gateway, object } from '#controlplane/gateway-api/testing/documents.ts';
import { clusterOf, served } from '#controlplane/gateway-api/testing/served.ts';
import { wantedObjects } from './edge-changes.ts';
import { SYSTEM } from './testing/sample-gateway.ts';
import { wantedEdges } from './wanted-edges.ts';

const HTTP = 'listeners: [{name: http, port: 80, protocol: HTTP}]';

/** The cluster has all Gateways of the documents, and those of `more`. */
function wanted(text: string, more: readonly string[] = []) {
  const resources = clusterOf(CLASS + text);
  const ids = [...resources.gateways.map(({ id }) => id), ...more];
  const uids = new Map(ids.map(id => [id, `uid of ${id}`]));
  return wantedEdges(served(CLASS + text), resources, uids);
}

const settings = (name: string, most: number) => `apiVersion: gateway.internal/v2
kind: ProxyConfig
metadata: {name: ${name}, namespace: infra}
spec: {node_group: none, deployment: {max_replicas: ${most}}}
---
`;
const ref = (name: string) =>
  `parametersRef: {group: gateway.internal, kind: ProxyConfig, name: ${name}}`;

test('a Gateway has the ports of its own listeners and those of its ListenerSets', () => {
  const dns = '{name: dns, port: 53, protocol: UDP}';
  const { gateways } = wanted(
    gateway('a', `${HTTP}, allowedListeners: {namespaces: {from: Same}}`) +
      object('ListenerSet', 'more', `parentRef: {name: a}, listeners: [${dns}]`),
  );
  assert.deepEqual(
    gateways.map(({ name, uid, ports }) => ({ name, uid, ports })),
    [
      {
        name: 'a',
        uid: 'uid of Gateway/infra/a',
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 53, protocol: 'UDP' },
        ],
      },
    ],
  );
});

test('what its infrastructure says, and the addresses that it names, are asked for', () => {
  const infrastructure = 'infrastructure: {labels: {team: shop}, annotations: {note: one}}';
  const addresses = 'addresses: [{value: 192.0.2.1}, {type: IPAddress}, {routability: Cluster}]';
  const [edge] = wanted(gateway('a', `${HTTP}, ${infrastructure}, ${addresses}`)).gateways;
  assert.deepEqual(
    [edge?.labels, edge?.annotations, edge?.addresses],
    [
      { team: 'shop' },
      { note: 'one' },
      [{ value: '192.0.2.1', routability: '' }, { routability: '' }, { routability: 'Cluster' }],
    ],
  );
});

test('the settings of a Gateway come before those of its class, and those before the defaults', () => {
  const mostOf = (text: string) => wanted(text).gateways[0]?.deployment.max_replicas;
  const own = gateway('a', `${HTTP}, infrastructure: {${ref('own')}}`);
  assert.equal(mostOf(gateway('a', HTTP)), 10);
  assert.equal(mostOf(settings('own', 3) + own), 3);
  const withSettings = CLASS.replace(
    'controllerName:',
    'parametersRef: {group: gateway.internal, kind: ProxyConfig, name: all, namespace: infra}, controllerName:',
  );
  const both = withSettings + settings('own', 3) + settings('all', 4);
  const uids = new Map([['Gateway/infra/a', 'uid']]);
  const most = (text: string) =>
    wantedEdges(served(text), clusterOf(text), uids).gateways[0]?.deployment.max_replicas;
  assert.equal(most(both + own), 3);
  assert.equal(most(both + gateway('a', HTTP)), 4);
});

test('the objects of a Gateway that is not accepted stay as they are', () => {
  const { gateways, kept } = wanted(gateway('a', `${HTTP}, infrastructure: {${ref('none')}}`));
  assert.deepEqual([gateways, [...kept]], [[], [['Gateway/infra/a', 'uid of Gateway/infra/a']]]);
});

test('the objects of a Gateway that no version of is in force stay as they are', () => {
  const { gateways, kept } = wanted(gateway('a', HTTP), ['Gateway/infra/rejected']);
  assert.deepEqual(
    [gateways.map(({ name }) => name), [...kept.keys()]],
    [['a'], ['Gateway/infra/rejected']],
  );
});

test('the ConfigMap of a namespace stays for Gateways whose objects stay, when others go', () => {
  const impossible = gateway('b', `${HTTP}, infrastructure: {${ref('none')}}`);
  const elsewhere = gateway('c', `${HTTP}, infrastructure: {${ref('none')}}`, {
    namespace: 'shop',
  });
  const edges = wanted(gateway('a', HTTP) + impossible + elsewhere, ['Gateway/infra/rejected']);
  const [made] = wantedObjects(edges, SYSTEM).get('ConfigMap/infra/gateway-edges') ?? [];
  const owners = made?.object.metadata.ownerReferences as readonly { readonly uid: string }[];
  assert.deepEqual(
    owners.map(({ uid }) => uid),
    ['a', 'b', 'rejected'].map(name => `uid of Gateway/infra/${name}`),
  );
});

test('the objects of a Gateway that is given to another controller do not stay', () => {
  const given = gateway('a', HTTP).replace('gatewayClassName: ours', 'gatewayClassName: theirs');
  const { gateways, kept } = wanted(given);
  assert.deepEqual([gateways, [...kept]], [[], []]);
});

test('a Gateway in a file has no proxies of its own', () => {
  const text = CLASS + gateway('a', HTTP);
  assert.deepEqual(wantedEdges(served(text), clusterOf(text), new Map()).gateways, []);
});

test('the older Gateway comes first, since it keeps a name that another one wants too', () => {
  const { gateways } = wanted(
    gateway('a', HTTP, { namespace: 'infra', created: 2 }) +
      gateway('b', HTTP, { namespace: 'infra', created: 1 }),
  );
  assert.deepEqual(
    gateways.map(({ name }) => name),
    ['b', 'a'],
  );
});
