import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { promised } from '#envoy/e2e/promised.ts';
import { until } from '#envoy/e2e/until.ts';
import { startLoad } from '#xds/testing/start-load.ts';
import { answerOf, issuedSerial, startAuthoritySds, startHop, statOf, usesSerial } from './hop.ts';
import type { Api } from './hop-proxies.ts';

/**
 * So long that a busy machine, too, has renewed a certificate before the old one ends.
 * ROTATE_SECONDS=120 CERTIFICATE_LIFETIME=2500ms ROOT_LIFETIME=10s is the long run: every 1.25 s
 * new certificates, every 5 s a new root.
 */
const SECONDS = Number(process.env.ROTATE_SECONDS ?? 5);
const { CERTIFICATE_LIFETIME = '6s', ROOT_LIFETIME = '24s' } = process.env;

const APIS: readonly Api[] = ['DELTA_GRPC', 'GRPC'];

for (const api of APIS) {
  test(`certificates of both sides and the root rotate under load without a failed request (${api})`, async t => {
    const { sds } = await startAuthoritySds(t, { CERTIFICATE_LIFETIME, ROOT_LIFETIME });
    const { client, server, url } = await startHop(t, sds, api);
    const modified = await statOf(server, 'listener_manager.listener_modified');
    const load = startLoad(t, url);
    const delays: number[] = [];
    const roots = new Set<string>();
    const end = performance.now() + SECONDS * 1_000;
    let serial = await issuedSerial(sds);
    while (performance.now() < end || delays.length < 4 || roots.size < 2) {
      await until(async () => ((await issuedSerial(sds)) === serial ? undefined : true));
      const seen = performance.now();
      // On a busy machine the next may be there before this one is seen.
      serial = await until(async () => {
        const newest = await issuedSerial(sds);
        return newest !== undefined && (await usesSerial(server, newest)) ? newest : undefined;
      });
      delays.push(performance.now() - seen);
      for (const root of await rootsOf(sds.url)) roots.add(root);
    }
    const answered = load.answered();
    assert.deepEqual(await load.stop(), []);
    const handshakes = await statOf(client, 'cluster.hop.ssl.handshake');
    t.diagnostic(
      `${answered} requests, ${handshakes} handshakes, ${delays.length} certificates, ${roots.size} roots, new serial seen in at most ${Math.round(Math.max(...delays))} ms`,
    );
    assert.equal(await statOf(server, 'listener_manager.listener_modified'), modified);
    assert.equal(await statOf(server, 'listener_manager.total_listeners_draining'), 0);
    const median = delays.toSorted((a, b) => a - b)[Math.floor(delays.length / 2)] ?? 0;
    assert.ok(median < promised(1_000), `new serial seen after ${median} ms`);
    assert.ok(handshakes > delays.length, `${handshakes} handshakes`);
    assert.equal(await statOf(client, 'cluster.hop.ssl.fail_verify_error'), 0);
  });
}

async function rootsOf(url: string): Promise<readonly string[]> {
  const status = (await (await fetch(`${url}/status`)).json()) as {
    secrets: { roots: { serial: string }[] };
  };
  return status.secrets.roots.map(({ serial }) => serial);
}

test('an sds that is killed takes no TLS away, and after it is back an edited listener answers', async t => {
  // Not the lifetimes of the long run: while sds is away nothing is renewed.
  const { sds, startAgain } = await startAuthoritySds(t, {
    CERTIFICATE_LIFETIME: '24h',
    ROOT_LIFETIME: '43800h',
  });
  const { url, edit } = await startHop(t, sds);
  const load = startLoad(t, url);
  sds.child.kill('SIGKILL');
  await once(sds.child, 'exit');
  const before = load.answered();
  await until(() => (load.answered() > before + 100 ? true : undefined));
  const again = await startAgain({ ADDRESS: `127.0.0.1:${sds.port}` });
  await until(async () => ((await issuedSerial(again)) === undefined ? undefined : true));
  await edit('second');
  await until(async () => ((await answerOf(url)) === 'second' ? true : undefined));
  assert.deepEqual(await load.stop(), []);
});
