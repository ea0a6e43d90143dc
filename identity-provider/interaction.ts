import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Interaction, Provider } from 'oidc-provider';
import { discardForm, readForm } from './form.ts';
import { saveGrant } from './grants.ts';
import { PAGE_HEADERS } from './page.ts';
import { errorPage, loginPage } from './pages.ts';
import { userOf } from './sample-users.ts';

/**
 * Answers a browser that has to log in. It gets a form, or the way back when the form is filled in
 * or cancelled. The library's cookie tells which attempt it is.
 */
export async function serveInteraction(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const interaction = await provider.interactionDetails(request, response);
  const finish = (result: object) => provider.interactionFinished(request, response, result);
  if (interaction.prompt.name === 'consent') return finish(await consentTo(provider, interaction));
  const ask = async (problem: string) => {
    const client = await provider.Client.find(interaction.params.client_id);
    sendPage(response, 200, loginPage(client?.clientName ?? 'An application', problem));
  };
  if (request.method !== 'POST') return ask('');
  const form = await readForm(request);
  if (form === undefined) return refuseForm(request, response);
  if (form.has('cancel')) return finish({ error: 'access_denied', error_description: 'cancelled' });
  const user = userOf(form.get('username'), form.get('password'));
  return user === undefined
    ? ask('Wrong name or password.')
    : finish({ login: { accountId: user.username } });
}

/** Only an application that insists on consent (`prompt=consent`) comes here. */
async function consentTo(provider: Provider, { params, session }: Interaction): Promise<object> {
  const grant = await saveGrant(provider, session?.accountId ?? '', params.client_id);
  return { consent: { grantId: grant.jti } };
}

/**
 * Sends the page first. The connection closes only when the browser has stopped sending, or the
 * browser might lose the page to a reset.
 */
async function refuseForm(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(413, { ...PAGE_HEADERS, Connection: 'close' });
  response.write(errorPage('invalid_request', 'This form is too large.'));
  await discardForm(request);
  response.end();
}

function sendPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, PAGE_HEADERS);
  response.end(text);
}
