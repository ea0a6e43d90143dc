import { ProviderError } from './provider-error.ts';

/**
 * Returns what `promise` gives, unless `signal` aborts first. It then rejects with a ProviderError
 * `timeout` that names `what`. The work goes on for others.
 */
export function waitFor<T>(promise: Promise<T>, what: string, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new ProviderError('timeout', `${what}: no answer in time`));
    if (signal.aborted) late();
    signal.addEventListener('abort', late, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', late));
  });
}
