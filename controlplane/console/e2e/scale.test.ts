import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import type { Browser } from 'playwright-core';
import { type ControlPlaneProcess, startControlPlane } from '#envoy/e2e/control-plane-process.ts';
import { request } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import { after as later } from '#process/after.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import { connect } from '#xds/client.ts';
import { startBrowser, whyNoBrowser } from '../../../ext-authz/e2e/browser.ts';

const MAPPINGS = 10_000;
const HTTP_ROUTES = 5_000;
const PROXIES = 200;
const LONGEST_TASK_MS = 100;
/** Loads of a page, of which one must keep to it. Other tests run beside this one. */
const MOST_LOADS = 5;

const mapping = (index: number) => `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: m${index} }
spec: { host: shop-${index % 100}.example.com, prefix: /path-${index}/, service: "service-${index % 500}:8080" }
`;

const SITE = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gateway }
spec: { controllerName: gateway.internal/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: site }
spec: { gatewayClassName: gateway, listeners: [{ name: http, port: 18999, protocol: HTTP }] }
`;

const httpRoute = (index: number) => `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: r${index} }
spec:
  parentRefs: [{ name: site }]
  hostnames: [site-${index % 100}.example.com]
  rules:
    - matches: [{ path: { value: /a-${index} } }, { path: { value: /b-${index} } }]
      backendRefs: [{ name: service-${index % 500}, port: 8080 }]
`;

describe(`with ${MAPPINGS} Mappings, ${HTTP_ROUTES} HTTPRoutes and ${PROXIES} proxies, the console`, {
  skip: whyNoBrowser(),
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  const closing: (() => void)[] = [];
  let plane: ControlPlaneProcess;
  let browser: Browser;

  before(async () => {
    const all = Array.from({ length: MAPPINGS }, (_, index) => mapping(index));
    writeFileSync(join(folder, 'all.yaml'), all.join('---\n'));
    const routes = Array.from({ length: HTTP_ROUTES }, (_, index) => httpRoute(index));
    writeFileSync(join(folder, 'site.yaml'), [SITE, ...routes].join('---\n'));
    browser = await startBrowser();
    plane = await startControlPlane({
      resources: folder,
      state: join(folder, 'state'),
      edge: '127.0.0.1:1',
    });
    for (let number = 0; number < PROXIES; number += 1) {
      const proxy = connect({
        address: plane.xds,
        credentials: credentials.createInsecure(),
        node: { id: `edge-${number}`, cluster: 'edge' },
        typeUrls: [CLUSTER, ROUTE_CONFIGURATION, LISTENER, VIRTUAL_HOST],
        random: Math.random,
        after: later,
        onUpdate: update => update.ack(),
      });
      closing.push(() => proxy.close());
    }
    await until(async () => {
      const { body } = await request(plane.http, '/console/api/overview');
      return JSON.parse(body).proxies['in sync'] === PROXIES || undefined;
    }, 240_000);
  });
  after(async () => {
    for (const close of closing) close();
    await browser?.close();
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('keeps its pages short, and no task holds the browser', async t => {
    const page = await (await browser.newContext()).newPage();
    await page.addInitScript(`
      window.tasks = [];
      new PerformanceObserver(list => window.tasks.push(...list.getEntries().map(each => each.duration)))
        .observe({ type: 'longtask', buffered: true });
    `);
    const load = async (path: string, text: string) => {
      const begun = performance.now();
      await page.goto(`${plane.http}/console/${path}`);
      await page.locator('main').getByText(text).first().waitFor();
      const there = Math.round(performance.now() - begun);
      const tasks = (await page.evaluate('window.tasks')) as readonly number[];
      return { there, longest: Math.max(0, ...tasks) };
    };
    const open = async (path: string, text: string) => {
      let { longest, there } = await load(path, text);
      for (let loads = 1; longest >= LONGEST_TASK_MS && loads < MOST_LOADS; loads += 1)
        ({ longest, there } = await load(path, text));
      const rows = await page.locator('tbody tr').count();
      t.diagnostic(
        `${path || 'overview'}: there after ${there} ms, longest task ${Math.round(longest)} ms, ${rows} rows`,
      );
      assert.ok(longest < LONGEST_TASK_MS, `${path}: ${longest} ms`);
      assert.ok(rows <= 60, `${rows} rows`);
    };
    // The first page of a browser that has just started, and the same from its cache.
    await open('', 'Latest changes');
    await open('', 'Latest changes');
    await open('routes', '15,000');
    await open('routes?offset=14950', 'of 15,000');
    await open('routes?search=path-77/', '/path-77/');
    await open('route?id=Mapping/default/m77', 'Explain a request to it');
    await open('routes?search=/b-4999', 'service-499:8080');
    await open('route?id=HTTPRoute/default/r4999', 'as they are written');
    await open('gateways', '5,000');
    await open('services', 'service-0');
    await open('proxies', 'edge-0');
    await open('security', 'Open routes');
    await page.context().close();
  });

  test('answers each view in bounded time and size', async t => {
    for (const path of [
      'overview',
      'routes',
      'routes?search=9999',
      'gateways',
      'route?id=HTTPRoute/default/r4999',
      'proxies?limit=1000',
      'services',
      'security',
      'limits',
    ]) {
      const begun = performance.now();
      const { body, status } = await request(plane.http, `/console/api/${path}`);
      t.diagnostic(`${path}: ${Math.round(performance.now() - begun)} ms, ${body.length} bytes`);
      assert.equal(status, 200);
      assert.ok(body.length < 300_000, `${path}: ${body.length} bytes`);
    }
  });
});
