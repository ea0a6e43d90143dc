import type { ProviderError } from './provider-error.ts';
import type { ProviderAspect } from './provider-listener.ts';

/**
 * Something that is wrong with a provider, or with what a Filter says of it. An `error` stays so
 * until the operator changes something. A `warning` may pass.
 */
export type ProviderFinding = {
  readonly aspect: ProviderAspect;
  readonly severity: 'error' | 'warning';
  readonly message: string;
};

type Failure = { readonly error: ProviderError; readonly since: number; readonly last: number };

/**
 * What may pass is reported when it has lasted so long, in ms. By then it was tried again several
 * times.
 */
const PATIENCE_MS = 10_000;
/**
 * Only logins and requests with a token show these. A failure is believed for so long, in ms.
 */
const BELIEVED_MS: Readonly<Partial<Record<ProviderAspect, number>>> = {
  client: 3_600_000,
  tokens: 900_000,
  idTokens: 900_000,
  accessTokens: 900_000,
  userinfo: 900_000,
};

/**
 * What is known of one provider, by the last request of each aspect. Times are in ms since the
 * epoch.
 */
export class ProviderHealth {
  readonly #failures = new Map<ProviderAspect, Failure>();

  /** Records how a request went. Returns false when that is no news. */
  heard(aspect: ProviderAspect, error: ProviderError | undefined, now: number): boolean {
    if (error === undefined) return this.#failures.delete(aspect);
    this.#failures.set(aspect, {
      error,
      since: this.#failures.get(aspect)?.since ?? now,
      last: now,
    });
    return true;
  }

  /** Returns whether something fails that asking again would show. */
  get failing(): boolean {
    return [...this.#failures.keys()].some(aspect => BELIEVED_MS[aspect] === undefined);
  }

  /**
   * Returns when a failure of this aspect is no longer believed.
   * @returns undefined when there is none, or the clock alone does not end it
   */
  endOf(aspect: ProviderAspect): number | undefined {
    const [failure, believed] = [this.#failures.get(aspect), BELIEVED_MS[aspect]];
    return failure && believed && failure.last + believed;
  }

  findings(now: number): readonly ProviderFinding[] {
    return [...this.#failures].flatMap(([aspect, { error, since, last }]) => {
      const believed = BELIEVED_MS[aspect];
      if (believed !== undefined && now - last >= believed) return [];
      const lasted = (believed === undefined ? now : last) - since;
      if (mayPass(error) && lasted < PATIENCE_MS) return [];
      const severity = mayPass(error) && !error.lasting ? 'warning' : 'error';
      return [{ aspect, severity, message: error.message }];
    });
  }
}

/**
 * Returns whether it may be an outage rather than a mistake. Even a name may be unknown for a
 * moment.
 */
export function mayPass({ code, status = 0 }: ProviderError): boolean {
  if (code === 'unreachable' || code === 'timeout') return true;
  return code === 'http_status' && (status >= 500 || TRANSIENT.has(status));
}

/** Request Timeout and Too Many Requests. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429]);

/**
 * Returns whether an endpoint serves nobody. It may have an outage, redirect, or be elsewhere, or
 * its success cannot be read. Any other 4xx may be about what one client has sent.
 */
export function servesNobody(error: ProviderError): boolean {
  const { code, status = 0 } = error;
  return mayPass(error) || (UNUSABLE.has(code) && (status < 400 || ELSEWHERE.has(status)));
}

/** Returns whether an endpoint may be elsewhere now, which a newer discovery document would say. */
export function mayHaveMoved({ code, lasting, status = 0 }: ProviderError): boolean {
  if (code === 'unreachable') return lasting;
  return code === 'http_status' && ((status >= 300 && status < 400) || ELSEWHERE.has(status));
}

const UNUSABLE: ReadonlySet<string> = new Set([
  ...['http_status', 'invalid_answer', 'too_large', 'missing_endpoint'],
]);
/** Not Found, Method Not Allowed and Gone. */
const ELSEWHERE: ReadonlySet<number> = new Set([404, 405, 410]);
