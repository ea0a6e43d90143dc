import { Worker } from 'node:worker_threads';
import type { Backend } from './forward.ts';
import type { Endpoints, ForwardAnswer, ForwardMessage } from './forward-thread.ts';

/** Forwards what comes to the ports of Services, each of which has a key. */
export type Forwarding = {
  /** Resolves once the port listens. Rejects with why it cannot. */
  open(key: string, at: Backend, protocol: string): Promise<void>;
  close(key: string): void;
  /** Says which endpoints there are now, of all ports. */
  update(endpoints: ReadonlyMap<string, Endpoints>): void;
  end(): Promise<void>;
};

/**
 * Starts a thread that forwards. The one that runs pods stands still while it starts programs,
 * which takes seconds on a busy machine. A kernel forwards meanwhile.
 */
export function startForwarding(onError: (error: unknown) => void): Forwarding {
  const thread = new Worker(new URL('./forward-thread.ts', import.meta.url));
  const opening = new Map<string, PromiseWithResolvers<void>>();
  thread.on('error', onError);
  thread.on('message', ({ key, error }: ForwardAnswer) => {
    const { resolve, reject } = opening.get(key) ?? {};
    opening.delete(key);
    if (error === undefined) resolve?.();
    else reject?.(new Error(`${key}: ${error}`));
  });
  const say = (message: ForwardMessage) => thread.postMessage(message);
  return {
    open(key, at, protocol) {
      const opened = Promise.withResolvers<void>();
      opening.set(key, opened);
      say({ open: key, at, protocol });
      return opened.promise;
    },
    close: key => say({ close: key }),
    update: endpoints => say({ endpoints }),
    async end() {
      await thread.terminate();
    },
  };
}
