import type { After } from '#process/after.ts';
import { backOffMs } from './back-off.ts';
import type { Cluster } from './cluster.ts';
import { ClusterError } from './cluster-error.ts';
import { FollowedObjects } from './followed-objects.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import { listObjects, type Selection } from './list.ts';
import { pause } from './pause.ts';
import { describeResource, type Resource } from './resource.ts';
import { type WatchEvent, watchObjects } from './watch.ts';

export type FollowOptions<T> = Selection & {
  readonly cluster: Cluster;
  /** Returns what is kept of an object. `object => object` keeps all. It must not throw. */
  read(object: KubernetesObject): T;
  /**
   * Called with all objects by key (`namespace/name`) once the first list is complete. Later calls
   * name what has changed since the last one: keys that were added, modified or deleted. `objects`
   * lacks deleted keys. The map is live, so copy what you keep.
   */
  onChange(objects: ReadonlyMap<string, T>, changed: ReadonlySet<string>): void;
  /**
   * Called when it cannot follow for now. It retries by itself, and the last objects stay.
   * `repeated` means the same error as the last time.
   */
  onTrouble?(error: ClusterError, repeated: boolean): void;
  /** Called when a watch is open. From now on nothing is missed. */
  onWatching?(): void;
  /**
   * Called after a complete list. It was the first one, or the server no longer knew the version.
   */
  onListed?(): void;
  readonly after: After;
  /** Returns a number in [0, 1), for the jitter of the back-off. */
  random(): number;
};

export type Following = { close(): void };

/**
 * Watches are short, so that a silently dead connection is noticed. The next one begins where they
 * ended.
 */
const WATCH_SECONDS = 40;
const WATCH_JITTER_SECONDS = 10;
/** Ends a watch this long after the server should have ended it. */
const OVERDUE_MS = 5_000;
/** A watch that ends this long before its time was ended by a server or a proxy that stops. */
const EARLY_MS = 1_000;
/** A watch that has lasted this long counts as success. */
const PROVEN_MS = 1_000;
/** Events of one burst are reported together. */
const BURST_MS = 10;
/** The server does not know the version any more. */
const GONE = 410;
/** This many in a row are normal. Lists that take too long never end. */
const PATIENCE = 2;
/** The server does not know the kind. When it does, that is another collection. */
const UNDEFINED = 404;

/**
 * Follows a selection of objects by list and watch until `close`. No call follows that. Failures of
 * any kind are retried after 0.1 to 5 s, and the last objects stay meanwhile. The API may be away,
 * a right or a kind may be missing, or the token rejected. After 410 or 404, after a watch that was
 * cut, and after one that was silent to its end or beyond it, everything is listed again. Then only
 * what differs is reported.
 *
 * The package's informer is not used. It ends at each error but 410 and leaves the rest to its
 * user. It also lists in one page and asks for no bookmarks. See kubernetes-client/javascript,
 * cache.ts of 2.0, and its issues 596, 958 and 1933.
 */
export function follow<T>(options: FollowOptions<T>): Following {
  const closed = new AbortController();
  void followUntil(options, closed.signal);
  return { close: () => closed.abort() };
}

async function followUntil<T>(options: FollowOptions<T>, closed: AbortSignal): Promise<void> {
  const { after, random, onTrouble } = options;
  const objects = new FollowedObjects(options.read);
  const tell = teller(options, objects, closed);
  let failures = 0;
  let gone = 0;
  let told: string | undefined;
  while (!closed.aborted) {
    let proven = false;
    const onProven = () => {
      proven = true;
      told = undefined;
    };
    const patient = failures > 0;
    const error = await attempt(options, { objects, patient, tell, onProven }, closed);
    if (closed.aborted) return;
    gone = error?.status === GONE ? gone + 1 : 0;
    if (gone > 0 || error?.status === UNDEFINED) objects.resourceVersion = undefined;
    if (error !== undefined && (gone === 0 || gone > PATIENCE)) {
      onTrouble?.(error, error.message === told);
      told = error.message;
    }
    failures = proven ? 0 : failures + 1;
    // After a restart every watch is answered so, and edits wait for all kinds.
    const atOnce = gone === 1 || (proven && (error === undefined || gone > 0));
    if (!atOnce) await pause(after, backOffMs(Math.max(failures, 1), random()), closed);
  }
}

type Progress<T> = {
  readonly objects: FollowedObjects<T>;
  /** A dead connection was tried before. Now it may be that the server is slow. */
  readonly patient: boolean;
  readonly tell: { now(): void; soon(): void };
  /** The watch works. */
  onProven(): void;
};

/**
 * Lists, where that is needed, and watches once.
 * @returns why it has ended, or undefined when the server ended the watch in its time
 */
async function attempt<T>(
  options: FollowOptions<T>,
  { objects, patient, tell, onProven }: Progress<T>,
  closed: AbortSignal,
): Promise<ClusterError | undefined> {
  try {
    if (objects.resourceVersion === undefined) {
      const listed = await listObjects(options.cluster, options, { patient });
      if (closed.aborted) return undefined;
      objects.replace(listed);
      options.onListed?.();
      tell.now();
      if (closed.aborted) return undefined;
    }
    let heard = false;
    const onEvent = (event: WatchEvent) => {
      if (closed.aborted) return;
      heard = true;
      objects.apply(event);
      onProven();
      if (event.kind !== 'bookmark') tell.soon();
    };
    const from = objects.resourceVersion ?? '';
    const cut = await watchFor(options, from, { onEvent, onProven }, closed);
    // Not even a bookmark came. A server that was restored to an earlier time waits for this
    // version, which it does not know. A proxy between may hold all events back.
    if (!heard || cut !== undefined) objects.resourceVersion = undefined;
    return cut === 'early' ? undefined : cut;
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    // It may have been restored meanwhile, and have come past this version with other changes.
    if (error.status === undefined) objects.resourceVersion = undefined;
    return error;
  }
}

/**
 * Runs one watch. It counts as proven when it has lasted.
 * @returns an error when the server did not end it in time, and `early` when it did before
 */
async function watchFor<T>(
  options: FollowOptions<T>,
  resourceVersion: string,
  { onEvent, onProven }: { onEvent(event: WatchEvent): void; onProven(): void },
  closed: AbortSignal,
): Promise<ClusterError | 'early' | undefined> {
  const { cluster, after, random, resource, fieldSelector, labelSelector } = options;
  const timeoutSeconds = WATCH_SECONDS + Math.floor(WATCH_JITTER_SECONDS * random());
  // AbortSignal.any would leak here: Node keeps a piece for each signal made from a long-lived one.
  const watching = new AbortController();
  const end = () => watching.abort();
  closed.addEventListener('abort', end);
  const timers = [after(timeoutSeconds * 1000 + OVERDUE_MS, end)];
  const begun = performance.now();
  const onOpen = () => {
    if (closed.aborted) return;
    timers.push(after(PROVEN_MS, onProven));
    options.onWatching?.();
  };
  const selection = { resource, fieldSelector, labelSelector };
  try {
    const watched = { ...selection, resourceVersion, timeoutSeconds, onOpen, onEvent };
    await watchObjects(cluster, watched, watching.signal);
    const isEarly = performance.now() - begun < timeoutSeconds * 1000 - EARLY_MS;
    return isEarly ? 'early' : undefined;
  } catch (error) {
    if (!watching.signal.aborted) throw error;
    return silent(options);
  } finally {
    closed.removeEventListener('abort', end);
    for (const cancel of timers) cancel();
  }
}

function silent({ cluster, resource }: { cluster: Cluster; resource: Resource }): ClusterError {
  return new ClusterError(
    `The Kubernetes API at ${cluster.server} does not end a watch of ${describeResource(resource)} in time`,
  );
}

/** Reports what has changed, at once or when a burst may have ended. */
function teller<T>(
  { onChange, after }: FollowOptions<T>,
  objects: FollowedObjects<T>,
  closed: AbortSignal,
) {
  let cancel: (() => void) | undefined;
  let first = true;
  const now = () => {
    cancel?.();
    cancel = undefined;
    const changed = objects.takeChanged();
    if (closed.aborted || (changed.size === 0 && !first)) return;
    first = false;
    onChange(objects.values, changed);
  };
  const soon = () => {
    cancel ??= after(BURST_MS, now);
  };
  closed.addEventListener('abort', () => cancel?.());
  return { now, soon };
}
