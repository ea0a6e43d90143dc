import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '#grpc/testing/free-port.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { type Cluster, connectCluster } from '../cluster.ts';

/**
 * A real kube-apiserver with its own etcd, on a port that stays the same across restarts. There are
 * no controllers beside it.
 */
export type KubeApiserver = {
  readonly server: string;
  readonly port: number;
  /** The file of the authority that has signed its certificate. */
  readonly caFile: string;
  /** Path of a kubeconfig of the cluster's admin, for processes and kubectl. */
  readonly kubeconfig: string;
  /** A client that may do everything. */
  readonly admin: Cluster;
  pid(): number;
  /** Sends SIGKILL. What was written stays. */
  stop(): Promise<void>;
  /** Starts it again, with these flags beside the others, and waits until it is ready. */
  start(more?: ApiserverFlags): Promise<void>;
  /** Ends it and removes its files. */
  remove(): Promise<void>;
  /**
   * A kubeconfig of the same server, or of another address that leads to it, with another token.
   * Returns its path.
   */
  writeKubeconfig(name: string, token: string, server?: string): Promise<string>;
};

const COMMAND = 'gateway-kube-apiserver';
const KUBECTL = 'gateway-kubectl';
const ADMIN_TOKEN = 'admin-token';
const START_MS = 180_000;
const TRIES = 3;

/**
 * Returns why there is no API server for tests.
 * @returns undefined when there is one
 */
export function whyNoKubeApiserver(): string | undefined {
  return findTool(COMMAND).skip || undefined;
}

/**
 * Returns why there is no kubectl for tests.
 * @returns undefined when there is one
 */
export function whyNoKubectl(): string | undefined {
  return findTool(KUBECTL).skip || undefined;
}

/** Returns the path of kubectl, or an empty text when there is none. */
export function kubectlPath(): string {
  return findTool(KUBECTL).path;
}

/** Runs kubectl as the cluster's admin. Returns what it has printed. */
export function kubectl(
  { kubeconfig }: Pick<KubeApiserver, 'kubeconfig'>,
  args: readonly string[],
  input = '',
) {
  const { status, stdout, stderr } = spawnSync(kubectlPath(), args, {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    encoding: 'utf8',
    input,
  });
  return { status, stdout, stderr };
}

/** Flags of kube-apiserver by name, in place of those that it has here. */
export type ApiserverFlags = Readonly<Record<string, string>>;

/**
 * Starts an API server (3 s, 300 MB). Share one in all tests of a file. It listens on `address`, by
 * default the loopback.
 */
export async function startKubeApiserver(
  address = '127.0.0.1',
  flags: ApiserverFlags = {},
): Promise<KubeApiserver> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-kapi-'));
  await writeKeys(home);
  // A port that was free may be taken by others in the meantime.
  for (let tries = 1; ; tries += 1) {
    const port = await freePort(address);
    try {
      return await startAt(home, address, port, flags);
    } catch (error) {
      if (tries === TRIES || !/address already in use/.test(String(error))) throw error;
    }
  }
}

async function startAt(
  home: string,
  address: string,
  port: number,
  flags: ApiserverFlags,
): Promise<KubeApiserver> {
  const server = `https://${address}:${port}`;
  const caFile = join(home, 'cert', 'apiserver.crt');
  const writeKubeconfig = async (name: string, token: string, at = server) => {
    const path = join(home, `${name}.kubeconfig`);
    await writeFile(path, JSON.stringify(kubeconfigOf(at, caFile, token)), { mode: 0o600 });
    return path;
  };
  let child: ChildProcess | undefined;
  const stop = async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.ref();
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  };
  const start = async (more: ApiserverFlags = {}) => {
    child = run(home, address, port, { ...flags, ...more });
    await ready(child, admin);
  };
  const kubeconfig = await writeKubeconfig('admin', ADMIN_TOKEN);
  const admin = await connectCluster({ kubeconfig, timeoutMs: 60_000 });
  await start();
  const remove = async () => {
    admin.close();
    await stop();
    await rm(home, { recursive: true, force: true });
  };
  return {
    server,
    port,
    caFile,
    kubeconfig,
    admin,
    pid: () => child?.pid ?? 0,
    stop,
    start,
    remove,
    writeKubeconfig,
  };
}

async function writeKeys(home: string): Promise<void> {
  await mkdir(join(home, 'cert'));
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await writeFile(join(home, 'sa.key'), privateKey, { mode: 0o600 });
  await writeFile(join(home, 'tokens.csv'), `${ADMIN_TOKEN},admin,admin,"system:masters"\n`, {
    mode: 0o600,
  });
}

/** Its standard input is ours, so that it ends with this process whatever becomes of that. */
function run(home: string, address: string, port: number, others: ApiserverFlags): ChildProcess {
  const key = join(home, 'sa.key');
  const flags = {
    'bind-address': address,
    'advertise-address': address,
    'secure-port': String(port),
    'cert-dir': join(home, 'cert'),
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-signing-key-file': key,
    'service-account-key-file': key,
    'service-cluster-ip-range': '10.0.0.0/24',
    'token-auth-file': join(home, 'tokens.csv'),
    'authorization-mode': 'RBAC',
    'disable-admission-plugins': 'ServiceAccount',
    'endpoint-reconciler-type': 'none',
    'allow-privileged': 'true',
    'kubelet-preferred-address-types': 'InternalIP',
    'enable-priority-and-fairness': 'false',
    v: '0',
    ...others,
  };
  const child = spawn(
    findTool(COMMAND).path,
    Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    {
      cwd: home,
      env: { ...process.env, KAPI_ETCD_DIR: join(home, 'etcd'), KAPI_EXIT_WITH_STDIN: '1' },
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  );
  // A test that fails before it can remove the server shall end all the same.
  child.unref();
  for (const stream of [child.stdin, child.stderr]) if (stream instanceof Socket) stream.unref();
  return child;
}

async function ready(child: ChildProcess, admin: Cluster): Promise<void> {
  let log = '';
  child.stderr?.on('data', chunk => {
    log = (log + String(chunk)).slice(-20_000);
  });
  const deadline = performance.now() + START_MS;
  while (!(await isReady(admin))) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`${COMMAND} did not become ready:\n${log}`);
    await delay(50);
  }
}

async function isReady(admin: Cluster): Promise<boolean> {
  try {
    const answer = await admin.open({ method: 'GET', path: '/readyz' }, AbortSignal.timeout(2_000));
    answer.resume();
    return answer.statusCode === 200;
  } catch {
    return false; // it has not written its certificate, or does not listen yet
  }
}

function kubeconfigOf(server: string, caFile: string, token: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'user', namespace: 'default' } }],
    'current-context': 'test',
  };
}

/** The text of a file, for what only takes texts. */
export const readText = (path: string): Promise<string> => readFile(path, 'utf8');
