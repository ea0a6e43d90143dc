import type { Logger } from 'pino';
import type { Problem } from '#resources/problem.ts';
import { problemText } from './problems.ts';

/**
 * Logs each Problem once when it appears, and once when it is gone. One that another has followed at its place is not mended: it reads otherwise now, though for a moment
 * some may have told of the one, and some of the other.
 */
export function problemLog(log: Logger): (problems: readonly Problem[]) => void {
  let known = new Map<string, Problem>();
  const followed = new Set<string>();
  return problems => {
    const now = new Map(problems.map(problem => [problemText(problem), problem]));
    for (const [text, { severity }] of now) {
      if (!known.has(text)) log[severity === 'error' ? 'error' : 'warn'](text);
    }
    const places = new Set([...now.values()].map(placeOf));
    const news = new Set(
      [...now].filter(([text]) => !known.has(text)).map(([, problem]) => placeOf(problem)),
    );
    for (const [text, problem] of known) {
      if (news.has(placeOf(problem))) followed.add(text);
      if (now.has(text)) continue;
      const isFollowed = followed.delete(text) && places.has(placeOf(problem));
      if (!isFollowed) log.info(`mended: ${text}`);
    }
    known = now;
  };
}

function placeOf({ kind, namespace, name, file, field }: Problem): string {
  return JSON.stringify([kind, namespace, name, file, field]);
}
