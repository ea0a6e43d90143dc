import { escapeHtml } from '#process/escape-html.ts';
import type { AccountHolder } from './account-holder.ts';

/** `<name>.<namespace>` of the Filter by which users log in and out. */
const REALM = 'login.default';
const LOGOUT = '/.gateway/oauth2/logout';

/** The headers of every page. Nothing is loaded, no script runs, and it is not framed. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};

/** Returns the site's first page, which says what there is to see. */
export function startPage(): string {
  return page(
    'A site behind the gateway',
    `<ul>
<li><a href="/account">Your account</a>, behind a login: ada (difference) or grace (nanosecond)</li>
<li><a href="/account/admin">Administration</a>, for ada only</li>
<li><a href="/user/health">The user service</a>, open to all: reload, and another instance answers</li>
</ul>`,
  );
}

/**
 * Returns the page that says who is logged in, with a button that logs out. `cookies` is the
 * request's Cookie field.
 */
export function accountPage(holder: AccountHolder, hostname: string, cookies: string): string {
  return page(
    'Your account',
    `<dl>
${row('Name', holder.fullname)}
${row('User', holder.username)}
${row('E-mail', holder.email)}
${row('May', holder.scope)}
${row('Answered by', hostname)}
</dl>
<p><a href="/account/admin">Administration</a>, for those who may</p>
${logoutForm(cookies)}`,
  );
}

/** Returns the page of administrators. */
export function adminPage({ fullname }: AccountHolder): string {
  return page(
    'Administration',
    `<p>${escapeHtml(fullname)}, you may administer.</p>\n<p><a href="/account">Your account</a></p>`,
  );
}

/**
 * Returns the page to which the provider sends the browser when the login has ended. It needs no
 * login.
 */
export function loggedOutPage(): string {
  return page('Logged out', '<p><a href="/account">Log in again</a></p>');
}

/**
 * Does what docs/reference/kinds/filter.md asks of applications. The browser posts the realm and
 * the value of its xsrf cookie, and goes where the answer says.
 */
function logoutForm(cookies: string): string {
  return `<form method="post" action="${LOGOUT}">
<input type="hidden" name="realm" value="${REALM}">
<input type="hidden" name="_xsrf" value="${escapeHtml(xsrfCookie(cookies))}">
<button type="submit">Log out</button>
</form>`;
}

function xsrfCookie(cookies: string): string {
  const name = `gateway_xsrf.${REALM}=`;
  const found = cookies.split(';').find(pair => pair.trimStart().startsWith(name));
  return found?.trim().slice(name.length) ?? '';
}

function row(name: string, value: string): string {
  return `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem; color: #1b1f24 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem }
dt { color: #57606a }
dd { margin: 0; overflow-wrap: anywhere }
button { font: inherit; padding: .4rem 1rem; border: 1px solid #1f5fbf; border-radius: 4px; background: #1f5fbf; color: #fff; cursor: pointer }
</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`;
}
