import type { ServerHttp2Stream } from 'node:http2';
import { failure } from './method.ts';
import { refuse } from './respond.ts';

const SLOW = failure('DEADLINE_EXCEEDED', 'the message of the call did not come in time');

/**
 * The calls whose messages have not come whole. A call that is still here at its second sweep is
 * refused. A timer for each call would cost more than all the rest of its bookkeeping, and callers
 * have their own deadlines.
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

  /** Removes a call whose message has come, or that nobody waits for. */
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
