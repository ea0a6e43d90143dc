import type { Logger } from 'pino';
import type { Problem } from '#resources/problem.ts';
import { problemText } from './problems.ts';

/** Logs each Problem once when it appears, and once when it is gone. */
export function problemLog(log: Logger): (problems: readonly Problem[]) => void {
  let known = new Map<string, Problem>();
  return problems => {
    const now = new Map(problems.map(problem => [problemText(problem), problem]));
    for (const [text, { severity }] of now) {
      if (!known.has(text)) log[severity === 'error' ? 'error' : 'warn'](text);
    }
    for (const text of known.keys()) if (!now.has(text)) log.info(`mended: ${text}`);
    known = now;
  };
}
