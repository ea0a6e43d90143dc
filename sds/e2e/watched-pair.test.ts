import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { issueIdentity } from '#certificates/authority/leaf.ts';
import { until } from '#envoy/e2e/until.ts';
import { snapshotOf } from '#xds/snapshot.ts';
import { startDiscoveryServer } from '#xds/testing/discovery-server.ts';
import { startLoad } from '#xds/testing/start-load.ts';
import { servedSecret } from '../testing/test-secrets.ts';
import { answerOf, issuedSerial, startAuthoritySds, startHop, usesSerial } from './hop.ts';
import { SERVER } from './hop-proxies.ts';
import { authorityOf, serialOf } from './state-authority.ts';

test('a pair in watched files is served as the control plane says, a broken one changes nothing, a new one is seen at once', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pair-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const files = { certificate_chain: join(folder, 'crt'), private_key: join(folder, 'key') };
  const write = async (path: string, text: string) => {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  const controlPlane = await startDiscoveryServer(t);
  const served = [servedSecret('files', [SERVER], { key_pair_files: files })];
  controlPlane.cache.set('sds', snapshotOf(served));
  const { sds, state } = await startAuthoritySds(t, {
    XDS_ADDRESS: `127.0.0.1:${controlPlane.port}`,
    CERTIFICATE_FILES: folder,
  });
  const root = authorityOf(state);
  const issue = () =>
    issueIdentity(
      root,
      { trustDomain: 'gateway.internal', group: SERVER },
      { now: Date.now(), lifetimeMs: 3_600_000 },
    );
  const [first, second] = [await issue(), await issue()];
  await write(files.certificate_chain, first.certificate);
  await write(files.private_key, first.key);

  const { server, url, edit } = await startHop(t, sds);
  await edit('by files', 'files');
  await until(async () => ((await answerOf(url)) === 'by files' ? true : undefined));
  assert.ok(await usesSerial(server, serialOf(first)));
  const load = startLoad(t, url);
  await write(files.certificate_chain, second.certificate);
  const problem = async () => /does not fit/.test(await (await fetch(`${sds.url}/status`)).text());
  await until(async () => ((await problem()) ? true : undefined));
  const before = load.answered();
  await until(() => (load.answered() > before + 50 ? true : undefined));
  assert.ok(await usesSerial(server, serialOf(first)));

  await write(files.private_key, second.key);
  const start = performance.now();
  await until(async () => ((await usesSerial(server, serialOf(second))) ? true : undefined));
  t.diagnostic(`the new serial is seen after ${Math.round(performance.now() - start)} ms`);
  await controlPlane.stop();
  assert.deepEqual(await load.stop(), []);
  assert.notEqual(await issuedSerial(sds), undefined);
  assert.doesNotMatch(sds.log(), /PRIVATE KEY/);
  assert.doesNotMatch(await server.get('/config_dump?include_eds'), /BEGIN (EC )?PRIVATE KEY/);
});
