import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import type { DiscoveryObserver, StreamInfo, StreamStatus } from './discovery-observer.ts';
import { DiscoveryStream, type StreamOptions } from './discovery-stream.ts';
import type { Snapshot } from './snapshot.ts';
import type { SnapshotCache } from './snapshot-cache.ts';
import type { Standing } from './subscription.ts';
import { advance, begin, retarget, type Transition } from './transition.ts';

/** A stage that a proxy has not ACKed for this long, in ms, is over all the same. */
export const STAGE_MS = 2_000;

/** What an Envoy subscribes to one after the other; until it has, it cannot have taken a snapshot that holds them. */
const SUBSCRIBED_IN_TURN = [CLUSTER, LISTENER, ROUTE_CONFIGURATION];

export type SessionOptions<Request, Response> = Omit<StreamOptions<Request, Response>, 'info'> & {
  readonly info: StreamInfo;
  readonly cache: SnapshotCache;
  readonly observer: DiscoveryObserver;
  /** Calls back after `ms`, unless the returned function is called before. */
  after(ms: number, callback: () => void): () => void;
};

/** One proxy on one stream: leads it to its group's newest snapshot, stage by stage. */
export class DiscoverySession<Request, Response> {
  readonly #options: SessionOptions<Request, Response>;
  readonly #stream: DiscoveryStream<Request, Response>;
  readonly #unwatch: () => void;
  #transition: Transition | undefined;
  #settled: Snapshot | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(options: SessionOptions<Request, Response>) {
    this.#options = options;
    this.#stream = new DiscoveryStream(options);
    const { cache, info } = options;
    const current = cache.get(info.group);
    this.#transition = current === undefined ? undefined : begin(undefined, current);
    this.#unwatch = cache.watch(info.group, snapshot => this.#aim(snapshot));
  }

  get info(): StreamInfo {
    return this.#options.info;
  }

  /** Number of types and of names that the client makes us remember. */
  get load(): { readonly types: number; readonly names: number } {
    return this.#stream.load;
  }

  receive(typeUrl: string, request: Request): void {
    const { observer, info } = this.#options;
    const verdict = this.#stream.receive(typeUrl, request);
    if (verdict.kind === 'ack') observer.acked?.(info, typeUrl, verdict.version);
    this.pump();
    if (verdict.kind === 'nack') observer.nacked?.(info, verdict.nack);
  }

  /** The transport takes more. */
  drained(): void {
    this.#stream.drained();
    this.pump();
  }

  close(): void {
    this.#unwatch();
    this.#clearTimer();
  }

  status(): StreamStatus {
    return this.#stream.status(this.#standing());
  }

  /** Writes what is due, and goes on to the next stages for as long as there is nothing to wait for. */
  pump(): void {
    let next = this.#transition;
    while (next !== undefined) {
      this.#transition = next;
      this.#stream.flush(next.stage, next.target);
      const standing = this.#standingIn(next);
      if (standing === 'waiting') this.#startTimer();
      else this.#clearTimer();
      next = this.#next(next, standing);
    }
  }

  /** Who resumes may hold routes of which he has not told yet: what they use is removed when the stage's time is up. */
  #standingIn(transition: Transition): Standing {
    const standing = this.#stream.standing(transition.stage, transition.target);
    return standing === 'settled' && transition.step === 1 && this.#stream.withholds ? 'waiting' : standing;
  }

  /** What follows on a stage; undefined: nothing for now. */
  #next(transition: Transition, standing: Standing): Transition | undefined {
    if (standing === 'waiting') return undefined;
    // After a refusal a newer snapshot need not wait for the end of the way.
    if (standing === 'refused') return transition.next && this.#retarget(transition, transition.next);
    const next = advance(transition);
    if (next !== transition) return next;
    this.#settle(transition.target);
    return undefined;
  }

  #aim(snapshot: Snapshot): void {
    const current = this.#transition;
    this.#transition = current === undefined ? begin(undefined, snapshot) : this.#retarget(current, snapshot);
    this.pump();
  }

  #retarget(current: Transition, snapshot: Snapshot): Transition {
    return retarget(current, snapshot, this.#stream.refused(current.stage, current.target));
  }

  #standing(): Standing {
    const transition = this.#transition;
    if (transition === undefined) return 'waiting';
    const standing = this.#stream.standing(transition.stage, transition.target);
    if (standing !== 'settled') return standing;
    const there = transition.step === 2 && transition.next === undefined;
    return there && this.#subscribesInTurn(transition.target) ? 'settled' : 'waiting';
  }

  #settle(target: Snapshot): void {
    if (this.#settled === target || !this.#subscribesInTurn(target)) return;
    this.#settled = target;
    this.#options.observer.settled?.(this.info, target);
  }

  #subscribesInTurn(target: Snapshot): boolean {
    if (this.info.typeUrl !== undefined) return true;
    return SUBSCRIBED_IN_TURN.every(
      typeUrl => (target.get(typeUrl)?.size ?? 0) === 0 || this.#stream.subscribesTo(typeUrl),
    );
  }

  #startTimer(): void {
    this.#cancelTimer ??= this.#options.after(STAGE_MS, () => {
      this.#cancelTimer = undefined;
      if (this.#transition === undefined) return;
      this.#transition = advance(this.#transition);
      this.pump();
    });
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
