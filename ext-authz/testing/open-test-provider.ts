import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { openProvider } from '#ext-authz/provider/open-provider.ts';
import type { CodeExchange, Provider } from '#ext-authz/provider/provider.ts';
import type { ProviderErrorCode } from '#ext-authz/provider/provider-error.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import type { ProviderSettings } from '#ext-authz/provider/settings.ts';
import { providerSettings } from './provider-settings.ts';

export type TestProvider = Provider & {
  /** Lets its clock go on by ms. */
  readonly advance: (ms: number) => void;
};

/**
 * A provider's adapter that is closed when the test ends, with a clock of its own that begins now.
 */
export function openTestProvider(
  t: TestContext,
  { issuer }: { readonly issuer: string },
  changes: Partial<ProviderSettings> = {},
): TestProvider {
  let time = Date.now();
  const provider = openProvider(providerSettings(issuer, changes), {
    now: () => time,
    id: randomUUID,
  });
  t.after(() => provider.close());
  return {
    ...provider,
    advance: ms => {
      time += ms;
    },
  };
}

/** A callback that goes with the honest answers of the hostile provider. */
export const EXCHANGE: CodeExchange = {
  code: 'code',
  iss: undefined,
  redirectUri: 'https://app.test/.gateway/oauth2/redirection-endpoint',
  codeVerifier: 'v'.repeat(43),
  nonce: 'nonce',
};

/**
 * Returns a check for `assert.rejects`: a ProviderError with this code, whose message holds `text`.
 */
export function providerError(
  code: ProviderErrorCode,
  text: RegExp | string = '',
): (error: unknown) => boolean {
  return error => {
    const fits = error instanceof ProviderError && error.code === code;
    if (!fits) throw error;
    const found =
      typeof text === 'string' ? error.message.includes(text) : text.test(error.message);
    if (!found) throw new Error(`unexpected message: ${error.message}`);
    return true;
  };
}
