import { isJsonObject, type Json } from '#protos/json.ts';

/**
 * One end of a channel to another of the gateway's processes, such as Node's between a process and
 * its child.
 */
export type Channel = {
  send(message: object): unknown;
  on(event: 'message', hear: (message: unknown) => void): unknown;
};

/**
 * Answers a question or a message of one name. What it throws reaches the asking process as a
 * message.
 */
export type CallHandler = (body: Json | undefined) => unknown;

type Waiting = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
};

/**
 * Questions between two processes, in both directions over one channel. The channel may carry other
 * messages too.
 */
export class Calls {
  readonly #channel: Channel;
  readonly #answers = new Map<string, CallHandler>();
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #closed = false;

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.on('message', message => this.#hear(message));
  }

  /** Answers the other side's questions of this name from now on. */
  answer(name: string, answer: CallHandler): void {
    this.#answers.set(name, answer);
  }

  /**
   * Asks the other side and returns its answer. Rejects with an Error when it cannot answer, or is
   * gone.
   */
  ask(name: string, body?: Json): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error(GONE));
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ ask: name, id, body });
    });
  }

  /** Sends a message without an answer. Does nothing when the other side is gone. */
  tell(name: string, body?: Json): void {
    this.#send({ ask: name, body });
  }

  /** Rejects what still waits for an answer, because the other side is gone. */
  close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) reject(new Error(GONE));
    this.#waiting.clear();
  }

  #send(message: object): void {
    if (!this.#closed) this.#channel.send(message);
  }

  #hear(message: unknown): void {
    if (!isJsonObject(message)) return;
    if (typeof message.ask === 'string') void this.#reply(message.ask, message.id, message.body);
    else if (typeof message.answered === 'number') this.#settle(message.answered, message);
  }

  async #reply(name: string, id: Json | undefined, body: Json | undefined): Promise<void> {
    try {
      const value = await this.#answers.get(name)?.(body);
      if (id !== undefined) this.#send({ answered: id, value });
    } catch (error) {
      if (id === undefined) throw error;
      this.#send({ answered: id, error: error instanceof Error ? error.message : String(error) });
    }
  }

  #settle(id: number, { error, value }: { readonly error?: Json; readonly value?: Json }): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (typeof error === 'string') waiting?.reject(new Error(error));
    else waiting?.resolve(value);
  }
}

const GONE = 'the other process is gone';
