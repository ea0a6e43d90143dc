import { useEffect, useState } from 'preact/hooks';

/** What a screen has of its view. `error` says why it has nothing newer. */
export type View<T> = { readonly data?: T; readonly error?: string };

const followers = new Set<() => void>();
const onLink = new Set<(connected: boolean) => void>();
let connected = false;
let wasLost = false;

const AGAIN_MS = 3_000;
/** The control plane says every 15 s that it is there. */
const SILENT_MS = 40_000;
/** Longer than the control plane waits for any service. */
export const ANSWER_MS = 30_000;
/** To compare very many resources takes time. */
const QUESTION_MS = 120_000;
/** What the edge and the control plane answer with 401 in many words. */
export const LOGIN_ENDED = 'Your login has ended.';

/** Follows the hints of the control plane, while the page is seen. */
export function connect(): void {
  document.addEventListener('visibilitychange', look);
  look();
}

let stop: (() => void) | undefined;

/**
 * A browser has six connections to a host by HTTP/1.1. A hidden page holds none, so that any number
 * of tabs can be open.
 */
function look(): void {
  if (document.visibilityState === 'visible') stop ??= follow();
  else {
    stop?.();
    stop = undefined;
  }
  tell();
}

/**
 * The browser connects again by itself, but not after silence or an answer that is an error.
 * Returns how to stop.
 */
function follow(): () => void {
  const source = new EventSource('/console/events');
  const end = () => {
    clearTimeout(timer);
    source.close();
  };
  const again = () => {
    end();
    link(false);
    stop = follow();
    // So many tabs may follow that no hints come to this one.
    tell();
  };
  let timer = setTimeout(again, SILENT_MS);
  const wait = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(again, ms);
  };
  source.addEventListener('open', () => link(true));
  source.addEventListener('error', () => {
    link(false);
    if (source.readyState === EventSource.CLOSED) wait(AGAIN_MS);
  });
  source.addEventListener('changed', tell);
  for (const event of ['open', 'changed', 'here'])
    source.addEventListener(event, () => wait(SILENT_MS));
  return end;
}

/** After a pause views ask again, since hints were missed. */
function link(now: boolean): void {
  if (now && wasLost) tell();
  wasLost = !now;
  connected = now;
  for (const follower of onLink) follower(now);
}

/** A hidden page asks for nothing. */
function tell(): void {
  if (document.visibilityState === 'visible') for (const follower of followers) follower();
}

/** How far the clock of the control plane is ahead of that of this machine, in ms. */
let aheadMs = 0;

/** Returns the time of the control plane in ms since 1970. The clock of this machine may be off. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}

export function useConnected(): boolean {
  const [now, set] = useState(connected);
  useEffect(() => {
    onLink.add(set);
    // The connection may have opened since the first look.
    set(connected);
    return () => void onLink.delete(set);
  }, []);
  return now;
}

/** Returns a view, and again after each change. */
export function useView<T>(path: string): View<T> {
  const [view, set] = useState<View<T> & { readonly path?: string }>({});
  useEffect(() => {
    const abort = new AbortController();
    let etag: string | null = null;
    let asking = false;
    let again = false;
    let later: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      again = asking;
      if (asking) return;
      asking = true;
      clearTimeout(later);
      try {
        const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(ANSWER_MS)]);
        const answer = await fetch(`/console/api/${path}`, { signal });
        const date = Date.parse(answer.headers.get('date') ?? '');
        if (!Number.isNaN(date)) aheadMs = date - Date.now();
        if (!answer.ok) {
          etag = null;
          set({ path, error: await reasonOf(answer) });
        } else if (answer.headers.get('etag') !== etag || etag === null) {
          etag = answer.headers.get('etag');
          set({ path, data: (await answer.json()) as T });
        } else {
          // The time has gone on.
          set(before => ({ ...before }));
        }
      } catch {
        if (abort.signal.aborted) return;
        set(before => ({ ...(isFor(before, path) ? before : {}), path, error: NO_ANSWER }));
        etag = null;
        later = setTimeout(ask, AGAIN_MS);
      }
      asking = false;
      if (again && !abort.signal.aborted) void ask();
    };
    const follower = () => void ask();
    followers.add(follower);
    void ask();
    return () => {
      followers.delete(follower);
      clearTimeout(later);
      abort.abort();
    };
  }, [path]);
  // What another path showed must not stand under this one's name.
  return isFor(view, path) ? view : {};
}

const NO_ANSWER = 'The control plane does not answer.';

/** Another part of the same list may stay until the new one is there. */
function isFor(view: View<unknown> & { readonly path?: string }, path: string): boolean {
  return view.path === path || (view.data !== undefined && samePlace(view.path, path));
}

function samePlace(a: string | undefined, b: string): boolean {
  return (
    a?.split('?')[0] === b.split('?')[0] && !b.startsWith('route?') && !b.startsWith('service?')
  );
}

/** Sends a question or an action. Rejects when there is no answer. */
export function fetchPost(path: string, body: unknown): Promise<Response> {
  return fetch(`/console/api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(QUESTION_MS),
  }).catch(() => {
    throw new Error(NO_ANSWER);
  });
}

/** Sends a question. Rejects with an Error in plain words. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  const answer = await fetchPost(path, body);
  if (!answer.ok) throw new Error(await reasonOf(answer));
  return (await answer.json()) as T;
}

/** Returns what an answer says is wrong. */
export async function reasonOf(answer: Response): Promise<string> {
  if (answer.status === 401) return LOGIN_ENDED;
  const body = (await answer.json().catch(() => ({}))) as { readonly error?: string };
  return body.error ?? `The control plane answers ${answer.status}.`;
}
