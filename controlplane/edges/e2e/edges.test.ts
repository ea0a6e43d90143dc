import assert from 'node:assert/strict';
import { after as afterAll, before, describe, type TestContext, test } from 'node:test';
import pino from 'pino';
import { until } from '#envoy/e2e/until.ts';
import type { ApiRequest, Cluster } from '#kubernetes/cluster.ts';
import { ClusterError } from '#kubernetes/cluster-error.ts';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { makeNamespace } from '#kubernetes/testing/service-account.ts';
import { createObject, deleteObject, getObject, patchObject } from '#kubernetes/write.ts';
import { after } from '#process/after.ts';
import { GATEWAY_ANNOTATION } from '#resources/words/gateway-edges.ts';
import { collectionOf, EDGE_KINDS, type EdgeKind } from '../edge-collections.ts';
import type { EdgeGateway } from '../edge-gateway.ts';
import { gatewayIdOf } from '../edge-gateway.ts';
import { edgeName } from '../edge-names.ts';
import { Edges } from '../edges.ts';
import { DEPLOYMENT, SYSTEM, sampleGateway } from '../testing/sample-gateway.ts';

const WAIT_MS = 20_000;

type Writes = { readonly cluster: Cluster; readonly writes: ApiRequest[] };

describe('the edges of Gateways in a cluster', { skip: whyNoKubeApiserver() ?? false }, () => {
  let api: KubeApiserver;
  before(async () => {
    api = await startKubeApiserver();
  });
  afterAll(() => api.remove());

  /** A cluster that records what is written. */
  const recorded = (): Writes => {
    const writes: ApiRequest[] = [];
    const call = (request: ApiRequest) => {
      if (request.method !== 'GET') writes.push(request);
      return api.admin.call(request);
    };
    return { cluster: { ...api.admin, call }, writes };
  };

  /** A cluster whose watches end, and fail from then on, while it refuses them. */
  const refusing = () => {
    const refused = new Map<string, number>();
    let failure: ClusterError | undefined;
    let watching = new AbortController();
    const refuse = (error?: ClusterError) => {
      failure = error;
      watching.abort();
      watching = new AbortController();
    };
    const open = (request: ApiRequest, signal: AbortSignal) => {
      if (failure === undefined)
        return api.admin.open(request, AbortSignal.any([signal, watching.signal]));
      refused.set(request.path, (refused.get(request.path) ?? 0) + 1);
      return Promise.reject(failure);
    };
    return { cluster: { ...api.admin, open }, writes: [], refuse, refused };
  };

  const opened = (
    t: TestContext,
    { cluster, writes }: Writes = recorded(),
    namespaces?: readonly string[],
  ) => {
    const edges = new Edges({
      cluster,
      namespaces,
      system: { ...SYSTEM, name: systemOf(t) },
      log: pino({ level: 'silent' }),
      changed: () => {},
      now: Date.now,
      after,
      random: Math.random,
    });
    t.after(() => edges.close());
    return { edges, writes };
  };
  /** Each test has a gateway of its own. */
  const systemOf = (t: TestContext) => `edges-${t.name.replaceAll(/[^a-z]+/g, '-').slice(0, 40)}-x`;

  const read = (kind: EdgeKind, { namespace, name, className }: EdgeGateway, t: TestContext) =>
    getObject(
      { cluster: api.admin, resource: collectionOf(kind, namespace) },
      kind === 'ConfigMap' ? systemOf(t) : edgeName(name, className),
    );
  const present = async (gateway: EdgeGateway, t: TestContext) => {
    const found = await Promise.all(EDGE_KINDS.map(kind => read(kind, gateway, t)));
    return found.flatMap(each => each?.kind ?? []);
  };
  const allPresent = (gateway: EdgeGateway, t: TestContext) =>
    until(
      async () => (await present(gateway, t)).length === EDGE_KINDS.length || undefined,
      WAIT_MS,
      'all objects',
    );
  const service = async (gateway: EdgeGateway, t: TestContext) =>
    (await read('Service', gateway, t)) as ServiceObject | undefined;
  const portsOf = async (gateway: EdgeGateway, t: TestContext) =>
    (await service(gateway, t))?.spec.ports.map(({ port }) => port);
  const eventually = <T>(look: () => Promise<T>, wanted: T, what: string) =>
    until(
      async () => JSON.stringify(await look()) === JSON.stringify(wanted) || undefined,
      WAIT_MS,
      what,
    );

  const inNamespace = async (namespace: string, changes: Partial<EdgeGateway> = {}) => {
    await makeNamespace(api.admin, namespace);
    return sampleGateway({ namespace, ...changes });
  };
  const want = (...gateways: readonly EdgeGateway[]) => ({
    gateways,
    kept: new Map<string, string>(),
  });

  test('a Gateway gets its objects, and loses them when it is gone', async t => {
    const gateway = await inNamespace('made');
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    edges.want(want());
    await eventually(() => present(gateway, t), [], 'no object');
  });

  test('a process that does not lead writes nothing, and one that takes over nothing again', async t => {
    const gateway = await inNamespace('led');
    const first = opened(t);
    const second = opened(t);
    for (const { edges } of [first, second]) edges.want(want(gateway));
    first.edges.lead(true);
    await allPresent(gateway, t);
    first.edges.lead(false);
    second.edges.lead(true);
    // It writes what is new, so it has compared all the rest.
    const ports = [{ port: 9000, protocol: 'TCP' as const }];
    second.edges.want(want({ ...gateway, ports }));
    await eventually(() => portsOf(gateway, t), [9000], 'the new port');
    assert.deepEqual(
      second.writes.map(({ path }) => path.split('/').at(-2)),
      ['services'],
    );
  });

  test('a port that is added or removed changes the Service alone', async t => {
    const gateway = await inNamespace('ports');
    const { edges, writes } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    const before = writes.length;
    const dns = { port: 53, protocol: 'UDP' as const };
    edges.want(want({ ...gateway, ports: [...gateway.ports, dns] }));
    await eventually(() => portsOf(gateway, t), [53, 80, 443], 'another port');
    edges.want(want({ ...gateway, ports: [dns] }));
    await eventually(() => portsOf(gateway, t), [53], 'one port');
    edges.want(want({ ...gateway, ports: [] }));
    edges.want(want({ ...gateway, ports: [dns] }));
    const paths = new Set(writes.slice(before).map(({ path }) => path.split('/').at(-2)));
    assert.deepEqual([...paths], ['services']);
  });

  test('a label of the infrastructure that is withdrawn is taken back', async t => {
    const gateway = await inNamespace('labels', { labels: { team: 'shop' } });
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    edges.want(want({ ...gateway, labels: {} }));
    const team = async () => (await service(gateway, t))?.metadata.labels?.team ?? 'none';
    await eventually(team, 'none', 'no label');
  });

  test('what others change or delete is healed, and what they add stays', async t => {
    const gateway = await inNamespace('drift');
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    const resource = collectionOf('Service', 'drift');
    const name = edgeName(gateway.name, gateway.className);
    const target = { cluster: api.admin, resource };
    await patchObject(target, name, {
      metadata: { labels: { added: 'yes' } },
      spec: { externalTrafficPolicy: 'Cluster' },
    });
    const policy = async () => (await service(gateway, t))?.spec.externalTrafficPolicy;
    await eventually(policy, 'Local', 'the policy');
    assert.equal((await service(gateway, t))?.metadata.labels?.added, 'yes');
    const scaled = {
      cluster: api.admin,
      resource: collectionOf('HorizontalPodAutoscaler', 'drift'),
    };
    await deleteObject(scaled, name);
    await allPresent(gateway, t);
  });

  test('the number of replicas is left to the autoscaler', async t => {
    const gateway = await inNamespace('scaled');
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    const target = { cluster: api.admin, resource: collectionOf('Deployment', 'scaled') };
    const name = edgeName(gateway.name, gateway.className);
    await patchObject(target, name, { spec: { replicas: 7 } });
    edges.want(want({ ...gateway, annotations: { note: 'changed' } }));
    const note = async () => (await getObject(target, name))?.metadata.annotations?.note;
    await eventually(note, 'changed', 'the annotation');
    const deployment = (await getObject(target, name)) as { spec?: { replicas?: number } };
    assert.equal(deployment.spec?.replicas, 7);
  });

  test('an object of the same name that is not ours is never touched, and the trouble is told', async t => {
    const gateway = await inNamespace('taken');
    const name = edgeName(gateway.name, gateway.className);
    const foreign = {
      metadata: { name, labels: { of: 'others' } },
      spec: { ports: [{ port: 5432 }] },
    };
    const target = { cluster: api.admin, resource: collectionOf('Service', 'taken') };
    await createObject(target, foreign);
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    const id = gatewayIdOf(gateway);
    const trouble = await until(async () => edges.troubleOf(id), WAIT_MS, 'a trouble');
    assert.match(trouble, /^there is another Service taken\/public-gateway/);
    assert.deepEqual(await portsOf(gateway, t), [5432]);
    edges.lead(false);
    assert.equal(edges.troubleOf(id), undefined, 'the one that leads tells it');
    edges.lead(true);
    assert.equal(await until(async () => edges.troubleOf(id), WAIT_MS, 'a trouble'), trouble);
    await deleteObject(target, name);
    await allPresent(gateway, t);
    await eventually(async () => edges.troubleOf(id) ?? 'none', 'none', 'no trouble');
    edges.want(want());
    await eventually(() => present(gateway, t), [], 'no object');
  });

  test('of two Gateways whose names meet around the hyphen the first keeps its objects, and the other is told', async t => {
    const gateway = await inNamespace('met', { name: 'public', className: 'eu-gateway' });
    const ports = [{ port: 9443, protocol: 'TCP' }] as const;
    const other = { ...gateway, name: 'public-eu', className: 'gateway', uid: 'other', ports };
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    edges.want(want(other, gateway));
    const [id, otherId] = [gatewayIdOf(gateway), gatewayIdOf(other)];
    const trouble = await until(async () => edges.troubleOf(otherId), WAIT_MS, 'a trouble');
    assert.match(
      trouble,
      /^there is another Deployment met\/public-eu-gateway, which was not made/,
    );
    assert.deepEqual(edges.addressesOf(otherId), { addresses: [], missing: [] });
    assert.equal(edges.troubleOf(id), undefined);
    edges.want(want(other, { ...gateway, ports: [{ port: 8443, protocol: 'TCP' }] }));
    await eventually(() => portsOf(gateway, t), [8443], 'the port of the first');
    assert.equal((await service(gateway, t))?.metadata.annotations?.[GATEWAY_ANNOTATION], id);
  });

  test('while the API is away a Gateway has what it had, and a right that is missing is told until it is there', async t => {
    const gateway = await inNamespace('away');
    const { refuse, refused, ...recorded } = refusing();
    const { edges } = opened(t, recorded);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    const id = gatewayIdOf(gateway);
    refuse(new ClusterError('it is away'));
    // A kind that is asked for again has told of its failure.
    const isNoticed = () =>
      refused.size === EDGE_KINDS.length && [...refused.values()].every(times => times > 1);
    await until(async () => isNoticed() || undefined, WAIT_MS, 'a second try for each kind');
    assert.equal(edges.troubleOf(id), undefined);
    refuse(new ClusterError('no right', 403));
    await eventually(async () => edges.troubleOf(id), 'no right', 'the missing right');
    refuse();
    await eventually(async () => edges.troubleOf(id) ?? 'none', 'none', 'no trouble');
  });

  test('a namespace that may not be read any more troubles no Gateway of another one', async t => {
    const [left, other] = [await inNamespace('withdrawn'), await inNamespace('beside')];
    const { refuse, cluster } = refusing();
    const isOfLeft = ({ path }: ApiRequest) => path.includes('/namespaces/withdrawn/');
    const open = (request: ApiRequest, signal: AbortSignal) =>
      (isOfLeft(request) ? cluster : api.admin).open(request, signal);
    const { edges } = opened(t, { cluster: { ...cluster, open }, writes: [] }, [
      'withdrawn',
      'beside',
    ]);
    edges.want(want(left, other));
    edges.lead(true);
    await Promise.all([allPresent(left, t), allPresent(other, t)]);
    refuse(new ClusterError('no right', 403));
    await eventually(async () => edges.troubleOf(gatewayIdOf(left)), 'no right', 'the trouble');
    assert.equal(edges.troubleOf(gatewayIdOf(other)), undefined);
  });

  test('the objects of a Gateway that asks for the impossible stay as they are', async t => {
    const gateway = await inNamespace('kept');
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    const other = sampleGateway({ namespace: 'kept', name: 'other', uid: 'other' });
    edges.want({ gateways: [other], kept: new Map([[gatewayIdOf(gateway), gateway.uid]]) });
    await allPresent(other, t);
    assert.deepEqual(await present(gateway, t), [...EDGE_KINDS]);
    assert.equal(edges.addressesOf(gatewayIdOf(gateway)), 'unread', 'so do those that were told');
  });

  test('the addresses are those that a balancer has given', async t => {
    const asked = { value: '192.0.2.7', routability: '' };
    const gateway = await inNamespace('addresses', { addresses: [asked] });
    const { edges } = opened(t);
    edges.want(want(gateway));
    assert.equal(edges.addressesOf(gatewayIdOf(gateway)), 'unread');
    edges.lead(true);
    await allPresent(gateway, t);
    assert.equal(told(edges, gateway), 'without AddressNotUsable');
    const resource = collectionOf('Service', 'addresses');
    await patchObject(
      { cluster: api.admin, resource, part: 'status' },
      edgeName(gateway.name, gateway.className),
      { status: { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } } },
    );
    await eventually(async () => told(edges, gateway), '192.0.2.7:', 'the address');
  });

  /** Returns the addresses of a Gateway, and why it lacks others. */
  const told = (edges: Edges, gateway: EdgeGateway) => {
    const known = edges.addressesOf(gatewayIdOf(gateway));
    if (typeof known !== 'object') return `${known}`;
    const had = known.addresses.map(({ routability, value }) => `${value}:${routability}`);
    return [...had, ...known.missing.map(({ reason }) => `without ${reason}`)].join(' ');
  };
  const INSIDE = { routability: 'Cluster' };
  const OUTSIDE = { routability: '' };

  test('a ClusterIP stays the same while the Gateway is opened to the outside and closed again', async t => {
    const gateway = await inNamespace('inside', { addresses: [INSIDE] });
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    const { clusterIP, type } = (await service(gateway, t))?.spec ?? {};
    assert.equal(type, 'ClusterIP');
    await eventually(async () => told(edges, gateway), `${clusterIP}:Cluster`, 'its own address');
    const typeNow = async () => (await service(gateway, t))?.spec.type;
    const open = { ...gateway, addresses: [INSIDE, OUTSIDE] };
    edges.want(want(open));
    await eventually(typeNow, 'LoadBalancer', 'a balancer');
    assert.equal(told(edges, open), `${clusterIP}:Cluster without AddressNotAssigned`);
    edges.want(want(gateway));
    await eventually(typeNow, 'ClusterIP', 'no balancer');
    const { externalTrafficPolicy, healthCheckNodePort, ports } =
      (await service(gateway, t))?.spec ?? {};
    assert.deepEqual([externalTrafficPolicy, healthCheckNodePort], [undefined, undefined]);
    assert.ok(ports?.every(({ nodePort }) => nodePort === undefined));
    assert.equal((await service(gateway, t))?.spec.clusterIP, clusterIP);
    assert.equal(edges.troubleOf(gatewayIdOf(gateway)), undefined);
  });

  test('each further ClusterIP has a Service of its own, which goes with what asks for it', async t => {
    const gateway = await inNamespace('several', { addresses: [INSIDE, INSIDE] });
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await eventually(async () => told(edges, gateway).split(' ').length, 2, 'two addresses');
    assert.match(told(edges, gateway), /^\S+:Cluster \S+:Cluster$/);
    const [kept, further] = told(edges, gateway).split(' ');
    assert.notEqual(kept, further);
    edges.want(want({ ...gateway, addresses: [INSIDE] }));
    const services = async () => {
      const path = '/api/v1/namespaces/several/services';
      const { body } = await api.admin.call({ method: 'GET', path });
      return (body as { readonly items: readonly unknown[] }).items.length;
    };
    await eventually(services, 1, 'one Service');
    assert.equal(told(edges, { ...gateway, addresses: [INSIDE] }), kept);
  });

  test('a certain ClusterIP is had where the cluster gives it, and else it alone is missing', async t => {
    const free = freeClusterIP(await anyClusterIP());
    const gateway = await inNamespace('certain', {
      addresses: [{ value: free, ...INSIDE }, { value: '203.0.113.9', ...INSIDE }, INSIDE],
    });
    const { edges } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    const wanted = new RegExp(`^${free}:Cluster \\S+:Cluster without AddressNotAssigned$`);
    await until(
      async () => wanted.test(told(edges, gateway)) || undefined,
      WAIT_MS,
      'two of three',
    );
    const id = gatewayIdOf(gateway);
    const why = await until(
      async () => {
        const known = edges.addressesOf(id);
        const message = typeof known === 'object' ? known.missing[0]?.message : undefined;
        return message?.includes(': ') ? message : undefined;
      },
      WAIT_MS,
      'the reason',
    );
    assert.match(why, /^203\.0\.113\.9 cannot be had as a ClusterIP: .*failed to allocate IP/);
    assert.equal(edges.troubleOf(id), undefined, 'its proxies are well');
    await allPresent(gateway, t);
  });

  test('the ClusterIP that a Gateway has already may be asked for by its value', async t => {
    const gateway = await inNamespace('pinned', { addresses: [INSIDE] });
    const { edges, writes } = opened(t);
    edges.want(want(gateway));
    edges.lead(true);
    await allPresent(gateway, t);
    const value = (await service(gateway, t))?.spec.clusterIP ?? '';
    const before = writes.length;
    const pinned = { ...gateway, addresses: [{ value, ...INSIDE }] };
    edges.want(want(pinned));
    // What comes after it has been compared with it.
    edges.want(want({ ...pinned, annotations: { note: 'changed' } }));
    const note = async () => (await service(gateway, t))?.metadata.annotations?.note;
    await eventually(note, 'changed', 'the annotation');
    assert.equal(told(edges, pinned), `${value}:Cluster`);
    const made = writes.slice(before).filter(({ path }) => path.includes('/services/'));
    assert.deepEqual(
      [...new Set(made.map(({ path }) => path.split('/').at(-1)))],
      [edgeName(gateway.name, gateway.className)],
    );
  });

  /** Returns an address of the cluster's range. */
  const anyClusterIP = async () => {
    const target = {
      cluster: api.admin,
      resource: { group: '', version: 'v1', plural: 'services', namespace: 'default' },
    };
    const found = (await getObject(target, 'kubernetes')) as ServiceObject | undefined;
    return found?.spec.clusterIP ?? '';
  };
  /** The API gives addresses from the upper part of its range first. */
  const freeClusterIP = (one: string) => one.replace(/\d+$/, last => String(Number(last) + 9));

  test('the API accepts names of 253 characters and every type of Service', async t => {
    const namespace = 'forms';
    await inNamespace(namespace);
    const { edges } = opened(t);
    const gateways = (['LoadBalancer', 'NodePort', 'ClusterIP'] as const).map((type, index) =>
      sampleGateway({
        namespace,
        name: `${index}.${'a'.repeat(251)}`,
        uid: `uid-${index}`,
        addresses: [{ value: '192.0.2.8', routability: '' }],
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
        deployment: { ...DEPLOYMENT, service: { type, annotations: { pool: 'a' } } },
      }),
    );
    edges.want({ gateways, kept: new Map() });
    edges.lead(true);
    for (const gateway of gateways) {
      await allPresent(gateway, t);
      assert.equal(edges.troubleOf(gatewayIdOf(gateway)), undefined);
    }
  });
});

type ServiceObject = KubernetesObject & {
  readonly spec: {
    readonly type: string;
    readonly clusterIP?: string;
    readonly ports: readonly { readonly port: number; readonly nodePort?: number }[];
    readonly externalTrafficPolicy?: string;
    readonly healthCheckNodePort?: number;
  };
};
