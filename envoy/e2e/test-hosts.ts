import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { promisify } from 'node:util';

/** One of two machines on a network of their own, as a network namespace. */
export type TestHost = {
  readonly address: string;
  /** Starts a process on it, which ends with the hosts at the latest. */
  spawn(
    file: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): ChildProcess;
  /** Runs a command on it to its end. Resolves with what it printed. */
  run(file: string, args: readonly string[]): Promise<string>;
  /** Unplugs its cable. What is sent to it is lost silently. */
  unplug(): void;
};

export type TestHosts = {
  readonly hosts: readonly [TestHost, TestHost];
  /** Returns all that the processes have printed. */
  log(): string;
  /** Ends the processes and removes the hosts. */
  remove(): Promise<void>;
};

/** Returns why there can be no test hosts here, or undefined when there can. */
export function whyNoTestHosts(): string | undefined {
  if (process.env.GATEWAY_SKIP_IPROUTE2 !== undefined) return process.env.GATEWAY_SKIP_IPROUTE2;
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const name = `gw${process.pid}p`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return undefined;
  } catch (error) {
    return `no network namespaces here: ${error instanceof Error ? error.message.trim() : error}`;
  }
}

/** Creates two hosts, joined by one cable. Only this process uses their names. */
export function makeTestHosts(): TestHosts {
  const [a, b] = [`gw${process.pid}a`, `gw${process.pid}b`];
  const network = `10.${(process.pid >> 8) % 256}.${process.pid % 256}`;
  const processes: ChildProcess[] = [];
  const output: string[] = [];
  const remove = async () => {
    await Promise.all(processes.map(end));
    for (const name of [a, b]) ip('netns', 'del', name);
  };
  ip('netns', 'add', a);
  ip('netns', 'add', b);
  ip('link', 'add', a, 'netns', a, 'type', 'veth', 'peer', 'name', b, 'netns', b);
  const host = (name: string, address: string): TestHost => {
    ip('-n', name, 'address', 'add', `${address}/24`, 'dev', name);
    for (const device of ['lo', name]) ip('-n', name, 'link', 'set', device, 'up');
    const inside = (file: string, args: readonly string[]) => [
      'netns',
      'exec',
      name,
      file,
      ...args,
    ];
    return {
      address,
      spawn: (file, args, env = {}) => {
        const child = spawn('ip', inside(file, args), { env: { ...process.env, ...env } });
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', chunk => output.push(String(chunk)));
        processes.push(child);
        return child;
      },
      unplug: () => ip('-n', name, 'link', 'set', name, 'down'),
      run: async (file, args) => (await promisify(execFile)('ip', inside(file, args))).stdout,
    };
  };
  const hosts = [host(a, `${network}.1`), host(b, `${network}.2`)] as const;
  return { hosts, log: () => output.join(''), remove };
}

/** `ip netns exec` becomes the process that it starts, so its id is that of the process. */
function end(child: ChildProcess): Promise<void> {
  return new Promise(resolve => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

/** Runs iproute2's `ip`. Throws with its output. */
export function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
