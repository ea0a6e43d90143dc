import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { endProcess } from '../end-process.ts';

/** What the parent asks of a process with proxies. */
export type Command =
  /** Tell when every proxy was sent a resource of one of these types with this text in it. */
  | { readonly kind: 'await'; readonly typeUrls: readonly string[]; readonly text: string }
  /** Connect proxies until there are so many. They resume with what was held before. */
  | { readonly kind: 'open'; readonly count: number }
  /** Disconnect all. */
  | { readonly kind: 'close' };

/** What such a process tells. */
export type Report = { readonly kind: 'obeyed' } | ({ readonly kind: 'done' } & Counts);

/** What proxies received until the last one was done, and how many connections they lost. */
export type Counts = {
  readonly bytes: number;
  readonly messages: number;
  readonly lost: number;
};

/** The same for all of them together. */
export type Received = Counts & { readonly ms: number };

/** Proxies in processes of their own. */
export type Fleet = {
  open(count: number): Promise<void>;
  close(): Promise<void>;
  /** Runs `work`. Resolves when every proxy was then sent the text in a resource of these types. */
  until(
    typeUrls: readonly string[],
    text: string,
    work: () => void | Promise<void>,
  ): Promise<Received>;
  stop(): Promise<void>;
};

/** Thousands of proxies connect in this time, in ms. */
const LONGEST_MS = 600_000;

/** Starts so many processes, with no proxies yet. */
export async function startFleet(port: number, processes: number): Promise<Fleet> {
  const children = await Promise.all(
    Array.from({ length: processes }, async (_, at) => {
      const child = fork(join(import.meta.dirname, 'proxies.ts'), [String(port), `proxy-${at}`]);
      await heard(child, 'obeyed');
      return child;
    }),
  );
  const order = (commandOf: (at: number) => Command) =>
    Promise.all(
      children.map((child, at) => {
        const obeyed = heard(child, 'obeyed');
        child.send(commandOf(at));
        return obeyed;
      }),
    );
  return {
    open: async count => {
      await order(at => ({
        kind: 'open',
        count: Math.floor(count / processes) + (at < count % processes ? 1 : 0),
      }));
    },
    close: async () => void (await order(() => ({ kind: 'close' }))),
    until: async (typeUrls, text, work) => {
      const done = Promise.all(children.map(child => heard(child, 'done')));
      await order(() => ({ kind: 'await', typeUrls, text }));
      const begun = performance.now();
      await work();
      const reports = await done;
      const sum = (what: keyof Counts) =>
        reports.reduce((total, report) => total + report[what], 0);
      const ms = performance.now() - begun;
      return { ms, bytes: sum('bytes'), messages: sum('messages'), lost: sum('lost') };
    },
    stop: async () => void (await Promise.all(children.map(endProcess))),
  };
}

function heard<Kind extends Report['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<Report, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no ${kind} of the proxies in ${LONGEST_MS} ms`)),
      LONGEST_MS,
    );
    const hear = (report: Report) => {
      if (report.kind !== kind) return;
      clearTimeout(timer);
      child.off('message', hear);
      resolve(report as Extract<Report, { kind: Kind }>);
    };
    child.on('message', hear);
  });
}
