/**
 * What a client of the demo's identity provider gets for this token request. Fails when that is no
 * token.
 */
export async function getToken(
  provider: string,
  client: string,
  form: Readonly<Record<string, string>>,
): Promise<string> {
  const answer = await fetch(`${provider}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client}:${client}-sample-secret`)}` },
    body: new URLSearchParams(form),
  });
  const body = (await answer.json()) as { readonly access_token?: string; readonly error?: string };
  if (body.access_token === undefined) throw new Error(`${answer.status} ${body.error}`);
  return body.access_token;
}
