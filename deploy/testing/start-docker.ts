import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { until } from '#envoy/e2e/until.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { ROOT } from './compose-file.ts';

/** A Docker Engine with Docker Compose, beside the machine's own if there is one. */
export type Docker = {
  /** Runs `docker` and resolves with what it prints. Rejects with what it says of a failure. */
  docker(...args: readonly string[]): Promise<string>;
  compose(...args: readonly string[]): Promise<string>;
  /** Asks the engine itself. Resolves with the JSON of its answer. */
  ask(path: string): Promise<unknown>;
  /** Runs a program of this machine that asks this engine. */
  run(file: string, ...args: readonly string[]): Promise<string>;
  /** Ends a process of a container, as the kernel does when memory is short. */
  kill(pid: number): Promise<void>;
  /** Ends all containers too. Images and what builds have cached stay for the next run. */
  stop(): Promise<void>;
};

const TOOLS = ['dockerd', 'docker-compose', 'iptables', 'mmdebstrap'];

/** Images, and what builds have cached. */
const DATA = join(ROOT, '.gateway', 'docker');

/**
 * The engine has process ids and mounts of its own, so that all of it ends with its first process.
 * That one takes up orphans. The network is that of the caller. Of two engines with the same data
 * one waits. The engine gives its containerd 15 s to start, which a busy machine may exceed [seen],
 * so it has ten tries.
 */
const SCRIPT = `
exec 9>"$1/lock"; shift; flock 9
trap 'ended=yes; kill $engine' TERM
for try in 1 2 3 4 5 6 7 8 9 10; do
  dockerd "$@" & engine=$!
  while kill -0 $engine 2>/dev/null; do wait $engine; done
  [ -z "$ended" ] || break
done`;

/** A machine may allow fewer than what Docker gives containers by default. */
const LIMITS = ['nofile=20000:20000', 'nproc=4096:4096'];

/** Returns why there is no Docker for tests, or false when there is one. */
export function whyNoDocker(): string | false {
  const missing = TOOLS.map(tool => findTool(tool).skip).find(skip => skip !== false);
  if (missing !== undefined) return missing;
  const alone = Object.keys(networkInterfaces()).every(name => name === 'lo');
  return alone ? false : 'needs root, and a network of its own, which npm test gives it';
}

/**
 * Starts an engine, in which the images that the Dockerfile and compose.yaml name are. `project` is
 * the folder of compose.yaml.
 */
export async function startDocker(project: string): Promise<Docker> {
  const home = mkdtempSync(join(tmpdir(), 'docker-'));
  const socket = join(home, 'docker.sock');
  mkdirSync(DATA, { recursive: true });
  const engine = spawn(
    'setpriv',
    [...NAMESPACES, 'sh', '-c', SCRIPT, 'sh', DATA, ...options(home)],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
    },
  );
  const said = tail(engine);
  const env = {
    ...process.env,
    // Debian's client, which has BuildKit in it, comes with the engine.
    PATH: `/usr/bin:${process.env.PATH}`,
    DOCKER_BUILDKIT: '1',
    DOCKER_CONFIG: home,
    DOCKER_HOST: `unix://${socket}`,
  };
  const run = async (file: string, ...args: readonly string[]) => {
    const options = { cwd: project, env, maxBuffer: 2 ** 26 };
    return (await promisify(execFile)(file, args, options)).stdout;
  };
  const docker = (...args: readonly string[]) => run('docker', ...args);
  await until(
    () => {
      if (engine.exitCode !== null) throw new Error(`Docker does not start:\n${said()}`);
      return get(socket, '/_ping').catch(() => undefined);
    },
    180_000,
    'the start of Docker',
  );
  // This process has no way to the internet, and the one that started it has.
  const script = join(ROOT, 'deploy/testing/stand-in-images.sh');
  const folder = mkdtempSync(join(home, 'images-'));
  await run('nsenter', '--target', `${process.ppid}`, '--net', 'sh', script, folder);
  rmSync(folder, { recursive: true });
  return {
    ask: async path => JSON.parse(await get(socket, path)),
    run,
    docker,
    compose: (...args) => run(findTool('docker-compose').path, ...args),
    async kill(pid) {
      const inside = ['--target', `${firstProcess(engine)}`, '--pid'];
      await run('nsenter', ...inside, 'kill', '-KILL', `${pid}`);
    },
    async stop() {
      await docker('image', 'prune', '--force');
      await docker('builder', 'prune', '--force', '--keep-storage=2GB');
      process.kill(firstProcess(engine), 'SIGTERM');
      await once(engine, 'exit');
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Ends with this process, also when that is killed. */
const NAMESPACES = [
  '--pdeathsig',
  'KILL',
  'unshare',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
];

function options(home: string): readonly string[] {
  return [
    `--host=unix://${join(home, 'docker.sock')}`,
    `--data-root=${DATA}`,
    `--exec-root=${join(home, 'run')}`,
    `--pidfile=${join(home, 'docker.pid')}`,
    ...LIMITS.map(limit => `--default-ulimit=${limit}`),
  ];
}

/** The process of `sh` above, as this process sees it. */
function firstProcess({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
}

/** Returns a function that returns the last lines that a process has printed. */
function tail(child: ChildProcess): () => string {
  let lines: readonly string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      lines = [...lines, ...text.split('\n')].slice(-30);
    });
  return () => lines.join('\n');
}

function get(socketPath: string, path: string): Promise<string> {
  const { promise, reject, resolve } = Promise.withResolvers<string>();
  const asked = http.get({ socketPath, path }, answer => {
    const said = text(answer);
    if (answer.statusCode === 200) resolve(said);
    else said.then(why => reject(new Error(`Docker says of ${path}: ${why}`)), reject);
  });
  asked.on('error', reject);
  return promise;
}
