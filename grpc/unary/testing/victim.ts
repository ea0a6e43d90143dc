import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import http2, { type ClientHttp2Session } from 'node:http2';
import { join } from 'node:path';
import type { UnaryLimits } from '../answering.ts';
import { call } from './http2-client.ts';

const MAIN = join(import.meta.dirname, 'victim-process.ts');
const MIB = 2 ** 20;

type Usage = {
  readonly rss: number;
  readonly highest: number;
  readonly cpuMicros: number;
  readonly connections: number;
};

/** What an attack did to a server and to the calls of another connection. */
export type Harm = {
  /** The most memory that the server has had so far, above what it had at rest. */
  readonly grownMib: number;
  readonly cpuMs: number;
  readonly ms: number;
  readonly calls: number;
  readonly p99Ms: number;
};

/** An echo server in a process of its own, and a bystander with a connection to it. */
export class Victim {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #bystander: ClientHttp2Session;
  #rest = 0;

  private constructor(child: ChildProcess, port: number) {
    this.port = port;
    this.#child = child;
    this.#bystander = http2.connect(`http://127.0.0.1:${port}`).on('error', () => {});
  }

  static async start(limits: Partial<UnaryLimits> = {}): Promise<Victim> {
    const child = fork(MAIN, [JSON.stringify(limits)], { execArgv: ['--max-semi-space-size=8'] });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    const victim = new Victim(child, port);
    for (let n = 0; n < 300; n++) await victim.#call();
    victim.#rest = (await victim.#usage()).rss;
    return victim;
  }

  /** Measures what an attack did. Fails when a call of the bystander does. */
  async under(attack: () => Promise<unknown>): Promise<Harm> {
    const before = await this.#usage();
    const begun = performance.now();
    const times: number[] = [];
    let over = false;
    const attacked = attack().finally(() => {
      over = true;
    });
    while (!over || times.length < 20) times.push(await this.#call());
    await attacked;
    const ms = performance.now() - begun;
    const after = await this.#usage();
    return {
      grownMib: (after.highest - this.#rest) / MIB,
      cpuMs: (after.cpuMicros - before.cpuMicros) / 1_000,
      ms,
      calls: times.length,
      p99Ms: times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0,
    };
  }

  /** Returns what the server holds at present, including the bystander's connection. */
  async held(): Promise<{ readonly connections: number; readonly rssMib: number }> {
    const { connections, rss } = await this.#usage();
    return { connections, rssMib: rss / MIB };
  }

  stop(): void {
    this.#bystander.destroy();
    this.#child.kill('SIGKILL');
  }

  async #usage(): Promise<Usage> {
    this.#child.send('usage');
    return (await once(this.#child, 'message'))[0];
  }

  async #call(): Promise<number> {
    const begun = performance.now();
    const { text } = await call(this.#bystander, 'x');
    if (text !== 'x') throw new Error('a call on another connection was not answered');
    return performance.now() - begun;
  }
}

export function describeHarm({ grownMib, cpuMs, ms, calls, p99Ms }: Harm): string {
  const cost = `memory at most +${grownMib.toFixed(0)} MiB so far, CPU ${cpuMs.toFixed(0)} ms of ${ms.toFixed(0)}`;
  return `${cost}, another connection's ${calls} calls: p99 ${p99Ms.toFixed(1)} ms`;
}
