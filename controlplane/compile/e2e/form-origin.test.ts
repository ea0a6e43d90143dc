import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import express from 'express';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { whyNoFrameworks } from './form-apps/install.ts';
import { type FormApp, type Framework, startFormApp } from './form-apps/start.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

/** Before the first test, since a file may not run long after a test. */
const missing = await whyNoFrameworks();
const FRAMEWORKS: readonly Framework[] = ['django', 'flask', 'sveltekit', 'nextjs'];

const mapping = (name: string, address: string) =>
  document('Mapping', name, `prefix: /${name}, rewrite: '', service: '${address}'`);

/** Starts an Express application whose pages allow posts by the application's own origin. */
function startExpress(proxies: number): Server {
  const app = express();
  app.set('trust proxy', proxies);
  app.get('/express', (request, response) => {
    response.send(request.ip);
  });
  app.post('/express', (request, response) => {
    const own = `${request.protocol}://${request.host}`;
    const isOwn = request.get('origin') === own;
    response.status(isOwn ? 200 : 403).send(isOwn ? 'posted' : own);
  });
  return app.listen(0, '127.0.0.1');
}

async function startBefore(
  t: { after(end: () => unknown): void },
  proxies: number,
  documents = '',
): Promise<CompiledEnvoy> {
  const server = startExpress(proxies);
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const envoy = await startCompiled(documents + mapping('express', `127.0.0.1:${port}`));
  t.after(() => envoy.stop());
  return envoy;
}

/** Sends the form of a page as a browser does, with its cookies, and returns the result. */
async function post(envoy: CompiledEnvoy, path: string, scheme: 'http' | 'https', from?: string) {
  const host = `localhost:${envoy.port}`;
  const origin = from ?? `${scheme}://${host}`;
  const proto = scheme === 'https' ? { 'x-forwarded-proto': scheme } : {};
  const page = await envoy.ask(path, { host, headers: proto });
  const cookies = [page.headers['set-cookie'] ?? []]
    .flat()
    .map(cookie => cookie.split(';')[0] ?? '');
  const form = new Response(hiddenFields(page.body));
  return await envoy.ask(path, {
    host,
    method: 'POST',
    headers: {
      ...proto,
      origin,
      referer: `${origin}${path}`,
      cookie: cookies.join('; '),
      'content-type': form.headers.get('content-type') ?? '',
    },
    body: await form.text(),
  });
}

function hiddenFields(page: string): FormData {
  const form = new FormData();
  for (const [, name = '', value = ''] of page.matchAll(
    /<input type="hidden" name="(.*?)"(?: value="(.*?)")?/g,
  ))
    form.append(name, value);
  return form;
}

test('Express takes a form that is posted to the edge on a port of its own', async t => {
  const envoy = await startBefore(t, 1);
  const { body, status } = await post(envoy, '/express', 'http');
  assert.deepEqual([status, body], [200, 'posted']);
  assert.equal((await post(envoy, '/express', 'http', 'http://localhost')).status, 403);
});

test('Express knows the address of a client in a private network, whatever the client says', async t => {
  const module = document('Module', 'gateway', 'config: {xff_num_trusted_hops: 1}');
  const envoy = await startBefore(t, 2, module);
  const headers = { 'x-forwarded-for': '198.51.100.1, 10.1.2.3' };
  assert.equal((await envoy.ask('/express', { headers })).body, '10.1.2.3');
});

describe('behind the edge on a port of its own', { skip: missing }, () => {
  let apps: readonly FormApp[] = [];
  let envoy: CompiledEnvoy;

  before(async () => {
    apps = await Promise.all(FRAMEWORKS.map(startFormApp));
    const mappings = apps.map(({ address }, at) => mapping(FRAMEWORKS[at] ?? '', address));
    const trusted = document('Module', 'gateway', 'config: {xff_num_trusted_hops: 1}');
    envoy = await startCompiled([trusted, ...mappings].join(''));
  });

  after(async () => {
    await Promise.all([envoy?.stop(), ...apps.map(app => app.stop())]);
  });

  for (const [framework, scheme] of [
    ['django', 'http'],
    ['django', 'https'],
    ['flask', 'https'],
    ['sveltekit', 'http'],
    ['sveltekit', 'https'],
    ['nextjs', 'http'],
    ['nextjs', 'https'],
  ] as const) {
    test(`${framework} takes a form of its own page by ${scheme}, and none of another origin`, async () => {
      const { body, headers, status } = await post(envoy, `/${framework}`, scheme);
      assert.ok(status < 400, body);
      assert.match(headers.location?.toString() ?? body, /posted/);
      for (const other of [`${scheme}://localhost`, `${scheme}://evil.test:${envoy.port}`])
        assert.ok((await post(envoy, `/${framework}`, scheme, other)).status >= 400, other);
    });
  }
});
