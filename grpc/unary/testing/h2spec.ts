import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ECHO } from './echo-server.ts';

/** How long h2spec waits for what it expects, in seconds. A correct server answers at once. */
const WAIT = 2;

/** The results of h2spec, with each failure as `section: description` (as in XML). */
export type Spec = { readonly failed: ReadonlySet<string>; readonly passed: number };

/** Runs cases of h2spec, such as `http2/5.1` and the strict ones among them, against the port. */
export async function runH2spec(
  h2spec: string,
  port: number,
  cases: readonly string[],
): Promise<Spec> {
  const folder = await mkdtemp(join(tmpdir(), 'h2spec-'));
  try {
    const report = join(folder, 'report.xml');
    const target = ['-h', '127.0.0.1', '-p', String(port), '-P', ECHO, '-o', String(WAIT)];
    // It ends with 1 when a case fails. Without a report it has not run.
    await promisify(execFile)(h2spec, ['-S', ...target, '-j', report, ...cases]).catch(() => {});
    return parseReport(await readFile(report, 'utf8'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Runs failed cases again. Some look at the order of two frames, which a busy machine may change. A
 * case that fails twice does fail.
 */
export async function failedTwice(
  h2spec: string,
  port: number,
  failed: readonly string[],
): Promise<readonly string[]> {
  if (failed.length === 0) return [];
  const sections = new Set(failed.map(name => name.slice(0, name.indexOf(':'))));
  const again = await runH2spec(h2spec, port, [...sections]);
  return failed.filter(name => again.failed.has(name));
}

const CASE =
  /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>((?:(?!<\/testcase>)[\s\S])*)<\/testcase>/g;

function parseReport(xml: string): Spec {
  const failed = new Set<string>();
  let passed = 0;
  for (const [, section = '', description = '', outcome = ''] of xml.matchAll(CASE)) {
    if (/<error|<failure/.test(outcome)) failed.add(`${section}: ${description}`);
    else if (!outcome.includes('<skipped')) passed++;
  }
  return { failed, passed };
}
