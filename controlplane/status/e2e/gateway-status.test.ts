import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import { inCluster, leads, metric } from '#controlplane/testing/in-cluster.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import type { ControlPlaneProcess } from '#envoy/e2e/control-plane-process.ts';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { occupyPort } from '#envoy/e2e/occupied-port.ts';
import { until } from '#envoy/e2e/until.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { grantCluster } from '#kubernetes/testing/service-account.ts';
import { createObject, deleteObject, getObject, patchObject } from '#kubernetes/write.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import {
  applyGatewayApi,
  gatewayApiPlural,
  gatewayApiRoles,
  whyNoGatewayApi,
} from '#resources/kubernetes/testing/gateway-api.ts';
import { applyDefinitions } from '#resources/kubernetes/testing/objects.ts';
import { GATEWAYS_EXIST } from '../class-finalizers.ts';
import { statusLeaseName } from '../status-lease-name.ts';

const NAMESPACE = 'default';
const ACCOUNT = { name: `controlplane-${NAMESPACE}`, namespace: NAMESPACE };
const SKIP = whyNoKubeApiserver() ?? whyNoGatewayApi() ?? false;

type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
};

/** The parts of statuses that are compared here. */
type Status = {
  readonly conditions?: readonly Condition[];
  readonly listeners?: readonly {
    readonly name: string;
    readonly attachedRoutes: number;
    readonly conditions: readonly Condition[];
  }[];
  readonly parents?: readonly {
    readonly controllerName: string;
    readonly conditions: readonly Condition[];
  }[];
  readonly supportedFeatures?: readonly object[];
  readonly ancestors?: readonly {
    readonly ancestorRef: { readonly kind: string; readonly name: string };
    readonly controllerName: string;
    readonly conditions: readonly Condition[];
  }[];
};

const OUR_PLURALS: Readonly<Record<string, string>> = {
  FilterPolicy: 'filterpolicies',
  RateLimit: 'ratelimits',
};

describe('the status of Gateway API in Kubernetes', { skip: SKIP, concurrency: 1 }, () => {
  let api: KubeApiserver;
  let cluster: Awaited<ReturnType<typeof inCluster>>;
  let plane: ControlPlaneProcess;
  let envoy: EnvoyProcess;
  const state = mkdtempSync(join(tmpdir(), 'crashed-'));

  before(async () => {
    api = await startKubeApiserver();
    await Promise.all([applyDefinitions(api.admin), applyGatewayApi(api.admin)]);
    cluster = await inCluster(api, NAMESPACE);
    // As our manifests do.
    for (const role of gatewayApiRoles()) await grantCluster(api.admin, ACCOUNT, role);
    plane = await cluster.start({ RESOURCES_KUBERNETES: '*', GATEWAY_EDGES: 'shared' });
    const addresses = { xdsAddress: plane.xds, sdsAddress: '127.0.0.1:1' };
    envoy = await startEnvoy(
      bootstrap({ nodeId: 'edge-1', group: 'edge', ...addresses, discoveryClusters: [] }),
    );
    await create('GatewayClass', 'ours', { controllerName: DEFAULT_CONTROLLER });
  });
  after(async () => {
    await envoy?.stop();
    await plane?.stop();
    cluster?.remove();
    rmSync(state, { recursive: true, force: true });
    await api?.remove();
  });

  const targetOf = (kind: string) => ({
    cluster: api.admin,
    resource: {
      ...(OUR_PLURALS[kind] === undefined
        ? { group: GATEWAY_API_GROUP, version: 'v1', plural: gatewayApiPlural(kind) }
        : { group: 'gateway.internal', version: 'v2', plural: OUR_PLURALS[kind] }),
      namespace: kind === 'GatewayClass' ? undefined : NAMESPACE,
    },
  });

  async function create(kind: string, name: string, spec: object): Promise<void> {
    const { group, version } = targetOf(kind).resource;
    const apiVersion = `${group}/${version}`;
    const object = { apiVersion, kind, metadata: { name }, spec };
    assert.equal((await createObject(targetOf(kind), object)).kind, 'written');
  }

  async function patch(kind: string, name: string, fields: object, part?: 'status') {
    const target = { ...targetOf(kind), ...(part === undefined ? {} : { part }) };
    assert.equal((await patchObject(target, name, fields)).kind, 'written');
  }

  /** Waits until the status of an object is as wanted. */
  async function statusWhen(
    kind: string,
    name: string,
    wanted: (status: Status, generation: number) => boolean,
  ): Promise<Status> {
    let status: Status = {};
    const look = async () => {
      const object = await getObject(targetOf(kind), name);
      status = (object?.status ?? {}) as Status;
      return wanted(status, object?.metadata.generation ?? 0) ? status : undefined;
    };
    return until(look, 60_000, `${kind} ${name} ${wanted}`).catch((error: unknown) => {
      throw new Error(`${error}. It is ${JSON.stringify(status)}`);
    });
  }

  const lineOf = (conditions: readonly Condition[] = []) =>
    conditions.map(({ type, status, reason }) => `${type}=${status}:${reason}`).join(' ');

  const parentsOf = ({ parents = [] }: Status) =>
    parents.map(({ controllerName, conditions }) => `${controllerName} ${lineOf(conditions)}`);

  const WELL = `${DEFAULT_CONTROLLER} Accepted=True:Accepted ResolvedRefs=True:ResolvedRefs`;

  const CLASS_WELL = 'Accepted=True:Accepted SupportedVersion=True:SupportedVersion';

  test('tells that a class is accepted, and what is supported', async () => {
    const status = await statusWhen(
      'GatewayClass',
      'ours',
      ({ conditions }) => lineOf(conditions) === CLASS_WELL,
    );
    assert.ok((status.supportedFeatures?.length ?? 0) > 40);
  });

  test('tells that a definition has no known version, and nothing without the right to read them', async () => {
    const crds = {
      cluster: api.admin,
      resource: {
        group: 'apiextensions.k8s.io',
        version: 'v1',
        plural: 'customresourcedefinitions',
      },
    };
    const annotate = (version: string | null) =>
      patchObject(crds, `tcproutes.${GATEWAY_API_GROUP}`, {
        metadata: { annotations: { [`${GATEWAY_API_GROUP}/bundle-version`]: version } },
      });
    assert.equal((await annotate(null)).kind, 'written');
    const told = (line: string) => (status: Status) => lineOf(status.conditions) === line;
    const unknown = 'Accepted=True:Accepted SupportedVersion=False:UnsupportedVersion';
    const { conditions } = await statusWhen('GatewayClass', 'ours', told(unknown));
    assert.match(conditions?.[1]?.message ?? '', / and no version \(tcproutes\)\. /);
    const role = {
      cluster: api.admin,
      resource: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles' },
    };
    const { rules } = (await getObject(role, 'gateway-api-cluster')) as unknown as {
      readonly rules: readonly { readonly resources: readonly string[] }[];
    };
    const others = rules.filter(
      ({ resources }) => !resources.includes('customresourcedefinitions'),
    );
    assert.equal(
      (await patchObject(role, 'gateway-api-cluster', { rules: others })).kind,
      'written',
    );
    await statusWhen('GatewayClass', 'ours', told('Accepted=True:Accepted'));
  });

  test('tells of listeners that the proxies have accepted, and of the routes on them', async () => {
    await create('Gateway', 'g', {
      gatewayClassName: 'ours',
      listeners: [
        { name: 'http', port: 18_080, protocol: 'HTTP' },
        { name: 'odd', port: 18_081, protocol: 'SCTP' },
      ],
    });
    await create('HTTPRoute', 'r', {
      parentRefs: [{ name: 'g' }],
      rules: [{ backendRefs: [{ name: 'nosuch', port: 80 }] }],
    });
    const { listeners, conditions } = await statusWhen('Gateway', 'g', ({ listeners: all }) =>
      lineOf(all?.[0]?.conditions).includes('Programmed=True'),
    );
    assert.deepEqual(
      listeners?.map(({ name, attachedRoutes, conditions: own }) => [
        name,
        attachedRoutes,
        lineOf(own),
      ]),
      [
        [
          'http',
          1,
          'Accepted=True:Accepted ResolvedRefs=True:ResolvedRefs Conflicted=False:NoConflicts Programmed=True:Programmed',
        ],
        [
          'odd',
          0,
          'Accepted=False:UnsupportedProtocol ResolvedRefs=True:ResolvedRefs Conflicted=False:NoConflicts Programmed=False:Invalid',
        ],
      ],
    );
    assert.equal(
      lineOf(conditions),
      'Accepted=True:ListenersNotValid Programmed=False:AddressNotAssigned ResolvedRefs=True:ResolvedRefs AddressesAssigned=False:NotAssigned',
    );
    await statusWhen(
      'HTTPRoute',
      'r',
      status =>
        parentsOf(status)[0]?.endsWith(
          'Accepted=True:Accepted ResolvedRefs=False:BackendNotFound',
        ) === true,
    );
  });

  test('tells that the proxies reach no backend of a route, until it has another', async () => {
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'lonely' },
      spec: { ports: [{ port: 80 }] },
    };
    const services = {
      cluster: api.admin,
      resource: { group: '', version: 'v1', plural: 'services', namespace: NAMESPACE },
    };
    assert.equal((await createObject(services, service)).kind, 'written');
    const rulesTo = (...backendRefs: readonly object[]) => [{ backendRefs }];
    const rules = rulesTo({ name: 'lonely', port: 80 });
    await create('HTTPRoute', 'lonely', { parentRefs: [{ name: 'g' }], rules });
    const failing = await statusWhen(
      'HTTPRoute',
      'lonely',
      status => parentsOf(status)[0]?.endsWith('Reachable=False:Unreachable') === true,
    );
    assert.match(
      failing.parents?.[0]?.conditions.at(-1)?.message ?? '',
      /^spec\.rules\[0\]\.backendRefs\[0\]: the discovery service has no instance of "lonely\.default:80"/,
    );
    await patch('HTTPRoute', 'lonely', { spec: { rules: rulesTo() } });
    await statusWhen('HTTPRoute', 'lonely', status => parentsOf(status).join() === WELL);
    await deleteObject(targetOf('HTTPRoute'), 'lonely');
  });

  test('leaves what others wrote as it is, and follows the generation', async () => {
    const others = {
      type: 'example.com/Theirs',
      status: 'True',
      reason: 'Theirs',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await create('HTTPRoute', 'kept', { parentRefs: [{ name: 'g' }] });
    const first = await statusWhen('HTTPRoute', 'kept', status => parentsOf(status)[0] === WELL);
    const parent = {
      parentRef: { group: GATEWAY_API_GROUP, kind: 'Gateway', name: 'x' },
      controllerName: 'example.com/c',
      conditions: [others],
    };
    await patch(
      'HTTPRoute',
      'kept',
      { status: { parents: [parent, ...(first.parents ?? [])] } },
      'status',
    );
    const gateway = await statusWhen('Gateway', 'g', () => true);
    await patch(
      'Gateway',
      'g',
      { status: { conditions: [...(gateway.conditions ?? []), others] } },
      'status',
    );
    await patch('HTTPRoute', 'kept', { spec: { hostnames: ['kept.example.com'] } });
    await patch('Gateway', 'g', { spec: { allowedListeners: { namespaces: { from: 'All' } } } });
    const isCurrent = (conditions: readonly Condition[] = [], generation: number) =>
      conditions.every(
        ({ type, observedGeneration }) => type === others.type || observedGeneration === generation,
      );
    const { parents } = await statusWhen('HTTPRoute', 'kept', (status, generation) =>
      isCurrent(status.parents?.[1]?.conditions, generation),
    );
    assert.deepEqual(parents?.[0], parent);
    assert.deepEqual(
      parents?.[1]?.conditions.map(({ lastTransitionTime }) => lastTransitionTime),
      first.parents?.[0]?.conditions.map(({ lastTransitionTime }) => lastTransitionTime),
      'the time of a value that stays',
    );
    const { conditions } = await statusWhen('Gateway', 'g', (status, generation) =>
      isCurrent(status.conditions, generation),
    );
    assert.deepEqual(
      conditions?.find(({ type }) => type === others.type),
      others,
    );
  });

  test('tells why a Gateway is rejected, and what its last good version still serves', async () => {
    const namespaces = (operator: string) => ({
      from: 'Selector',
      selector: { matchExpressions: [{ key: 'team', operator }] },
    });
    const spec = (gatewayClassName: string, operator: string) => ({
      gatewayClassName,
      allowedListeners: { namespaces: namespaces(operator) },
      listeners: [{ name: 'http', port: 18_082, protocol: 'HTTP' }],
    });
    const isRejected = ({ conditions }: Status, generation: number) =>
      lineOf(conditions) === 'Accepted=False:Invalid Programmed=False:Invalid' &&
      conditions?.every(each => each.observedGeneration === generation) === true;
    await create('GatewayClass', 'theirs', { controllerName: 'example.com/theirs' });
    await create('Gateway', 'foreign', spec('theirs', 'Odd'));
    await create('Gateway', 'odd', spec('ours', 'Odd'));
    const { conditions, listeners } = await statusWhen('Gateway', 'odd', isRejected);
    assert.match(
      conditions?.[0]?.message ?? '',
      /^spec\.allowedListeners\.namespaces\.selector\.matchExpressions\[0\]\.operator: /,
    );
    assert.deepEqual(listeners ?? [], []);
    await patch('Gateway', 'odd', { spec: spec('ours', 'Exists') });
    const { listeners: good } = await statusWhen('Gateway', 'odd', (status, generation) => {
      const programmed = status.listeners?.[0]?.conditions.find(
        ({ type }) => type === 'Programmed',
      );
      return generation === 2 && programmed?.status === 'True';
    });
    await patch('Gateway', 'odd', { spec: spec('ours', 'Odd') });
    const kept = await statusWhen('Gateway', 'odd', isRejected);
    assert.deepEqual(kept.listeners, good);
    await deleteObject(targetOf('Gateway'), 'odd');
    const foreign = await getObject(targetOf('Gateway'), 'foreign');
    const untouched = (foreign?.status ?? {}) as Status;
    assert.ok(
      untouched.conditions?.every(({ reason }) => reason === 'Pending') ?? true,
      'only what the definition sets by default',
    );
    await deleteObject(targetOf('Gateway'), 'foreign');
    await deleteObject(targetOf('GatewayClass'), 'theirs');
  });

  test('keeps a class that is deleted until no Gateway uses it', async () => {
    const find = () => getObject(targetOf('GatewayClass'), 'used');
    const hasFinalizer = async () => {
      const finalizers = (await find())?.metadata.finalizers;
      return Array.isArray(finalizers) && finalizers.includes(GATEWAYS_EXIST) ? true : undefined;
    };
    const listener = { name: 'http', port: 18_087, protocol: 'HTTP' };
    const isProgrammed = ({ listeners }: Status, generation: number) =>
      listeners?.[0]?.conditions.some(
        ({ observedGeneration, status, type }) =>
          type === 'Programmed' && status === 'True' && observedGeneration === generation,
      ) === true;
    await create('GatewayClass', 'used', { controllerName: DEFAULT_CONTROLLER });
    await create('Gateway', 'user', { gatewayClassName: 'used', listeners: [listener] });
    await until(hasFinalizer, 30_000, 'the finalizer');
    await deleteObject(targetOf('GatewayClass'), 'used');
    await patch('Gateway', 'user', { spec: { listeners: [{ ...listener, port: 18_088 }] } });
    await statusWhen('Gateway', 'user', (status, of) => of === 2 && isProgrammed(status, of));
    assert.notEqual((await find())?.metadata.deletionTimestamp, undefined);
    await deleteObject(targetOf('Gateway'), 'user');
    await until(async () => ((await find()) === undefined ? true : undefined), 30_000, 'its end');
  });

  const ancestorsOf = ({ ancestors = [] }: Status) =>
    ancestors.map(
      ({ ancestorRef, controllerName, conditions }) =>
        `${controllerName} ${ancestorRef.kind} ${ancestorRef.name} ${lineOf(conditions)}`,
    );

  test('tells of policies what became of their targets', async () => {
    const targets = (...names: readonly string[]) => ({
      targetRefs: names.map(name => ({ kind: 'HTTPRoute', name })),
    });
    const policy = { ...targets('r'), filters: [] };
    const told = (line: string) => (status: Status, generation: number) =>
      ancestorsOf(status).join() === `${DEFAULT_CONTROLLER} ${line}` &&
      status.ancestors?.[0]?.conditions[0]?.observedGeneration === generation;
    await create('FilterPolicy', 'older', policy);
    const accepted = told('Gateway g Accepted=True:Accepted');
    const { conditions } = await statusWhen('FilterPolicy', 'older', accepted);
    assert.match(lineOf(conditions), /^Accepted=True:Accepted Programmed=/);
    // The API server's times have whole seconds.
    await delay(1_100);
    await create('FilterPolicy', 'a-newer', policy);
    const conflicted = told('Gateway g Accepted=False:Conflicted');
    await statusWhen('FilterPolicy', 'a-newer', conflicted);
    await deleteObject(targetOf('FilterPolicy'), 'older');
    await statusWhen('FilterPolicy', 'a-newer', accepted);
    await patch('FilterPolicy', 'a-newer', { spec: { odd: true } });
    await statusWhen('FilterPolicy', 'a-newer', told('Gateway g Accepted=False:Invalid'));
    const limits = [{ rate: 1, unit: 'minute' }];
    await create('RateLimit', 'limit', { ...targets('late'), limits });
    await statusWhen('RateLimit', 'limit', told('HTTPRoute late Accepted=False:TargetNotFound'));
    await create('HTTPRoute', 'late', { parentRefs: [{ name: 'g' }] });
    await statusWhen('RateLimit', 'limit', accepted);
    await deleteObject(targetOf('HTTPRoute'), 'late');
  });

  test('leaves the ancestors of others, and takes its own back', async () => {
    const limits = [{ rate: 1, unit: 'minute', pattern: [] }];
    await create('RateLimit', 'shared', { targetRefs: [{ kind: 'Gateway', name: 'g' }], limits });
    const isOne = (status: Status) => ancestorsOf(status).length === 1;
    const { ancestors = [] } = await statusWhen('RateLimit', 'shared', isOne);
    const [own] = ancestors;
    const theirs = { ...own, controllerName: 'example.com/c' };
    await patch('RateLimit', 'shared', { status: { ancestors: [theirs, own] } }, 'status');
    await patch('RateLimit', 'shared', { spec: { targetRefs: null, domain: 'd' } });
    const left = await statusWhen('RateLimit', 'shared', isOne);
    assert.deepEqual(left.ancestors, [theirs]);
  });

  /**
   * Resolves with how many statuses were written, once that rests. The API shows a write before its
   * answer reaches the control plane, which counts it then.
   */
  function written(): Promise<number> {
    let last: number | undefined;
    return until(async () => {
      const count = await metric(plane, /^gateway_status_writes_total\{result="written"\} (\d+)$/m);
      const isSame = count === last;
      last = count;
      return isSame ? count : undefined;
    });
  }

  test('takes its entry back when a route leaves, and writes nothing that is right', async () => {
    await create('HTTPRoute', 'left', { parentRefs: [{ name: 'g' }] });
    await statusWhen('HTTPRoute', 'left', status => parentsOf(status)[0] === WELL);
    await patch('HTTPRoute', 'left', { spec: { parentRefs: [{ name: 'elsewhere' }] } });
    await statusWhen('HTTPRoute', 'left', ({ parents }) => parents?.length === 0);
    const attached = (count: number) =>
      statusWhen('Gateway', 'g', ({ listeners }) => listeners?.[0]?.attachedRoutes === count);
    await attached(2);
    const before = await written();
    await create('HTTPRoute', 'last', { parentRefs: [{ name: 'g' }] });
    await statusWhen('HTTPRoute', 'last', status => parentsOf(status)[0] === WELL);
    await attached(3);
    // Those of the route and of its Gateway, each perhaps before and after the proxies have it.
    const count = (await written()) - before;
    assert.ok(count >= 2 && count <= 4, `${count} of all that are right were written`);
    await deleteObject(targetOf('HTTPRoute'), 'last');
  });

  test('has the answer of proxies that are all connected to a control plane that does not lead', async t => {
    await envoy.stop();
    // The one that leads has other proxies, so it goes on to lead.
    const addresses = { sdsAddress: '127.0.0.1:1', discoveryClusters: [] };
    const others = await startEnvoy(
      bootstrap({ ...addresses, nodeId: 'other-1', group: 'other', xdsAddress: plane.xds }),
    );
    t.after(others.stop);
    const second = await cluster.start({ RESOURCES_KUBERNETES: '*', GATEWAY_EDGES: 'shared' });
    t.after(second.stop);
    envoy = await startEnvoy(
      bootstrap({ ...addresses, nodeId: 'edge-1', group: 'edge', xdsAddress: second.xds }),
    );
    const listeners = [{ name: 'http', port: 18_084, protocol: 'HTTP' }];
    await create('Gateway', 'far', { gatewayClassName: 'ours', listeners });
    t.after(() => deleteObject(targetOf('Gateway'), 'far'));
    const isProgrammed = ({ listeners: all }: Status) =>
      lineOf(all?.[0]?.conditions).includes('Programmed=True');
    await statusWhen('Gateway', 'far', isProgrammed);
    await patch('Gateway', 'far', { spec: { listeners: [{ ...listeners[0], port: 18_085 }] } });
    const isOf = (generation: number) => (status: Status) =>
      isProgrammed(status) &&
      status.listeners?.[0]?.conditions.every(each => each.observedGeneration === generation) ===
        true;
    await statusWhen('Gateway', 'far', isOf(2));
    assert.deepEqual([await leads(plane), await leads(second)], [1, 0]);
    const { resourceVersion } = (await getObject(targetOf('Gateway'), 'far'))?.metadata ?? {};
    // Each of two writers in turns would write before the status of another object.
    const after = [{ ...listeners[0], port: 18_086 }];
    await create('Gateway', 'next', { gatewayClassName: 'ours', listeners: after });
    await statusWhen('Gateway', 'next', isProgrammed);
    await deleteObject(targetOf('Gateway'), 'next');
    assert.equal(
      (await getObject(targetOf('Gateway'), 'far'))?.metadata.resourceVersion,
      resourceVersion,
    );
    const holder = await occupyPort();
    t.after(holder.free);
    await create('Gateway', 'taken', {
      gatewayClassName: 'ours',
      listeners: [{ ...listeners[0], port: holder.port }],
    });
    t.after(() => deleteObject(targetOf('Gateway'), 'taken'));
    const isRejected = ({ listeners: all }: Status) =>
      lineOf(all?.[0]?.conditions).includes('Programmed=False:Invalid');
    const { listeners: rejected } = await statusWhen('Gateway', 'taken', isRejected);
    const told = rejected?.[0]?.conditions.find(({ type }) => type === 'Programmed');
    assert.match(told?.message ?? '', /^A proxy of another control plane rejects it: .*bind/);
    await patch('Gateway', 'taken', { spec: { listeners: [{ ...listeners[0], port: 18_087 }] } });
    await statusWhen('Gateway', 'taken', isOf(2));
  });

  test('is written again at once by a control plane that is started again after a crash', async () => {
    const env = { RESOURCES_KUBERNETES: '*', GATEWAY_EDGES: 'shared', GATEWAY_ID: 'crashed' };
    const first = await cluster.start({ ...env, STATE: state });
    await until(async () => (await leads(first)) || undefined, 60_000, 'leads');
    const before = await lease();
    await first.kill();
    const second = await cluster.start({ ...env, STATE: state });
    try {
      await until(async () => (await leads(second)) || undefined, 60_000, 'leads again');
      const { holderIdentity, leaseTransitions } = await lease();
      assert.deepEqual(
        [holderIdentity, leaseTransitions],
        [before.holderIdentity, before.leaseTransitions],
      );
    } finally {
      await second.stop();
    }
  });

  async function lease() {
    const resource = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' };
    const name = statusLeaseName('crashed');
    const target = { cluster: api.admin, resource: { ...resource, namespace: NAMESPACE } };
    return (await getObject(target, name))?.spec as {
      readonly holderIdentity: string;
      readonly leaseTransitions: number;
    };
  }
});
