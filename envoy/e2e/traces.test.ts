import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type RedisServer, startRedis, whyNoRedis } from '#redis/testing/redis-server.ts';
import { edgeSession } from '../../ext-authz/e2e/edge-session.ts';
import { userNamed } from '../../identity-provider/sample-users.ts';
import { type Collector, type Span, startCollector, whyNoCollector } from '../testing/collector.ts';
import { request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';

const RESOURCES = (collector: string) => `
apiVersion: gateway.internal/v2
kind: TracingService
metadata: { name: tracing }
spec: { service: "${collector}", driver: opentelemetry }
---
apiVersion: gateway.internal/v2
kind: LogService
metadata: { name: logs }
spec: { service: "${collector}", driver: opentelemetry }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: traced }
spec:
  prefix: /account/traced
  regex_rewrite: { pattern: "^/account/traced.*", substitution: /user/health }
  service: user-service
  resolver: sds
  labels: { gateway: [{ traced: [traced] }] }
---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: traced }
spec:
  domain: gateway
  limits: [{ name: traced, pattern: [{ generic_key: traced }], rate: 1000, unit: hour }]
`;

const SECRETS = ['difference', 'website-sample-secret', 'gateway_session', 'one-secret', 'code='];

describe('a trace', { skip: whyNoCollector() ?? whyNoRedis() ?? false }, () => {
  let collector: Collector;
  let redis: RedisServer;
  let system: System;
  let cookie: string;

  before(async () => {
    [collector, redis] = await Promise.all([startCollector(), startRedis()]);
    system = await startSystem({
      demo: true,
      environment: {
        REDIS_URL: `redis://${redis.address}`,
        WORKERS: '2',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.http,
        OTEL_BSP_SCHEDULE_DELAY: '50',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      },
    });
    system.write('traced.yaml', RESOURCES(collector.grpc));
    // Connections that are open already stay as they are until they drain.
    await until(async () => {
      await ask('/user/health');
      return (await spansWith('/user/health'))[0];
    });
    await system.kill('user-service-1-proxy');
    await until(async () => {
      await ask('/user/health');
      return (await spansWith('/user/health', 'user-service-1'))[0];
    });
    const user = userNamed('ada');
    assert.ok(user !== undefined);
    cookie = await edgeSession(system.edge, '/account/traced', user);
  });
  after(async () => {
    await system.stop();
    await Promise.all([collector.stop(), redis.remove()]);
  });

  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    request(system.edge, path, { headers: { accept: 'text/html', ...headers } });

  /** Returns the spans of a proxy about requests for this path. */
  const spansWith = async (path: string, proxy = 'edge') =>
    (await collector.spans()).filter(
      ({ attributes, kind, service }) =>
        service === proxy && kind === 'server' && attributes['url.path'] === path,
    );

  /** Waits until a trace has all of these spans, each `service: name`, and returns it. */
  const traceWith = async (path: string, names: readonly string[]): Promise<readonly Span[]> => {
    let seen: readonly string[] = [];
    return until(async () => {
      const [root] = await spansWith(path);
      const trace = (await collector.spans()).filter(({ traceId }) => traceId === root?.traceId);
      seen = trace.map(({ name, service }) => `${service}: ${name}`);
      return names.every(name => seen.includes(name)) ? trace : undefined;
    }).catch((error: unknown) => {
      throw new Error(`${path} has ${seen.join(', ')}`, { cause: error });
    });
  };

  /** Returns who is around a span, from the nearest, each `service: name`. */
  const around = (trace: readonly Span[], { parentSpanId }: Span): readonly string[] => {
    const parent = trace.find(({ spanId }) => spanId === parentSpanId);
    return parent === undefined
      ? []
      : [`${parent.service}: ${parent.name}`, ...around(trace, parent)];
  };
  const spanOf = (trace: readonly Span[], service: string, name: string): Span => {
    const found = trace.find(span => span.service === service && span.name === name);
    assert.ok(found !== undefined, `${service}: ${name}`);
    return found;
  };

  const CHECK = 'envoy.service.auth.v3.Authorization/Check';
  const LIMIT = 'envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
  const ASK_CHECK = 'edge: async envoy.service.auth.v3.Authorization.Check egress';
  const ASK_LIMIT =
    'edge: async envoy.service.ratelimit.v3.RateLimitService.ShouldRateLimit egress';
  const ROUTE = 'edge: Mapping/default/traced';

  test('has every part that a request with a session goes through', async () => {
    const path = '/account/traced/with-session';
    const secret = { cookie, authorization: 'Bearer one-secret' };
    assert.equal((await ask(`${path}?code=one-secret`, secret)).status, 200);
    const trace = await traceWith(path, [
      ROUTE,
      `ext-authz: ${CHECK}`,
      `ratelimit-service: ${LIMIT}`,
      'ratelimit-service: EVALSHA redis',
      'ext-authz: GET redis',
      'user-service-1: ProxyConfig/default/user-service-1',
    ]);
    const check = spanOf(trace, 'ext-authz', CHECK);
    assert.deepEqual(around(trace, check), [ASK_CHECK, ROUTE]);
    assert.equal(check.attributes['gateway.outcome'], 'allowed');
    assert.deepEqual(around(trace, spanOf(trace, 'ext-authz', 'GET redis')), [
      `ext-authz: ${CHECK}`,
      ASK_CHECK,
      ROUTE,
    ]);
    const limit = spanOf(trace, 'ratelimit-service', LIMIT);
    assert.deepEqual(around(trace, limit), [ASK_LIMIT, ROUTE]);
    assert.equal(limit.attributes['gateway.outcome'], 'OK');
    assert.deepEqual(around(trace, spanOf(trace, 'ratelimit-service', 'EVALSHA redis')), [
      `ratelimit-service: ${LIMIT}`,
      ASK_LIMIT,
      ROUTE,
    ]);
    const application = trace.filter(({ service }) => service === 'user-service-1');
    const [inner] = application.filter(({ kind }) => kind === 'server');
    assert.ok(inner !== undefined);
    assert.deepEqual(around(trace, inner), [ROUTE]);
    assert.deepEqual(
      trace.filter(({ isError }) => isError),
      [],
    );
  });

  test('of a login has the calls of the provider', async () => {
    const trace = await traceWith('/.gateway/oauth2/redirection-endpoint', [
      `ext-authz: ${CHECK}`,
      'ext-authz: POST token endpoint',
      'ext-authz: EVALSHA redis',
    ]);
    const token = spanOf(trace, 'ext-authz', 'POST token endpoint');
    assert.equal(around(trace, token)[0], `ext-authz: ${CHECK}`);
    assert.equal(token.attributes['http.response.status_code'], '200');
  });

  test('begins at the edge, whatever the client says', async () => {
    const path = '/account/traced/of-client';
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
    await ask(path, { cookie, traceparent, b3: '0' });
    const [root] = await until(async () => {
      const found = await spansWith(path);
      return found.length > 0 ? found : undefined;
    });
    assert.equal(root?.parentSpanId, '');
  });

  test('is named by the access log that the LogService gets', async () => {
    const path = '/account/traced/logged';
    await ask(`${path}?code=one-secret`, { cookie });
    const [span] = await until(async () => {
      const found = await spansWith(path);
      return found.length > 0 ? found : undefined;
    });
    const entry = await until(async () =>
      (await collector.logs()).find(({ attributes }) => attributes.path === path),
    );
    assert.equal(entry.service, 'edge');
    assert.equal(entry.traceId, span?.traceId);
    assert.equal(entry.attributes.status, '200');
  });

  test('holds no query, cookie, password or token', async () => {
    const text = await collector.text();
    for (const secret of [...SECRETS, cookie.split('=', 2)[1] ?? ''])
      assert.ok(!text.includes(secret), secret);
  });

  test('is not needed: without the collector requests go on, and the services end in time', async () => {
    await collector.stop();
    for (let count = 0; count < 20; count += 1)
      assert.equal((await ask('/account/traced', { cookie })).status, 200);
  });
});
