import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after as afterAll, before, describe, type TestContext, test } from 'node:test';
import tls from 'node:tls';
import pino from 'pino';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import { noPebble, type Pebble, preparePebble } from '#envoy/e2e/pebble.ts';
import { until } from '#envoy/e2e/until.ts';
import { after } from '#process/after.ts';
import { keptFile } from '../kept-file.ts';
import { type Acme, openAcme } from '../open-acme.ts';
import { LIMIT, limitedAuthority } from './limited-authority.ts';

const NAME = 'shop.example.com';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** One discovery service, and what it serves. */
type Service = {
  readonly acme: Acme;
  readonly pairs: KeyPair[];
  readonly troubles: string[];
  readonly notes: string[];
  readonly lines: string[];
  readonly end: () => void;
};

describe('several discovery services with one state', { skip: noPebble }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'acme-'));
  const services: Service[] = [];
  let pebble: Pebble;
  let stop = () => {};

  before(async () => {
    // The authority reaches the last one alone.
    const server = createServer(async ({ headers, url = '' }, response) => {
      const token = url.slice(url.lastIndexOf('/') + 1);
      const [host = ''] = (headers.host ?? '').split(':');
      const answer = await services.at(-1)?.acme.answer(host, token);
      response.writeHead(answer === undefined ? 404 : 200).end(answer);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    stop = () => void server.close();
    const { port } = server.address() as AddressInfo;
    pebble = await preparePebble({ httpPort: port, tlsPort: 1 });
    tls.setDefaultCACertificates([readFileSync(pebble.caFile, 'utf8')]);
    await pebble.start();
  });
  afterAll(async () => {
    stop();
    await pebble?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** `aheadMs`: how far its clock is ahead. */
  function startService(
    t: TestContext,
    hostname = NAME,
    aheadMs = 0,
    directory = pebble.directory,
  ): Service {
    const pairs: KeyPair[] = [];
    const [troubles, notes, lines]: [string[], string[], string[]] = [[], [], []];
    const acme = openAcme({
      clock: { now: () => Date.now() + aheadMs, random: Math.random, after },
      log: pino({}, { write: line => void lines.push(line) }),
      open: place => keptFile(folder, place),
    });
    const kept = (name: string) => ({ namespace: 'default', name });
    const settings = { hostname, directory, email: 'a@example.com' };
    const places = { certificate: kept(`acme-${hostname}`), account: kept('acme-account') };
    const end = acme.keep(
      { ...settings, ...places },
      {
        onPair: pair => void pairs.push(pair),
        onTrouble: reason => void troubles.push(reason),
        onNotes: told => void notes.push(...told),
        onProof: () => {},
        servedSince: () => 0,
      },
    );
    t.after(end);
    const service = { acme, pairs, troubles, notes, lines, end };
    services.push(service);
    return service;
  }

  test('make one order, and serve one certificate, whichever the authority asks', async t => {
    const started = [startService(t), startService(t), startService(t)];
    const pairs = await Promise.all(started.map(({ pairs }) => until(() => pairs.at(-1), 30_000)));
    assert.equal(new Set(pairs.map(({ certificate }) => certificate)).size, 1);
    const orders = started.flatMap(({ lines }) => lines.filter(line => /ordering/.test(line)));
    assert.equal(orders.length, 1);
    for (const { lines } of started) assert.doesNotMatch(lines.join(''), /PRIVATE KEY/);
  });

  test('and one that starts later orders nothing', async t => {
    const { lines, pairs } = startService(t);
    await until(() => pairs.at(-1), 30_000);
    assert.deepEqual(lines, []);
  });

  test('a stranger who asks one of them for tokens makes no order fail', async t => {
    const hostname = 'asked.example.com';
    const first = startService(t, hostname);
    await until(() => first.lines.find(line => /ordering/.test(line)));
    const asked = startService(t, hostname);
    await until(() => asked.notes.at(-1));
    const asking = setInterval(() => void asked.acme.answer(hostname, 'stranger'), 20);
    t.after(() => clearInterval(asking));
    await until(() => asked.pairs.at(-1), 30_000);
    const orders = [...first.lines, ...asked.lines].filter(line => /ordering/.test(line));
    assert.equal(orders.length, 1);
  });

  test('make one other when an operator asks all of them, and then none', async t => {
    const started = [startService(t), startService(t)];
    const [first] = await Promise.all(
      started.map(({ pairs }) => until(() => pairs.at(-1), 30_000)),
    );
    const { serialNumber } = new X509Certificate(first?.certificate ?? '');
    const renewal = { hostname: NAME, serial: serialNumber.toLowerCase(), revoke: true };
    const renew = (order: string) => started.map(({ acme }) => acme.renew(order, renewal));
    for (const said of await Promise.all(renew('first'))) assert.match(said, /ordered|by now/);
    const others = await Promise.all(
      started.map(({ pairs }) =>
        until(() => pairs.find(pair => pair.certificate !== first?.certificate), 60_000),
      ),
    );
    assert.equal(new Set(others.map(({ certificate }) => certificate)).size, 1);
    assert.deepEqual(
      await Promise.all(renew('second')),
      started.map(() => 'it has another certificate by now'),
    );
    const orders = started.flatMap(({ lines }) => lines.filter(line => /ordering/.test(line)));
    assert.equal(orders.length, 1);
    const unknown = { hostname: 'none.example.com', serial: '', revoke: false };
    await assert.rejects(
      startService(t).acme.renew('third', unknown),
      /keeps no certificate for this name/,
    );
  });

  test('make one other when an operator names none, also when one of them hears of it late', async t => {
    const started = [startService(t), startService(t)];
    const [first] = await Promise.all(
      started.map(({ pairs }) => until(() => pairs.at(-1), 30_000)),
    );
    const [early, late] = started;
    const renew = (service: Service | undefined, order: string) =>
      service?.acme.renew(order, { hostname: NAME, revoke: false });
    assert.equal(await renew(early, 'one'), 'another certificate is ordered');
    const other = () => early?.pairs.find(pair => pair.certificate !== first?.certificate);
    const { certificate } = await until(other, 60_000);
    assert.equal(await renew(late, 'one'), 'another certificate is ordered');
    assert.equal(await renew(late, 'two'), 'another certificate is ordered');
    const isThird = (pair: KeyPair) =>
      ![first?.certificate, certificate].includes(pair.certificate);
    await until(() => late?.pairs.find(isThird), 60_000);
    const orders = started.flatMap(({ lines }) => lines.filter(line => /ordering/.test(line)));
    assert.equal(orders.length, 2);
  });

  test('a name that the authority does not issue for is told in its words', async t => {
    const { pairs, troubles } = startService(t, 'blocked.example.com');
    const trouble = await until(() => troubles.find(text => /blocked|refuse|policy/i.test(text)));
    assert.match(trouble, /^https:\/\/localhost:\d+\/dir issues no certificate \(http-01: /);
    t.diagnostic(trouble);
    assert.deepEqual(pairs, []);
  });

  test('what is kept of something else is not replaced', async t => {
    const kept = keptFile(folder, { namespace: 'default', name: 'acme-other.example.com' });
    await kept.write({ 'roots.json': 'x' }, undefined);
    const { troubles } = startService(t, 'other.example.com');
    const trouble = await until(() => troubles.at(-1));
    assert.match(trouble, /holds something else than a certificate for other\.example\.com$/);
    assert.deepEqual((await kept.read())?.texts, { 'roots.json': 'x' });
  });

  test('what is issued and cannot be served is a failure, so that it is not ordered on and on', async t => {
    const { pairs, troubles } = startService(t, 'slow.example.com', -DAY_MS);
    const trouble = await until(() => troubles.at(-1), 30_000);
    assert.match(trouble, /what it issued cannot be used: the certificate is not valid before/);
    assert.deepEqual(pairs, []);
  });

  test('of a certificate is known who issued it, also while another authority fails to', async t => {
    const { notes, pairs } = startService(t, NAME, 0, 'https://localhost:1/dir');
    await until(() => notes.find(each => /issues no certificate/.test(each)), 30_000);
    assert.ok(pairs.length > 0);
    const kept = keptFile(folder, { namespace: 'default', name: `acme-${NAME}` });
    const record = JSON.parse((await kept.read())?.texts['acme.json'] ?? '');
    assert.equal(record.directory, pebble.directory);
    await until(
      () => (notes.filter(each => /no certificate/.test(each)).length > 1 ? true : undefined),
      30_000,
    );
  });

  test('a limit is told in the words of the authority, and kept to by all of them', async t => {
    const pebbleCa = readFileSync(pebble.caFile, 'utf8');
    const limited = await limitedAuthority(t, pebble.directory, pebbleCa);
    tls.setDefaultCACertificates([pebbleCa, limited.ca]);
    limited.retryAfterS = 7_200;
    const start = (aheadMs: number) =>
      startService(t, 'busy.example.com', aheadMs, limited.directory);
    const said = ({ troubles }: Service) =>
      until(() => troubles.find(text => /Next attempt/.test(text)));
    const trouble = await said(start(0));
    assert.ok(trouble.includes(`issues no certificate (${LIMIT})`), trouble);
    const next = Date.parse(/Next attempt: (\S+)$/.exec(trouble)?.[1] ?? '');
    assert.ok(next > Date.now() + 1.9 * HOUR_MS && next < Date.now() + 2.1 * HOUR_MS, trouble);
    assert.equal(await said(start(0)), trouble);
    assert.equal(await said(start(HOUR_MS)), trouble);
    assert.equal(limited.orders(), 1);

    limited.retryAfterS = undefined;
    const { pairs } = start(3 * HOUR_MS);
    await until(() => pairs.at(-1), 30_000);
    assert.ok(limited.orders() > 1);
  });

  test('while the authority is away the certificate is served, and the operator is told', async t => {
    await pebble.kill();
    // Later than any process may put the renewal off by chance.
    const { notes, pairs, troubles } = startService(t, NAME, 70 * DAY_MS);
    const { host } = new URL(pebble.directory);
    const note = await until(
      () => notes.find(each => each.includes(`(${host} cannot be asked: `)),
      90_000,
    );
    assert.match(note, /\)\. Next attempt: 20/);
    assert.ok(pairs.length > 0);
    assert.deepEqual(troubles, []);
  });
});
