import { setTimeout as pause } from 'node:timers/promises';
import { askControlPlane, askStatus, type WhereFlags } from './control-plane-address.ts';
import { type SeenUpstreams, statusView } from './status-view.ts';

export type WatchFlags = WhereFlags & { readonly interval: number; readonly json?: boolean };

/** Shows the status again and again until the process ends. Never returns. */
export async function watchStatus(flags: WatchFlags): Promise<void> {
  // The reader of our lines may go away.
  process.stdout.removeAllListeners('error').on('error', () => process.exit(0));
  const show = process.stdout.isTTY && !flags.json ? redraw : newLines();
  for (;;) {
    show(await linesOf(flags));
    await pause(flags.interval * 1_000);
  }
}

async function linesOf(flags: WatchFlags): Promise<readonly string[]> {
  try {
    const status = await askStatus(flags);
    if (flags.json) return [JSON.stringify(status)];
    const isLive = process.stdout.isTTY;
    const figures = await figuresOf(flags);
    const rows = isLive ? Math.max(3, Math.floor((terminalSize().rows - 6) / 4)) : MOST_LINES;
    return statusView({ status, figures, now: Date.now(), rows, rates: isLive });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [flags.json ? JSON.stringify({ error: reason }) : reason];
  }
}

/** The most lines of a section that are no screen. */
const MOST_LINES = 1_000;

/** Only one request is asked for. It is not shown. */
async function figuresOf(flags: WatchFlags): Promise<SeenUpstreams | undefined> {
  const response = await askControlPlane(flags, '/figures?limit=1').catch(() => undefined);
  return response === undefined ? undefined : ((await response.json()) as SeenUpstreams);
}

/** Draws over what is there, so that nothing flickers. */
function redraw(lines: readonly string[]): void {
  const { columns, rows } = terminalSize();
  const time = new Date().toTimeString().slice(0, 8);
  const shown = [`gateway status at ${time}, Ctrl-C ends it`, ...lines].slice(0, rows - 1);
  const text = shown.map(line => `${line.slice(0, columns)}${ERASE_LINE}\n`).join('');
  process.stdout.write(HOME + text + ERASE_BELOW);
}

/** A serial console, and a terminal in a container at its start, say 0. */
function terminalSize(): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = process.stdout;
  return { columns: columns || 80, rows: rows || 24 };
}

const HOME = '\u001b[H';
const ERASE_LINE = '\u001b[K';
const ERASE_BELOW = '\u001b[J';

/** Returns the function that prints the lines that were not there the last time. */
function newLines(): (lines: readonly string[]) => void {
  let known: ReadonlySet<string> = new Set();
  return lines => {
    for (const line of lines) if (!known.has(line)) process.stdout.write(`${line}\n`);
    known = new Set(lines);
  };
}
