import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { DiscoveryObserver } from './discovery-observer.ts';
import type { DiscoveryStream, StreamVerdict } from './discovery-stream.ts';
import { KEPT_MS } from './kept.ts';
import type { Kept } from './make-before-break.ts';
import type { Snapshot } from './snapshot.ts';
import type { SnapshotCache } from './snapshot-cache.ts';
import type { Standing } from './subscription.ts';
import { advance, begin, release, retarget, type Transition } from './transition.ts';

/** A stage that a proxy has not ACKed for this long, in ms, is over all the same. */
const STAGE_MS = 2_000;

/**
 * What an Envoy subscribes to one after the other; until it has, it cannot have taken a snapshot
 * that holds them.
 */
const SUBSCRIBED_IN_TURN = [CLUSTER, LISTENER, ROUTE_CONFIGURATION];

/** A stream as its session sees it, whatever its requests and responses are. */
type SessionStream = Pick<
  DiscoveryStream<never, never>,
  'info' | 'flush' | 'standing' | 'refused' | 'subscribesTo'
>;

export type SessionOptions = {
  readonly group: string;
  readonly cache: Pick<SnapshotCache, 'get' | 'watch'>;
  readonly observer: DiscoveryObserver;
  /** How long removed clusters stay for requests on their way, in ms. Default: KEPT_MS. */
  readonly keptMs?: number;
  /** Calls back after `ms`, unless the returned function is called before. */
  after(ms: number, callback: () => void): () => void;
};

/**
 * One proxy, with one aggregated stream or a stream for each type: leads it to its group's newest
 * snapshot, stage by stage. (Without an aggregated stream Envoy ACKs clusters before they are warm:
 * then a switch may cost requests.) It holds nobody else. A refusal stops it where it is, with all
 * that it has ACKed in force, until a newer snapshot comes.
 */
export class DiscoverySession {
  readonly #options: SessionOptions;
  /** Each stream with the snapshot that it was last told to have reached. */
  readonly #streams = new Map<SessionStream, Snapshot | undefined>();
  readonly #unwatch: () => void;
  #transition: Transition | undefined;
  #cancelTimer: (() => void) | undefined;
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

  /** Whether that was the last stream: then the session has ended. */
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

  /** A stream has taken a request, which said this. */
  heard({ info }: SessionStream, typeUrl: string, verdict: StreamVerdict): void {
    const { observer } = this.#options;
    if (verdict.kind === 'ack') observer.acked?.(info, typeUrl, verdict.version);
    this.pump();
    if (verdict.kind === 'nack') observer.nacked?.(info, verdict.nack);
  }

  /** How a stream stands to the newest snapshot. */
  standingOf(stream: SessionStream): Standing {
    const transition = this.#transition;
    if (transition === undefined) return 'waiting';
    const standing = stream.standing(transition.stage, transition.target);
    if (standing !== 'settled') return standing;
    return transition.step === 2 && subscribesInTurn(stream, transition.target)
      ? 'settled'
      : 'waiting';
  }

  /**
   * Writes what is due, and goes on to the next stages for as long as there is nothing to wait for.
   */
  pump(): void {
    let next = this.#transition;
    while (next !== undefined) {
      this.#transition = next;
      for (const stream of this.#streams.keys()) stream.flush(next.stage, next.target);
      const standing = this.#standingIn(next);
      if (standing === 'waiting' && next.step !== 2) this.#startTimer();
      else this.#clearTimer();
      next = this.#next(next, standing);
    }
  }

  #standingIn(transition: Transition): Standing {
    const streams = [...this.#streams.keys()];
    const standings = streams.map(stream => stream.standing(transition.stage, transition.target));
    if (standings.includes('refused')) return 'refused';
    if (standings.includes('waiting')) return 'waiting';
    if (transition.step !== 1) return 'settled';
    // A proxy that has just come tells of its listeners last, and these go when it has taken those
    // in their place.
    const untold =
      transition.from === undefined &&
      streams.some(stream => !subscribesInTurn(stream, transition.target));
    return untold ? 'waiting' : 'settled';
  }

  /** What follows on a stage; undefined: nothing for now. */
  #next(transition: Transition, standing: Standing): Transition | undefined {
    if (transition.step === 2) this.#tellSettled(transition);
    // After a refusal a newer snapshot need not wait for the end of the way.
    if (standing === 'refused')
      return transition.next && this.#retarget(transition, transition.next);
    const next = standing === 'settled' ? this.#advanced(transition) : transition;
    return next === transition ? undefined : next;
  }

  /** What the switch removed goes by itself, later. Nothing waits for that. */
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
    this.#transition =
      current === undefined ? begin(undefined, snapshot) : this.#retarget(current, snapshot);
    this.pump();
  }

  #retarget(current: Transition, snapshot: Snapshot): Transition {
    const refused = [...this.#streams.keys()].flatMap(stream => [
      ...stream.refused(current.stage, current.target),
    ]);
    return retarget(current, snapshot, new Set(refused));
  }

  #tellSettled({ target }: Transition): void {
    for (const [stream, reached] of [...this.#streams]) {
      if (reached === target || this.standingOf(stream) !== 'settled') continue;
      this.#streams.set(stream, target);
      this.#options.observer.settled?.(stream.info, target);
    }
  }

  #startTimer(): void {
    this.#cancelTimer ??= this.#options.after(STAGE_MS, () => {
      this.#cancelTimer = undefined;
      if (this.#transition === undefined) return;
      this.#transition = this.#advanced(this.#transition);
      this.pump();
    });
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

function subscribesInTurn(stream: SessionStream, target: Snapshot): boolean {
  if (stream.info.typeUrl !== undefined) return true;
  return SUBSCRIBED_IN_TURN.every(
    typeUrl => (target.get(typeUrl)?.size ?? 0) === 0 || stream.subscribesTo(typeUrl),
  );
}
