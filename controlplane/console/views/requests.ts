import type { RequestFilter } from '#controlplane/figures/figures.ts';

const MOST = 200;
const LONGEST = 500;

/** Parses the filter of live traffic. What is no filter is left out. */
export function requestFilter(
  query: Readonly<Record<string, unknown>>,
  otherwise: number,
): RequestFilter {
  const { client, group, limit, route, status } = query;
  const texts = { mapping: text(route), client: text(client), group: text(group) };
  const given = Object.entries(texts).filter(([, value]) => value !== '');
  return {
    ...Object.fromEntries(given),
    ...(typeof status === 'string' && /^[1-5](?:\d\d)?$/.test(status)
      ? { status: Number(status) }
      : {}),
    limit:
      typeof limit === 'string' && /^\d{1,4}$/.test(limit)
        ? Math.min(Number(limit), MOST)
        : otherwise,
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, LONGEST) : '';
}
