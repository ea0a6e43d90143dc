import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Interaction, Provider } from 'oidc-provider';

/**
 * Answers `/interaction/…` of the provider with a form of `username` and `password`, and a button
 * that denies. As at most providers, the form is sent to another URL than the page's. Consent is
 * given without asking.
 */
export async function serveInteraction(
  provider: Provider,
  users: readonly { readonly username: string; readonly password: string }[],
  grantAll: (accountId: string, clientId: string) => Promise<string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const interaction = await provider.interactionDetails(request, response);
  const finish = (result: object) => provider.interactionFinished(request, response, result);
  if (interaction.prompt.name === 'consent') return finish(await consentTo(interaction, grantAll));
  if (request.method !== 'POST') return sendForm(response, '');
  const form = new URLSearchParams(await text(request));
  if (form.has('deny'))
    return finish({ error: 'access_denied', error_description: 'denied by the user' });
  const user = users.find(
    ({ password, username }) =>
      username === form.get('username') && password === form.get('password'),
  );
  return user === undefined
    ? sendForm(response, 'Wrong name or password.')
    : finish({ login: { accountId: user.username } });
}

async function consentTo(
  { params, session }: Interaction,
  grantAll: (accountId: string, clientId: string) => Promise<string>,
): Promise<object> {
  return { consent: { grantId: await grantAll(session?.accountId ?? '', params.client_id) } };
}

function sendForm(response: ServerResponse, message: string): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!DOCTYPE html>
<html lang="en"><head><title>Log in</title></head><body>
<h1>Log in</h1><p>${message}</p>
<form method="post" action="?">
<p><label>Name <input name="username" autocomplete="username" autofocus></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password"></label></p>
<p><button type="submit">Log in</button> <button type="submit" name="deny" value="1">Deny</button></p>
</form></body></html>
`);
}
