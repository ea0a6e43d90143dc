import { checkAuthorityPair } from '../check-pair.ts';
import { errorsOf } from '../finding.ts';
import { parseCertificates } from '../pem.ts';
import type { Root, Roots } from './roots.ts';

/** Writes the roots as they are kept, keys included. */
export function formatRoots(roots: Roots): string {
  return `${JSON.stringify({ roots }, null, 2)}\n`;
}

/**
 * Parses what formatRoots wrote. `error` says what is wrong and holds nothing of the text. Expiry
 * is not checked.
 */
export function parseRoots(text: string): { readonly roots: Roots } | { readonly error: string } {
  const items = itemsOf(text);
  if (items === undefined)
    return { error: 'it is not what this version of the authority writes ({ "roots": [...] })' };
  const roots: Root[] = [];
  for (const [at, item] of items.entries()) {
    const root = parseRoot(item);
    if ('error' in root) return { error: `roots[${at}]: ${root.error}` };
    roots.push(root);
  }
  return { roots };
}

function itemsOf(text: string): readonly unknown[] | undefined {
  try {
    const { format, roots } = JSON.parse(text) as { format?: unknown; roots?: unknown };
    // A format that is not known may say more of the roots, which a write of ours would lose.
    return format === undefined && Array.isArray(roots) && roots.length <= 16 ? roots : undefined;
  } catch {
    return undefined;
  }
}

function parseRoot(item: unknown): Root | { readonly error: string } {
  const { certificate, key, issuesFrom, leafMs } = (item ?? {}) as Readonly<
    Record<string, unknown>
  >;
  if (typeof certificate !== 'string') return { error: 'certificate: want PEM' };
  if (key !== undefined && typeof key !== 'string') return { error: 'key: want PEM' };
  if (typeof issuesFrom !== 'number' || typeof leafMs !== 'number') {
    return { error: 'issuesFrom, leafMs: want milliseconds' };
  }
  const wrong = wrongWith(certificate, key);
  return wrong === undefined ? { certificate, key, issuesFrom, leafMs } : { error: wrong };
}

function wrongWith(certificate: string, key: string | undefined): string | undefined {
  const parsed = parseCertificates(certificate, { bytes: 16 * 1024, count: 1 });
  if ('error' in parsed) return parsed.error;
  const begin = parsed.certificates[0]?.validFromDate.getTime() ?? 0;
  return key === undefined ? undefined : errorsOf(checkAuthorityPair(certificate, key, begin));
}
