/** A cookie as a browser keeps it (RFC 6265 section 5.3). */
export type KeptCookie = {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly hostOnly: boolean;
  readonly path: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** ms since the epoch. Undefined means until the browser closes. */
  readonly ends: number | undefined;
};

/** What a browser does with cookies, as far as the gateway's depend on it. */
export class CookieJar {
  #cookies: readonly KeptCookie[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes a Set-Cookie field of an answer from this URL. */
  take(url: URL, field: string): void {
    const cookie = parseSetCookie(url, field, this.#now());
    if (cookie === undefined) return;
    const others = this.#cookies.filter(other => !isSame(other, cookie));
    const isOver = cookie.ends !== undefined && cookie.ends <= this.#now();
    this.#cookies = isOver ? others : [...others, cookie];
  }

  /**
   * Returns what is sent to this URL. `crossSite` means that another site began the navigation (RFC
   * 6265bis section 5.2).
   */
  for(url: URL, crossSite = false): readonly KeptCookie[] {
    return this.#cookies.filter(cookie => {
      const { attributes, ends, path } = cookie;
      if (ends !== undefined && ends <= this.#now()) return false;
      if (attributes.has('secure') && url.protocol !== 'https:') return false;
      if (crossSite && attributes.get('samesite') === 'Strict') return false;
      return fitsHost(cookie, url.hostname) && url.pathname.startsWith(path);
    });
  }

  value(url: string, name: string): string | undefined {
    return this.for(new URL(url)).find(cookie => cookie.name === name)?.value;
  }

  all(): readonly KeptCookie[] {
    return this.#cookies;
  }
}

function parseSetCookie(url: URL, field: string, now: number): KeptCookie | undefined {
  const [pair = '', ...parts] = field.split('; ');
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
  const attributes = new Map(
    parts.map(part => [part.split('=')[0]?.toLowerCase() ?? '', part.split('=')[1] ?? '']),
  );
  const domain = attributes.get('domain');
  if (domain !== undefined && url.hostname !== domain && !url.hostname.endsWith(`.${domain}`))
    return undefined;
  if (/^__Host-/i.test(name) && !isHostPrefixed(url, attributes)) return undefined;
  const maxAge = attributes.get('max-age');
  return {
    ...{ name, value, attributes, hostOnly: domain === undefined, domain: domain ?? url.hostname },
    path: attributes.get('path') ?? '/',
    ends: maxAge === undefined ? undefined : now + Number(maxAge) * 1000,
  };
}

/** RFC 6265bis section 4.1.3.2 */
function isHostPrefixed(url: URL, attributes: ReadonlyMap<string, string>): boolean {
  const isSecure = url.protocol === 'https:' && attributes.has('secure');
  return isSecure && !attributes.has('domain') && attributes.get('path') === '/';
}

function isSame(a: KeptCookie, b: KeptCookie): boolean {
  return (
    a.name === b.name && a.domain === b.domain && a.path === b.path && a.hostOnly === b.hostOnly
  );
}

function fitsHost({ domain, hostOnly }: KeptCookie, host: string): boolean {
  return host === domain || (!hostOnly && host.endsWith(`.${domain}`));
}
