import assert from 'node:assert/strict';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '#envoy/e2e/until.ts';
import {
  type ConformanceCluster,
  startConformanceCluster,
  whyNoConformanceCluster,
} from '../start-cluster.ts';

const WAIT_MS = 240_000;
/** Between two requests of the load. */
const PAUSE_MS = 20;

/** Answers `here`, or asks the address in the path on behalf of the pod. */
const PROGRAM = `
const { createServer, get } = require('node:http');
createServer((request, response) => {
  const [, host] = request.url.split('/');
  if (host === '') return response.end('here');
  get({ host }, answer => answer.pipe(response)).on('error', error => response.end(error.message));
}).listen(8080);
`;

const container = {
  name: 'echo',
  image: 'node',
  command: ['node', '-e', PROGRAM],
  readinessProbe: { tcpSocket: { port: 8080 } },
};

const INSIDE = { routability: 'Cluster' };
const SENTINEL = { routability: 'testing.x-k8s.io/sentinel' };
/** No address of any cluster here. */
const ELSEWHERE = { value: '203.0.113.9', routability: 'Cluster' };

const gateway = (name: string, addresses: readonly object[], port = 80) => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name },
  spec: {
    gatewayClassName: 'gateway',
    addresses,
    listeners: [{ name: 'http', port, protocol: 'HTTP' }],
  },
});

const OBJECTS = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'echo' },
    spec: {
      selector: { matchLabels: { app: 'echo' } },
      template: { metadata: { labels: { app: 'echo' } }, spec: { containers: [container] } },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'echo' },
    spec: { selector: { app: 'echo' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'echo' },
    spec: {
      parentRefs: [{ name: 'inner' }, { name: 'shared' }],
      rules: [{ backendRefs: [{ name: 'echo', port: 80 }] }],
    },
  },
  gateway('inner', [INSIDE]),
];

const options = { skip: whyNoConformanceCluster() ?? false, timeout: 4 * WAIT_MS, concurrency: 1 };

describe('the addresses of Gateways', options, () => {
  let cluster: ConformanceCluster;

  before(async () => {
    cluster = await startConformanceCluster();
    await apply(...OBJECTS);
  });
  after(() => cluster?.remove());

  const apply = (...items: readonly object[]) => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    return cluster.shell(`kubectl apply -f - <<'END'\n${list}\nEND`);
  };
  const read = async <T>(path: string) => {
    const { body, status } = await cluster.api.admin.call({ method: 'GET', path });
    assert.equal(status, 200, path);
    return body as T;
  };
  const gatewayNamed = (name: string) =>
    read<GatewayObject>(`/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/${name}`);
  const serviceNamed = (name: string, namespace = 'default') =>
    read<ServiceObject>(`/api/v1/namespaces/${namespace}/services/${name}`);

  /** Returns what the status says: `Programmed`, `AddressesAssigned`, and the addresses. */
  const told = async (name = 'inner') => {
    const { metadata, status = {} } = await gatewayNamed(name);
    const of = (type: string) => {
      const found = status.conditions?.find(each => each.type === type);
      const isCurrent = found?.observedGeneration === metadata.generation;
      return found && isCurrent ? `${found.status}:${found.reason}` : 'unknown';
    };
    const scopes = (status.addresses ?? []).map(each => `"${each.routability}"`);
    return [of('Programmed'), of('AddressesAssigned'), ...scopes].join(' ');
  };
  const becomes = (wanted: string, name = 'inner') =>
    until(async () => (await told(name)) === wanted || undefined, WAIT_MS, wanted).catch(
      async (error: Error) => {
        const message = `${error.message} is ${await told(name)}\n${cluster.log()}`;
        throw new Error(message, { cause: error });
      },
    );
  const addressesOf = async (name = 'inner') =>
    ((await gatewayNamed(name)).status?.addresses ?? []).map(each => each.value);
  const service = () => serviceNamed('inner-gateway');
  const PROGRAMMED = 'True:Programmed';
  const ASSIGNED = 'True:AddressesAssigned';

  test('a Gateway of the cluster has a ClusterIP alone, and pods reach it', async () => {
    await becomes(`${PROGRAMMED} ${ASSIGNED} "Cluster"`);
    const { spec, status } = await service();
    assert.equal(spec.type, 'ClusterIP');
    assert.deepEqual(status.loadBalancer, {});
    assert.deepEqual(await addressesOf(), [spec.clusterIP]);
    const { spec: of } = await serviceNamed('echo');
    const fromPod = async () =>
      (await ask(of.clusterIP, `/${spec.clusterIP}`)) === 'here' || undefined;
    await until(fromPod, WAIT_MS, 'an answer to the pod');
  });

  test('loses no request while it is opened to the outside and closed again', async () => {
    const { clusterIP } = (await service()).spec;
    const load = startLoad(clusterIP);
    await apply(gateway('inner', [INSIDE, {}]));
    await becomes(`${PROGRAMMED} ${ASSIGNED} "Cluster" ""`);
    const [same, outside = ''] = await addressesOf();
    assert.equal(same, clusterIP);
    assert.equal(await ask(outside, '/'), 'here');
    await apply(gateway('inner', [INSIDE]));
    await becomes(`${PROGRAMMED} ${ASSIGNED} "Cluster"`);
    await until(
      () =>
        ask(outside, '/').then(
          () => undefined,
          () => true as const,
        ),
      WAIT_MS,
      'no way in',
    );
    const { answers, losses } = await load.stop();
    assert.deepEqual(losses, []);
    assert.ok(answers > 10, `${answers} answers`);
  });

  test('tells which of its addresses it does not have, and serves the others', async () => {
    await apply(gateway('inner', [ELSEWHERE, INSIDE, {}, SENTINEL]));
    await becomes(`${PROGRAMMED} False:PartiallyAssigned "Cluster" ""`);
    const { status } = await gatewayNamed('inner');
    const found = status?.conditions?.find(({ type }) => type === 'AddressesAssigned');
    assert.match(
      found?.message ?? '',
      /^spec\.addresses\[0\]: 203\.0\.113\.9 .*failed to allocate/,
    );
    // The balancer gives one address, and two ask for it.
    assert.match(found?.message ?? '', /spec\.addresses\[3\]: /);
  });

  test('is not programmed where it has no address that it asks for', async () => {
    await apply(gateway('inner', [ELSEWHERE]));
    await becomes('False:AddressNotAssigned False:NotAssigned');
    await becomesInner();
    await apply(gateway('inner', [{ routability: 'example.com/wan' }]));
    await becomes('False:AddressNotAssigned False:NotAssigned');
    await becomesInner();
  });

  /** The status and the Service are written one after the other. */
  const becomesInner = () =>
    until(
      async () => (await service()).spec.type === 'ClusterIP' || undefined,
      WAIT_MS,
      'a Service that is reached from inside',
    );

  test('reports the scope that the suite asks for, and none where nothing is promised', async () => {
    await apply(gateway('inner', [SENTINEL]));
    await becomes(`${PROGRAMMED} ${ASSIGNED} "testing.x-k8s.io/sentinel"`);
    await apply(gateway('inner', []));
    await becomes(`${PROGRAMMED} ${ASSIGNED} ""`);
  });

  test('a Gateway on the shared edge has the address of its Service, and no scope but that', async () => {
    const shared = `
kubectl delete gateway inner
kubectl -n gateway scale deployment edge --replicas=1
kubectl -n gateway set env deployment controlplane GATEWAY_EDGES=shared
kubectl -n gateway rollout status deployment controlplane edge --timeout=3m`;
    await cluster.shell(shared).catch((error: Error) => {
      throw new Error(`${error.message}\n${cluster.log()}`, { cause: error });
    });
    await apply(gateway('shared', [], 8080));
    await becomes(`${PROGRAMMED} ${ASSIGNED} ""`, 'shared');
    const { status } = await serviceNamed('edge', 'gateway');
    const [address = ''] = await addressesOf('shared');
    assert.equal(address, status.loadBalancer.ingress?.[0]?.ip);
    await until(async () => (await ask(address, '/')) === 'here' || undefined, WAIT_MS, 'here');
    await apply(gateway('shared', [INSIDE], 8080));
    const reason = async () => {
      const { metadata, status: now } = await gatewayNamed('shared');
      const accepted = now?.conditions?.find(({ type }) => type === 'Accepted');
      return accepted?.observedGeneration === metadata.generation ? accepted.reason : undefined;
    };
    await until(
      async () => (await reason()) === 'UnsupportedAddress' || undefined,
      WAIT_MS,
      'a reason',
    );
  });
});

type GatewayObject = {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly addresses?: readonly { readonly value: string; readonly routability?: string }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
      readonly observedGeneration: number;
    }[];
  };
};

type ServiceObject = {
  readonly spec: { readonly type: string; readonly clusterIP: string };
  readonly status: {
    readonly loadBalancer: { readonly ingress?: readonly { readonly ip: string }[] };
  };
};

/** Asks again and again, until `stop`. */
function startLoad(host: string) {
  const losses: string[] = [];
  let answers = 0;
  let isOver = false;
  const lane = async () => {
    while (!isOver) {
      const body = await ask(host, '/').catch((error: Error) => error.message);
      if (body === 'here') answers += 1;
      else losses.push(body);
      await delay(PAUSE_MS);
    }
  };
  const running = lane();
  return {
    async stop() {
      isOver = true;
      await running;
      return { answers, losses };
    },
  };
}

/** Asks on a connection of its own. */
function ask(host: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ host, path, agent: false, timeout: 5_000 }, answer =>
      resolve(text(answer)),
    );
    request.on('error', reject).on('timeout', () => request.destroy(new Error('no answer')));
  });
}
