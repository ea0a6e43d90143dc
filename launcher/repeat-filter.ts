/** A similar line is shown again only after this time, in ms. */
const AGAIN_MS = 10_000;

/**
 * Returns whether to show a line. A line is hidden when one that differs in numbers alone was shown
 * in the last 10 s. While a service is away, each of its clients says so several times a second.
 */
export function repeatFilter(now: () => number): (line: string) => boolean {
  const told = new Map<string, number>();
  return line => {
    const time = now();
    for (const [key, at] of told) if (time - at >= AGAIN_MS) told.delete(key);
    const key = line.replaceAll(/\d+/g, '#');
    if (told.has(key)) return false;
    told.set(key, time);
    return true;
  };
}
