/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: operators write these forms */
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { SecretPlace } from '#resources/words/secret-value.ts';

const NAMES_PLACE = /\$\{\s*(?:env|file)\s*:/i;
const PLACE = /^\$\{(env|file):([^{}\0]+)\}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;
const LONGEST_PATH = 4096;

/**
 * Parses `${env:NAME}` and `${file:PATH}`, which stand for a value that is elsewhere. The value is
 * undefined for any other text, which is the secret itself. Errors quote nothing of the text, since
 * a part of it may be secret.
 */
export function parseSecretPlace(text: string): Parsed<SecretPlace | undefined> {
  if (!NAMES_PLACE.test(text)) return { value: undefined };
  const [, where, name = ''] = PLACE.exec(text) ?? [];
  if (where === 'env' && VARIABLE.test(name)) return { value: { env: name } };
  if (where === 'file' && name.length <= LONGEST_PATH) return { value: { file: name } };
  return {
    error:
      'a value from elsewhere is `${env:NAME}` or `${file:PATH}` and nothing else. A text that only looks like it belongs in `data`, in base64',
  };
}
