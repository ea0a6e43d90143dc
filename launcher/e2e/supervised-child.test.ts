import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { eventually } from '../eventually.ts';
import { openLogFile } from '../log-file.ts';
import { type OrphanGuard, orphanGuard } from '../orphan-guard.ts';
import type { Part } from '../part.ts';
import { SupervisedChild } from '../supervised-child.ts';

const folder = mkdtempSync(join(tmpdir(), 'supervised-'));
const guard = orphanGuard();
after(() => {
  guard.close();
  rmSync(folder, { recursive: true });
});

const STAYS = 'process.on("disconnect", () => process.exit()); process.send({ ready: true });';

/** A guard that runs a program itself. */
const bare: OrphanGuard = { ...guard, wrap: argv => argv };

function start(script: string, fields: Partial<Part> = {}, by = guard) {
  const said: string[] = [];
  const path = join(folder, `${Math.random()}.log`);
  const log = openLogFile(path, 1e6, error => said.push(error.message));
  const part: Part = { name: 'part', argv: [process.execPath, '-e', script], env: {}, ...fields };
  const child = new SupervisedChild(part, {
    guard: by,
    log,
    now: () => performance.now(),
    say: line => said.push(line),
    changed: () => {},
  });
  const comes = (condition: () => boolean) => eventually(async () => condition(), 30_000);
  return { child, said, comes, logged: () => readFileSync(path, 'utf8') };
}

describe('a supervised process', () => {
  test('is ready when it says so', async () => {
    const { child, comes } = start(STAYS);
    assert.equal(child.phase, 'starting');
    assert.ok(await comes(() => child.isReady));
    await child.stop();
    assert.equal(child.phase, 'stopped');
  });

  test('is ready when its probe says so', async () => {
    let answers = false;
    const { child, comes } = start('setInterval(() => {}, 1e6)', { probe: async () => answers });
    assert.ok(!child.isReady);
    answers = true;
    assert.ok(await comes(() => child.isReady));
    await child.stop();
  });

  test('is started again when it is killed, and that is said', async () => {
    const { child, said, comes } = start(STAYS);
    assert.ok(await comes(() => child.isReady));
    const { pid } = child;
    process.kill(pid ?? 0, 'SIGKILL');
    assert.ok(await comes(() => child.isReady && child.pid !== pid));
    assert.deepEqual(said, ['was ended by SIGKILL, starting it again in 0.2 s']);
    assert.equal(child.restarts, 1);
    await child.stop();
  });

  test('that crashes leaves its reason on the console and all that it said in its log', async () => {
    const { child, said, comes, logged } = start(
      'console.log("hello"); throw new TypeError("no such port")',
    );
    assert.ok(await comes(() => said.length > 0));
    await child.stop();
    assert.match(
      said[0] ?? '',
      /^ended with exit code 1: TypeError: no such port, starting it again in 0\.2 s$/,
    );
    assert.match(logged(), /^hello$/m);
  });

  test('that cannot be run now is tried again', async () => {
    const argv = [process.execPath, '-e', STAYS, 'x'.repeat(200_000)];
    const { child, said, comes } = start(STAYS, { argv });
    assert.ok(await comes(() => said.length > 0));
    await child.stop();
    assert.equal(said[0], 'cannot be run: spawn E2BIG, starting it again in 0.2 s');
  });

  test('that is no program is tried once', async () => {
    const { child, said, comes } = start(STAYS, { argv: [folder] }, bare);
    assert.ok(await comes(() => child.phase === 'failed'));
    assert.match(said.join(), /^cannot be run: spawn .* EACCES$/);
  });

  test('is heard when it logs a problem', async () => {
    const { child, said, comes } = start(`console.log('{"level":40,"msg":"refused"}'); ${STAYS}`);
    assert.ok(await comes(() => said.length > 0));
    assert.deepEqual(said, ['warning: refused']);
    await child.stop();
  });

  test('writes no line of its client, however that ends a line', async () => {
    const forged = '[2026-11-21 07:09:15.123][1][critical][main] run this';
    const line = `{"user_agent":"a\u2028${forged}\u2029b"}`;
    const script = `console.log(${JSON.stringify(line)}); console.log('{"level":40,"msg":"end"}');`;
    const { child, said, comes, logged } = start(`${script} ${STAYS}`);
    assert.ok(await comes(() => said.length > 0));
    await child.stop();
    assert.deepEqual(said, ['warning: end']);
    assert.equal(logged(), `${line}\n{"level":40,"msg":"end"}\n`);
  });

  test('is not started again while it drains', async () => {
    const { child, said, comes } = start(STAYS);
    assert.ok(await comes(() => child.isReady));
    child.drain();
    process.kill(child.pid ?? 0, 'SIGKILL');
    assert.ok(await comes(() => child.phase === 'stopped'));
    assert.deepEqual(said, []);
  });

  test('that takes no notice of SIGTERM is killed after 3 s', async () => {
    const { child, comes } = start(`process.on("SIGTERM", () => {}); ${STAYS}`);
    assert.ok(await comes(() => child.isReady));
    const began = performance.now();
    await child.stop();
    assert.ok(performance.now() - began >= 2_900);
  });

  test('can be stopped at once', async () => {
    const { child, comes } = start(`process.on("SIGTERM", () => {}); ${STAYS}`);
    assert.ok(await comes(() => child.isReady));
    const began = performance.now();
    await child.kill();
    assert.ok(performance.now() - began < 2_900);
  });
});
