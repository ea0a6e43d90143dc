import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '#files/places.ts';

/** A file as the browser gets it. */
export type Asset = { readonly type: string; readonly etag: string; readonly body: Buffer };

export type Assets = {
  /** The page of every screen. */
  readonly page: Asset;
  /** The hash by which the page's import map may run. */
  readonly importMapHash: string;
  /** By path below `assets/`. */
  readonly files: ReadonlyMap<string, Asset>;
};

const BROWSER = join(ROOT, 'controlplane', 'console', 'browser');
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** All modules of ours that the browser loads. No other file is served. */
export const MODULES: readonly string[] = [
  'main.ts',
  'act.ts',
  'counters.ts',
  'curl-line.ts',
  'drain.ts',
  'logins.ts',
  'chart.ts',
  'format.ts',
  'frame.ts',
  'html.ts',
  'keys.ts',
  'live.ts',
  'location.ts',
  'pages.ts',
  'parts.ts',
  'problem-lines.ts',
  'request-table.ts',
  'theme.ts',
  'traffic-charts.ts',
  'upstream-lines.ts',
  'screens/certificates.ts',
  'screens/change.ts',
  'screens/explain.ts',
  'screens/gateways.ts',
  'screens/limits.ts',
  'screens/overview.ts',
  'screens/proxies.ts',
  'screens/route.ts',
  'screens/routes.ts',
  'screens/security.ts',
  'screens/service.ts',
  'screens/services.ts',
  'screens/traffic.ts',
];

/** What our modules import of npm's packages, and where it is. */
const PACKAGES: Readonly<Record<string, string>> = {
  preact: import.meta.resolve('preact'),
  'preact/hooks': import.meta.resolve('preact/hooks'),
  htm: import.meta.resolve('htm'),
  uplot: import.meta.resolve('uplot/dist/uPlot.esm.js'),
};

const STYLES: Readonly<Record<string, string>> = {
  'uplot.css': fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css')),
  'console.css': join(BROWSER, 'console.css'),
};

/** Reads all files of the console, and strips our modules of their types. */
export async function readAssets(): Promise<Assets> {
  const files = new Map<string, Asset>();
  const add = (name: string, type: string, text: string) => files.set(name, asset(type, text));
  for (const name of MODULES)
    add(name, SCRIPT, stripped(await readFile(join(BROWSER, name), 'utf8')));
  for (const url of Object.values(PACKAGES))
    add(basename(url), SCRIPT, await readFile(fileURLToPath(url), 'utf8'));
  for (const [name, path] of Object.entries(STYLES)) add(name, STYLE, await readFile(path, 'utf8'));
  const imports = Object.entries(PACKAGES).map(([specifier, url]) => [
    specifier,
    at(basename(url)),
  ]);
  const importMap = JSON.stringify({ imports: Object.fromEntries(imports) });
  const scripts = [...files].filter(([, { type }]) => type === SCRIPT);
  const preloads = scripts.map(([name]) => `<link rel="modulepreload" href="${at(name)}">`);
  const page = (await readFile(join(BROWSER, 'page.html'), 'utf8'))
    .replace('IMPORT_MAP', () => importMap)
    .replace('MODULE_PRELOADS', () => preloads.join('\n'));
  return {
    page: asset('text/html; charset=utf-8', page),
    importMapHash: `sha256-${createHash('sha256').update(importMap).digest('base64')}`,
    files,
  };
}

/**
 * Strips a module of its types. Node warns once that the function is new. An operator can do
 * nothing about it, so the warning is left out.
 */
function stripped(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function at(name: string): string {
  return `/console/assets/${name}`;
}

function asset(type: string, text: string): Asset {
  const body = Buffer.from(text);
  return { type, body, etag: etagOf(body) };
}

/** Returns a strong ETag of a body. */
export function etagOf(body: Uint8Array | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}
