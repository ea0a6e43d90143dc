/** What stands for a text that a proxy must not send. */
const NOT_UTF8 = 'not UTF-8';

/** Whole characters, without those that UTF-8 does not have (RFC 3629, section 3). */
const UTF8 = '^[\\\\x{0}-\\\\x{D7FF}\\\\x{E000}-\\\\x{10FFFF}]*$';
const ASCII = '^[\\\\x{0}-\\\\x{7F}]*$';

/** A character has this many bytes at most. */
const CHARACTER_BYTES = 4;

/** Where a header stands, as Envoy's page "Attributes" names it. */
export type HeaderPlace = 'request.headers' | 'response.headers' | 'response.trailers';

/**
 * Returns the operator of a header in a span or an entry of a log that goes out in protobuf. A
 * string there is UTF-8, and Envoy sends what it has. Programs that read one with other bytes may
 * reject the whole message, so a client could hide the requests of others. A header that is absent
 * is `otherwise`, and without that it is what Envoy has for nothing. Bytes after the first `most`
 * are cut.
 */
export function toldText(
  place: HeaderPlace,
  header: string,
  { most, otherwise }: { readonly most?: number; readonly otherwise?: string | undefined } = {},
): string {
  const name = celString(header);
  const value = `${place}[${name}]`;
  const whole = `${value}.matches('${UTF8}')`;
  // Envoy cuts bytes, and what is left of a character would be no UTF-8.
  const isTold =
    most === undefined
      ? whole
      : `${value}.matches('${ASCII}') || size(${value}) <= ${Math.floor(most / CHARACTER_BYTES)} && ${whole}`;
  const told = `${isTold} ? ${value} : '${NOT_UTF8}'`;
  const text =
    otherwise === undefined ? told : `!(${name} in ${place}) ? ${celString(otherwise)} : ${told}`;
  return `%CEL(${text})${most === undefined ? '' : `:${most}`}%`;
}

/** Characters that could end the string or the operator do not stay as they are. */
function celString(text: string): string {
  const escaped = text.toWellFormed().replace(/[^a-z0-9:_-]/giu, character => {
    const code = character.codePointAt(0) ?? 0;
    return `\\U${code.toString(16).padStart(8, '0')}`;
  });
  return `'${escaped}'`;
}
