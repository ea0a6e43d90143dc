import type { DiscoveryObserver } from './discovery-observer.ts';
import type { DiscoveryStream, StreamVerdict } from './discovery-stream.ts';
import { stageOf } from './make-before-break.ts';
import { changedKeys } from './persistent-map.ts';
import { NO_RESOURCES, type Snapshot } from './snapshot.ts';
import type { SnapshotCache } from './snapshot-cache.ts';
import { StreamsByName } from './streams-by-name.ts';
import type { AckState } from './subscription.ts';

type SessionStream = Pick<DiscoveryStream<never, never>, 'info' | 'flush' | 'standing' | 'only'>;

export type IndependentSessionOptions = {
  readonly group: string;
  readonly cache: Pick<SnapshotCache, 'get' | 'watch'>;
  /**
   * Never receives `settled`, because a stream that a snapshot does not concern is not looked at.
   */
  readonly observer: DiscoveryObserver;
};

/**
 * Serves one proxy, where no resource depends on another one. Each stream is served its group's
 * newest snapshot at once, whatever another stream has not ACKed.
 */
export class IndependentSession {
  readonly #observer: DiscoveryObserver;
  readonly #streams = new StreamsByName<SessionStream>();
  readonly #unwatch: () => void;
  #target: Snapshot | undefined;

  constructor({ group, cache, observer }: IndependentSessionOptions) {
    this.#observer = observer;
    this.#target = cache.get(group);
    this.#unwatch = cache.watch(group, snapshot => this.#aim(snapshot));
  }

  join(stream: SessionStream): void {
    this.#streams.place(stream, undefined);
  }

  /**
   * Removes a stream.
   * @returns true when it was the last one, which ends the session
   */
  leave(stream: SessionStream): boolean {
    this.#streams.remove(stream);
    if (this.#streams.size > 0) return false;
    this.#unwatch();
    return true;
  }

  /** Takes notice that a stream has received a request with this verdict. */
  heard(stream: SessionStream, typeUrl: string, verdict: StreamVerdict): void {
    const { info } = stream;
    if (verdict.kind === 'ack') this.#observer.acked?.(info, typeUrl, verdict.version);
    this.#serve(stream);
    if (verdict.kind === 'nack') this.#observer.nacked?.(info, verdict.nack);
  }

  /** Returns how far a stream has ACKed the newest snapshot. */
  standingOf(stream: SessionStream): AckState {
    return this.#target === undefined
      ? 'waiting'
      : stream.standing(stageOf(undefined, this.#target, 2), this.#target);
  }

  /** Writes what is due. */
  pump(): void {
    for (const stream of [...this.#streams.all]) this.#serve(stream);
  }

  #aim(snapshot: Snapshot): void {
    const changed = changedNames(this.#target ?? new Map(), snapshot);
    this.#target = snapshot;
    for (const stream of this.#streams.concernedBy(changed)) this.#serve(stream);
  }

  #serve(stream: SessionStream): void {
    const target = this.#target;
    if (target === undefined) return;
    stream.flush(stageOf(undefined, target, 2), target);
    const { only } = stream;
    // A name that is not listed may be answered by means of another one, so any change may concern
    // it.
    const listed = only !== undefined && target.get(only.typeUrl)?.has(only.name) === true;
    this.#streams.place(stream, listed ? only.name : undefined);
  }
}

function changedNames(before: Snapshot, after: Snapshot): readonly string[] {
  const types = new Set([...before.keys(), ...after.keys()]);
  return [...types].flatMap(type =>
    changedKeys(before.get(type) ?? NO_RESOURCES, after.get(type) ?? NO_RESOURCES),
  );
}
