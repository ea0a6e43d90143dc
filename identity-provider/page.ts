import { escapeHtml } from '#process/escape-html.ts';

/** HTML that is safe as it stands. `html` makes it, never text alone. */
export type Html = { readonly html: string };

/** Builds Html as a template tag. Values are escaped, unless they are Html themselves. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  const rest = values.map((value, at) => `${textOf(value)}${parts[at + 1] ?? ''}`);
  return { html: `${parts[0] ?? ''}${rest.join('')}` };
}

/**
 * The headers of every page. No script runs in it, nothing is loaded, and it is not framed or
 * cached. `form-action` is left out, because it would also block the redirects that follow a form.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Returns a whole page, with nothing from elsewhere. */
export function page(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 24rem; margin: 4rem auto; padding: 0 1rem; color: #1b1f24 }
label { display: block; margin: .75rem 0 }
input { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .4rem .5rem; border: 1px solid #8a929c; border-radius: 4px }
button { font: inherit; padding: .4rem 1rem; border: 1px solid #1f5fbf; border-radius: 4px; background: #1f5fbf; color: #fff; cursor: pointer }
button.quiet { background: none; color: #1f5fbf }
.note { color: #57606a; font-size: .875rem }
.problem { color: #b3261e }
</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`.html;
}

function textOf(value: string | Html): string {
  return typeof value === 'string' ? escapeHtml(value) : value.html;
}
