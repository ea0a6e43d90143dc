import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { EXT_AUTHZ_CLUSTER } from '#controlplane/compile/clusters/reserved-clusters.ts';
import { compile } from '#controlplane/compile/compile.ts';
import { type CompiledEnvoy, startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import { EXT_AUTHZ } from '#controlplane/compile/node-groups.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { snapshotEncoder } from '#controlplane/rollout/envoy-snapshot.ts';
import { request } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import { replaceFile } from '#files/write-durably.ts';
import type { JsonObject } from '#protos/json.ts';
import { startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { startDiscoveryServer } from '#xds/testing/discovery-server.ts';
import { edgeSession } from '../../ext-authz/e2e/edge-session.ts';
import { own } from '../../ext-authz/e2e/guarded-gateway.ts';
import { webClient } from '../../ext-authz/testing/oidc-clients.ts';
import { startOidcProvider } from '../../ext-authz/testing/oidc-provider.ts';
import { type ServiceProcess, startService } from '../../ratelimit-service/e2e/service-process.ts';
import { olderVersion } from '../testing/older-version.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const HOST = 'site.test:8080';
const ALICE = { username: 'alice', password: 'wonder land' };
const VISITORS = 4;
const SECRET = 's'.repeat(40);

/** The members of ext-authz in a file, as a cluster's endpoints tell them to an Envoy. */
function membersFile(path: string) {
  const write = (services: readonly ServiceProcess[]) => {
    const lb_endpoints = services.map(({ address }) => {
      const [host, port] = address.split(':');
      const socket_address = { address: host, port_value: Number(port) };
      return { endpoint: { address: { socket_address } } };
    });
    const assignment = {
      '@type': 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
      cluster_name: EXT_AUTHZ_CLUSTER,
      endpoints: [{ lb_endpoints }],
    };
    replaceFile(path, JSON.stringify({ resources: [assignment] }));
  };
  const eds_config = { resource_api_version: 'V3', path_config_source: { path } };
  const inFile = ({ load_assignment: _, ...cluster }: JsonObject): JsonObject => ({
    ...cluster,
    type: 'EDS',
    eds_cluster_config: { service_name: EXT_AUTHZ_CLUSTER, eds_config },
  });
  const change = (bootstrap: JsonObject): JsonObject => {
    const { static_resources } = bootstrap as { static_resources: { clusters: JsonObject[] } };
    const clusters = static_resources.clusters.map(cluster =>
      cluster.name === EXT_AUTHZ_CLUSTER ? inFile(cluster) : cluster,
    );
    return { ...bootstrap, static_resources: { ...static_resources, clusters } };
  };
  return { write, change };
}

describe('ext-authz of an older version beside the one of this', {
  skip: whyNoRedis() ?? false,
}, () => {
  let older: string;
  before(
    async () => {
      older = await olderVersion();
    },
    { timeout: 280_000 },
  );

  /** Starts an Envoy whose ext-authz has changing members of both versions, and a provider. */
  async function open(t: TestContext) {
    const folder = mkdtempSync(join(tmpdir(), 'rolling-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const [redis, upstream] = await Promise.all([startRedis(), startEchoServer('up')]);
    t.after(() => Promise.all([redis.remove(), upstream.close()]));
    const client = webClient({ client_id: 'web', client_secret: SECRET }, [
      `http://${HOST}/.gateway/oauth2/redirection-endpoint`,
    ]);
    const provider = await startOidcProvider({ clients: [client], users: [ALICE] });
    t.after(() => provider.close());
    const yaml = [
      own(
        'Filter',
        'site',
        `{OAuth2: {authorizationURL: '${provider.issuer}', clientID: web, secret: ${SECRET}, protectedOrigins: [{origin: 'http://${HOST}'}],
          injectRequestHeaders: [{name: X-User, value: '{{ .idToken.Claims.sub }}'}]}}`,
      ),
      own('FilterPolicy', 'site', `{rules: [{path: '*', filters: [{name: site}]}]}`),
      own('Mapping', 'site', `{prefix: /, rewrite: '', service: '${upstream.address}'}`),
    ].join('');
    const { cache, port } = await startDiscoveryServer(t);
    const any = { host: '127.0.0.1', port: 1 };
    const options = { edge: any, sds: any, rateLimit: any, extAuthz: any };
    const compiled = compile(resourceSetOf(yaml).resources, EXT_AUTHZ, options);
    cache.set(EXT_AUTHZ, snapshotEncoder(Buffer.alloc(32))(compiled));
    const environment = {
      REDIS_URL: `redis://${redis.address}`,
      STORE_KEY: 'ab'.repeat(32),
      STATE: folder,
    };
    const start = async (root: string) => {
      const main = join(root, 'ext-authz', 'main.ts');
      const service = await startService(`127.0.0.1:${port}`, environment, main);
      t.after(() => service.kill());
      await service.ready();
      return service;
    };
    const file = membersFile(join(folder, 'members.json'));
    file.write([]);
    const envoy = await startCompiled(yaml, 'edge', file.change);
    t.after(() => envoy.stop());
    const serve = async (...services: readonly ServiceProcess[]) => {
      file.write(services);
      await until(async () => hasMembers(envoy, services));
    };
    return { start, serve, edge: `http://127.0.0.1:${envoy.port}` };
  }

  test('knows its sessions and their ends, and takes turns with it without a lost request', async t => {
    const { edge, serve, start } = await open(t);
    const ask = (cookie: string) => request(edge, '/page', { headers: { host: HOST, cookie } });
    const logIn = () => edgeSession(edge, '/page', ALICE, HOST);
    const first = await start(older);
    await serve(first);
    const sessions = [await logIn()];

    const seen: string[] = [];
    let isOver = false;
    const visitor = async (): Promise<void> => {
      while (!isOver) {
        const { body, status } = await ask(sessions[seen.length % sessions.length] ?? '');
        seen.push(status === 200 && /"x-user":"alice"/.test(body) ? 'alice' : `${status} ${body}`);
      }
    };
    const visitors = Array.from({ length: VISITORS }, visitor);
    t.after(() => {
      isOver = true;
    });
    const more = async () => {
      const mark = seen.length;
      await until(() => seen.length > mark + 100 || undefined);
    };

    const newer = await start(ROOT);
    await serve(first, newer);
    await more();
    sessions.push(await logIn());
    await assertLogoutCountsForAll(edge, await logIn());
    await serve(newer);
    await first.kill('SIGTERM');
    sessions.push(await logIn());
    await more();

    const second = await start(older);
    await serve(newer, second);
    await more();
    await serve(second);
    await newer.kill('SIGTERM');
    await more();
    for (const cookie of sessions) assert.equal((await ask(cookie)).status, 200);

    isOver = true;
    await Promise.all(visitors);
    t.diagnostic(`${seen.length} requests`);
    assert.deepEqual([...new Set(seen)], ['alice']);
  });
});

/** Asks so often that each member is asked. */
async function assertLogoutCountsForAll(edge: string, cookie: string): Promise<void> {
  const xsrf = /gateway_xsrf\.site\.default=([^;]*)/.exec(cookie)?.[1] ?? '';
  const headers = { host: HOST, cookie };
  const out = await request(edge, '/.gateway/oauth2/logout', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: `realm=site.default&_xsrf=${xsrf}`,
  });
  assert.equal(out.status, 303, out.body);
  const asked = Array.from({ length: 10 }, () => request(edge, '/page', { headers }));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)], [303]);
}

async function hasMembers(
  envoy: CompiledEnvoy,
  services: readonly ServiceProcess[],
): Promise<true | undefined> {
  const text = await envoy.get('/clusters');
  const found = [...text.matchAll(/^ext-authz::([\d.]+:\d+)::cx_active/gm)].map(([, at]) => at);
  return found.length === services.length &&
    services.every(({ address }) => found.includes(address))
    ? true
    : undefined;
}
