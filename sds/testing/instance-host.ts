import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ip } from '#envoy/e2e/test-hosts.ts';
import { until } from '#envoy/e2e/until.ts';

export type RunningInstance = {
  readonly address: string;
  /** SIGKILL. */
  kill(): Promise<void>;
};

/**
 * Another machine, as a network namespace on a cable to this one: EndpointSlices take no address of
 * the loopback.
 */
export type InstanceHost = {
  readonly port: number;
  /** Starts an instance on an address of its own, and waits until it answers. */
  start(): Promise<RunningInstance>;
  remove(): Promise<void>;
};

const SERVER = join(import.meta.dirname, 'instance-server.ts');
const PORT = 8080;

/**
 * Needs what test hosts need (whyNoTestHosts). Its network is of those kept for measurements (RFC
 * 2544).
 */
export function makeInstanceHost(): InstanceHost {
  const name = `gwi${process.pid}`;
  const network = `198.${18 + ((process.pid >> 8) % 2)}.${process.pid % 256}`;
  const children: ChildProcess[] = [];
  ip('netns', 'add', name);
  ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  ip('address', 'add', `${network}.254/24`, 'dev', name);
  ip('link', 'set', name, 'up');
  for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
  const start = async () => {
    const address = `${network}.${children.length + 1}`;
    ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    const args = ['netns', 'exec', name, process.execPath, SERVER, address, String(PORT)];
    const child = spawn('ip', args, { stdio: 'ignore' });
    children.push(child);
    await until(() =>
      fetch(`http://${address}:${PORT}/`).then(
        () => true,
        () => undefined,
      ),
    );
    return { address, kill: () => end(child) };
  };
  const remove = async () => {
    await Promise.all(children.map(end));
    ip('link', 'del', name);
    ip('netns', 'del', name);
  };
  return { port: PORT, start, remove };
}

/** `ip netns exec` becomes the process that it starts. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
