import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { ClusterError } from './cluster-error.ts';
import { type Fields, fieldsOf, KubeconfigError, textOf, textsOf } from './kubeconfig.ts';

/** What a plugin says that this process proves to the API. */
export type PluginCredential = {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
};

type Credential = PluginCredential & { readonly until: number };

const LONGEST_MS = 60_000;
const MOST_BYTES = 1024 * 1024;

/**
 * Returns a function that runs the command of `exec`, which is in a kubeconfig in `folder`, and
 * keeps its credential until that expires. Requests that come meanwhile share one run. The function
 * throws a ClusterError, which holds nothing that the command printed. Source: client-go's
 * credential plugins, https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
 */
export function execPlugin(exec: Fields, folder: string): () => Promise<PluginCredential> {
  const command = textOf(exec, 'command');
  if (command === undefined) throw new KubeconfigError('exec has no command');
  const args = textsOf(exec, 'args');
  const file = command.includes('/') ? resolve(folder, command) : command;
  const env = { ...process.env, ...environmentOf(exec), KUBERNETES_EXEC_INFO: execInfo(exec) };
  let kept: Promise<Credential> | undefined;
  return async () => {
    const known = kept;
    const isOver = known !== undefined && (await known).until <= Date.now();
    // Another request may have run it again meanwhile.
    if (isOver && kept === known) kept = undefined;
    kept ??= run(file, args, env).catch(error => {
      kept = undefined;
      throw error;
    });
    const { until: _, ...credential } = await kept;
    return credential;
  };
}

function environmentOf(exec: Fields): Readonly<Record<string, string>> {
  const pairs = Array.isArray(exec.env) ? exec.env.map(fieldsOf) : [];
  return Object.fromEntries(
    pairs.map(pair => [textOf(pair, 'name') ?? '', textOf(pair, 'value') ?? '']),
  );
}

function execInfo(exec: Fields): string {
  const apiVersion = textOf(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1';
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
}

function run(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Credential> {
  const options = { env, timeout: LONGEST_MS, maxBuffer: MOST_BYTES };
  return new Promise((answer, reject) => {
    const child = execFile(file, args, options, (error, stdout) => {
      const credential = error === null ? parseCredential(stdout) : whyEnded(error);
      if (typeof credential === 'object') answer(credential);
      else
        reject(new ClusterError(`The credential plugin ${file} of the kubeconfig ${credential}`));
    });
    // A plugin that asks a person would wait for ever.
    child.stdin?.on('error', () => {}).end();
  });
}

function whyEnded({ code, killed, signal }: Error & Partial<Ended>): string {
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'printed more than 1 MiB';
  if (killed) return `took longer than ${LONGEST_MS / 1000} s`;
  if (typeof code === 'string') return `cannot be run: ${code}`;
  return `ended with ${signal ?? `exit code ${code}`}: run it by hand to see why`;
}

type Ended = {
  readonly code: number | string | null;
  readonly killed: boolean;
  readonly signal: NodeJS.Signals | null;
};

/** Returns the credential, or what is wrong with it. */
function parseCredential(text: string): Credential | string {
  try {
    const status = fieldsOf(fieldsOf(JSON.parse(text)).status);
    const token = textOf(status, 'token');
    const cert = textOf(status, 'clientCertificateData');
    const key = textOf(status, 'clientKeyData');
    if ((cert === undefined) !== (key === undefined))
      return 'printed a certificate or a key without the other';
    if (token === undefined && cert === undefined) return 'printed no credential';
    return {
      ...(token !== undefined && { token }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
      until: expiryOf(textOf(status, 'expirationTimestamp')),
    };
  } catch {
    return 'printed no ExecCredential';
  }
}

function expiryOf(timestamp: string | undefined): number {
  const at = timestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(timestamp);
  return Number.isNaN(at) ? 0 : at;
}
