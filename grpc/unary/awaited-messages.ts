import type { ServerHttp2Stream } from 'node:http2';
import { failure } from './method.ts';
import { refuse } from './respond.ts';

const SLOW = failure('DEADLINE_EXCEEDED', 'the message of the call does not come');

/**
 * The calls whose messages have not come whole. What is here at two sweeps is refused: a timer for
 * each call would cost more than all the rest of its bookkeeping, and a caller has a deadline of
 * its own.
 */
export class AwaitedMessages {
  #fresh = new Set<ServerHttp2Stream>();
  #old = new Set<ServerHttp2Stream>();

  get size(): number {
    return this.#fresh.size + this.#old.size;
  }

  add(stream: ServerHttp2Stream): void {
    this.#fresh.add(stream);
  }

  /** The message has come, or nobody waits for it. */
  delete(stream: ServerHttp2Stream): void {
    if (!this.#fresh.delete(stream)) this.#old.delete(stream);
  }

  sweep(): void {
    const late = this.#old;
    this.#old = this.#fresh;
    this.#fresh = new Set();
    for (const stream of late) refuse(stream, SLOW);
  }
}
