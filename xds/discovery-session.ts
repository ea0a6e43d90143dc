import { CLUSTER, LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST } from '#protos/type-url.ts';
import type { DiscoveryObserver } from './discovery-observer.ts';
import type { DiscoveryStream, StreamVerdict } from './discovery-stream.ts';
import { KEPT_MS } from './kept.ts';
import type { Kept } from './make-before-break.ts';
import { remembered } from './remembered.ts';
import { NO_RESOURCES, type Snapshot } from './snapshot.ts';
import type { SnapshotCache } from './snapshot-cache.ts';
import type { AckState } from './subscription.ts';
import { advance, begin, release, retarget, type Transition } from './transition.ts';

/**
 * A stage ends after this long, in ms, even if a proxy has not ACKed it, and after the time that
 * its new clusters need to warm up.
 */
const STAGE_MS = 2_000;

/**
 * A stage is given its time again this often while its responses wait for their turn or for the
 * transport. With many proxies a large change takes longer to send than a proxy takes to answer.
 */
const MOST_EXTENSIONS = 14;

/**
 * Envoy subscribes to these one after the other. Until it has, it cannot have accepted a snapshot
 * that holds them.
 */
const SUBSCRIBED_IN_TURN = [CLUSTER, LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST];

/** A stream as its session sees it, in either protocol variant. */
type SessionStream = Pick<
  DiscoveryStream<never, never>,
  'info' | 'flush' | 'retry' | 'standing' | 'rejected' | 'subscribesTo' | 'isBlocked'
>;

export type SessionOptions = {
  readonly group: string;
  readonly cache: Pick<SnapshotCache, 'get' | 'watch'>;
  readonly observer: DiscoveryObserver;
  /** How long removed clusters stay for requests in flight, in ms. Default: KEPT_MS. */
  readonly keptMs?: number;
  /** Runs the work soon, so that many sessions do not all write at once. Default: now. */
  turn?(work: () => void): void;
  /** Calls back after `ms`, unless the returned function is called before. */
  after(ms: number, callback: () => void): () => void;
};

/**
 * Leads one proxy to its group's newest snapshot, stage by stage. The proxy has one aggregated
 * stream, or a stream for each type. Without an aggregated stream Envoy ACKs clusters before they
 * are warm, so a switch may then cost requests.
 * A session never delays another one. A NACK stops it where it is, until a newer snapshot comes, or
 * the same one once more. All that was ACKed stays in force.
 */
export class DiscoverySession {
  readonly #options: SessionOptions;
  /** Each stream with the last snapshot that it was reported to have settled on. */
  readonly #streams = new Map<SessionStream, Snapshot | undefined>();
  readonly #unwatch: () => void;
  #transition: Transition | undefined;
  #cancelTimer: (() => void) | undefined;
  /** How often a stage was given more time, because its responses were not taken yet. */
  #extensions = 0;
  /** Whether the session waits for its turn. */
  #isDue = false;
  readonly #cancelReleases = new Set<() => void>();

  constructor(options: SessionOptions) {
    this.#options = options;
    const { cache, group } = options;
    const current = cache.get(group);
    this.#transition = current === undefined ? undefined : begin(undefined, current);
    this.#unwatch = cache.watch(group, snapshot => this.#aim(snapshot));
  }

  join(stream: SessionStream): void {
    this.#streams.set(stream, undefined);
  }

  /**
   * Removes a stream.
   * @returns true when it was the last one, which ends the session
   */
  leave(stream: SessionStream): boolean {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) {
      this.pump();
      return false;
    }
    this.#unwatch();
    this.#clearTimer();
    for (const cancel of this.#cancelReleases) cancel();
    return true;
  }

  /** Takes notice that a stream has received a request with this verdict. */
  heard({ info }: SessionStream, typeUrl: string, verdict: StreamVerdict): void {
    const { observer } = this.#options;
    if (verdict.kind === 'ack') observer.acked?.(info, typeUrl, verdict.version);
    this.pump();
    if (verdict.kind === 'nack') observer.nacked?.(info, verdict.nack);
  }

  /** Returns how far a stream has ACKed the newest snapshot. */
  standingOf(stream: SessionStream): AckState {
    const transition = this.#transition;
    if (transition === undefined) return 'waiting';
    const standing = stream.standing(transition.stage, transition.target);
    if (standing !== 'settled') return standing;
    return transition.step === 2 && subscribesInTurn(stream, transition.target)
      ? 'settled'
      : 'waiting';
  }

  /** Writes what is due. Goes on to the next stages while there is nothing to wait for. */
  pump(): void {
    let next = this.#transition;
    while (next !== undefined) {
      this.#transition = next;
      for (const stream of this.#streams.keys()) stream.flush(next.stage, next.target);
      const standing = this.#standingIn(next);
      if (standing === 'waiting' && next.step !== 2) this.#startTimer(next);
      else this.#clearTimer();
      next = this.#next(next, standing);
    }
  }

  #standingIn(transition: Transition): AckState {
    const streams = [...this.#streams.keys()];
    const standings = streams.map(stream => stream.standing(transition.stage, transition.target));
    if (standings.includes('rejected')) return 'rejected';
    if (standings.includes('waiting')) return 'waiting';
    if (transition.step !== 1) return 'settled';
    // A proxy that has just connected names its listeners last. Old listeners go only after it has
    // accepted the new ones.
    const untold =
      transition.from === undefined &&
      streams.some(stream => !subscribesInTurn(stream, transition.target));
    return untold ? 'waiting' : 'settled';
  }

  /**
   * Returns the state that follows a stage.
   * @returns undefined when nothing follows for now
   */
  #next(transition: Transition, standing: AckState): Transition | undefined {
    if (transition.step === 2) this.#tellSettled(transition);
    // After a NACK a newer snapshot need not wait for the last stage.
    if (standing === 'rejected')
      return transition.next && this.#retarget(transition, transition.next);
    const next = standing === 'settled' ? this.#advanced(transition) : transition;
    return next === transition ? undefined : next;
  }

  /** What the switch removed is released later by a timer. Nothing waits for that. */
  #advanced(transition: Transition): Transition {
    const next = advance(transition);
    const last = next.kept.at(-1);
    if (last !== undefined && last !== transition.kept.at(-1)) this.#releaseLater(last);
    return next;
  }

  #releaseLater(kept: Kept): void {
    const { after, keptMs = KEPT_MS } = this.#options;
    const cancel = after(keptMs, () => {
      this.#cancelReleases.delete(cancel);
      if (this.#transition === undefined) return;
      this.#transition = release(this.#transition, kept);
      this.pump();
    });
    this.#cancelReleases.add(cancel);
  }

  #aim(snapshot: Snapshot): void {
    const current = this.#transition;
    if (current === undefined) this.#transition = begin(undefined, snapshot);
    else if (snapshot !== (current.next ?? current.target))
      this.#transition = this.#retarget(current, snapshot);
    else for (const stream of this.#streams.keys()) stream.retry();
    if (this.#isDue) return;
    this.#isDue = true;
    const { turn = run } = this.#options;
    turn(() => {
      this.#isDue = false;
      if (this.#streams.size > 0) this.pump();
    });
  }

  #retarget(current: Transition, snapshot: Snapshot): Transition {
    const rejected = [...this.#streams.keys()].flatMap(stream => [
      ...stream.rejected(current.stage, current.target),
    ]);
    return retarget(current, snapshot, new Set(rejected));
  }

  #tellSettled({ target }: Transition): void {
    for (const [stream, reached] of [...this.#streams]) {
      if (reached === target || this.standingOf(stream) !== 'settled') continue;
      this.#streams.set(stream, target);
      this.#options.observer.settled?.(stream.info, target);
    }
  }

  #startTimer(transition: Transition): void {
    this.#cancelTimer ??= this.#options.after(STAGE_MS + warmUpOf(transition), () => {
      this.#cancelTimer = undefined;
      if (this.#transition === undefined) return;
      if (this.#extensions < MOST_EXTENSIONS && this.#isBlocked()) {
        this.#extensions += 1;
        this.#startTimer(this.#transition);
        return;
      }
      this.#extensions = 0;
      this.#transition = this.#advanced(this.#transition);
      this.pump();
    });
  }

  #isBlocked(): boolean {
    return [...this.#streams.keys()].some(({ isBlocked }) => isBlocked);
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#extensions = 0;
  }
}

function run(work: () => void): void {
  work();
}

/** Returns the longest warm-up of the clusters that a stage brings, in ms. */
const warmUpOf = remembered(({ from, stage: { snapshot } }: Transition): number => {
  const before = from?.get(CLUSTER) ?? NO_RESOURCES;
  const now = snapshot.get(CLUSTER) ?? NO_RESOURCES;
  if (now === before) return 0;
  return [...now.values()]
    .filter(({ name, version }) => before.get(name)?.version !== version)
    .reduce((longest, { warmUpMs = 0 }) => Math.max(longest, warmUpMs), 0);
});

function subscribesInTurn(stream: SessionStream, target: Snapshot): boolean {
  if (stream.info.typeUrl !== undefined) return true;
  return SUBSCRIBED_IN_TURN.every(
    typeUrl => (target.get(typeUrl)?.size ?? 0) === 0 || stream.subscribesTo(typeUrl),
  );
}
