import { useEffect, useState } from 'preact/hooks';

/** Where the reader is: a screen, and what it shows. */
export type Place = { readonly screen: string; readonly query: URLSearchParams };

const BASE = '/console/';
const followers = new Set<() => void>();

export function here(): Place {
  const { pathname, search } = window.location;
  const screen = pathname.slice(BASE.length) || 'overview';
  return { screen, query: new URLSearchParams(search) };
}

/** Returns the address of a screen. Values that are empty are left out. */
export function to(
  screen: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${BASE}${screen === 'overview' ? '' : screen}${text === '' ? '' : `?${text}`}`;
}

/**
 * Goes to an address of the console. With `replace` the step back leads past it. The history keeps
 * `state` with the address.
 */
export function go(address: string, replace = false, state: unknown = null): void {
  if (replace) window.history.replaceState(state, '', address);
  else window.history.pushState(state, '', address);
  for (const follower of followers) follower();
}

/** Lets links of the console load no page. */
export function followLinks(): void {
  window.addEventListener('popstate', () => {
    for (const follower of followers) follower();
  });
  document.addEventListener('click', event => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey);
    if (link === null || !isPlain || !link.getAttribute('href')?.startsWith(BASE)) return;
    event.preventDefault();
    go(link.href.slice(window.location.origin.length));
    document.querySelector('main')?.focus();
    window.scrollTo(0, 0);
  });
}

export function usePlace(): Place {
  const [place, set] = useState(here);
  useEffect(() => {
    const follower = () => set(here());
    followers.add(follower);
    return () => void followers.delete(follower);
  }, []);
  return place;
}
