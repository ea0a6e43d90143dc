import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type FiguresSystem,
  startFiguresSystem,
} from '#controlplane/figures/testing/figures-system.ts';
import { request } from '#envoy/e2e/request.ts';
import { statusWhen } from '#envoy/e2e/status-when.ts';
import {
  SILENT,
  startUntrustedUpstream,
  startUpstream,
  type Upstream,
} from '#envoy/e2e/upstream.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import type { Problem } from '#resources/problem.ts';

const PAUSE_MS = 50;

const document = (kind: string, name: string, spec: string) =>
  `apiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: { ${spec} }\n---\n`;

const ofGatewayApi = (kind: string, name: string, spec: string) =>
  document(kind, name, spec).replace('gateway.internal/v2', 'gateway.networking.k8s.io/v1');

const CHECKED = (path: string) =>
  `health_checks: [{ health_check: { http: { path: ${path}, expected_statuses: [{ min: 200, max: 299 }] } }, interval: 1s }]`;

describe('an instance behind an edge', () => {
  let system: FiguresSystem;
  let one: Upstream;
  let two: Upstream;
  let three: Upstream;
  let untrusted: Upstream;
  let gateway: string;
  before(async () => {
    const port = await freePort();
    gateway = `http://127.0.0.1:${port}`;
    one = await startUpstream('one');
    two = await startUpstream('two');
    three = await startUpstream('three');
    untrusted = await startUntrustedUpstream('localhost');
    const hosts = (...ports: readonly number[]) =>
      ports.map(port => `{ url: "tcp://127.0.0.1:${port}" }`).join(', ');
    system = await startFiguresSystem(
      [
        document(
          'ProxyConfig',
          'two',
          `node_group: edge, clusters: [{ name: both, type: static, hosts: [${hosts(two.port, three.port)}] }]`,
        ),
        document(
          'ProxyConfig',
          'four',
          `node_group: edge, clusters: [{ name: most, type: static, hosts: [${hosts(three.port, 1, 2, 3)}], outlier_detection: {} }]`,
        ),
        document('Mapping', 'most', 'prefix: /most/, service: most'),
        document('Mapping', 'plain', `prefix: /plain/, service: "127.0.0.1:${untrusted.port}"`),
        document('Mapping', 'both', 'prefix: /both/, service: both'),
        document(
          'Mapping',
          'late',
          `prefix: /late/, service: "localhost:${three.port}", timeout_ms: 200`,
        ),
        document(
          'Mapping',
          'patient',
          `prefix: /patient/, service: "localhost:${three.port}", timeout_ms: 10000`,
        ),
        document(
          'Mapping',
          'forever',
          `prefix: /forever/, service: "localhost:${three.port}", timeout_ms: 0`,
        ),
        ofGatewayApi('GatewayClass', 'g', 'controllerName: gateway.internal/gateway-controller'),
        ofGatewayApi(
          'Gateway',
          'g',
          `gatewayClassName: g, listeners: [{ name: http, port: ${port}, protocol: HTTP }]`,
        ),
        ofGatewayApi(
          'HTTPRoute',
          'whole',
          `parentRefs: [{ name: g }], rules: [{ timeouts: { request: 200ms }, backendRefs: [{ name: localhost, port: ${one.port} }] }]`,
        ),
        document('Mapping', 'one', `prefix: /one/, service: "127.0.0.1:${one.port}"`),
        document('Mapping', 'tls', `prefix: /tls/, service: "https://localhost:${untrusted.port}"`),
        document(
          'Mapping',
          'checked',
          `prefix: /checked/, service: "127.0.0.1:1", ${CHECKED('/')}`,
        ),
      ].join(''),
    );
  });
  after(async () => {
    await system?.stop();
    await Promise.all([one, two, three, untrusted].map(each => each?.close()));
  });

  const of = (problems: readonly Problem[], name: string) =>
    problems.filter(problem => problem.name === name);
  /** Clients go on asking meanwhile. */
  const problemsWhen = async (
    name: string,
    path: string | undefined,
    wanted: (found: readonly Problem[]) => boolean,
    base = system.edge,
  ) => {
    const ask = async () => {
      if (path !== undefined) await request(base, path);
      await delay(PAUSE_MS);
      return system.status();
    };
    return of((await statusWhen(ask, ({ problems }) => wanted(of(problems, name)))).problems, name);
  };
  const isTold = (problems: readonly Problem[]) => problems.length > 0;
  const isOver = (problems: readonly Problem[]) => problems.length === 0;

  test('whose authority is not trusted is told with the remedy', async () => {
    const [problem] = await problemsWhen('tls', '/tls/', isTold);
    assert.match(
      problem?.message ?? '',
      /^TLS with 127\.0\.0\.1:\d+ fails \(.*CERTIFICATE_VERIFY_FAILED.*\)\. Name the authority of its certificate in `ca_secret`/,
    );
    assert.equal(problem?.severity, 'warning');
  });

  test('that fails its health checks is told without a request', async () => {
    const [problem] = await problemsWhen('checked', undefined, isTold);
    assert.match(problem?.message ?? '', /^no instance passes its health checks/);
  });

  test('that closes plain connections is told, with what it may speak', async () => {
    const [problem] = await problemsWhen('plain', '/plain/', isTold);
    assert.match(
      problem?.message ?? '',
      /^127\.0\.0\.1:\d+ closes the connection or answers no HTTP \(.+\)\. Does it speak https\?/,
    );
  });

  test('that answers too late is told, where requests wait too short, until it answers in time', async () => {
    await Promise.all(['/patient/', '/forever/'].map(path => request(system.edge, path)));
    const [problem] = await problemsWhen('late', `/late${SILENT}`, isTold);
    const { problems } = await system.status();
    assert.deepEqual([...of(problems, 'patient'), ...of(problems, 'forever')], []);
    assert.match(problem?.message ?? '', /^nearly all requests get no answer in time\. Look at/);
    assert.equal(problem?.field, 'spec.service');
    await problemsWhen('late', '/late/', isOver);
  });

  test('that answers too late for the time of a whole request is told, until it is in time', async () => {
    const [problem] = await problemsWhen('whole', SILENT, isTold, gateway);
    assert.match(problem?.message ?? '', /^nearly all requests get no answer .*raise `timeouts`/);
    assert.equal(problem?.field, 'spec.rules[0].backendRefs[0]');
    await problemsWhen('whole', '/', isOver, gateway);
  });

  // Each waits some time for its own instance.
  describe('beside others', { concurrency: true }, () => {
    test('that is away for a moment is not told', async () => {
      const { port } = one;
      assert.equal((await request(system.edge, '/one/')).status, 200);
      await one.close();
      assert.equal((await request(system.edge, '/one/')).status, 503);
      one = await startUpstream('one', port);
      const end = performance.now() + 15_000;
      await problemsWhen('one', '/one/', found => {
        assert.deepEqual(found, []);
        return performance.now() > end;
      });
    });

    test('that is gone among good ones is told, until it is back', async () => {
      const { port } = two;
      await problemsWhen('two', '/both/', isOver);
      await two.close();
      const [problem] = await problemsWhen('two', '/both/', isTold);
      assert.match(problem?.message ?? '', /accepts no connection .*\. Look at this instance/);
      assert.equal(problem?.field, 'spec.clusters[0].hosts');
      two = await startUpstream('two', port);
      await problemsWhen('two', '/both/', isOver);
    });

    test('that is one of few good ones is told, with how many fail', async () => {
      const [problem] = await problemsWhen('four', '/most/', found =>
        found.some(({ message }) => /\. 3 of 4 instances fail\. Look at each/.test(message)),
      );
      assert.match(problem?.message ?? '', /^127\.0\.0\.1:[123] accepts no connection/);
    });

    test('without figures nothing is told, and nothing fails', async t => {
      const system = await startFiguresSystem(
        document('Mapping', 'm', 'prefix: /m/, service: "127.0.0.1:1"'),
        { FIGURES: 'off' },
      );
      t.after(() => system.stop());
      const end = performance.now() + 10_000;
      while (performance.now() < end) {
        assert.equal((await request(system.edge, '/m/')).status, 503);
        assert.deepEqual((await system.status()).problems, []);
        await delay(PAUSE_MS);
      }
    });
  });

  test('stays told over a restart of the control plane', async () => {
    await system.restartControlPlane();
    const [problem] = await problemsWhen('tls', '/tls/', isTold);
    assert.match(problem?.message ?? '', /^TLS with/);
  });
});
