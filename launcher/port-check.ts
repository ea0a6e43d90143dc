import { createServer } from 'node:net';
import { portHolder } from './port-holder.ts';

export type WantedPort = { readonly port: number; readonly what: string };

/**
 * Throws an Error that names the first port in use, which part needs it, which process has it (if
 * known) and what to do.
 */
export async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  for (const { port, what } of wanted) {
    const error = await bindError(port);
    if (error === undefined) continue;
    if (error.code !== 'EADDRINUSE')
      throw new Error(`Cannot use port ${port} for ${what}: ${error.message}`);
    const holder = portHolder(port);
    const by = holder === undefined ? '' : ` by ${holder}`;
    throw new Error(
      `Port ${port}, which ${what} needs, is in use${by}: stop that, or use other ports with --port-offset 100`,
    );
  }
}

function bindError(port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', error => resolve(error));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () =>
      server.close(() => resolve(undefined)),
    );
  });
}
