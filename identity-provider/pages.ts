import { type Html, html, page } from './page.ts';

const SAMPLE = html`<p class="note">A sample identity provider: its users and their passwords are in the README.</p>`;

/**
 * Returns the form with which a user logs in. `problem` says what was wrong with the last attempt.
 */
export function loginPage(application: string, problem: string): string {
  const attempt: Html =
    problem === '' ? html`` : html`<p class="problem" role="alert">${problem}</p>`;
  return page(
    'Log in',
    html`<p>${application} asks who you are.</p>
${attempt}
<form method="post">
<label>Name <input name="username" autocomplete="username" autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button type="submit">Log in</button> <button class="quiet" type="submit" name="cancel" value="yes">Cancel</button>
</form>
${SAMPLE}`,
  );
}

/**
 * Asks whether the login at the provider ends too. `form` is the provider's own, with the id
 * `op.logoutForm`.
 */
export function logoutPage(form: string): string {
  return page(
    'Log out',
    html`<p>Log out here too? Else other applications may still know you.</p>
${{ html: form }}
<button form="op.logoutForm" type="submit" name="logout" value="yes" autofocus>Log out</button>
<button class="quiet" form="op.logoutForm" type="submit">Stay logged in</button>`,
  );
}

/** Returns the page after a logout that named no other page. */
export function loggedOutPage(): string {
  return page('Logged out', html`<p>The login has ended.</p>`);
}

/** Returns an error page. `error` is a code of RFC 6749, OpenID Connect or the provider. */
export function errorPage(error: string, description: string): string {
  return page('Not possible', html`<p>${description}</p><p class="note">${error}</p>`);
}
