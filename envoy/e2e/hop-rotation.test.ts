import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startLoad } from './load.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';

/**
 * Certificates of the hop are renewed at half of this, and their authority's root as soon as it
 * may. A busy machine must be able to do it in the other half.
 */
const LIFETIME = '6s';
const ROOT_LIFETIME = '24s';
/** Set `ROTATION_MS=120000` for a longer run by hand. */
const LEAST_MS = Number(process.env.ROTATION_MS ?? 4_000);

describe('while the certificates between the proxies change all the time', () => {
  let system: System;
  before(async () => {
    const environment = { CERTIFICATE_LIFETIME: LIFETIME, ROOT_LIFETIME };
    system = await startSystem({ instances: 2, environment });
  });
  after(() => system.stop());

  const edgeAdmin = async (path: string) =>
    (await fetch(`http://127.0.0.1:${system.ports.edgeAdmin}${path}`)).text();

  /** Returns the serial number of the edge's own certificate. */
  async function serial(): Promise<string> {
    const own = /"cert_chain":[^\]]*?"serial_number": "(\w+)"/s.exec(await edgeAdmin('/certs'));
    assert.ok(own?.[1] !== undefined);
    return own[1];
  }

  async function stat(name: string): Promise<number> {
    const line =
      (await edgeAdmin('/stats')).split('\n').find(text => text.startsWith(`${name}: `)) ?? '';
    return Number(line.slice(name.length + 2));
  }

  test('no request fails, instances come and go, and no listener is touched', async t => {
    const begun = performance.now();
    const seen = new Set<string>();
    const modified = await stat('listener_manager.listener_modified');
    const load = startLoad({ base: system.edge, path: '/user/health', longestMs: 180_000 });
    do {
      for (const count of ['3', '2']) {
        assert.equal((await system.command('scale', count, '--state', system.state)).code, 0);
        seen.add(await serial());
      }
    } while (performance.now() - begun < LEAST_MS);
    await until(async () => seen.add(await serial()).size >= 4 || undefined);
    const { failures, requests, hostnames } = await load.stop();
    const handshakes = await stat('cluster.user-service.ssl.handshake');
    t.diagnostic(
      `${requests} requests, ${failures.length} failed; ${seen.size} certificates of the edge, ${handshakes} handshakes`,
    );
    assert.deepEqual(failures.slice(0, 5), []);
    assert.ok(hostnames.size === 3 && handshakes >= 3);
    assert.equal(await stat('listener_manager.listener_modified'), modified);
    assert.equal(await stat('cluster.user-service.ssl.connection_error'), 0);
  });
});
