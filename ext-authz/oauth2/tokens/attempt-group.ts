import type { Calls } from '#process/calls.ts';
import { isJsonObject, type Json } from '#protos/json.ts';
import { AttemptGate, type Gate, tooManyWait } from './attempt-gate.ts';

/**
 * What one process has seen of refused credentials, for the others. It is a limit with its end (ms
 * since the epoch), else a guess. `key` is local.
 */
export type RefusalNews = { readonly key: string; readonly ends?: number };

/** The other processes of the same service. */
export type RefusalPeers = {
  tell(news: RefusalNews): void;
  hear(on: (news: RefusalNews) => void): void;
};

type AttemptGroup = { readonly gate: Gate; readonly peers: RefusalPeers };

/**
 * Opens what the leader keeps for its workers: the one gate, and which workers hear the news. When
 * a worker ends, its attempts leave the gate.
 */
export function shareAttempts(): (calls: Calls) => () => void {
  const gate = new AttemptGate();
  const workers = new Set<Calls>();
  return calls => {
    workers.add(calls);
    const attempts = new Map<Json, AbortController>();
    calls.answer('enter', async body => {
      const { id, key, limit } = isJsonObject(body) ? body : {};
      const over = new AbortController();
      attempts.set(Number(id), over);
      const count = async () => {
        const counted = await calls.ask('count', id);
        if (typeof counted === 'number') return counted;
        throw new Error('the process that wanted to try has ended');
      };
      const leave = await gate.enter(String(key), Number(limit), count, over.signal);
      if (leave === 'limited') return leave;
      if (over.signal.aborted) leave();
      else over.signal.addEventListener('abort', leave, { once: true });
      return 'entered';
    });
    calls.answer('leave', id => {
      attempts.get(Number(id))?.abort();
      attempts.delete(Number(id));
    });
    calls.answer('refusal', news => {
      for (const worker of workers) if (worker !== calls) worker.tell('refusal', news);
    });
    return () => {
      workers.delete(calls);
      for (const over of attempts.values()) over.abort();
    };
  };
}

/**
 * Opens a worker's end of it. Limits on refused credentials hold for all workers together, as for
 * one process.
 */
export function joinAttempts(calls: Calls): AttemptGroup {
  return { gate: new SharedGate(calls), peers: refusalPeers(calls) };
}

class SharedGate implements Gate {
  readonly #calls: Calls;
  readonly #counts = new Map<number, () => Promise<number>>();
  #attempts = 0;

  constructor(calls: Calls) {
    this.#calls = calls;
    calls.answer('count', id => this.#counts.get(Number(id))?.());
  }

  async enter(
    key: string,
    limit: number,
    count: () => Promise<number>,
    signal: AbortSignal,
  ): Promise<'limited' | (() => void)> {
    this.#attempts += 1;
    const id = this.#attempts;
    const leave = () => this.#calls.tell('leave', id);
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => {});
    const late = () => failed.reject(tooManyWait());
    signal.addEventListener('abort', late, { once: true });
    this.#counts.set(id, () => count().catch(error => told(error, failed.reject)));
    try {
      if (signal.aborted) throw tooManyWait();
      const asked = this.#calls.ask('enter', { id, key, limit });
      const entered = await Promise.race([failed.promise, asked]);
      if (entered === 'entered') return leave;
      leave();
      return 'limited';
    } catch (error) {
      leave();
      throw error;
    } finally {
      signal.removeEventListener('abort', late);
      this.#counts.delete(id);
    }
  }
}

/** Throws the error itself to the caller. Across the channel only its message is sent. */
function told(error: unknown, tell: (error: unknown) => void): never {
  tell(error);
  throw error;
}

function refusalPeers(calls: Calls): RefusalPeers {
  return {
    tell: news => calls.tell('refusal', news),
    hear: on =>
      calls.answer('refusal', news => {
        if (!isJsonObject(news) || typeof news.key !== 'string') return;
        on(typeof news.ends === 'number' ? { key: news.key, ends: news.ends } : { key: news.key });
      }),
  };
}
