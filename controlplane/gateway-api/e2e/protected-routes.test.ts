import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inCluster } from '#controlplane/testing/in-cluster.ts';
import { bootstrap } from '#envoy/bootstrap.ts';
import type { ControlPlaneProcess } from '#envoy/e2e/control-plane-process.ts';
import { type EnvoyProcess, startEnvoy } from '#envoy/e2e/envoy-process.ts';
import { request } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import {
  type KubeApiserver,
  startKubeApiserver,
  whyNoKubeApiserver,
} from '#kubernetes/testing/kube-apiserver.ts';
import { grantCluster } from '#kubernetes/testing/service-account.ts';
import { createObject, getObject, patchObject, type Written } from '#kubernetes/write.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import {
  applyGatewayApi,
  gatewayApiPlural,
  gatewayApiRoles,
  whyNoGatewayApi,
} from '#resources/kubernetes/testing/gateway-api.ts';
import { applyDefinitions } from '#resources/kubernetes/testing/objects.ts';
import { DEFAULT_CONTROLLER } from '../gateway-options.ts';

const NAMESPACE = 'default';
const ACCOUNT = { name: `controlplane-${NAMESPACE}`, namespace: NAMESPACE };
const SKIP = whyNoKubeApiserver() ?? whyNoGatewayApi() ?? false;

/** No service is asked. What is open answers 302. */
const OPEN = {
  filters: [
    { type: 'RequestRedirect', requestRedirect: { hostname: 'open.example.com', statusCode: 302 } },
  ],
};

describe('a route under Filters, in Kubernetes', { skip: SKIP, concurrency: 1 }, () => {
  let api: KubeApiserver;
  let cluster: Awaited<ReturnType<typeof inCluster>>;
  let plane: ControlPlaneProcess;
  let envoy: EnvoyProcess;
  let port = 0;

  before(async () => {
    api = await startKubeApiserver();
    await Promise.all([applyDefinitions(api.admin), applyGatewayApi(api.admin)]);
    cluster = await inCluster(api, NAMESPACE);
    for (const role of gatewayApiRoles()) await grantCluster(api.admin, ACCOUNT, role);
    port = await freePort();
    await create('GatewayClass', 'ours', { controllerName: DEFAULT_CONTROLLER });
    await create('Gateway', 'g', {
      gatewayClassName: 'ours',
      listeners: [{ name: 'http', port, protocol: 'HTTP' }],
    });
    await create('HTTPRoute', 'wide', { ...AT, rules: [OPEN] });
    await start();
  });
  after(async () => {
    await envoy?.stop();
    await plane?.stop();
    cluster?.remove();
    await api?.remove();
  });

  const AT = { parentRefs: [{ name: 'g' }], hostnames: ['sec.example.com'] };

  /** Each control plane has a state folder of its own, and so knows no last good version. */
  async function start(): Promise<void> {
    plane = await cluster.start({ RESOURCES_KUBERNETES: '*', GATEWAY_EDGES: 'shared' });
    const addresses = { xdsAddress: plane.xds, sdsAddress: '127.0.0.1:1' };
    envoy = await startEnvoy(
      bootstrap({ nodeId: 'edge-1', group: 'edge', ...addresses, discoveryClusters: [] }),
    );
  }

  async function startAgain(): Promise<void> {
    await envoy.stop();
    await plane.stop();
    await start();
  }

  const targetOf = (kind: string) => {
    const namespace = kind === 'GatewayClass' ? undefined : NAMESPACE;
    const resource =
      kind === 'Secret'
        ? { group: '', version: 'v1', plural: 'secrets' }
        : kind === 'FilterPolicy'
          ? { group: 'gateway.internal', version: 'v2', plural: 'filterpolicies' }
          : { group: GATEWAY_API_GROUP, version: 'v1', plural: gatewayApiPlural(kind) };
    return { cluster: api.admin, resource: { ...resource, namespace } };
  };

  async function write(kind: string, name: string, fields: object): Promise<Written> {
    const { group, version } = targetOf(kind).resource;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    return createObject(targetOf(kind), { apiVersion, kind, metadata: { name }, ...fields });
  }

  async function create(kind: string, name: string, spec: object): Promise<void> {
    assert.equal((await write(kind, name, { spec })).kind, 'written');
  }

  async function match(name: string, value: string): Promise<void> {
    const rules = [{ ...OPEN, matches: [{ path: { type: 'RegularExpression', value } }] }];
    const spec = { ...AT, rules };
    const known = await getObject(targetOf('HTTPRoute'), name);
    if (known === undefined) await create('HTTPRoute', name, spec);
    else assert.equal((await patchObject(targetOf('HTTPRoute'), name, { spec })).kind, 'written');
  }

  const ask = async (path: string) => {
    const headers = { host: 'sec.example.com' };
    return (await request(`http://127.0.0.1:${port}`, path, { headers })).status;
  };

  const answers = (path: string, wanted: (status: number) => boolean) =>
    until(
      async () => wanted(await ask(path).catch(() => 0)) || undefined,
      60_000,
      `${path} ${wanted}`,
    );

  const isOpen = (status: number) => status === 302;
  const isClosed = (status: number) => status === 500;
  /** Nothing decides here whether a request may pass. */
  const isAsked = (status: number) => status !== 302 && status >= 400;

  const reasonsOf = async (kind: string, name: string) => {
    const { status = {} } = ((await getObject(targetOf(kind), name)) ?? {}) as {
      readonly status?: {
        readonly parents?: readonly { readonly conditions: readonly { reason: string }[] }[];
        readonly listeners?: readonly {
          readonly name: string;
          readonly conditions: readonly { readonly type: string; readonly reason: string }[];
        }[];
      };
    };
    return status;
  };

  test('is closed where it may have been, when its match cannot be read after a start', async () => {
    await create('FilterPolicy', 'login', {
      targetRefs: [{ kind: 'HTTPRoute', name: 'secret' }],
      filters: [{ name: 'jwt' }],
    });
    await match('secret', '/secret/[a-z]+');
    await match('public', '/public/[a-z]+');
    await answers('/secret/x', isAsked);
    await answers('/other', isOpen);
    await match('secret', '/secret/(?!x)[a-z]+');
    await match('public', '/public/(?!x)[a-z]+');
    await startAgain();
    await answers('/other', isOpen);
    await answers('/secret/x', isClosed);
    assert.deepEqual([await ask('/secret'), await ask('/public/x')], [302, 302]);
  });

  test('tells its parents why, though nothing of its matches can be read', async () => {
    await until(async () => {
      const { parents = [] } = await reasonsOf('HTTPRoute', 'secret');
      return parents[0]?.conditions[0]?.reason === 'UnsupportedValue' || undefined;
    }, 60_000);
  });

  test('is not left open by a target of a kind that is none, since the API refuses it', async () => {
    for (const target of [
      { kind: 'HttpRoute' },
      { kind: 'HTTPRoute', group: 'gateway.internal' },
    ]) {
      const written = await patchObject(targetOf('FilterPolicy'), 'login', {
        spec: { targetRefs: [{ ...target, name: 'secret' }] },
      });
      assert.equal(written.kind, 'refused');
    }
  });

  test('a listener tells that its certificate has expired, and so do the Problems', async () => {
    const { certificate, key } = await (await testAuthority()).issue('sec.example.com', 0);
    const data = { 'tls.crt': certificate, 'tls.key': key };
    const secret = { type: 'kubernetes.io/tls', stringData: data };
    assert.equal((await write('Secret', 'old', secret)).kind, 'written');
    await create('Gateway', 'secure', {
      gatewayClassName: 'ours',
      listeners: [
        {
          ...{ name: 'https', port: await freePort(), protocol: 'HTTPS' },
          tls: { certificateRefs: [{ name: 'old' }] },
        },
      ],
    });
    await until(async () => {
      const { listeners = [] } = await reasonsOf('Gateway', 'secure');
      const resolved = listeners[0]?.conditions.find(({ type }) => type === 'ResolvedRefs');
      return resolved?.reason === 'InvalidCertificateRef' || undefined;
    }, 60_000);
    const status = (await (await fetch(`${plane.http}/status`)).json()) as {
      readonly problems: readonly { readonly kind: string; readonly message: string }[];
      readonly certificates: readonly { readonly host: string }[];
    };
    const messages = status.problems.flatMap(each => (each.kind === 'Secret' ? each.message : []));
    assert.match(messages.join(), /^the certificate expired at /);
    assert.deepEqual(
      status.certificates.map(({ host }) => host),
      ['Gateway/default/secure'],
    );
  });
});
