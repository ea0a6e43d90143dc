import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { type ServiceProcess, startService } from '../testing/service-process.ts';

const ADA = {
  'x-user': 'ada',
  'x-user-name': 'Ada Lovelace',
  'x-user-email': 'ada@example.com',
  'x-user-scope': 'openid',
};

let folder: string;
let service: ServiceProcess;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'account-'));
  service = await startService({
    DATABASE_FILE: join(folder, 'users.sqlite'),
    INSTANCE_NAME: 'one',
  });
});
after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

async function get(path: string, headers: Record<string, string> = {}) {
  const req = request({ host: '127.0.0.1', port: service.port, path, headers, agent: false }).end();
  const [res] = await once(req, 'response');
  return { status: res.statusCode, headers: res.headers, body: await text(res) };
}

test('the account page says who the user is and which instance answered', async () => {
  const { body, headers, status } = await get('/account', ADA);
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  for (const fact of ['Ada Lovelace', 'ada@example.com', '<dd>one</dd>'])
    assert.ok(body.includes(fact), fact);
});

test('the first page leads to all that there is, without asking who the user is', async () => {
  const { body, status } = await get('/');
  assert.equal(status, 200);
  for (const path of ['/account', '/account/admin', '/user/health'])
    assert.ok(body.includes(`href="${path}"`));
});

test('what the headers say is text, whatever it looks like, and may be in any script', async () => {
  const name = Buffer.from('<script>alert("Łukasz & \'co\'")</script>').toString('latin1');
  const { body } = await get('/account', { ...ADA, 'x-user-name': name });
  assert.ok(
    body.includes('&lt;script&gt;alert(&quot;Łukasz &amp; &#39;co&#39;&quot;)&lt;/script&gt;'),
  );
  assert.doesNotMatch(body, /<script/);
});

test('the page loads nothing, runs nothing, is framed and kept nowhere', async () => {
  const { headers } = await get('/account', ADA);
  assert.match(headers['content-security-policy'], /^default-src 'none'.*frame-ancestors 'none'/);
  assert.equal(headers['cache-control'], 'no-store');
});

test('the logout button posts the realm and the value of its own xsrf cookie', async () => {
  const cookie = 'gateway_xsrf.login.other=no; a=b; gateway_xsrf.login.default="><b>; c=d';
  const { body } = await get('/account', { ...ADA, cookie });
  assert.match(body, /<form method="post" action="\/\.gateway\/oauth2\/logout">/);
  assert.match(body, /name="realm" value="login\.default"/);
  assert.match(body, /name="_xsrf" value="&quot;&gt;&lt;b&gt;"/);
});

test('scripts get the same facts as JSON', async () => {
  const { body } = await get('/account/api', ADA);
  const { resolvedname: _, ...facts } = JSON.parse(body);
  const holder = {
    username: 'ada',
    fullname: 'Ada Lovelace',
    email: 'ada@example.com',
    scope: 'openid',
  };
  assert.deepEqual(facts, { ...holder, hostname: 'one', ok: true });
});

for (const path of ['/account', '/account/api', '/account/admin']) {
  test(`${path} is refused to whom the gateway does not name`, async () => {
    assert.equal((await get(path)).status, 403);
  });
}

test('the page after the logout needs no login', async () => {
  assert.equal((await get('/account/logged-out')).status, 200);
});

for (const path of ['/Account', '/account/', '/accounts', '/account/other']) {
  test(`there is nothing at ${path}`, async () => {
    assert.equal((await get(path, ADA)).status, 404);
  });
}
