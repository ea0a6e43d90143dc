import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { logIn } from '#ext-authz/testing/log-in.ts';
import { movePorts } from '#launcher/demo-resources.ts';
import { portsAt } from '#launcher/ports.ts';
import { askHttps, type HttpsAnswer } from './https-request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';

const SITE = join(import.meta.dirname, '..', 'gateway-api');
const SWITCH_MS = 60_000;

describe('the site of Gateway API', () => {
  let system: System;
  let origin: string;

  /** The site takes the place of the demo, whose resources are removed. */
  before(async () => {
    system = await startSystem({ demo: true });
    const { edge, edgeTls } = system.ports;
    const offset = edge - portsAt(0).edge;
    origin = `https://localhost:${edgeTls}`;
    for (const file of readdirSync(SITE))
      system.write(file, moved(readFileSync(join(SITE, file), 'utf8'), offset));
    const added = new Set(readdirSync(SITE));
    for (const file of readdirSync(system.resources))
      if (!added.has(file)) rmSync(join(system.resources, file));
    const statusOf = () =>
      ask('/user/health')
        .then(({ status }) => status)
        .catch(() => 0);
    const redirects = () => fetch(`${system.edge}/user`, { redirect: 'manual' });
    await until(
      async () => ((await statusOf()) === 200 && (await redirects()).status === 301) || undefined,
      SWITCH_MS,
      'the site',
    );
  });
  after(() => system.stop());

  const ask = (path: string, cookies: readonly string[] = []): Promise<HttpsAnswer> =>
    askHttps(
      {
        port: system.ports.edgeTls,
        sni: 'localhost',
        ca: readFileSync(join(system.state, 'authority', 'roots.pem'), 'utf8'),
      },
      path,
      { host: new URL(origin).host, accept: 'text/html', cookie: cookies.join('; ') },
    );

  test('sends clients without TLS to https', async () => {
    const { headers, status } = await fetch(`${system.edge}/user/health?q`, { redirect: 'manual' });
    const to = `https://127.0.0.1:${system.ports.edgeTls}/user/health?q`;
    assert.deepEqual([status, headers.get('location')], [301, to]);
  });

  test('gives the canary its share of the requests', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask('/user/health')));
    assert.ok(answers.every(({ status }) => status === 200));
    const share = answers.filter(({ headers }) => headers['x-canary'] === 'true').length;
    // Of 200 requests about 20 are expected. The chance of fewer than 2 or more than 60 is nil.
    assert.ok(share >= 2 && share <= 60, String(share));
  });

  test('has no route for other paths', async () => {
    assert.equal((await ask('/elsewhere')).status, 404);
  });

  test('logs a user in, and counts the pages of that user', async () => {
    const first = await ask('/account');
    assert.equal(first.status, 303);
    const callback = `${origin}/.gateway/oauth2/redirection-endpoint`;
    const provider = String(first.headers.location);
    const back = await logIn(provider, { username: 'ada', password: 'difference' }, callback);
    const second = await ask(back.pathname + back.search, cookiesOf(first));
    assert.deepEqual([second.status, second.headers.location], [303, `${origin}/account`]);
    const session = cookiesOf(second);
    const statuses: number[] = [];
    // The limit is 30 a minute, which may end and begin once meanwhile.
    for (let page = 0; page < 70; page += 1) statuses.push((await ask('/account', session)).status);
    assert.equal(statuses[0], 200);
    assert.ok(statuses.includes(429), statuses.join());
    assert.ok(
      statuses.every(status => status === 200 || status === 429),
      statuses.join(),
    );
    assert.equal((await ask('/user/health')).status, 200);
  });
});

function moved(text: string, offset: number): string {
  return movePorts(text, offset).replace(/\bport: (8080|8443)\b/g, (_, port) => {
    return `port: ${Number(port) + offset}`;
  });
}

function cookiesOf({ headers }: HttpsAnswer): readonly string[] {
  return (headers['set-cookie'] ?? []).map(cookie => cookie.split(';', 1)[0] ?? '');
}
