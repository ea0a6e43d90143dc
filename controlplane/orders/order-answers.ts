import { decodeOutcomes, type OrderOutcome } from '#process/order-outcomes.ts';
import type { Any } from '#protos/encode.ts';
import { ORDER } from '#protos/type-url.ts';
import type { StreamStatus } from '#xds/discovery-observer.ts';

/** What one process of a service answers to an order. */
export type ServiceAnswer = {
  readonly node: string;
  /** `silent`: it has not answered in time. */
  readonly outcome: 'done' | 'failed' | 'silent';
  /** What was done, or why not. */
  readonly text: string;
};

/** An order that was given, or one that lasted and was withdrawn. */
export type AskedOrder = {
  readonly group: string;
  readonly name: string;
  readonly withdrawn: boolean;
};

export type OrderAnswersParts = {
  streams(): readonly StreamStatus[];
  after(ms: number, callback: () => void): () => void;
};

/** How long an answer is waited for, in ms. */
const PATIENCE_MS = 8_000;
const SILENT = 'it does not answer. It is busy, has gone, or is of an earlier version';

/** Hears what the processes of our services answer to orders. */
export class OrderAnswers {
  readonly #parts: OrderAnswersParts;
  readonly #heard = new Map<number, readonly OrderOutcome[]>();
  readonly #waiting = new Set<() => void>();

  constructor(parts: OrderAnswersParts) {
    this.#parts = parts;
  }

  /** Takes the accepted report of a stream. `undefined` is an empty one, or an ended stream. */
  take(stream: number, report: Any | undefined): void {
    if (report === undefined) this.#heard.delete(stream);
    else this.#heard.set(stream, decodeOutcomes(report));
    for (const look of this.#waiting) look();
  }

  /** Returns whether a process of the group takes orders. */
  isHeard(group: string): boolean {
    return this.#takers(group).length > 0;
  }

  /** Resolves with what each process of the group answers, within PATIENCE_MS. */
  of({ group, name, withdrawn }: AskedOrder): Promise<readonly ServiceAnswer[]> {
    const takers = this.#takers(group);
    const answers = new Map<number, ServiceAnswer>();
    const isAnswer = (each: OrderOutcome) => each.order === name && each.withdrawn === withdrawn;
    return new Promise(resolve => {
      const end = () => {
        this.#waiting.delete(look);
        cancel();
        resolve(takers.map(({ id, node }) => answers.get(id) ?? silent(node)));
      };
      const look = () => {
        for (const { id, node } of takers) {
          const found = this.#heard.get(id)?.find(isAnswer);
          if (found !== undefined) answers.set(id, toAnswer(node, found));
        }
        if (answers.size === takers.length) end();
      };
      const cancel = this.#parts.after(PATIENCE_MS, end);
      this.#waiting.add(look);
      look();
    });
  }

  #takers(group: string): readonly StreamStatus[] {
    return this.#parts.streams().filter(stream => stream.group === group && ORDER in stream.types);
  }
}

function toAnswer(node: string, { failed, text }: OrderOutcome): ServiceAnswer {
  return { node, outcome: failed ? 'failed' : 'done', text };
}

function silent(node: string): ServiceAnswer {
  return { node, outcome: 'silent', text: SILENT };
}
