import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import express from 'express';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { type CsrfApp, startCsrfApp, whyNoFrameworks } from './csrf-apps.ts';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const mapping = (name: string, address: string) =>
  document('Mapping', name, `prefix: /${name}, rewrite: '', service: '${address}'`);

/** As pages of Express say who may post: by the origin that the application has for itself. */
function startExpress(): Server {
  const app = express();
  app.set('trust proxy', true);
  app.post('/express', (request, response) => {
    const own = `${request.protocol}://${request.host}`;
    const isOwn = request.get('origin') === own;
    response.status(isOwn ? 200 : 403).send(isOwn ? 'posted' : own);
  });
  return app.listen(0, '127.0.0.1');
}

/** The form's token and cookie, as a browser gets them, and what then comes of posting it. */
async function post(envoy: CompiledEnvoy, path: string, scheme: 'http' | 'https', from?: string) {
  const host = `localhost:${envoy.port}`;
  const origin = from ?? `${scheme}://${host}`;
  const proto = scheme === 'https' ? { 'x-forwarded-proto': scheme } : {};
  const page = await envoy.ask(path, { host, headers: proto });
  const cookies = [page.headers['set-cookie'] ?? []].flat().map(cookie => cookie.split(';')[0] ?? '');
  return await envoy.ask(path, {
    host,
    method: 'POST',
    headers: {
      ...proto,
      origin,
      referer: `${origin}${path}`,
      cookie: cookies.join('; '),
      'x-csrftoken': page.status === 200 ? page.body : '',
    },
  });
}

test('Express takes a form that is posted to the edge on a port of its own', async t => {
  const server = startExpress();
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const envoy = await startCompiled(mapping('express', `127.0.0.1:${port}`));
  t.after(() => envoy.stop());
  const { body, status } = await post(envoy, '/express', 'http');
  assert.deepEqual([status, body], [200, 'posted']);
  assert.equal((await post(envoy, '/express', 'http', 'http://localhost')).status, 403);
});

describe('behind the edge on a port of its own', { skip: await whyNoFrameworks() }, () => {
  let apps: readonly CsrfApp[] = [];
  let envoy: CompiledEnvoy;

  before(async () => {
    const [django, flask] = await Promise.all([startCsrfApp('django'), startCsrfApp('flask')]);
    apps = [django, flask];
    const trusted = document('Module', 'gateway', 'config: {xff_num_trusted_hops: 1}');
    envoy = await startCompiled(
      trusted + mapping('django', django.address) + mapping('flask', flask.address),
    );
  });

  after(async () => {
    await Promise.all([envoy?.stop(), ...apps.map(app => app.stop())]);
  });

  for (const [framework, scheme] of [
    ['django', 'http'],
    ['flask', 'https'],
  ] as const) {
    test(`${framework} takes a form of its own page by ${scheme}, and none of another origin`, async () => {
      const { body, status } = await post(envoy, `/${framework}`, scheme);
      assert.deepEqual([status, body], [200, 'posted']);
      const others = [`${scheme}://localhost`, `${scheme}://evil.test:${envoy.port}`];
      for (const other of others)
        assert.notEqual((await post(envoy, `/${framework}`, scheme, other)).status, 200);
    });
  }
});
