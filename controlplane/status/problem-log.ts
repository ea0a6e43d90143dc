import type { Logger } from 'pino';
import { problemText, withoutAlike } from '#controlplane/rollout/problems.ts';
import type { Problem } from '#resources/problem.ts';

/**
 * The most lines of one kind at once. Thousands hold up their reader and the process that writes
 * them.
 */
const MOST_LINES = 100;

/**
 * Logs each Problem once when it appears, and once when it is gone. A Problem with another one at
 * its place is not fixed: its text has changed. For a moment some services may report the one and
 * some the other. What began earlier and now reads otherwise is the same Problem, and no warning
 * again. Of very many at once it logs the first ones, and the number of the others.
 */
export function problemLog(log: Logger): (problems: readonly Problem[]) => void {
  let known = new Map<string, Problem>();
  const followed = new Set<string>();
  return problems => {
    const now = new Map(withoutAlike(problems).map(problem => [problemText(problem), problem]));
    const come = [...now].filter(([text]) => !known.has(text));
    const begun = new Set([...known.values()].map(beginOf));
    const isKnown = (problem: Problem) =>
      problem.since !== undefined && begun.has(beginOf(problem));
    for (const severity of ['error', 'warning'] as const) {
      const texts = come
        .filter(([, problem]) => problem.severity === severity && !isKnown(problem))
        .map(([text]) => text);
      const write = (text: string) => log[severity === 'error' ? 'error' : 'warn'](text);
      writeFirst(texts, write, '. /status has all of them');
    }
    const again = come.filter(([, problem]) => isKnown(problem)).map(([text]) => `now: ${text}`);
    writeFirst(again, text => log.info(text), ' read otherwise');
    const places = new Set([...now.values()].map(placeOf));
    const news = new Set(come.map(([, problem]) => placeOf(problem)));
    const fixed: string[] = [];
    for (const [text, problem] of known) {
      if (news.has(placeOf(problem))) followed.add(text);
      if (now.has(text)) continue;
      const isFollowed = followed.delete(text) && places.has(placeOf(problem));
      if (!isFollowed) fixed.push(`fixed: ${text}`);
    }
    writeFirst(fixed, text => log.info(text), ' are fixed');
    known = now;
  };
}

function writeFirst(texts: readonly string[], write: (text: string) => void, others: string): void {
  for (const text of texts.slice(0, MOST_LINES)) write(text);
  if (texts.length > MOST_LINES) write(`… and ${texts.length - MOST_LINES} more${others}`);
}

function placeOf({ kind, namespace, name, file, field }: Problem): string {
  return JSON.stringify([kind, namespace, name, file, field]);
}

/** Returns where a Problem is and when it began, which few of them tell. */
function beginOf(problem: Problem): string {
  return `${placeOf(problem)} ${problem.since}`;
}
