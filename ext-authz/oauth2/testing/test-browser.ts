import type { Change } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { CookieJar } from './cookie-jar.ts';
import type { TestGateway, TestRule } from './test-gateway.ts';

/** What came of a request. */
export type Seen = {
  readonly url: string;
  /** 0 means that it was let pass. */
  readonly status: number;
  readonly location: string | undefined;
  readonly headers: ReadonlyMap<string, string>;
  readonly setCookies: readonly string[];
  readonly body: string;
  /** What the log hears besides. */
  readonly reason: string | undefined;
  readonly change: Change | undefined;
};

export type TestVisit = TestRule & {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  readonly crossSite?: boolean;
  /** `scheme://authority` inside of the network, where it is another one. */
  readonly internal?: string;
  readonly clientAddress?: string;
};

const MOST_STEPS = 12;

/** A browser in front of the gateway, with cookies. */
export class TestBrowser {
  readonly jar: CookieJar;
  readonly #gateway: TestGateway;

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
    this.jar = new CookieJar(gateway.now);
  }

  /** One request. */
  async visit(address: string, visit: TestVisit = {}): Promise<Seen> {
    const url = new URL(address);
    const cookies = this.jar.for(url, visit.crossSite).map(({ name, value }) => `${name}=${value}`);
    const outcome = await this.#gateway.check(toRequest(url, cookies, visit), visit);
    const headers =
      outcome.kind === 'answer' ? outcome.answer.headers : outcome.change.responseHeaders;
    const setCookies = headers.flatMap(([name, value]) => (name === 'set-cookie' ? [value] : []));
    for (const field of setCookies) this.jar.take(url, field);
    const fields = new Map(headers.map(([name, value]) => [name, value]));
    return {
      ...{ url: address, setCookies, headers: fields, location: fields.get('location') },
      status: outcome.kind === 'answer' ? outcome.answer.status : 0,
      body: outcome.kind === 'answer' ? outcome.answer.body : '',
      reason: outcome.kind === 'answer' ? outcome.answer.note?.reason : undefined,
      change: outcome.kind === 'allow' ? outcome.change : undefined,
    };
  }

  /**
   * Follows redirects and refreshes, and at the provider `authorize`. Returns the last answer and
   * the URLs on the way.
   */
  async follow(
    address: string,
    authorize: (url: URL) => string,
    visit: TestVisit = {},
  ): Promise<Seen & { readonly way: readonly string[] }> {
    const way: string[] = [];
    let [url, crossSite] = [address, visit.crossSite ?? false];
    for (let step = 0; step < MOST_STEPS; step += 1) {
      way.push(url);
      const seen = await this.visit(url, { ...visit, crossSite });
      const refresh = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(seen.body)?.[1];
      const next = seen.location ?? refresh?.replaceAll('&amp;', '&');
      if (next === undefined) return { ...seen, way };
      const target = new URL(next, url);
      const isProvider = target.hostname === '127.0.0.1';
      crossSite = refresh === undefined && (crossSite || isProvider);
      if (isProvider) way.push('provider');
      url = isProvider ? authorize(target) : target.href;
    }
    throw new Error(`too many redirects: ${way.join(' ')}`);
  }
}

export function toRequest(
  url: URL,
  cookies: readonly string[],
  visit: TestVisit = {},
): HttpRequest {
  const internal = visit.internal === undefined ? url : new URL(visit.internal);
  const headers = new Map<string, readonly string[]>(
    Object.entries(visit.headers ?? {}).map(([name, value]) => [name, [value].flat()]),
  );
  if (cookies.length > 0 && !headers.has('cookie')) headers.set('cookie', [cookies.join('; ')]);
  return {
    method: visit.method ?? 'GET',
    scheme: internal.protocol === 'https:' ? 'https' : 'http',
    authority: internal.host,
    target: url.pathname + url.search,
    headers,
    body: Buffer.from(visit.body ?? ''),
    clientAddress: visit.clientAddress ?? '192.0.2.1',
    id: 'request-1',
  };
}
