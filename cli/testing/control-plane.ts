import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

const MAIN = join(import.meta.dirname, '..', '..', 'controlplane', 'main.ts');
const ANY_PORT = '127.0.0.1:0';

/**
 * Starts a control plane with these resources until the test ends. Resolves with the address of its
 * HTTP interface.
 */
export async function startControlPlane(t: TestContext, resources: string): Promise<string> {
  const state = await mkdtemp(join(tmpdir(), 'gateway-state-'));
  const env = { RESOURCES: resources, STATE: state, XDS_ADDRESS: ANY_PORT, HTTP_ADDRESS: ANY_PORT };
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await exited;
    await rm(state, { recursive: true });
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, http } = JSON.parse(line);
    if (msg !== 'listening') continue;
    child.stdout.resume();
    return `127.0.0.1:${http.port}`;
  }
  throw new Error('The control plane ended before it listened');
}
