import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import type { RequestOptions } from '#envoy/e2e/request.ts';
import { until } from '#envoy/e2e/until.ts';
import {
  document,
  type LimitedSystem,
  labelled,
  limits,
  patientService,
  startLimited,
} from './limited-system.ts';
import { connectTo } from './service-client.ts';
import { withinOneWindow } from './within-one-window.ts';

const MAX_COUNTERS = 1_000;
const ADDRESSES = 10_000;
const KIB = 1024;

const VALUE = { value: { header: 'X-Value', omit_if_not_present: true } };

/** HTTP carries the bytes of a text, each as one character. */
const onTheWire = (text: string) => Buffer.from(text).toString('latin1');

describe('limits through the edge hold against', () => {
  let system: LimitedSystem;
  before(async () => {
    process.env.MAX_COUNTERS = String(MAX_COUNTERS);
    system = await startLimited(({ rateLimit, upstream }) => ({
      'module.yaml': document('Module', 'gateway', { config: { xff_num_trusted_hops: 1 } }),
      'service.yaml': patientService(rateLimit),
      'mappings.yaml': [
        labelled('once', upstream, ['once', VALUE]),
        labelled('fifty', upstream, ['fifty', VALUE]),
        labelled('address', upstream, ['address', 'remote_address']),
        labelled('host', upstream, ['host', VALUE, { host: { header: 'Host' } }]),
        labelled('path', upstream, ['path', VALUE, { path: { path: true } }]),
        labelled('told', upstream, ['told']),
      ].join(''),
      'limits.yaml': limits('limits', [
        { pattern: [{ generic_key: 'once' }, { value: '*' }], rate: 1, unit: 'hour' },
        { pattern: [{ generic_key: 'host' }], rate: 1, unit: 'hour' },
        {
          pattern: [{ generic_key: 'path' }, { value: '*' }, { path: '/path/login' }],
          rate: 1,
          unit: 'hour',
        },
        {
          pattern: [{ generic_key: 'path' }, { value: '*' }, { path: '/path/ada@home/login' }],
          rate: 1,
          unit: 'hour',
        },
        { pattern: [{ generic_key: 'fifty' }, { value: '*' }], rate: 50, unit: 'hour' },
        { pattern: [{ generic_key: 'address' }, { remote_address: '*' }], rate: 2, unit: 'hour' },
        {
          pattern: [{ generic_key: 'told' }],
          rate: 0,
          unit: 'hour',
          errorResponse: { bodyTemplate: '{{ .request_id }}' },
        },
      ]),
    }));
  });
  after(async () => {
    delete process.env.MAX_COUNTERS;
    await system.stop();
  });

  const once = (value: string) => system.statusOf('/once/', { headers: { 'x-value': value } });
  const from = (address: string): RequestOptions => ({ headers: { 'x-forwarded-for': address } });

  for (const [what, value] of [
    ['quotes and backslashes', '"\\"},{"'],
    ['a tab', 'a\tb'],
    ['an emoji', onTheWire('🚦')],
    ['half an emoji', onTheWire('🚦').slice(0, 2)],
    ['bytes that are no UTF-8', '\xff\xfe\xc0\x80'],
    ['a lone surrogate', '\xed\xa0\x80'],
    ['the syntax of templates and formats', '{{ .RetryAfter }} %REQ(X-VALUE)%'],
    ['prototype keys', '__proto__'],
    ['lengths, as counters are keyed', '3:abc0:1:a'],
  ] as const)
    test(`a label value with ${what}`, () =>
      withinOneWindow(async client => {
        assert.deepEqual(
          [await once(`${value}${client}`), await once(`${value}${client}`)],
          [200, 429],
        );
      }));

  test('names in Latin-1, which have counters of their own', () =>
    withinOneWindow(async client => {
      await once(`M\xfcller${client}`);
      assert.equal(await once(`M\xfcller${client}`), 429);
      assert.notEqual(await once(`M\xf6ller${client}`), 429);
    }));

  test('a label value of 50 KiB, which has a counter of its own', () =>
    withinOneWindow(async client => {
      const long = client.repeat(Math.ceil((50 * KIB) / client.length));
      await once(`${long}a`);
      assert.equal(await once(`${long}a`), 429);
      assert.notEqual(await once(`${long}b`), 429);
      assert.equal(await once(long.repeat(2)), 431, 'Envoy takes 60 KiB of headers');
    }));

  test('a host in other letters, with a port and with a dot', () =>
    withinOneWindow(async client => {
      const asked = (Host: string) =>
        system.statusOf('/host/', { headers: { Host, 'x-value': client } });
      assert.equal(await asked('shop.example.com'), 200);
      for (const host of ['SHOP.example.com', 'shop.example.COM:80', 'Shop.example.com.'])
        assert.equal(await asked(host), 429, host);
    }));

  test('a path with a query, parameters, other letters, two slashes, dots and escapes', () =>
    withinOneWindow(async client => {
      const asked = (path: string) => system.statusOf(path, { headers: { 'x-value': client } });
      assert.equal(await asked('/path/login'), 200);
      for (const path of [
        ...['login?x=1', 'login?', 'login/', 'LOGIN', 'login;x=1', 'login;x/?y'],
        ...['/login', './login', 'x/../login', 'log%69n', '%6Cogin;%20', 'login%3bx', 'login%3B'],
        ...['x/..;/login', 'x/%2e%2e;/login', '%2E;x/login'],
      ])
        assert.equal(await asked(`/path/${path}`), 429, path);
      assert.equal(await asked('/path/login/x'), 200);
      assert.equal(await asked('/path/ada@home/login'), 200);
      for (const name of ['ada%40home', 'Ada%40home', 'ada%40%68ome', 'ada%40home%3b'])
        assert.equal(await asked(`/path/${name}/login`), 429, name);
    }));

  test('addresses of one IPv6 network, and an IPv4 address in the clothes of IPv6', () =>
    withinOneWindow(async client => {
      const own = [...client]
        .reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_536, 7)
        .toString(16);
      const statuses = [];
      for (const host of ['1::1', '1::2', '1:ffff:ffff:ffff:ffff', '1:0:1::', '2::1'])
        statuses.push(await system.statusOf('/address/', from(`2001:db8:${own}:${host}`)));
      assert.deepEqual(statuses, [200, 200, 429, 429, 200]);
      const onLink = [];
      for (const host of ['1%lo', '2%lo', 'ffff:0:0:3%lo'])
        onLink.push(await system.statusOf('/address/', from(`fe80:${own}::${host}`)));
      assert.deepEqual(onLink, [200, 200, 429]);
      const mapped = [];
      for (const address of [
        '::ffff:198.51.100.1',
        '198.51.100.1',
        '::ffff:c633:6401',
        '::ffff:198.51.100.2',
      ])
        mapped.push(await system.statusOf('/address/', from(address)));
      assert.deepEqual(mapped, [200, 200, 429, 200]);
    }));

  test('many requests at once', () =>
    withinOneWindow(async client => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 50 });
      const asked = Array.from({ length: 200 }, () =>
        system.statusOf('/fifty/', { agent, headers: { 'x-value': client } }),
      );
      const statuses = await Promise.all(asked);
      agent.destroy();
      assert.equal(statuses.filter(status => status === 200).length, 50);
      assert.equal(statuses.filter(status => status === 429).length, 150);
    }));

  test('an X-Forwarded-For that is no address', () =>
    withinOneWindow(async client => {
      const statuses = [];
      for (let i = 0; i < 3; i++)
        statuses.push(await system.statusOf('/address/', from(`${client}-${i}`)));
      assert.equal(statuses.at(-1), 429);
    }));

  test('headers of our own that a client sends', async () => {
    const forged = {
      'x-gateway-request-id': 'forged',
      'x-envoy-ratelimited': 'true',
      'Retry-After': '0',
    };
    const { body, headers, status } = await system.ask('/told/', { headers: forged });
    assert.equal(status, 429);
    assert.match(body, /^[0-9a-f-]{36}$/);
    assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/);
    assert.equal(headers['x-envoy-ratelimited'], undefined);
  });

  test(`${ADDRESSES} addresses, in bounded memory`, () =>
    withinOneWindow(async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
      const statuses = new Set<number>();
      let next = 0;
      const lane = async () => {
        while (next < ADDRESSES) {
          const address = `10.9.${next >> 8}.${next++ & 255}`;
          statuses.add(await system.statusOf('/address/', { ...from(address), agent }));
        }
      };
      await Promise.all(Array.from({ length: 32 }, lane));
      agent.destroy();
      const metrics = await (await fetch(`http://${system.services.rateLimit}/metrics`)).text();
      const counters = Number(/^gateway_ratelimit_counters (\d+)$/m.exec(metrics)?.[1]);
      assert.ok(counters <= MAX_COUNTERS, `${counters} counters`);
      assert.deepEqual([...statuses], [200], 'an address is rejected below its rate');
      await system.statusWhen(({ problems }) =>
        problems.some(
          ({ name, message }) =>
            name === 'limits' && message.includes('counters of limit "limits.default-'),
        ),
      );
      const late = from('192.0.2.1');
      const passed = [];
      for (let i = 0; i < 3; i++) passed.push(await system.statusOf('/address/', late));
      assert.deepEqual(passed, [200, 200, 429], 'a new address has its rate, and no more');
    }));

  test('a flood of descriptors and labels at the service itself', t =>
    withinOneWindow(async client => {
      const service = connectTo(system.services.rateLimit);
      t.after(() => service.close());
      const address = (remote_address: string) => ({ generic_key: 'address', remote_address });
      const many = Array.from({ length: 10_000 }, (_, at) => address(`${client}-${at}`));
      assert.equal((await service.ask(...many)).outcome, 'OK');
      const deep = Object.fromEntries(many.map((_, at) => [`key-${at}`, client]));
      assert.equal((await service.ask({ ...address(`${client}-deep`), ...deep })).outcome, 'OK');
      const tooLong = await service.ask(address('x'.repeat(5 * KIB * KIB)));
      assert.equal(tooLong.outcome, 'RESOURCE_EXHAUSTED');
      assert.equal((await service.ask({ generic_key: 'told' })).outcome, 'OVER_LIMIT');
    }));

  describe('behind a proxy whose request ids and traces go on:', () => {
    const LONG = 'x'.repeat(58 * KIB);
    const told = async (headers: Readonly<Record<string, string>>) => {
      const { body, status } = await system.ask('/told/', { headers });
      return [status, body];
    };
    before(async () => {
      system.write(
        'behind.yaml',
        document('TracingService', 'behind', {
          ...{ service: '127.0.0.1:1', driver: 'opentelemetry' },
          continue_client_traces: true,
        }),
      );
      system.write(
        'module.yaml',
        document('Module', 'gateway', { config: { use_remote_address: false } }),
      );
      await until(async () => (await told({ 'x-request-id': 'kept' }))[1] === 'kept' || undefined);
    });

    test('a request id of 58 KiB, which is told in part', async () => {
      assert.deepEqual(await told({ 'x-request-id': LONG }), [429, LONG.slice(0, 100)]);
    });

    test('a trace state of 58 KiB', async () => {
      const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
      const [status] = await told({ traceparent, tracestate: `a=${LONG}` });
      assert.equal(status, 429);
    });
  });
});
