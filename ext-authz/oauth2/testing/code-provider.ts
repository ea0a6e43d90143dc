import type { HostileProvider } from '#ext-authz/testing/hostile-provider.ts';

/** What the provider grants besides an ID token with the right nonce. */
export type Granting = { readonly [member: string]: unknown };

/**
 * Lets the hostile provider grant codes and refresh tokens. The code of a login is its nonce.
 * `grant` is asked each time with the number of tokens before.
 */
export function grantCodes(
  provider: HostileProvider,
  grant: (grantType: string, count: number) => Granting | Promise<Granting> = () => ({}),
): void {
  let count = 0;
  provider.behave('token', async ({ form }) => {
    const grantType = form.get('grant_type') ?? '';
    const index = count;
    count += 1;
    const { claims = {}, ...members } = await grant(grantType, index);
    if (members.error !== undefined) return { status: 400, body: members };
    const nonce = form.get('code') ?? undefined;
    const id_token = await provider.idToken({ claims: { nonce, exp: FAR, ...(claims as object) } });
    return {
      body: await provider.tokens({ access_token: `access-${index}`, id_token, ...members }),
    };
  });
}

/** The clock of a test may be far ahead of the provider's. */
export const FAR = 4_102_444_800;

/** Plays the browser at the provider. The user logs in there, and comes back with a code. */
export function authorize(url: URL): string {
  const back = new URL(url.searchParams.get('redirect_uri') ?? '');
  back.searchParams.set('state', url.searchParams.get('state') ?? '');
  back.searchParams.set('code', url.searchParams.get('nonce') ?? '');
  return back.href;
}
