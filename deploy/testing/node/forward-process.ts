import { type Backend, type Forwarder, forwardTcp, forwardUdp } from './forward.ts';

/** Endpoints of a port of a Service. */
export type Endpoints = {
  readonly ready: readonly Backend[];
  readonly serving: readonly Backend[];
};

/** What the process that knows the cluster says. `endpoints` are by the key of a port. */
export type ForwardMessage =
  | { readonly open: string; readonly at: Backend; readonly protocol: string }
  | { readonly close: string }
  | { readonly endpoints: ReadonlyMap<string, Endpoints> };

/** A port is open, or why it is not. */
export type ForwardAnswer = { readonly key: string; readonly error?: string };

const forwarders = new Map<string, Forwarder>();
let endpoints: ReadonlyMap<string, Endpoints> = new Map();

process.once('disconnect', () => process.exit());
process.on('message', (message: ForwardMessage) => {
  if ('endpoints' in message) endpoints = message.endpoints;
  else if ('close' in message) close(message.close);
  else void open(message);
});

async function open({ open: key, at, protocol }: Extract<ForwardMessage, { open: string }>) {
  const forward = protocol === 'UDP' ? forwardUdp : forwardTcp;
  const choose = () => oneOf(endpoints.get(key)?.ready ?? []);
  const keeps = (backend: Backend) =>
    endpoints
      .get(key)
      ?.serving.some(
        ({ address, port }) => address === backend.address && port === backend.port,
      ) === true;
  const tell = (answer: ForwardAnswer) => process.send?.(answer);
  try {
    forwarders.set(key, await forward({ ...at, choose, keeps }));
    tell({ key });
  } catch (error) {
    tell({ key, error: String(error) });
  }
}

function close(key: string): void {
  forwarders.get(key)?.close();
  forwarders.delete(key);
}

function oneOf<T>(all: readonly T[]): T | undefined {
  return all[Math.floor(Math.random() * all.length)];
}
