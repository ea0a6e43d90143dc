import { createServer } from 'node:net';
import { portHolder } from './port-holder.ts';

export type WantedPort = {
  /** By default the loopback. */
  readonly host?: string;
  readonly port: number;
  readonly what: string;
  /** The variable that asks for it. Undefined when `--port-offset` moves it. */
  readonly variable?: string;
};

/**
 * Throws an Error that names the first port in use, which part needs it, which process has it (if
 * known) and what to do.
 */
export async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  for (const { host, port, variable, what } of wanted) {
    const error = await bindError(port, host);
    // Envoy may have a right that Node lacks, such as to a port below 1024.
    if (error === undefined || error.code === 'EACCES') continue;
    if (error.code !== 'EADDRINUSE')
      throw new Error(`Cannot use port ${port} for ${what}: ${error.message}`);
    const holder = portHolder(port);
    const by = holder === undefined ? '' : ` by ${holder}`;
    const other =
      variable === undefined ? 'other ports with --port-offset 100' : `another in ${variable}`;
    throw new Error(
      `Port ${port}, which ${what} needs, is in use${by}: stop that, or use ${other}`,
    );
  }
}

function bindError(port: number, host = '127.0.0.1'): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', error => resolve(error));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
