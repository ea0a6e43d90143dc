import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gatewayWith } from '../testing/gateway.ts';

/** An address for documentation, where nothing listens (RFC 5737). */
const ELSEWHERE = '192.0.2.1:8877';

test('gateway renew sends the token of an operator to no other machine', async () => {
  const renew = ['renew', 'site.test', '--address', ELSEWHERE];
  const { code, stderr } = await gatewayWith({ CONSOLE_TOKEN: 'of-ada' }, ...renew);
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `gateway: CONSOLE_TOKEN holds a token, which would go to ${ELSEWHERE} without encryption: forward the port of the control plane to this machine\n`,
  );
});

const REJECTED = 'the token is not one for this console';
const MISSING =
  'the console of this control plane needs a login: put the token of an operator into the variable CONSOLE_TOKEN';

for (const [written, sent, said] of [
  ['of-ada', 'of-ada', REJECTED],
  [' of-ada ', 'of-ada', REJECTED],
  ['', undefined, MISSING],
] as const)
  test(`gateway renew takes "${written}" for the token ${sent}`, async t => {
    const tokens: unknown[] = [];
    const server = createServer((request, response) => {
      tokens.push(request.headers['x-console-token']);
      response.writeHead(401).end(JSON.stringify({ error: REJECTED }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const renew = ['renew', 'site.test', '--address', address];
    const { code, stderr } = await gatewayWith({ CONSOLE_TOKEN: written }, ...renew);
    assert.deepEqual([code, stderr, tokens], [1, `gateway: ${said}\n`, [sent]]);
  });
