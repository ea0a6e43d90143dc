import { Budget, type Rate } from './budget.ts';
import { ERROR, failConnection } from './error-code.ts';

export type ConductLimits = {
  /** Streams that the peer resets, or begins when there is no room. */
  readonly resets: Rate;
  /**
   * Useless frames: PING, SETTINGS, PRIORITY, windows that let nothing go, and frames that are
   * wrong or late. Answered calls allow more of them.
   */
  readonly idleFrames: Rate;
};

/**
 * How many useless frames an answered call allows. Some clients measure their path with a PING for
 * each call.
 */
const IDLE_FRAMES_OF_A_CALL = 16;

/**
 * Judges how a peer behaves. Its connection ends when it floods us. Source: RFC 9113, section 10.5.
 */
export class Conduct {
  readonly #resets: Budget;
  readonly #idleFrames: Budget;

  constructor(limits: ConductLimits, now: () => number) {
    this.#resets = new Budget(limits.resets, now);
    this.#idleFrames = new Budget(limits.idleFrames, now);
  }

  idleFrame(): void {
    if (!this.#idleFrames.spend()) failConnection(ERROR.enhanceYourCalm, 'too many useless frames');
  }

  reset(): void {
    if (!this.#resets.spend()) failConnection(ERROR.enhanceYourCalm, 'too many streams are reset');
  }

  /**
   * A frame let a part of an answer go. It allows one useless frame beside it, because windows of a
   * stream and of the connection open in turn.
   */
  helped(): void {
    this.#idleFrames.earn(1);
  }

  answered(): void {
    this.#idleFrames.earn(IDLE_FRAMES_OF_A_CALL);
  }
}
