import type { GoValue } from '#resources/template/go-type.ts';
import { type Rendered, renderTemplate } from '#resources/template/render.ts';
import type { HeaderTemplate, Text } from './limit.ts';
import type { HeaderValue } from './wire.ts';

/**
 * The longest header value and body that are sent, in bytes. Envoy allows 60 KiB of headers in all
 * by default.
 */
const HEADER_BYTES = 4_096;
const BODY_BYTES = 16_384;

/** A control character. A tab may stand in a header. Source: RFC 9110 section 5.5. */
const CONTROL = /[^\P{Cc}\t]/u;

/** A template of a limit that could not be used. Never holds the values it was rendered with. */
export type TemplateFailure = {
  /** The limit's name. */
  readonly limit: string;
  readonly field:
    | 'injectRequestHeaders'
    | 'injectResponseHeaders'
    | 'errorResponse.headers'
    | 'errorResponse.bodyTemplate';
  /** The header's name. */
  readonly header?: string;
  /** In plain words, or in those of Go's templates. */
  readonly error: string;
};

/** Headers of one answer while they are gathered. The first of a name stays. */
export type HeaderList = { readonly headers: HeaderValue[]; readonly names: Set<string> };

/**
 * Adds the headers whose name is not there yet. `doNotSet` leaves one out. A header is left out and
 * reported when it fails, has a control character or is longer than HEADER_BYTES. White space
 * around a value is cut, since it is no part of one (RFC 9110 section 5.5).
 */
export function addHeaders(
  to: HeaderList,
  templates: readonly HeaderTemplate[],
  data: () => GoValue,
  report: (header: string, error: string) => void,
): void {
  for (const { name, value } of templates) {
    if (to.names.has(name)) continue;
    const rendered = checkHeader(render(value, data));
    if ('text' in rendered) addHeader(to, name, rendered.text);
    else if ('error' in rendered) report(name, rendered.error);
  }
}

/** Adds one header when its name is not there yet. */
export function addHeader({ headers, names }: HeaderList, name: string, value: string): void {
  if (names.has(name)) return;
  names.add(name);
  headers.push({ key: name, value });
}

/** Returns a body's bytes, or an error when the template fails or gives more than BODY_BYTES. */
export function renderBody(
  body: Text,
  data: () => GoValue,
): { readonly bytes: Uint8Array } | { readonly error: string } {
  const rendered = render(body, data);
  if ('error' in rendered) return rendered;
  const bytes = Buffer.from('text' in rendered ? rendered.text : '');
  return bytes.length <= BODY_BYTES ? { bytes } : tooLong(bytes.length, BODY_BYTES);
}

function render(value: Text, data: () => GoValue): Rendered {
  return typeof value === 'string' ? { text: value } : renderTemplate(value, data());
}

function checkHeader(rendered: Rendered): Rendered {
  if (!('text' in rendered)) return rendered;
  const { text } = rendered;
  const length = text.length > HEADER_BYTES ? text.length : Buffer.byteLength(text);
  if (length > HEADER_BYTES) return tooLong(length, HEADER_BYTES);
  if (CONTROL.test(text)) return { error: 'the value has a control character' };
  return { text: text.trim() };
}

function tooLong(length: number, most: number): { readonly error: string } {
  return { error: `the text has ${length} bytes, ${most} are allowed` };
}
