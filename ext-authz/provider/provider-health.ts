import type { ProviderError } from './provider-error.ts';
import type { ProviderAspect } from './provider-listener.ts';

/**
 * Something that is wrong with a provider, or with what a Filter says of it. `error`: it stays so
 * until somebody changes something; `warning`: it may pass.
 */
export type ProviderFinding = {
  readonly aspect: ProviderAspect;
  readonly severity: 'error' | 'warning';
  readonly message: string;
};

type Failure = { readonly error: ProviderError; readonly since: number; readonly last: number };

/**
 * What may pass is told when it has lasted so long, in ms: by then it was tried again several
 * times.
 */
const PATIENCE_MS = 10_000;
/**
 * Whether the client is taken shows only when somebody logs in: a refusal is believed for so long,
 * in ms.
 */
const CLIENT_MS = 3_600_000;

/**
 * What is known of one provider, by how it went when it was asked last. Times are in ms since the
 * epoch.
 */
export class ProviderHealth {
  readonly #failures = new Map<ProviderAspect, Failure>();

  /** False: that is no news. */
  heard(aspect: ProviderAspect, error: ProviderError | undefined, now: number): boolean {
    if (error === undefined) return this.#failures.delete(aspect);
    this.#failures.set(aspect, {
      error,
      since: this.#failures.get(aspect)?.since ?? now,
      last: now,
    });
    return true;
  }

  /** Something fails that shows by asking again. */
  get failing(): boolean {
    return [...this.#failures.keys()].some(aspect => aspect !== 'client');
  }

  /** When what is found changes by the clock alone; undefined: never. */
  get nextChange(): number | undefined {
    const client = this.#failures.get('client');
    return client && client.last + CLIENT_MS;
  }

  findings(now: number): readonly ProviderFinding[] {
    return [...this.#failures].flatMap(([aspect, { error, since, last }]) => {
      if (aspect === 'client' && now - last >= CLIENT_MS) return [];
      if (mayPass(error) && now - since < PATIENCE_MS) return [];
      const severity = mayPass(error) && !error.lasting ? 'warning' : 'error';
      return [{ aspect, severity, message: error.message }];
    });
  }
}

/** An outage, perhaps, rather than a mistake: also a name may be unknown for a moment. */
export function mayPass({ code, status = 0 }: ProviderError): boolean {
  if (code === 'unreachable' || code === 'timeout') return true;
  return code === 'http_status' && (status >= 500 || TRANSIENT.has(status));
}

/** Request Timeout and Too Many Requests. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429]);
