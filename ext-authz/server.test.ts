import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { afterEach, describe, test } from 'node:test';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import pino from 'pino';
import type { CheckResponse } from '#ext-authz/wire/check-response.ts';
import { serviceDefinition } from '#grpc/service.ts';
import { serveOnGrpcJs } from '#grpc/unary/serve-on-grpc-js.ts';
import { serveUnary } from '#grpc/unary/serve-unary.ts';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { FILTER, FILTER_POLICY } from '#protos/type-url.ts';
import { CLIENT_ADDRESS } from './check-method.ts';
import { CHECK_MS } from './checker.ts';
import { type Server, startServer } from './server.ts';
import { allowed, allowing, denying, type Scripts, scriptedKit } from './testing/scripted-kit.ts';

const SERVICE = 'envoy.service.auth.v3.Authorization';

/** A server with a clock that only the test moves. */
async function startOn(serve: typeof serveUnary, scripts: Scripts = {}) {
  const lines: string[] = [];
  const timers: { readonly ms: number; readonly run: () => void }[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    serve,
    kit: scriptedKit(scripts),
    log: pino({ base: null }, stream),
    uptime: () => 0,
    after: (ms, run) => {
      const timer = { ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  });
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  open.push({ server, client });
  return { server, client, lines, timers };
}

const open: { readonly server: Server; readonly client: Client }[] = [];

afterEach(async () => {
  for (const { client, server } of open.splice(0)) {
    client.close();
    await server.stop(0);
  }
});

const JWT = {
  jwks_uri: 'https://idp.test/keys',
  valid_algorithms: ['RS256'],
  error_response: { realm: 'r', body_template: 'no' },
};

function update(
  server: Server,
  typeUrl: string,
  ...messages: readonly (readonly [string, JsonObject])[]
): string {
  let answer = 'none';
  server.update({
    typeUrl,
    changed: messages.map(([name, json]) => ({
      name,
      version: '1',
      any: encodeAny({ '@type': typeUrl, ...json }),
    })),
    removed: [],
    complete: true,
    ack: () => {
      answer = 'ack';
    },
    nack: message => {
      answer = message;
    },
  });
  return answer;
}

/** Filters for `/<name>`, and policies that use them. */
function configure(server: Server, ...names: readonly string[]): void {
  update(server, FILTER, ...names.map(name => [`default/${name}`, { jwt: JWT }] as const));
  const rules = [...names, 'nowhere'].map(name => ({
    host: '*',
    path: `/${name}`,
    filters: [{ name, namespace: 'default' }],
  }));
  update(server, FILTER_POLICY, ['default/p', { namespace: 'default', name: 'p', rules }]);
}

function check(client: Client, http: object, metadata = new Metadata()): Promise<CheckResponse> {
  const method = serviceDefinition(SERVICE).Check;
  const message = {
    attributes: {
      request: { http: { method: 'GET', scheme: 'https', host: 'site.test', path: '/', ...http } },
    },
  };
  return new Promise((resolve, reject) => {
    if (method === undefined) throw new Error('no such method');
    client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      message,
      metadata,
      (error: Error | null, response) =>
        error === null ? resolve(response as CheckResponse) : reject(error),
    );
  });
}

const statusOf = ({ denied_response, status }: CheckResponse) =>
  status.code === 0 ? 200 : denied_response?.status.code;
const get = async (server: Server, path: string) => {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return { status: response.status, text: await response.text() };
};

for (const [name, serve] of [
  ['the unary server', serveUnary],
  ['grpc-js', serveOnGrpcJs],
] as const)
  describe(`on ${name}`, () => {
    const start = startOn.bind(undefined, serve);

    test('until both types have come checks are UNAVAILABLE and it is not ready', async () => {
      const { client, server } = await start();
      await assert.rejects(check(client, {}), { code: 14 });
      assert.equal(update(server, FILTER), 'ack');
      await assert.rejects(check(client, {}), { code: 14 });
      assert.equal((await get(server, '/readyz')).status, 503);
      assert.equal((await get(server, '/healthz')).status, 200);
      assert.equal(update(server, FILTER_POLICY), 'ack');
      await server.serving;
      assert.equal((await get(server, '/readyz')).status, 200);
      assert.equal(statusOf(await check(client, {})), 200);
    });

    test('a refused change leaves the earlier one in force', async () => {
      const { client, lines, server } = await start({ 'default/no': denying(401) });
      configure(server, 'no');
      assert.match(update(server, FILTER, ['default/no', {}]), /^Filter default\/no/);
      assert.equal(statusOf(await check(client, { path: '/no' })), 401);
      assert.match(lines.join(''), /filters rejected/);
    });

    test('what answers the own paths of the gateway finds the rules of others', async () => {
      const { client, server } = await start({ 'default/yes': allowing() });
      configure(server, 'yes');
      const answer = await check(client, { path: '/.gateway/oauth2/x' });
      assert.match(answer.denied_response?.body ?? '', /"GET .* 0 default\/p\[0\]"/);
    });

    test('each outcome has its answer, one log line where it is no pass, and a count', async () => {
      const { client, lines, server } = await start({
        'default/yes': allowing(),
        'default/no': denying(403),
        'default/breaks': () => {
          throw new Error('broken');
        },
      });
      configure(server, 'yes', 'no', 'breaks');
      assert.match(lines.join(''), /"rule default\/p\[3\] is closed: its Filter default\/nowhere /);
      lines.length = 0;
      for (const [path, status] of [
        ['/free', 200],
        ['/yes', 200],
        ['/no?code=hunter2', 403],
        ['/nowhere', 500],
        ['/no;x', 400],
        ['/breaks', 500],
        ['/.gateway/oauth2/x?code=hunter2', 200],
        ['*', 400],
      ] as const) {
        const headers = [{ key: 'authorization', raw_value: Buffer.from('Bearer hunter2') }];
        const response = await check(client, { path, header_map: { headers } });
        const denied = response.denied_response?.status.code ?? 200;
        assert.equal(denied, status, path);
      }
      const told = lines.map(line => JSON.parse(line));
      assert.deepEqual(
        told.filter(({ msg }) => msg === 'answered').map(({ path, status }) => [path, status]),
        [
          ['/no', 403],
          ['/nowhere', 500],
          ['/no;x', 400],
          ['/breaks', 500],
          ['/.gateway/oauth2/x', 200],
        ],
      );
      assert.doesNotMatch(lines.join(''), /hunter2/);
      const { text } = await get(server, '/metrics');
      for (const [outcome, count] of Object.entries({
        no_rule: 1,
        allowed: 1,
        answered: 2,
        closed: 1,
        ambiguous: 1,
        gateway: 1,
        malformed: 1,
      }))
        assert.match(
          text,
          new RegExp(`checks_total\\{outcome="${outcome}"\\} ${count}\n`),
          outcome,
        );
      assert.match(text, /filter_outcomes_total\{filter="default\/breaks",outcome="internal"\} 1/);
      assert.match(
        text,
        /closed_paths\{rule="default\/p\[3\]",host="\*",path="\/nowhere",filter="default\/nowhere"\} 1/,
      );
    });

    test('a check that takes 4 s is answered 503, and what it began hears of it', async () => {
      let aborted = false;
      const begun = Promise.withResolvers<void>();
      const { client, server, timers } = await start({
        'default/slow': (_request, _item, { signal }) => {
          signal().addEventListener('abort', () => {
            aborted = true;
          });
          begun.resolve();
          return new Promise(() => {});
        },
      });
      configure(server, 'slow');
      const answer = check(client, { path: '/slow' });
      await begun.promise;
      assert.equal(timers[0]?.ms, CHECK_MS);
      timers[0]?.run();
      assert.equal(statusOf(await answer), 503);
      assert.equal(aborted, true);
    });

    test('a check that is answered leaves no timer', async () => {
      const { client, server, timers } = await start({ 'default/yes': allowing() });
      configure(server, 'yes');
      await check(client, { path: '/yes' });
      assert.deepEqual(timers, []);
    });

    test("the client's address is that of Envoy's metadata", async () => {
      let address = '';
      const { client, server } = await start({
        'default/yes': request => {
          address = request.clientAddress;
          return allowed();
        },
      });
      configure(server, 'yes');
      const metadata = new Metadata();
      metadata.set(CLIENT_ADDRESS, '198.51.100.7');
      await check(client, { path: '/yes' }, metadata);
      assert.equal(address, '198.51.100.7');
    });

    test('1,000 checks at once each get their own answer', async () => {
      const { client, server } = await start({
        'default/echo': async request => {
          await Promise.resolve();
          return allowed({ 'x-id': request.headers.get('x-id')?.[0] ?? '' });
        },
      });
      configure(server, 'echo');
      const answers = await Promise.all(
        Array.from({ length: 1000 }, (_, n) =>
          check(client, {
            path: '/echo',
            header_map: { headers: [{ key: 'x-id', raw_value: Buffer.from(String(n)) }] },
          }),
        ),
      );
      answers.forEach(({ ok_response }, n) => {
        assert.equal(ok_response?.headers[0]?.header.value, String(n));
      });
    });
  });
