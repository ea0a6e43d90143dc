import { factsOf, type ProviderAnswer, placeOf } from './http-client.ts';
import { isJsonObject, parseJson } from './json-answer.ts';
import { ProviderError, shownErrorCode } from './provider-error.ts';
import { shownDescription } from './shown-description.ts';

type Asked = { readonly what: string; readonly url: string };

/**
 * Returns the error that an answer stands for. What the provider says of it is told without
 * `secrets`, which it may have quoted.
 *
 * - A 4xx is `oauth_error` when its JSON body has an `error` (RFC 6749 section 5.2), else when its
 *   challenge has one (RFC 6750 section 3), else when it is a 401. The last has the code `unsaid`.
 * - A 200 with `error` and no access token, which some providers send, is `oauth_error` too.
 * - Every other status but 200 is `http_status`.
 *
 * @returns undefined when it is a success
 */
export function refusalOf(
  answer: ProviderAnswer,
  asked: Asked,
  { secrets, unsaid }: { readonly secrets: readonly string[]; readonly unsaid: string },
): ProviderError | undefined {
  const code = errorCodeOf(answer, unsaid);
  if (code !== undefined) {
    const oauthError = shownErrorCode(code);
    const { status } = answer;
    const text = `${placeOf(asked)}: refused with ${oauthError} (${status})${sayingOf(answer, secrets)}`;
    return new ProviderError('oauth_error', text, { ...factsOf(answer), oauthError });
  }
  return answer.status === 200
    ? undefined
    : new ProviderError('http_status', statusText(answer, asked), factsOf(answer));
}

function errorCodeOf(answer: ProviderAnswer, unsaid: string): string | undefined {
  const { headers, status } = answer;
  if (status === 200) return errorMember(answer.text, ['access_token', 'sub']);
  if (status < 400 || status > 499) return undefined;
  return (
    errorMember(answer.text, []) ?? challengeError(headers) ?? (status === 401 ? unsaid : undefined)
  );
}

function sayingOf({ text }: ProviderAnswer, secrets: readonly string[]): string {
  const json = parseJson(text);
  const said = isJsonObject(json) ? shownDescription(json.error_description, secrets) : undefined;
  return said === undefined ? '' : `, saying ${JSON.stringify(said)}`;
}

/** Returns `error` of a JSON body that has none of the members of a success. */
function errorMember(text: string, success: readonly string[]): string | undefined {
  const json = parseJson(text);
  if (!isJsonObject(json) || success.some(name => json[name] !== undefined)) return undefined;
  return typeof json.error === 'string' && json.error !== '' ? json.error : undefined;
}

function challengeError(headers: Headers): string | undefined {
  return /^Bearer\b.*\berror="?([\w.-]+)/i.exec(headers.get('www-authenticate') ?? '')?.[1];
}

function statusText({ headers, status }: ProviderAnswer, asked: Asked): string {
  const redirect = status >= 300 && status < 400 && headers.has('location');
  return `${placeOf(asked)}: status ${status}${redirect ? ', a redirect, which is not followed' : ''}`;
}
