import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import { startControlPlane } from '../testing/control-plane.ts';
import { folderOf, gateway } from '../testing/gateway.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');
const ONE = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: one }
spec: { prefix: /one/, service: one }
`;
const EMPTY = { resources: [], problems: [], proxies: [] };
const SCRIPT = '/usr/bin/script';

/** Starts a program until the test ends. */
function start(t: TestContext, program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  return { child, exited };
}

describe('gateway status --watch', () => {
  test('prints what is new', async t => {
    const folder = await folderOf(t, { 'a.yaml': ONE });
    const address = await startControlPlane(t, folder);
    const watch = ['status', '--watch', '--interval', '0.2', '--address', address];
    const { child } = start(t, process.execPath, [MAIN, ...watch]);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => (await lines.next()).value as string;
    assert.match(
      await next(),
      /^ready \| 1 (?:in force|trying) \| no proxies \| 0 errors, 0 warnings$/,
    );
    await writeFile(join(folder, 'a.yaml'), ONE.replace('service: one', 'service: ftp://one'));
    let line = await next();
    while (!line.includes('1 error')) line = await next();
    assert.equal(await next(), 'Problems');
    assert.match(await next(), /^ {2}error: Mapping default\/one \(.*a\.yaml:4, spec\.service\)/);
  });

  test('ends with the reader of its lines', async t => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end(JSON.stringify({ ...EMPTY, ready: false, reason: String(asked) }));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const watch = ['status', '--watch', '--interval', '0.2', '--json', '--address', address];
    const { child, exited } = start(t, process.execPath, [MAIN, ...watch]);
    await once(child.stdout, 'readable');
    child.stdout.destroy();
    assert.deepEqual(await exited, [0, null]);
  });

  test('tells a program in JSON, too, that no control plane answers', async t => {
    const watch = ['status', '--watch', '--json', '--address', '127.0.0.1:1'];
    const { child } = start(t, process.execPath, [MAIN, ...watch]);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    assert.match(JSON.parse(line).error, /^no control plane answers at 127\.0\.0\.1:1: /);
  });

  for (const size of ['rows 20 cols 60', 'rows 0 cols 0'])
    test(`draws one view on a terminal of ${size}`, {
      skip: existsSync(SCRIPT) ? false : 'needs script(1) of util-linux',
    }, async t => {
      const address = await startControlPlane(t, await folderOf(t, { 'a.yaml': ONE }));
      const command = `stty ${size}; exec ${process.execPath} ${MAIN} status --watch --interval 0.2 --address ${address}`;
      const { child } = start(t, SCRIPT, ['-qfec', command, '/dev/null']);
      let shown = '';
      for await (const chunk of child.stdout) {
        shown += chunk;
        if (shown.split('\u001b[J').length > 2) break;
      }
      const plain = shown.replaceAll('\u001b', 'ESC');
      assert.match(plain, /^ESC\[Hgateway status at \d\d:\d\d:\d\d, Ctrl-C ends itESC\[K\r\nready/);
      assert.ok(shown.includes('\u001b[J\u001b[H'), 'the second view stands where the first did');
    });

  test('refuses an interval that would be no pause', async () => {
    const { code, stderr } = await gateway('status', '--watch', '--interval', '0');
    assert.equal(code, 1);
    assert.match(stderr, /want seconds from 0\.2 to 3600/);
  });
});
