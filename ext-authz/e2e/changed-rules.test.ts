import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { request } from '#envoy/e2e/request.ts';
import { type System, startSystem } from '#envoy/e2e/system.ts';
import { until } from '#envoy/e2e/until.ts';
import { SILENT, startUpstream, type Upstream } from '#envoy/e2e/upstream.ts';

const FILE = 'changed.yaml';
/** Askers without a token, each of whom asks as soon as he was answered. */
const ASKERS = 4;

type Answer = { readonly status: number; readonly from: string | undefined };

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
const rule = (path: string, filters = '{ name: tokens }') =>
  document(
    'FilterPolicy',
    'changed',
    `{ rules: [{ host: "*", path: "${path}", filters: [${filters}] }] }`,
  );
/** Nobody has a token, so no key is ever needed. */
const TOKENS = document('Filter', 'tokens', '{ JWT: { jwksURI: "http://127.0.0.1:9/keys" } }');

describe('while a change of Mappings and rules comes into force', () => {
  let system: System;
  let secret: Upstream;
  let open: Upstream;
  before(async () => {
    [secret, open] = await Promise.all([startUpstream('secret'), startUpstream('open')]);
    system = await startSystem({ resources: { 'filter.yaml': TOKENS } });
  });
  after(async () => {
    await system?.stop();
    await Promise.all([secret, open].map(upstream => upstream?.close()));
  });

  const mapping = (prefix: string, { port }: Upstream, more = '') =>
    document('Mapping', 'changed', `{ prefix: ${prefix}, service: "127.0.0.1:${port}"${more} }`);

  async function ask(path: string): Promise<Answer> {
    const { body, status } = await request(system.edge, path);
    return { status, from: status === 200 ? JSON.parse(body).hostname : undefined };
  }

  const statusIs = (path: string, status: number) =>
    until(async () => (await ask(path)).status === status || undefined);

  /** Asks all the time, from before the change until `settled` and some time after. */
  async function change(
    t: TestContext,
    path: string,
    text: string,
    settled: () => Promise<unknown>,
  ): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    let over = false;
    const asker = async () => {
      while (!over) answers.push(await ask(path));
    };
    const askers = Array.from({ length: ASKERS }, asker);
    const stop = async () => {
      over = true;
      await Promise.all(askers);
    };
    t.after(stop);
    await until(() => answers.length > 20 || undefined);
    system.write(FILE, text);
    await settled();
    const seen = answers.length;
    await until(() => answers.length > seen + 50 || undefined);
    await stop();
    return answers;
  }

  const served = (answers: readonly Answer[]) => new Set(answers.map(({ from }) => from));

  for (const [what, text, path, status] of [
    [
      'both are removed',
      () => document('Mapping', 'other', '{ prefix: /b/, service: closed }'),
      '/a/x',
      404,
    ],
    ['both move to another path', () => mapping('/b/', secret) + rule('/b/*'), '/a/x', 404],
    [
      'the rule goes, and the Mapping leads to a service that is open',
      () => mapping('/a/', open),
      '/a/x',
      200,
    ],
    [
      'that service takes long to become healthy',
      () =>
        mapping(
          '/a/',
          open,
          `, health_checks: [{ interval: 1s, timeout: 2s, health_check: { http: { path: ${SILENT} } } }]`,
        ),
      '/a/x',
      200,
    ],
    [
      'the rule lets all pass, and the Mapping leads to a service that is open',
      () => mapping('/a/', open) + rule('/a/*', ''),
      '/a/x',
      200,
    ],
  ] as const) {
    test(`nobody reaches the service that was restricted: ${what}`, async t => {
      system.write(FILE, mapping('/a/', secret) + rule('/a/*'));
      await statusIs('/a/x', 401);
      const answers = await change(t, path, text(), () => statusIs(path, status));
      assert.ok(!served(answers).has('secret'), `${answers.length} answers`);
      assert.deepEqual(
        [...new Set(answers.map(each => each.status))].filter(each => each >= 500),
        [],
      );
    });
  }

  test('nobody reaches the service that was restricted: both move many times in a second', async t => {
    const paths = Array.from({ length: 40 }, (_, at) => `/a${at}/`);
    let at = 0;
    let over = false;
    const answers: (Answer & { readonly path: string })[] = [];
    const asker = async () => {
      while (!over)
        for (const path of paths.slice(Math.max(0, at - 2), at + 1))
          answers.push({ path, ...(await ask(`${path}x`)) });
    };
    const askers = Array.from({ length: ASKERS }, asker);
    const stop = async () => {
      over = true;
      await Promise.all(askers);
    };
    t.after(stop);
    for (const path of paths) {
      at = paths.indexOf(path);
      system.write(FILE, mapping(path, secret) + rule(`${path}*`));
      await statusIs(`${path}x`, 401);
    }
    await stop();
    assert.deepEqual(
      answers.filter(({ from }) => from === 'secret'),
      [],
      `of ${answers.length} answers`,
    );
  });

  const taken = () =>
    document(
      'ProxyConfig',
      'taken',
      `{ node_group: edge, listener: { address: 127.0.0.1, port: ${secret.port} } }`,
    );

  test('nobody reaches a restricted service while a fault beside its move is searched', async t => {
    system.write(FILE, mapping('/a/', secret) + rule('/a/*'));
    await statusIs('/a/x', 401);
    // Of four changes, the two policies are tried without the Mapping.
    const other = document('FilterPolicy', 'other', '{ rules: [{ path: /other, filters: [] }] }');
    const text = mapping('/b/', secret) + rule('/b/*') + taken() + other;
    for (const path of ['/a/x', '/b/x']) {
      const answers = await change(t, path, text, async () => {
        await system.statusWhen(({ problems }) => problems.some(({ name }) => name === 'taken'));
        await statusIs('/b/x', 401);
        await statusIs('/a/x', 404);
      });
      assert.ok(!served(answers).has('secret'), `${path}: ${answers.length} answers`);
      system.write(FILE, mapping('/a/', secret) + rule('/a/*'));
      await statusIs('/a/x', 401);
    }
  });

  test('nobody reaches a service that a rejected change would have restricted', async t => {
    system.write(FILE, mapping('/c/', open));
    await statusIs('/c/x', 200);
    const text = mapping('/a/', secret) + rule('/a/*') + taken();
    const answers = await change(t, '/a/x', text, () =>
      system.statusWhen(({ problems }) => problems.some(({ name }) => name === 'taken')),
    );
    assert.ok(!served(answers).has('secret'), `${answers.length} answers`);
  });

  test('who is no longer asked for a token loses no request', async t => {
    system.write(FILE, mapping('/a/', open) + rule('/a/*'));
    await statusIs('/a/x', 401);
    const answers = await change(t, '/a/x', mapping('/a/', open), () => statusIs('/a/x', 200));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 401]);
  });
});
